//! The local turn: goes over the loops that are not over, hands out what is owed, records what came
//! of it.
//!
//! One turn never waits for an agent or for a deed. Everything that the worker knows is in the log
//! and in the files of the runs, so it may die between any two instructions: the next one asks
//! `decide` again, and whoever carries out an order looks for its earlier self first.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use home::{LoadError, Redactor, WakePipe, now_ms, sign_lock};
use journal::{AppendError, Fence, JournalError, NewRecord};
use kernel::{Deed, EndReason, Event, Order, Stamped, decide};
use rustix::fs::{FlockOperation, flock};

use crate::fault::Fault;
use crate::local::deeds::{Deeds, Done, Execution};
use crate::local::patience::Patience;
use crate::local::slots::{Busy, Limits, RECORDS_PER_TURN_MAX, open_now, running_stages};
use crate::local::sweep::{SweepScope, Sweeper, Swept, give_up_racks};
use crate::local::tracked::Tracked;
use crate::local::waker::Waker;
use crate::orders::run::is_under_way;
use crate::ports::{Log, Ports};
use crate::redaction::{known_or_seen, redacted, with_relative_paths};

/// How long the worker's lease lasts without being renewed.
const LEASE_MS: i64 = 30_000;

/// How long a worker sleeps at most, in case that nobody wakes it: while agents run, and otherwise.
const LOOK_AT_RUNS: Duration = Duration::from_millis(500);
const LOOK_AROUND: Duration = Duration::from_secs(2);

/// How long it sleeps while something keeps all loops from going on: whatever is tried costs
/// something each time.
const HINDERED: Duration = Duration::from_secs(1);

/// Why there is no worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Another one is at work.
    #[error("another worker is at work in `{0}`")]
    AlreadyRunning(PathBuf),
    /// The state folder cannot be used.
    #[error("cannot {attempt} `{path}`")]
    Io {
        /// What was tried.
        attempt: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The journal cannot be used.
    #[error("cannot use the journal")]
    Journal(#[from] JournalError),
    /// An event cannot be written as JSON.
    #[error("cannot write a record")]
    Record(#[from] serde_json::Error),
}

/// What keeps all loops from going on, until it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// There is no room for what must be written.
    DiskFull,
    /// Somebody else holds the journal.
    JournalBusy,
}

/// What a turn did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Something was recorded.
    pub moved: bool,
    /// Loops that are not over.
    pub live: usize,
    /// Loops that are over and whose accepted work is not published yet.
    pub owing: usize,
    /// Runs under way.
    pub running: usize,
    /// What kept it from doing more.
    pub hindered: Option<Hindrance>,
}

/// The one worker of a state folder.
pub struct Worker {
    ports: Arc<Ports>,
    log: Arc<dyn Log>,
    fence: Fence,
    lease_until_ms: i64,
    loops: BTreeMap<String, Tracked>,
    /// What the log's mark was when the loops were last read.
    change_mark: Option<i64>,
    limits: Limits,
    deeds: Deeds,
    disk_full: bool,
    /// Somebody else held the journal at the last write. Whether they still do is tried before
    /// anything else: a turn that has nothing to write would not notice it.
    journal_held: bool,
    patience: Patience,
    waker: Waker,
    sweeper: Sweeper,
    pipe: Option<WakePipe>,
    /// Held as long as the worker lives; the second one is for those who wait for its end.
    _locks: [File; 2],
}

