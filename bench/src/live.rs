//! A hundred live loops with sleeping agents: what the worker holds in memory, and how soon the
//! next worker after a `kill -9` has adopted every agent. Beside it, in the same run: a worker
//! without loops, and bare looks at the same runs.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Execution, GitRepositories, KeptRuns, Limits, Ports, Worker};
use home::{Home, Settings};
use journal::Journal;
use sandbox::RunView;

use crate::driven::program;
use crate::loops::{best, loop_spec, millis};
use crate::talk::{Outcome, say};

const LOOPS: usize = 100;
const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) fn run() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    let empty = start_worker(&scratch.path().join("empty"))?;
    let idle = memory(&empty.child)?;
    stop(empty)?;
    let home = scratch.path().join("home");
    record_loops(scratch.path(), &home)?;
    let worker = start_worker(&home)?;
    let begun = Instant::now();
    let runs = loop {
        let runs = running(&home);
        if runs.len() == LOOPS {
            break runs;
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("only {} of {LOOPS} agents ever ran", runs.len()).into());
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let took = begun.elapsed();
    // A few turns in which nothing happens: what stays is what it needs.
    std::thread::sleep(Duration::from_secs(2));
    say(&format!(
        "worker's resident memory: {:.1} MB with {LOOPS} live loops, {:.1} MB with none (all agents started in {:.1} s)",
        megabytes(memory(&worker.child)?),
        megabytes(idle),
        took.as_secs_f64()
    ));
    let measured = adopt(&home, worker, &runs);
    end_all(&runs)?;
    measured
}

/// Kills the worker and takes the time until the next one has seen every agent alive.
fn adopt(home: &Path, worker: Running, runs: &[PathBuf]) -> Outcome<()> {
    let killed = Instant::now();
    stop(worker)?;
    let mut next = start_worker(home)?;
    let (adopted, of_its_own) = next.first_turn()?;
    let whole = killed.elapsed();
    stop(next)?;
    let looks = best(5, || {
        runs.iter().try_for_each(|run| sandbox::look(run).map(drop))
    })?;
    say(&format!(
        "kill -9 of the worker to {adopted} agents adopted: {:.0} ms, of these {of_its_own:.0} ms in the new worker; bare looks at the same {} runs: {:.1} ms",
        millis(whole),
        runs.len(),
        millis(looks)
    ));
    Ok(())
}

/// What `bench worker HOME` does: a worker with room for all agents, which tells of its first turn.
pub(crate) fn work(home: &str) -> Outcome<()> {
    let started = Instant::now();
    let (home, program) = (Home::at(home), program()?);
    let journal = Journal::open(home.root())?;
    let ports = Ports {
        clock: Arc::new(home::now_ms),
        runs: Box::new(KeptRuns::new(program.clone())),
        repositories: Box::new(GitRepositories::new(home.clone())),
        home,
        program,
    };
    let limits = Limits {
        agents_max: LOOPS,
        checks_max: 2,
    };
    let mut worker = Worker::take(ports, Arc::new(journal), limits, Execution::Threads)?;
    let mut told = false;
    worker.run(|_, turn| {
        if !told {
            say(&format!("{} {}", turn.running, millis(started.elapsed())));
        }
        told = true;
        false
    })?;
    Ok(())
}

struct Running {
    child: Child,
}

impl Running {
    fn first_turn(&mut self) -> Outcome<(usize, f64)> {
        let mut line = String::new();
        BufReader::new(self.child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let (running, took) = line
            .trim()
            .split_once(' ')
            .ok_or("the worker did not begin")?;
        Ok((running.parse()?, took.parse()?))
    }
}

fn start_worker(home: &Path) -> Outcome<Running> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("worker")
        .arg(home)
        .env("LOOPWRIGHT_WAKE", "off")
        .process_group(0);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(Running { child })
}

fn stop(mut worker: Running) -> Outcome<()> {
    worker.child.kill()?;
    worker.child.wait()?;
    Ok(())
}

fn record_loops(folder: &Path, home: &Path) -> Outcome<()> {
    let project = folder.join("project");
    std::fs::create_dir_all(&project)?;
    for number in 0..20 {
        std::fs::write(
            project.join(format!("file-{number}.txt")),
            format!("line {number}\n").repeat(40),
        )?;
    }
    let base = workspace::init_repository(&project, "start")?;
    let agent = serde_json::json!({
        "command": ["sleep", "1000"], "pass_env": [], "env": {}, "timeout_secs": 1200, "idle_secs": null,
    });
    let settings = serde_json::json!({
        "agents": { "builder": agent, "judge": agent }, "checks": [], "check_timeout_secs": 60, "copy": [],
        "write_back": false, "subdir": "", "root": project, "prd_in_repository": null, "patterns": null,
    });
    // What is not said has a default, and a setting that cannot be read would be found here.
    let settings: Settings = serde_json::from_value(settings)?;
    let journal = Journal::open(home)?;
    for number in 0..LOOPS {
        let mut spec = loop_spec(&format!("01{number:024}"), base.as_str())?;
        spec.project = project.display().to_string();
        spec.settings = serde_json::to_string(&settings)?.into();
        home::start(&journal, spec)?;
    }
    Ok(())
}

/// Folders of runs whose keeper lives.
fn running(home: &Path) -> Vec<PathBuf> {
    let folders = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let runs = folders(home.join("loops")).flat_map(|one| folders(one.path().join("runs")));
    runs.map(|run| run.path())
        .filter(|run| matches!(sandbox::look(run), Ok(RunView::Running(_))))
        .collect()
}

fn end_all(runs: &[PathBuf]) -> Outcome<()> {
    for run in runs {
        sandbox::request_stop(run, "the measurement is over")?;
    }
    let begun = Instant::now();
    while runs
        .iter()
        .any(|run| matches!(sandbox::look(run), Ok(RunView::Running(_))))
    {
        if begun.elapsed() > PATIENCE {
            return Err("agents are left".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Kilobytes of resident memory.
fn memory(child: &Child) -> Outcome<u64> {
    // It must have begun before it is looked at.
    std::thread::sleep(Duration::from_millis(500));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}
