//! `loopwright serve`, and what other verbs need of it: a worker in the background, or in the
//! foreground.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use engine::{Home, Swept, Turn, Worker, WorkerError};
use views::public_events;

use super::look;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::home::home;
use crate::output::Output;
use crate::words::counted;

/// Turns without a live loop after which a worker that was started on demand ends.
const IDLE_TURNS_MAX: usize = 60;

pub(crate) fn run(until_idle: bool, detached: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("serve");
    if detached {
        // Out of reach of the terminal that started us. It fails when we lead a group already: then
        // it is not needed.
        let _ = rustix::process::setsid();
    }
    let home = home()?;
    let limits = match (limits(), detached) {
        (Ok(limits), _) => limits,
        // Loops that are under way do not stand still for a slip in a file; whoever starts the next
        // one is told.
        (Err(failure), true) => {
            output.say(&failure);
            output.talk("the worker goes on with the shipped limits\n");
            Limits::default()
        }
        (Err(failure), false) => return Err(failure),
    };
    let mut worker = match (wait_and_take(&home, limits, detached)?, detached) {
        (Some(worker), _) => worker,
        // Whoever woke us need not know that another one is at work.
        (None, true) => return Ok(Exit::Done),
        (None, false) => {
            return Err(failure(&WorkerError::AlreadyRunning(
                home.root().to_owned(),
            )));
        }
    };
    output.talk(&format!(
        "worker at work in {}; Ctrl-C ends it, agents go on and are adopted by the next\n",
        home.root().display()
    ));
    let mut idle_turns = 0;
    let (mut was_full, mut n_sweeps) = (false, 0);
    let done = |worker: &Worker, turn: Turn| {
        let (count, swept) = worker.last_sweep();
        if count != n_sweeps && *swept != Swept::default() {
            output.talk(&format!(
                "swept: {}, {}, {}\n",
                counted(swept.processes as usize, "process", "processes"),
                counted(swept.folders as usize, "folder", "folders"),
                counted(swept.loops as usize, "expired loop", "expired loops"),
            ));
        }
        n_sweeps = count;
        if turn.disk_full != was_full {
            was_full = turn.disk_full;
            let words = if was_full {
                "the disk is full; all loops wait for room\n"
            } else {
                "there is room again\n"
            };
            output.talk(words);
        }
        idle_turns = if turn.live == 0 { idle_turns + 1 } else { 0 };
        until_idle && idle_turns > IDLE_TURNS_MAX
    };
    worker.run(done).map_err(|error| failure(&error))?;
    Ok(Exit::Done)
}

/// How much may run at once, over all loops.
#[derive(Debug, Clone, Copy)]
struct Limits {
    agents_max: usize,
    checks_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            agents_max: 4,
            checks_max: 1,
        }
    }
}

/// The limits of this person; a project cannot set them, since a worker serves all projects.
fn limits() -> Result<Limits, Failure> {
    let (worker, shipped) = (config::read_of_worker()?.worker, Limits::default());
    Ok(Limits {
        agents_max: worker.max_agents.unwrap_or(shipped.agents_max),
        checks_max: worker.max_checks.unwrap_or(shipped.checks_max),
    })
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::environment("cannot find our own program", &error))
}

/// A worker that was started on demand looks again for a moment: the other one may be about to end
/// for want of work.
fn wait_and_take(home: &Home, limits: Limits, patient: bool) -> Result<Option<Worker>, Failure> {
    const TRIES: u32 = 8;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(250);
    for _ in 0..if patient { TRIES } else { 1 } {
        if let Some(worker) = take(home, limits)? {
            return Ok(Some(worker));
        }
        if patient {
            std::thread::sleep(PAUSE);
        }
    }
    Ok(None)
}

/// Says whether a worker is at work: it holds the lock.
pub(super) fn is_worker_there(home: &Home) -> bool {
    let Ok(lock) = File::open(home.worker_lock()) else {
        return false;
    };
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err()
}

/// Becomes the worker; nothing when another one is.
fn take(home: &Home, limits: Limits) -> Result<Option<Worker>, Failure> {
    match Worker::take(
        home.clone(),
        &program()?,
        limits.agents_max,
        limits.checks_max,
    ) {
        Ok(mut worker) => {
            crate::crash_switch::arm_worker(&mut worker);
            Ok(Some(worker))
        }
        Err(WorkerError::AlreadyRunning(_)) => Ok(None),
        Err(error) => Err(failure(&error)),
    }
}

fn failure(error: &WorkerError) -> Failure {
    let failure = Failure::environment("the worker cannot work", error);
    match error {
        WorkerError::AlreadyRunning(_) => {
            failure.hint("that one does the work; `loopwright list` shows the loops")
        }
        WorkerError::Io { .. } | WorkerError::Journal(_) | WorkerError::Crashed => failure,
    }
}

/// Starts a worker in the background, unless one is there: the second would end at once.
pub(crate) fn ensure_worker(home: &Home) -> Result<(), Failure> {
    let log = home.worker_log();
    let fault = |error: std::io::Error| Failure::environment("cannot start a worker", &error);
    let log = File::options()
        .create(true)
        .append(true)
        .open(log)
        .map_err(fault)?;
    let errors = log.try_clone().map_err(fault)?;
    let mut command = Command::new(program()?);
    command
        .args(["serve", "--until-idle", "--detached"])
        .env("LOOPWRIGHT_HOME", home.root());
    // A worker serves all loops: it is no part of the run whose agent may have called us, and does
    // not end with it.
    command.env_remove(sandbox::RUN_DIR_VARIABLE);
    command
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(fault)?;
    Ok(())
}

/// Works until one loop is over, in this terminal. If a worker is there already, only follows.
pub(super) fn foreground(home: &Home, loop_id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.talk("Ctrl-C leaves the loop as it is; `loopwright serve` goes on with it\n");
    let Some(mut worker) = take(home, limits()?)? else {
        return look::follow(home, loop_id, output);
    };
    let mut told = 0;
    let mut lines = Vec::new();
    let done = |worker: &Worker, turn: Turn| {
        let Some(loaded) = worker.loaded(loop_id) else {
            return turn.live == 0;
        };
        let events = public_events(&loaded.records);
        lines.extend(
            events[told.min(events.len())..]
                .iter()
                .map(look::event_line),
        );
        told = events.len();
        for line in lines.drain(..) {
            output.talk(&line);
        }
        loaded.state.ended().is_some() || loaded.state.question().is_some()
    };
    worker.run(done).map_err(|error| failure(&error))?;
    let exit = look::result_of(home, worker.journal(), loop_id, output)?;
    // Other loops may have counted on this worker.
    drop(worker);
    ensure_worker(home)?;
    Ok(exit)
}