impl Worker {
    /// Becomes the worker of a state folder.
    pub fn take(
        ports: Ports,
        log: Arc<dyn Log>,
        limits: Limits,
        execution: Execution,
    ) -> Result<Self, WorkerError> {
        let home = ports.home.clone();
        let already = || WorkerError::AlreadyRunning(home.root().to_owned());
        let lock = locked(
            &home.worker_lock(),
            FlockOperation::NonBlockingLockExclusive,
        )?;
        let lock = lock.ok_or_else(already)?;
        sign_lock(&lock);
        let alive = locked(&home.alive_lock(), FlockOperation::LockExclusive)?;
        let alive = alive.ok_or_else(already)?;
        // The lock says that no other worker of this folder lives, so a lease that is still open is
        // a dead worker's. The newer token shuts that one out.
        let fence = log.take_lease(now_ms(), LEASE_MS)?.ok_or_else(already)?;
        Ok(Self {
            ports: Arc::new(ports),
            log,
            fence,
            lease_until_ms: now_ms() + LEASE_MS,
            loops: BTreeMap::new(),
            change_mark: None,
            limits,
            deeds: Deeds::new(execution),
            disk_full: false,
            journal_held: false,
            patience: Patience::default(),
            waker: Waker::default(),
            sweeper: Sweeper::default(),
            pipe: WakePipe::open(&home).ok(),
            _locks: [lock, alive],
        })
    }

    /// Goes once over all loops and does everything that can be done now. A full disk is no fault,
    /// nor is a journal that somebody else holds: everything waits.
    pub fn turn(&mut self) -> Result<Turn, WorkerError> {
        self.disk_full = false;
        let hindrance = match self.go_over_loops() {
            Err(WorkerError::Journal(JournalError::DiskFull { .. })) => Hindrance::DiskFull,
            Err(WorkerError::Journal(JournalError::Busy { .. })) => {
                self.journal_held = true;
                Hindrance::JournalBusy
            }
            turn => return turn,
        };
        Ok(Turn {
            moved: false,
            live: self.loops.len().max(1),
            owing: 0,
            running: 0,
            hindered: Some(hindrance),
        })
    }

    fn go_over_loops(&mut self) -> Result<Turn, WorkerError> {
        self.keep_lease()?;
        self.read_news()?;
        let mut moved = self.record_finished()?;
        for loop_id in self.loops.keys().cloned().collect::<Vec<_>>() {
            moved |= self.advance(&loop_id)?;
        }
        self.deeds.forget_old();
        self.loops.retain(|_, tracked| !tracked.is_settled());
        Ok(Turn {
            moved,
            live: self.n_live(),
            owing: self.loops.len() - self.n_live(),
            running: self
                .loops
                .values()
                .map(|tracked| running_stages(&tracked.state).len())
                .sum(),
            hindered: self.disk_full.then_some(Hindrance::DiskFull),
        })
    }

    /// Takes turns until `done` says so, and sleeps between them until something happens: a request,
    /// a run's end, a deed's end, or a time.
    pub fn run(&mut self, mut done: impl FnMut(&Self, Turn) -> bool) -> Result<(), WorkerError> {
        loop {
            let turn = self.turn()?;
            self.sweep_when_due();
            if done(self, turn) {
                return Ok(());
            }
            if !turn.moved {
                let longest = self.rest(turn);
                match &mut self.pipe {
                    Some(pipe) => {
                        if pipe.wait(longest) {
                            self.deeds.hurry_all();
                        }
                    }
                    None => std::thread::sleep(longest.min(LOOK_AT_RUNS)),
                }
            }
        }
    }

    /// How long nothing is to be done, if nobody wakes us.
    fn rest(&self, turn: Turn) -> Duration {
        if turn.hindered.is_some() {
            return HINDERED;
        }
        let mut rest = if turn.running > 0 || !self.deeds.is_idle() || turn.live == 0 {
            LOOK_AT_RUNS
        } else {
            LOOK_AROUND
        };
        if let Some(due) = self.deeds.next_due() {
            rest = rest.min(due.saturating_duration_since(Instant::now()));
        }
        let now = (self.ports.clock)();
        for tracked in self.loops.values() {
            for wait in tracked.state.waits() {
                let left_ms = u64::try_from(wait.until_ms - now).unwrap_or_default();
                rest = rest.min(Duration::from_millis(left_ms));
            }
        }
        // A pause of no length would make a busy loop of a wait that cannot end yet.
        rest.max(Duration::from_millis(5))
    }

    /// A loop as the worker knows it; none once it is over.
    pub fn tracked(&self, loop_id: &str) -> Option<&Tracked> {
        self.loops.get(loop_id)
    }

