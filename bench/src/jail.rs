//! What a jail adds to a run: `true` under the keeper, bare and in a jail, in turns. Counted is the
//! time from preparing the run to its keeper's end.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use sandbox::{Access, JailKind, JailSpec, Limits, Mount, Network, ProxySpec, RunSpec, RunView};

use crate::driven::program;
use crate::loops::Outcome;
use crate::talk::say;

const ROUNDS: usize = 21;

pub(crate) fn run() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    let mut figures = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (index, way) in [Way::Bare, Way::Alone, Way::WithProxy]
            .into_iter()
            .enumerate()
        {
            let took = measure(&scratch.path().join(format!("{index}-{round}")), way)?;
            // The first round fills caches and prepares `/etc`; it is not counted.
            if round > 0 {
                figures[index].push(took);
            }
        }
    }
    let [bare, alone, with_proxy] = figures.map(median);
    say(&format!(
        "`true` under the keeper: bare {bare:.1} ms, in a jail {alone:.1} ms (+{:.1}), with the proxy {with_proxy:.1} ms (+{:.1}); \
         medians of {ROUNDS}, in turns",
        alone - bare,
        with_proxy - bare
    ));
    Ok(())
}

/// How `true` is run.
#[derive(Clone, Copy)]
enum Way {
    Bare,
    Alone,
    WithProxy,
}

fn measure(folder: &Path, way: Way) -> Outcome<f64> {
    let (run, checkout) = (folder.join("run"), folder.join("checkout"));
    fs::create_dir_all(&run)?;
    fs::create_dir_all(&checkout)?;
    let spec = spec(way, &checkout, folder)?;
    let start = Instant::now();
    sandbox::prepare(&run, &spec)?;
    let mut keeper = Command::new(program()?);
    keeper.arg("keeper").arg(&run).env("LOOPWRIGHT_WAKE", "off");
    keeper
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    match sandbox::look(&run)? {
        RunView::Ended(exit) if exit.exit_code == Some(0) => Ok(took),
        other => Err(format!("the run ended otherwise: {other:?}").into()),
    }
}

fn spec(way: Way, checkout: &Path, state_folder: &Path) -> Outcome<RunSpec> {
    let path = std::env::var("PATH").unwrap_or_default();
    let network = match way {
        Way::Bare | Way::Alone => Network::None,
        Way::WithProxy => Network::Proxy(ProxySpec::default()),
    };
    let mut mounts = sandbox::system_mounts(OsStr::new(&path), &BTreeMap::new(), state_folder)?;
    mounts.push(Mount {
        host: checkout.to_owned(),
        inside: PathBuf::from(sandbox::WORKSPACE),
        access: Access::Writable,
    });
    let jail = JailSpec {
        kind: JailKind::Bwrap,
        mounts,
        layers: None,
        network,
        limits: Limits::default(),
        image: None,
    };
    let is_bare = matches!(way, Way::Bare);
    Ok(RunSpec {
        run_id: "bench".to_owned(),
        program: "true".to_owned(),
        args: Vec::new(),
        cwd: if is_bare {
            checkout.to_owned()
        } else {
            PathBuf::from(sandbox::WORKSPACE)
        },
        env: BTreeMap::from([("PATH".to_owned(), path)]),
        pass_env: Vec::new(),
        pass_env_file: None,
        marks: Vec::new(),
        unnamed: false,
        stdin: None,
        wall_secs: 60,
        idle_secs: None,
        grace_secs: 1,
        output_bytes_max: 1 << 20,
        stop_signal: sandbox::StopSignal::Term,
        ends_with: None,
        stream: None,
        takes_ports: false,
        jail: (!is_bare).then_some(jail),
    })
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
