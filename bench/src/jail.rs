//! What a jail adds to a run: `true` under the keeper, bare and in every kind of jail that can be made
//! here, in turns. Counted is the time from preparing the run to its keeper's end.

// The engines of containers are those of the tests of `sandbox`.
#[expect(
    clippy::unwrap_used,
    reason = "tests unwrap, and a measurement cannot go on without its engine either"
)]
#[path = "../../crates/sandbox/tests/it/engines.rs"]
mod engines;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use sandbox::{Access, JailKind, JailSpec, Limits, Mount, Network, ProxySpec, RunSpec, RunView};

use crate::driven::program;
use crate::talk::{Outcome, say};
use engines::{Engine, IMAGE};

const ROUNDS: usize = 21;

/// Where `true` is found. Folders of a person's own are left out: an image has no place to show them.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) fn run() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    let engines: Vec<Engine> = [
        (JailKind::Podman, &["podman"][..]),
        (JailKind::Docker, &["docker", "dockerd"]),
    ]
    .into_iter()
    .filter(|(_, programs)| programs.iter().all(|program| is_here(program)))
    .map(|(kind, _)| Engine::start(kind))
    .collect();
    let ways = ways(&engines);
    let mut figures = vec![Vec::new(); ways.len()];
    for round in 0..=ROUNDS {
        for (index, way) in ways.iter().enumerate() {
            let took = measure(&scratch.path().join(format!("{index}-{round}")), *way)?;
            // The first round fills caches and prepares `/etc`; it is not counted.
            if round > 0 {
                figures[index].push(took);
            }
        }
    }
    let medians: Vec<f64> = figures.into_iter().map(median).collect();
    for (way, took) in ways.iter().zip(&medians) {
        let more = took - medians[0];
        say(&format!("{:18} {took:7.1} ms (+{more:.1})", way.words()));
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    say(&format!(
        "`true` under the keeper, medians of {ROUNDS}, in turns; the machine's load: {}",
        load.trim_end()
    ));
    Ok(())
}

/// Whether a program can be started by its name.
fn is_here(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    version.is_ok_and(|version| version.status.success())
}

/// How `true` is run.
#[derive(Clone, Copy)]
struct Way<'a> {
    /// The jail; none for the bare run.
    kind: Option<JailKind>,
    /// The engine that makes it; bwrap has none.
    engine: Option<&'a Engine>,
    has_proxy: bool,
}

impl Way<'_> {
    fn words(self) -> String {
        let jail = self.kind.map_or("bare", JailKind::program);
        let proxy = if self.has_proxy { " with proxy" } else { "" };
        format!("{jail}{proxy}")
    }
}

/// The bare run first, with which the others are compared.
fn ways(engines: &[Engine]) -> Vec<Way<'_>> {
    let bare = Way {
        kind: None,
        engine: None,
        has_proxy: false,
    };
    let bwrap = (JailKind::Bwrap, None);
    let engines = engines.iter().map(|engine| (engine.kind, Some(engine)));
    let jails = [bwrap].into_iter().chain(engines);
    let both = jails.flat_map(|(kind, engine)| {
        [false, true].map(|has_proxy| Way {
            kind: Some(kind),
            engine,
            has_proxy,
        })
    });
    [bare].into_iter().chain(both).collect()
}

fn measure(folder: &Path, way: Way<'_>) -> Outcome<f64> {
    let (run, checkout) = (folder.join("run"), folder.join("checkout"));
    fs::create_dir_all(&run)?;
    fs::create_dir_all(&checkout)?;
    let spec = spec(way, &checkout, folder)?;
    let start = Instant::now();
    sandbox::prepare(&run, &spec)?;
    let mut keeper = Command::new(program()?);
    keeper.arg("keeper").arg(&run).env("LOOPWRIGHT_WAKE", "off");
    if let Some(engine) = way.engine {
        keeper.envs(&engine.env);
    }
    keeper
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    match sandbox::look(&run)? {
        RunView::Ended(exit) if exit.exit_code == Some(0) => Ok(took),
        other => Err(format!("{} ended otherwise: {other:?}", way.words()).into()),
    }
}

fn spec(way: Way<'_>, checkout: &Path, state_folder: &Path) -> Outcome<RunSpec> {
    let cwd = match way.kind {
        Some(_) => PathBuf::from(sandbox::WORKSPACE),
        None => checkout.to_owned(),
    };
    let jail = match way.kind {
        Some(kind) => Some(jail(way, kind, checkout, state_folder)?),
        None => None,
    };
    Ok(RunSpec {
        run_id: "bench".to_owned(),
        program: "true".to_owned(),
        args: Vec::new(),
        cwd,
        env: BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]),
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
        unflushed: false,
        jail,
    })
}

/// The jail of one run. A container shows the machine's own system, since its image is empty.
fn jail(way: Way<'_>, kind: JailKind, checkout: &Path, state_folder: &Path) -> Outcome<JailSpec> {
    let mut mounts = sandbox::system_mounts(OsStr::new(PATH), &BTreeMap::new(), state_folder)?;
    mounts.push(Mount {
        host: checkout.to_owned(),
        inside: PathBuf::from(sandbox::WORKSPACE),
        access: Access::Writable,
    });
    Ok(JailSpec {
        kind,
        mounts,
        layers: None,
        network: if way.has_proxy {
            Network::Proxy(ProxySpec::default())
        } else {
            Network::None
        },
        limits: Limits::default(),
        image: way.engine.map(|_| IMAGE.to_owned()),
        version: None,
    })
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