    /// How many sweeps there were, and what the last one found.
    pub fn last_sweep(&self) -> (u32, &Swept) {
        self.sweeper.last()
    }

    fn sweep_when_due(&mut self) {
        self.sweeper.sweep_when_due(&SweepScope {
            ports: &self.ports,
            log: &self.log,
            live: &self.loops,
        });
    }

    fn n_live(&self) -> usize {
        let is_live = |tracked: &&Tracked| tracked.state.ended().is_none();
        self.loops.values().filter(is_live).count()
    }

    fn keep_lease(&mut self) -> Result<(), WorkerError> {
        let path = self.ports.home.worker_lock();
        let now = now_ms();
        if matches!(path.try_exists(), Ok(false)) {
            // The folder was taken away: what we still hold open is nobody's any more, and we would
            // work on it for ever.
            return Err(WorkerError::Io {
                attempt: "find our own lock",
                path,
                source: io::ErrorKind::NotFound.into(),
            });
        }
        if !self.journal_held && now + LEASE_MS / 2 < self.lease_until_ms {
            return Ok(());
        }
        if !self.log.renew_lease(&self.fence, now, LEASE_MS)? {
            return Err(self.already_running());
        }
        self.lease_until_ms = now + LEASE_MS;
        self.journal_held = false;
        Ok(())
    }

    fn already_running(&self) -> WorkerError {
        WorkerError::AlreadyRunning(self.ports.home.root().to_owned())
    }

    /// Reads what others recorded. Loops that are over are not loaded: only the kind of their last
    /// record is looked at, and only when somebody has written anything.
    fn read_news(&mut self) -> Result<(), WorkerError> {
        let mark = self.log.change_mark()?;
        if self.change_mark == Some(mark) {
            return Ok(());
        }
        let heads = self.log.heads()?;
        let mut known: Vec<String> = Vec::new();
        for head in heads {
            let loop_id = head.row.loop_id;
            let is_over = head.last_kind.as_deref().is_some_and(kernel::is_over);
            if head.row.quarantine.is_some() || is_over {
                self.loops.remove(&loop_id);
                continue;
            }
            let is_new = match self.loops.get(&loop_id) {
                Some(tracked) => tracked.last < head.row.last,
                None => true,
            };
            if is_new {
                self.read_loop(&loop_id)?;
                // Whoever wrote something may have cleared what stood in the way.
                self.deeds.hurry(&loop_id);
            }
            known.push(loop_id);
        }
        // A loop that was removed takes its runs with it; the sweeper sees to those.
        self.loops.retain(|loop_id, _| known.contains(loop_id));
        self.change_mark = Some(mark);
        Ok(())
    }

    /// Reads one loop. One that cannot be read is set apart and holds no slot; the others go on.
    fn read_loop(&mut self, loop_id: &str) -> Result<(), WorkerError> {
        let read = match self.loops.get_mut(loop_id) {
            Some(tracked) => tracked.catch_up(&*self.log, loop_id),
            None => Tracked::load(&*self.log, loop_id).map(|tracked| {
                self.loops.insert(loop_id.to_owned(), tracked);
            }),
        };
        match read {
            Ok(()) => Ok(()),
            Err(LoadError::Journal(error)) => Err(WorkerError::Journal(error)),
            Err(error) => self.set_apart(loop_id, &error.to_string()),
        }
    }

    fn set_apart(&mut self, loop_id: &str, why: &str) -> Result<(), WorkerError> {
        tracing::error!(loop_id, why, "loop quarantined");
        self.loops.remove(loop_id);
        Ok(self.log.quarantine(loop_id, why)?)
    }

    fn record_finished(&mut self) -> Result<bool, WorkerError> {
        let mut moved = false;
        for done in self.deeds.finished() {
            moved |= self.take_done(done)?;
        }
        Ok(moved)
    }

