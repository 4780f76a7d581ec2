//! `loopwright serve`: the worker.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::{Exit, Failure, Output, WorkerLimits, counted, read_worker_limits};
use engine::{
    Clock, Execution, GitRepositories, KeptRuns, Limits, Log, Ports, Swept, Turn, Worker,
    WorkerError,
};
use home::{Home, now_ms};
use journal::Journal;

use crate::{crash_switch, worker_log};

/// How long a worker that was started on demand stays without a loop to work on.
const IDLE: Duration = Duration::from_secs(3);

pub(crate) fn run(until_idle: bool, detached: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("serve");
    if detached {
        // Out of reach of the terminal that started us. It fails when we lead a group already: then
        // it is not needed.
        let _ = rustix::process::setsid();
    }
    let home = cli::home()?;
    let limits = match (read_worker_limits(), detached) {
        (Ok(limits), _) => limits,
        // Loops that are under way do not stand still for a slip in a file; whoever starts the next
        // one is told.
        (Err(failure), true) => {
            output.say(&failure);
            output.talk("the worker goes on with the shipped limits\n");
            WorkerLimits::default()
        }
        (Err(failure), false) => return Err(failure),
    };
    let mut worker = match (wait_and_take(&home, limits, detached)?, detached) {
        (Some(worker), _) => worker,
        // Whoever woke us need not know that another one is at work.
        (None, true) => return Ok(Exit::Done),
        (None, false) => {
            let error = WorkerError::AlreadyRunning(home.root().to_owned());
            return Err(failure(&error));
        }
    };
    worker_log::begin(&home);
    tracing::info!(
        pid = std::process::id(),
        agents_max = limits.agents_max,
        checks_max = limits.checks_max,
        "worker started"
    );
    output.talk(&format!(
        "worker at work in {}; Ctrl-C ends it, agents go on and are adopted by the next\n",
        home.root().display()
    ));
    let mut watch = Watch::new(until_idle, detached);
    let ended = worker.run(|worker, turn| watch.look(worker, turn, output));
    tracing::info!("worker ended");
    ended.map_err(|error| failure(&error))?;
    Ok(Exit::Done)
}

/// What the worker tells of itself between turns, and when it may end.
struct Watch {
    until_idle: bool,
    /// Nobody waits for our end.
    detached: bool,
    idle_since: Option<Instant>,
    was_full: bool,
    n_sweeps: u32,
}

impl Watch {
    fn new(until_idle: bool, detached: bool) -> Self {
        Self {
            until_idle,
            detached,
            idle_since: None,
            was_full: false,
            n_sweeps: 0,
        }
    }

    /// Says whether the worker should end.
    fn look(&mut self, worker: &Worker, turn: Turn, output: &mut Output) -> bool {
        self.tell_of_sweeps(worker, output);
        if turn.disk_full != self.was_full {
            self.was_full = turn.disk_full;
            let words = if self.was_full {
                "the disk is full; all loops wait for room\n"
            } else {
                "there is room again\n"
            };
            output.talk(words);
        }
        // What is owed after a loop's end may need a person first; whoever waits for us does not wait
        // for that.
        if turn.live > 0 || (self.detached && turn.owing > 0) {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        self.until_idle && since.elapsed() > IDLE
    }

    fn tell_of_sweeps(&mut self, worker: &Worker, output: &mut Output) {
        let (count, swept) = worker.last_sweep();
        if count != self.n_sweeps && *swept != Swept::default() {
            output.talk(&format!(
                "swept: {}, {}, {}\n",
                counted(swept.processes as usize, "process", "processes"),
                counted(swept.folders as usize, "folder", "folders"),
                counted(swept.loops as usize, "expired loop", "expired loops"),
            ));
        }
        self.n_sweeps = count;
    }
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::environment("cannot find our own program", &error))
}

/// A worker that was started on demand looks again for a moment: the other one may be about to end
/// for want of work.
fn wait_and_take(
    home: &Home,
    limits: WorkerLimits,
    patient: bool,
) -> Result<Option<Worker>, Failure> {
    const TRIES: u32 = 8;
    const PAUSE: Duration = Duration::from_millis(250);
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

/// Becomes the worker; none when another one is.
fn take(home: &Home, limits: WorkerLimits) -> Result<Option<Worker>, Failure> {
    let journal = Journal::open(home.root())
        .map_err(|error| Failure::environment("cannot open the journal", &error))?;
    let log: Arc<dyn Log> = crash_switch::watched(Arc::new(journal));
    let limits = Limits {
        agents_max: limits.agents_max,
        checks_max: limits.checks_max,
    };
    match Worker::take(ports(home)?, log, limits, Execution::Threads) {
        Ok(worker) => Ok(Some(worker)),
        Err(WorkerError::AlreadyRunning(_)) => Ok(None),
        Err(error) => Err(failure(&error)),
    }
}

fn ports(home: &Home) -> Result<Ports, Failure> {
    let program = program()?;
    let clock: Clock = match crash_switch::stopped_clock() {
        Some(stopped_ms) => Arc::new(move || stopped_ms),
        None => Arc::new(now_ms),
    };
    Ok(Ports {
        home: home.clone(),
        clock,
        runs: Box::new(KeptRuns::new(program.clone())),
        repositories: Box::new(GitRepositories::new(home.clone())),
        program,
    })
}

fn failure(error: &WorkerError) -> Failure {
    let failure = Failure::environment("the worker cannot work", error);
    match error {
        WorkerError::AlreadyRunning(_) => {
            failure.hint("that one does the work; `loopwright list` shows the loops")
        }
        WorkerError::Io { .. } | WorkerError::Journal(_) | WorkerError::Record(_) => failure,
    }
}
