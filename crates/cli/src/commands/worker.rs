//! `loopwright worker status|stop|restart`.
//!
//! Nobody talks to a worker: it may be ended at any moment, and the next one goes on where it was.

use std::cell::Cell;
use std::time::{Duration, Instant};

use home::{Home, WorkerState, worker_state};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::loops::ensure_worker;
use crate::args::WorkerCommand;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::worker_trouble::{Trouble, as_json, trouble};

/// How long a worker that was asked to end may take before it is killed, and how long its process may
/// take to be gone, or the next one to be there.
const GRACE: Duration = Duration::from_secs(5);
const GONE: Duration = Duration::from_secs(30);

/// When a new worker is started once more, if none is there.
const AGAIN: Duration = Duration::from_secs(1);

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn run(command: &WorkerCommand, output: &mut Output) -> Result<Exit, Failure> {
    let home = home()?;
    match command {
        WorkerCommand::Status => {
            output.command("worker status");
            status(&home, output)
        }
        WorkerCommand::Stop => {
            output.command("worker stop");
            stop(&home, output)
        }
        WorkerCommand::Restart => {
            output.command("worker restart");
            restart(&home, output)
        }
    }
}

fn status(home: &Home, output: &mut Output) -> Result<Exit, Failure> {
    let state = worker_state(home);
    let root = home.root().display();
    let line = match state {
        WorkerState::Absent => format!("no worker is at work in {root}\n"),
        WorkerState::AtWork { pid } => {
            format!("the worker{} is at work in {root}\n", process(pid))
        }
        WorkerState::Stopped { pid } => format!("the worker process {pid} is stopped\n"),
    };
    output.data(&line)?;
    output.result(|| as_json(home))?;
    if let Some(Trouble { what, remedy }) = trouble(home) {
        output.talk(&format!("note: {what}; {remedy}\n"));
        output.bad_news(Failure {
            exit: Exit::Environment,
            message: what,
            hints: vec![remedy],
        });
        return Ok(Exit::Environment);
    }
    if state == WorkerState::Absent {
        output.next(NextAction::new("loopwright worker restart", "start one"));
        return Ok(Exit::Unfinished);
    }
    Ok(Exit::Done)
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" process {pid}")).unwrap_or_default()
}

fn stop(home: &Home, output: &mut Output) -> Result<Exit, Failure> {
    let ended = end(home)?;
    let line = match ended {
        Some(pid) => format!("the worker process {pid} has ended\n"),
        None => "no worker is at work\n".to_owned(),
    };
    output.data(&line)?;
    if ended.is_some() {
        output.talk(
            "note: runs that are under way go on; when one of them or a wait is over, it starts a \
             worker again; `loopwright pause ID` holds a loop\n",
        );
    }
    output.result(|| json!({ "ended": ended, "worker": as_json(home) }))?;
    Ok(Exit::Done)
}

fn restart(home: &Home, output: &mut Output) -> Result<Exit, Failure> {
    let ended = end(home)?;
    ensure_worker(home)?;
    // Between taking its lock and signing it a new worker has no number.
    let has_numbers = cfg!(target_os = "linux");
    let is_new = |state: WorkerState| match state {
        WorkerState::AtWork { pid } => {
            let is_other = pid != ended || ended.is_none();
            (pid.is_some() == has_numbers && is_other).then_some(pid)
        }
        WorkerState::Absent | WorkerState::Stopped { .. } => None,
    };
    // The old one may have held one of its locks for a moment longer, and the new one gave way to it.
    let tried_at = Cell::new(Instant::now());
    let look = || {
        let state = worker_state(home);
        if state == WorkerState::Absent && tried_at.get().elapsed() > AGAIN {
            tried_at.set(Instant::now());
            // A failure shows when the patience is over.
            let _ = ensure_worker(home);
        }
        is_new(state)
    };
    let Some(pid) = wait_for(GONE, look) else {
        return Err(Failure {
            exit: Exit::Environment,
            message: "the new worker did not begin to work".to_owned(),
            hints: vec![format!("its log is {}", home.worker_log().display())],
        });
    };
    output.data(&format!("the worker{} is at work\n", process(pid)))?;
    output.result(|| json!({ "ended": ended, "worker": as_json(home) }))?;
    Ok(Exit::Done)
}

/// Ends the worker, if one is there, and gives its process. A worker loses nothing by that. One that
/// is stopped hears of it only when it goes on.
fn end(home: &Home) -> Result<Option<u32>, Failure> {
    let state = worker_state(home);
    if state == WorkerState::Absent {
        return Ok(None);
    }
    let process = state.pid().and_then(|pid| {
        let raw = i32::try_from(pid).ok()?;
        Some((pid, Pid::from_raw(raw)?))
    });
    let Some((pid, process)) = process else {
        return Err(Failure {
            exit: Exit::Environment,
            message: "a worker is at work, and its process cannot be found from here".to_owned(),
            hints: vec!["end it where it was started, such as in its container".to_owned()],
        });
    };
    // Another one may have taken its place at once.
    let is_gone = || (worker_state(home).pid() != Some(pid)).then_some(());
    for (signals, patience) in [
        (&[Signal::TERM, Signal::CONT][..], GRACE),
        (&[Signal::KILL][..], GONE),
    ] {
        for signal in signals {
            // A process that is gone already is what is wanted.
            let _ = kill_process(process, *signal);
        }
        if wait_for(patience, is_gone).is_some() {
            return Ok(Some(pid));
        }
    }
    Err(Failure {
        exit: Exit::Environment,
        message: format!("the worker process {pid} does not end"),
        hints: vec![format!("look at it: `ps -o stat,wchan,cmd -p {pid}`")],
    })
}

fn wait_for<T>(patience: Duration, look: impl Fn() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let seen = look();
        if seen.is_some() || began.elapsed() > patience {
            return seen;
        }
        std::thread::sleep(LOOK);
    }
}