    /// Hands out what one loop is owed; says whether anything was recorded.
    fn advance(&mut self, loop_id: &str) -> Result<bool, WorkerError> {
        let mut moved = false;
        for _ in 0..RECORDS_PER_TURN_MAX {
            let Some(tracked) = self.loops.get(loop_id) else {
                break;
            };
            if tracked.state.cancel_reason().is_some() {
                self.deeds.abort(loop_id);
            }
            let issued_at = tracked.last;
            let busy = Busy::of(self.loops.values().map(|tracked| &tracked.state));
            let mut has_recorded = false;
            for order in open_now(decide(&tracked.state), busy, self.limits) {
                has_recorded = self.hand_out(order, issued_at)?;
                if has_recorded {
                    break;
                }
            }
            if !has_recorded {
                break;
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Sees to one order; says whether something was recorded, so that all is to be decided anew.
    fn hand_out(&mut self, order: Order, issued_at: u64) -> Result<bool, WorkerError> {
        if let Some(event) = order.deed.decision() {
            return self.record(&order.loop_id, event, issued_at);
        }
        if let Deed::Wait(wait) = &order.deed {
            let now_ms = (self.ports.clock)();
            let is_over = self.patience.is_over(&order.loop_id, wait, now_ms);
            let ended = || is_over.then(|| wait.ended());
            return match wait.event(now_ms).or_else(ended) {
                Some(event) => self.record(&order.loop_id, event, issued_at),
                None => {
                    self.waker.see_to(&self.ports.program, &self.ports.home);
                    Ok(false)
                }
            };
        }
        self.deeds.hear_of_an_end(&order, &self.ports);
        if !self.deeds.is_free(&order) {
            return Ok(false);
        }
        if matches!(order.deed, Deed::Integrate { .. })
            && self.has_news(&order.loop_id, issued_at)?
        {
            // What somebody asked for just now, such as a cancel, comes before a landing.
            return Ok(true);
        }
        if let Deed::Run(run) = &order.deed
            && is_under_way(&order, run, &self.ports)
        {
            return Ok(false);
        }
        self.deeds.begin(order, issued_at, &self.ports);
        self.record_finished()
    }

    /// Whether somebody else recorded something of a loop; if so, it is taken in.
    fn has_news(&mut self, loop_id: &str, known: u64) -> Result<bool, WorkerError> {
        self.read_news()?;
        let last = self.loops.get(loop_id).map(|tracked| tracked.last);
        Ok(last != Some(known))
    }

    /// Records what came of a deed. A fault is written to the loop's folder, for people to see.
    fn take_done(&mut self, done: Done) -> Result<bool, WorkerError> {
        let loop_id = &done.order.loop_id;
        let fault_file = self.ports.home.loop_folder(loop_id).join("fault");
        match done.result {
            Ok(Some(event)) => {
                let _ = std::fs::remove_file(fault_file);
                self.record_done(loop_id, event, done.issued_at)
            }
            // What delays it is in the journal already.
            Ok(None) | Err(Fault::Aborted | Fault::Delayed { .. }) => Ok(false),
            Err(Fault::DiskFull) => {
                self.disk_full = true;
                give_up_racks(&self.ports.home, self.loops.keys());
                Ok(false)
            }
            Err(fault) => {
                let known = known_or_seen(&self.ports.home, loop_id);
                let words = fault.words();
                let words = Redactor::new(&known).text(&words).into_owned();
                let _ = std::fs::write(&fault_file, words);
                match question_of(&done.order, &fault) {
                    Some(event) => {
                        let _ = std::fs::remove_file(fault_file);
                        self.record(loop_id, event, done.issued_at)
                    }
                    None => Ok(false),
                }
            }
        }
    }

    /// Records what was done outside. Where somebody else recorded something meanwhile, all is decided
    /// anew, but for a landing or a retraction: the branch has moved, whatever was asked for since.
    fn record_done(
        &mut self,
        loop_id: &str,
        event: Event,
        issued_at: u64,
    ) -> Result<bool, WorkerError> {
        match self.append(loop_id, event.clone(), issued_at)? {
            Appended::Overtaken
                if matches!(event, Event::Integrated { .. } | Event::Retracted { .. }) =>
            {
                self.record(loop_id, event, issued_at).map(|_| true)
            }
            appended => Ok(appended != Appended::No),
        }
    }

    /// Records an event, unless somebody else recorded something first: then that is taken in, and
    /// all is decided anew.
    fn record(&mut self, loop_id: &str, event: Event, issued_at: u64) -> Result<bool, WorkerError> {
        let appended = self.append(loop_id, event, issued_at)?;
        Ok(appended != Appended::No)
    }

    fn append(
        &mut self,
        loop_id: &str,
        event: Event,
        issued_at: u64,
    ) -> Result<Appended, WorkerError> {
        let Some(tracked) = self.loops.get_mut(loop_id) else {
            return Ok(Appended::No);
        };
        let known = known_or_seen(&self.ports.home, loop_id);
        let event = redacted(event, &known, tracked.state.spec())?;
        let stamped = Stamped {
            at_ms: (self.ports.clock)(),
            event: with_relative_paths(event, tracked.state.spec())?,
        };
        let mut next = tracked.state.clone();
        if let Err(illegal) = next.apply(&stamped) {
            if tracked.last != issued_at {
                // The loop moved on while the deed was done; whatever is still owed is owed again.
                return Ok(Appended::No);
            }
            let why = format!("the worker came to an illegal move: {illegal}");
            self.set_apart(loop_id, &why)?;
            return Ok(Appended::No);
        }
        if !next.waits().is_empty() {
            // From the moment that a wait is recorded it must end by itself, with or without us.
            self.waker.see_to(&self.ports.program, &self.ports.home);
        }
        let body = serde_json::to_string(&stamped.event)?;
        let record = NewRecord {
            at_ms: stamped.at_ms,
            kind: kernel::record_kind(&stamped.event, &next),
            body: &body,
        };
        match self.log.append(loop_id, tracked.last, &self.fence, record) {
            Ok(last) => {
                tracked.state = next;
                tracked.last = last;
                Ok(Appended::Yes)
            }
            Err(AppendError::Conflict { .. }) => {
                self.read_loop(loop_id)?;
                Ok(Appended::Overtaken)
            }
            Err(AppendError::Fenced) => Err(self.already_running()),
            // The loop waits with everything that it has; the next turn tries again.
            Err(AppendError::DiskFull) => {
                self.disk_full = true;
                Ok(Appended::No)
            }
            Err(AppendError::Quarantined { .. }) => {
                self.loops.remove(loop_id);
                Ok(Appended::No)
            }
            Err(AppendError::Journal(error)) => Err(WorkerError::Journal(error)),
        }
    }
}

/// What came of recording something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Appended {
    /// It is recorded.
    Yes,
    /// Somebody else recorded something first, which is taken in now.
    Overtaken,
    /// It is not recorded now, or not a move any more.
    No,
}

/// What is recorded of a step that only a person can help with: a question, or the end of a loop that
/// has not begun. Runs ask for themselves, and whatever ends a loop goes on trying.
fn question_of(order: &Order, fault: &Fault) -> Option<Event> {
    let question = fault.question()?;
    if let Deed::Prepare { .. } = &order.deed {
        let why = format!("{fault}, then start it again");
        let reason = EndReason::Failed { why };
        return Some(Event::LoopEnded { reason });
    }
    let (story, attempt) = order.attempt()?;
    Some(Event::Hindered {
        story: story.clone(),
        attempt,
        question,
    })
}

/// Opens and locks a file; none if somebody else has it.
fn locked(path: &Path, how: FlockOperation) -> Result<Option<File>, WorkerError> {
    let fault = |attempt| {
        move |source: io::Error| WorkerError::Io {
            attempt,
            path: path.to_owned(),
            source,
        }
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(fault("open"))?;
    match flock(&file, how) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(fault("lock")(error.into())),
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker that ends in good order does not make the next one wait.
        let _ = self.log.release_lease(&self.fence);
    }
}
