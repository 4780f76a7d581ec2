//! The worker: goes over all loops, carries out what is owed, records what came of it.
//!
//! One turn does everything that can be done now and never waits for an agent; those run under
//! keepers of their own. A worker may die between any two instructions.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use journal::{AppendError, Fence, Journal, JournalError, NewRecord};
use kernel::{Event, Stamped, decide};
use rustix::fs::{FlockOperation, flock};

use crate::home::Home;
use crate::loops::{LoadError, Loaded, load};
use crate::slots::{Busy, EFFECTS_PER_TURN_MAX, Limits, open_now, running_stages};
use crate::sweep::Sweeper;
use crate::waker::Wakers;

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How long the worker's lease lasts without being renewed.
const LEASE_MS: i64 = 30_000;

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
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The journal cannot be used.
    #[error("cannot use the journal")]
    Journal(#[from] journal::JournalError),
    /// The power was cut by a test.
    #[error("the crash switch was thrown")]
    Crashed,
}

/// A moment at which a test may cut the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Right before a record is written.
    BeforeRecord,
    /// Right after a record was written.
    AfterRecord,
    /// Right after something outside was done, and before that is recorded.
    AfterDeed,
}

/// Tells the time in milliseconds since 1970.
pub type Clock = Box<dyn Fn() -> i64>;

/// Says at each moment whether the power fails now.
pub type CrashSwitch = Box<dyn FnMut(Moment) -> bool>;

/// What a turn did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Something was recorded.
    pub moved: bool,
    /// Loops that are not over.
    pub live: usize,
    /// Runs under way.
    pub running: usize,
    /// Something could not be written because the disk is full; it waits for room.
    pub disk_full: bool,
}

/// The one worker of a state folder.
pub struct Worker {
    pub(crate) home: Home,
    pub(crate) journal: Journal,
    pub(crate) program: PathBuf,
    fence: Fence,
    lease_until_ms: i64,
    loops: BTreeMap<String, Loaded>,
    limits: Limits,
    pub(crate) disk_full: bool,
    crash: Option<CrashSwitch>,
    clock: Clock,
    /// When each run was launched by this worker: a keeper needs a moment until it can be seen.
    pub(crate) launched: BTreeMap<PathBuf, Instant>,
    pub(crate) wakers: Wakers,
    pub(crate) sweeper: Sweeper,
    /// What git said of objects.
    pub(crate) git_memory: workspace::Memory,
    _lock: File,
}

impl Worker {
    /// Becomes the worker of a state folder. `program` is ourselves, to be started as keepers.
    pub fn take(
        home: Home,
        program: &Path,
        agents_max: usize,
        checks_max: usize,
    ) -> Result<Self, WorkerError> {
        let journal = Journal::open(home.root())?;
        let path = home.worker_lock();
        let fault = |attempt, path: &Path| {
            let path = path.to_owned();
            move |source| WorkerError::Io {
                attempt,
                path,
                source,
            }
        };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(fault("open", &path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(WorkerError::AlreadyRunning(home.root().to_owned()));
            }
            Err(error) => return Err(fault("lock", &path)(error.into())),
        }
        // The lock says that no other worker of this folder lives, so a lease that is still open is
        // a dead worker's; one name for all lets the next take it over at once, and the newer token
        // shuts the old one out.
        let lease =
            journal.take_lease("worker", "the worker of this folder", now_ms(), LEASE_MS)?;
        let fence = lease.ok_or_else(|| WorkerError::AlreadyRunning(home.root().to_owned()))?;
        let lease_until_ms = now_ms() + LEASE_MS;
        let program = program.to_owned();
        let (loops, launched, crash, clock) =
            (BTreeMap::new(), BTreeMap::new(), None, Box::new(now_ms));
        Ok(Self {
            home,
            journal,
            program,
            fence,
            lease_until_ms,
            loops,
            limits: Limits {
                agents_max,
                checks_max,
            },
            disk_full: false,
            crash,
            clock,
            launched,
            wakers: Wakers::default(),
            sweeper: Sweeper::default(),
            git_memory: workspace::Memory::default(),
            _lock: lock,
        })
    }

