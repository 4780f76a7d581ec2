//! `loopwright serve`: the worker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::{Exit, Failure, Output, WorkerLimits, counted, read_worker_limits};
use engine::{
    Clock, Execution, GitRepositories, Hindrance, KeptRuns, Limits, Log, Ports, Swept, Turn,
    Worker, WorkerError,
};
use home::{Home, LEAVING_VARIABLE, note_worker_fault, now_ms};
use journal::{Journal, JournalError};

use crate::{crash_switch, worker_log};

/// How long a worker that was started on demand stays without a loop to work on.
const IDLE: Duration = Duration::from_secs(3);

/// How long a worker waits for a journal that somebody else holds before it says so. It goes on
/// waiting after that.
const JOURNAL_WAIT: Duration = Duration::from_secs(1);

/// The first and the longest pause before a journal that failed is opened again.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often a worker that found nothing to do begins again because something was owed after all.
/// What it cannot do must not keep it alive for ever.
const AGAIN_MAX: u32 = 3;

pub(crate) fn run(until_idle: bool, detached: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("serve");
    if detached && leave_terminal() == Left::ToAnother {
        return Ok(Exit::Done);
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
    let mut pause = PAUSE;
    let mut n_again = 0;
    loop {
        let served = serve(&home, limits, until_idle, detached, output);
        let error = match served {
            // Whoever asked for something in our last moment saw a worker and started none.
            Ok(()) if n_again < AGAIN_MAX && cli::is_work_owed(&home) => {
                n_again += 1;
                continue;
            }
            Ok(()) => return Ok(Exit::Done),
            // Whoever woke us need not know that another one is at work.
            Err(WorkerError::AlreadyRunning(_)) if detached => return Ok(Exit::Done),
            Err(WorkerError::Journal(error)) if may_pass(&home, &error) => error,
            Err(error) => return Err(failure(&error)),
        };
        // All that we had open is closed by now: a journal that was damaged is read anew.
        let words = Failure::environment("the worker waits", &error).message;
        output.talk(&format!("{words}\n"));
        tracing::warn!(?error, "worker waits");
        note_worker_fault(&home, Some(&words));
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Whether the journal may be usable later, without another program. A folder that is gone must not
/// be made again.
fn may_pass(home: &Home, error: &JournalError) -> bool {
    home.root().exists()
        && !matches!(
            error,
            JournalError::NewerSchema { .. } | JournalError::NoWriteAheadLog { .. }
        )
}

/// Works until there is nothing left to do, or the journal fails.
fn serve(
    home: &Home,
    limits: WorkerLimits,
    until_idle: bool,
    detached: bool,
    output: &mut Output,
) -> Result<(), WorkerError> {
    let mut worker = wait_and_take(home, limits, detached)?;
    worker_log::begin(home);
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
    note_worker_fault(home, None);
    let mut watch = Watch::new(home, until_idle, detached);
    let ended = worker.run(|worker, turn| watch.look(worker, turn, output));
    tracing::info!("worker ended");
    ended
}

/// Who goes on as the worker.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// This process.
    ToUs,
    /// One that was started for it.
    ToAnother,
}

/// Gets out of reach of the terminal that started us. Whoever leads a group of processes cannot leave
/// its session, so another process of ours does it.
///
/// Nobody asks who leads our session: in a container that may be a process outside of it, which has no
/// number here.
fn leave_terminal() -> Left {
    let is_second = std::env::var_os(LEAVING_VARIABLE).is_some();
    if rustix::process::setsid().is_ok() || is_second {
        return Left::ToUs;
    }
    let started = home::our_program().and_then(|program| {
        let mut command = std::process::Command::new(program);
        command.args(std::env::args_os().skip(1));
        command.env(LEAVING_VARIABLE, "1").spawn()
    });
    // Without another process the group of our own has to do.
    started.map_or(Left::ToUs, |_| Left::ToAnother)
}

/// What the worker tells of itself between turns, and when it may end.
struct Watch<'a> {
    home: &'a Home,
    until_idle: bool,
    /// Nobody waits for our end.
    detached: bool,
    idle_since: Option<Instant>,
    hindered: Option<Hindrance>,
    n_sweeps: u32,
}

impl<'a> Watch<'a> {
    fn new(home: &'a Home, until_idle: bool, detached: bool) -> Self {
        Self {
            home,
            until_idle,
            detached,
            idle_since: None,
            hindered: None,
            n_sweeps: 0,
        }
    }

    /// Says whether the worker should end.
    fn look(&mut self, worker: &Worker, turn: Turn, output: &mut Output) -> bool {
        self.tell_of_sweeps(worker, output);
        if turn.hindered != self.hindered {
            self.hindered = turn.hindered;
            let words = match self.hindered {
                Some(Hindrance::DiskFull) => Some("the disk is full; all loops wait for room"),
                Some(Hindrance::JournalBusy) => {
                    Some("the journal is held by somebody else; all loops wait for it")
                }
                None => None,
            };
            note_worker_fault(self.home, words);
            let words = words.unwrap_or("all loops go on");
            tracing::warn!(words, "worker hindered");
            output.talk(&format!("{words}\n"));
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

/// A worker that was started on demand looks again for a moment: the other one may be about to end
/// for want of work.
fn wait_and_take(home: &Home, limits: WorkerLimits, patient: bool) -> Result<Worker, WorkerError> {
    const TRIES: u32 = 8;
    const PAUSE: Duration = Duration::from_millis(250);
    for _ in 1..if patient { TRIES } else { 1 } {
        match take(home, limits) {
            Err(WorkerError::AlreadyRunning(_)) => std::thread::sleep(PAUSE),
            taken => return taken,
        }
    }
    take(home, limits)
}

/// Becomes the worker.
fn take(home: &Home, limits: WorkerLimits) -> Result<Worker, WorkerError> {
    let journal = Journal::open_within(home.root(), JOURNAL_WAIT)?;
    let log: Arc<dyn Log> = crash_switch::watched(Arc::new(journal));
    let limits = Limits {
        agents_max: limits.agents_max,
        checks_max: limits.checks_max,
    };
    Worker::take(ports(home)?, log, limits, Execution::Threads)
}

fn ports(home: &Home) -> Result<Ports, WorkerError> {
    let program = home::our_program().map_err(|source| WorkerError::Io {
        attempt: "find our own program",
        path: "/proc/self/exe".into(),
        source,
    })?;
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