    /// Lets a test stop the time that records are stamped with.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The time, as records are stamped with it.
    pub(crate) fn time_ms(&self) -> i64 {
        (self.clock)()
    }

    /// Lets a test cut the power.
    pub fn set_crash_switch(&mut self, switch: CrashSwitch) {
        self.crash = Some(switch);
    }

    /// Goes once over all loops and does everything that can be done now. A full disk is no fault:
    /// everything waits.
    pub fn turn(&mut self) -> Result<Turn, WorkerError> {
        self.disk_full = false;
        match self.go_over_loops() {
            Err(WorkerError::Journal(JournalError::DiskFull { .. })) => {
                let live = self
                    .loops
                    .values()
                    .filter(|loaded| loaded.state.ended().is_none())
                    .count();
                Ok(Turn {
                    moved: false,
                    live: live.max(1),
                    running: 0,
                    disk_full: true,
                })
            }
            turn => turn,
        }
    }

    fn go_over_loops(&mut self) -> Result<Turn, WorkerError> {
        self.keep_lease()?;
        let mut turn = Turn {
            moved: false,
            live: 0,
            running: 0,
            disk_full: false,
        };
        for loop_id in self.read_all()? {
            turn.moved |= self.advance(&loop_id)?;
            if let Some(loaded) = self.loops.get(&loop_id) {
                turn.live += usize::from(loaded.state.ended().is_none());
                turn.running += running_stages(&loaded.state).len();
            }
        }
        turn.disk_full = self.disk_full;
        Ok(turn)
    }

    /// Takes turns until `done` says so, with a short rest between them.
    pub fn run(&mut self, mut done: impl FnMut(&Self, Turn) -> bool) -> Result<(), WorkerError> {
        const REST: Duration = Duration::from_millis(25);
        const LONG_REST: Duration = Duration::from_millis(100);
        const FULL_REST: Duration = Duration::from_secs(1);
        const QUIET_TURNS: u32 = 40;
        let mut quiet_turns = 0;
        loop {
            let turn = self.turn()?;
            self.sweep_when_due();
            if done(self, turn) {
                return Ok(());
            }
            quiet_turns = if turn.moved { 0 } else { quiet_turns + 1 };
            match quiet_turns {
                // Whatever was refused for want of room is tried again, and costs something each
                // time.
                _ if turn.disk_full => std::thread::sleep(FULL_REST),
                0 => {}
                // Something has just happened, and more is likely; later, nobody notices a tenth of
                // a second.
                1..=QUIET_TURNS => std::thread::sleep(REST),
                _ => std::thread::sleep(LONG_REST),
            }
        }
    }

    /// A loop as the worker knows it.
    pub fn loaded(&self, loop_id: &str) -> Option<&Loaded> {
        self.loops.get(loop_id)
    }

    /// The journal that it works on.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Reads what is new in all loops, before anything is begun: the runs of all of them count
    /// against the limits.
    fn read_all(&mut self) -> Result<Vec<String>, WorkerError> {
        let mut sound = Vec::new();
        for row in self.journal.loops()? {
            let read = if row.quarantine.is_some() {
                None
            } else {
                Some(self.catch_up(&row.loop_id))
            };
            match read {
                Some(Ok(())) => sound.push(row.loop_id),
                Some(Err(LoadError::Journal(error))) => return Err(WorkerError::Journal(error)),
                // One bad loop is set apart and holds no slot, and the others go on.
                Some(Err(error)) => {
                    self.loops.remove(&row.loop_id);
                    self.journal.quarantine(&row.loop_id, &error.to_string())?;
                }
                None => drop(self.loops.remove(&row.loop_id)),
            }
        }
        Ok(sound)
    }

    fn keep_lease(&mut self) -> Result<(), WorkerError> {
        let (path, now) = (self.home.worker_lock(), now_ms());
        if matches!(path.try_exists(), Ok(false)) {
            // The folder was taken away: what we still hold open is nobody's any more, and we would
            // work on it for ever.
            let source = io::ErrorKind::NotFound.into();
            return Err(WorkerError::Io {
                attempt: "find our own lock",
                path,
                source,
            });
        }
        if now + LEASE_MS / 2 < self.lease_until_ms {
            return Ok(());
        }
        if !self.journal.renew_lease(&self.fence, now, LEASE_MS)? {
            return Err(WorkerError::AlreadyRunning(self.home.root().to_owned()));
        }
        self.lease_until_ms = now + LEASE_MS;
        Ok(())
    }

    fn catch_up(&mut self, loop_id: &str) -> Result<(), LoadError> {
        match self.loops.get_mut(loop_id) {
            Some(loaded) => loaded.catch_up(&self.journal, loop_id).map(drop),
            None => {
                self.loops
                    .insert(loop_id.to_owned(), load(&self.journal, loop_id)?);
                Ok(())
            }
        }
    }

    /// Carries out what one loop is owed; says whether anything was recorded.
    fn advance(&mut self, loop_id: &str) -> Result<bool, WorkerError> {
        let mut moved = false;
        for _ in 0..EFFECTS_PER_TURN_MAX {
            let Some(loaded) = self.loops.get(loop_id) else {
                break;
            };
            let busy = Busy::of(self.loops.values().map(|loaded| &loaded.state));
            let mut recorded = false;
            for effect in open_now(decide(&loaded.state), busy, self.limits) {
                let Some(event) = self.carry_out(loop_id, &effect)? else {
                    continue;
                };
                recorded |= self.record(loop_id, event)?;
                break;
            }
            if !recorded {
                break;
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Records an event, unless somebody else recorded something first: then that is taken in, and
    /// all is decided anew.
    fn record(&mut self, loop_id: &str, event: Event) -> Result<bool, WorkerError> {
        self.crash_point(Moment::BeforeRecord)?;
        let at_ms = self.time_ms();
        let Some(loaded) = self.loops.get_mut(loop_id) else {
            return Ok(false);
        };
        let stamped = Stamped { at_ms, event };
        let mut next = loaded.state.clone();
        if let Err(illegal) = next.apply(&stamped) {
            let why = format!("the worker came to an illegal move: {illegal}");
            self.journal.quarantine(loop_id, &why)?;
            return Ok(false);
        }
        let body = serde_json::to_string(&stamped.event).unwrap_or_default();
        let record = NewRecord {
            at_ms: stamped.at_ms,
            kind: stamped.event.kind(),
            body: &body,
        };
        match self
            .journal
            .append(loop_id, loaded.last, Some(&self.fence), &[record])
        {
            Ok(last) => {
                (loaded.state, loaded.last) = (next, last);
                loaded.records.push(stamped);
                self.crash_point(Moment::AfterRecord)?;
                Ok(true)
            }
            Err(AppendError::Conflict { .. }) => {
                let again = self.catch_up(loop_id);
                if let Err(error) = again {
                    self.journal.quarantine(loop_id, &error.to_string())?;
                }
                Ok(true)
            }
            Err(AppendError::Fenced) => {
                Err(WorkerError::AlreadyRunning(self.home.root().to_owned()))
            }
            // The loop waits with everything that it has; the next turn tries again.
            Err(AppendError::DiskFull) => {
                self.disk_full = true;
                Ok(false)
            }
            Err(AppendError::Quarantined { .. }) => Ok(false),
            Err(AppendError::Journal(error)) => Err(WorkerError::Journal(error)),
        }
    }

    pub(crate) fn crash_point(&mut self, moment: Moment) -> Result<(), WorkerError> {
        let thrown = self.crash.as_mut().is_some_and(|switch| switch(moment));
        if thrown {
            Err(WorkerError::Crashed)
        } else {
            Ok(())
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker that ends in good order does not make the next one wait.
        let _ = self.journal.release_lease(&self.fence);
    }
}
