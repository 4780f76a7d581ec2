//! The worker, as everybody else sees it: whether one is there, and how to get one.
//!
//! Nobody talks to a worker. Whoever wants something writes it into the journal and sees to it that
//! a worker lives.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use journal::Journal;
use rustix::fs::{FlockOperation, flock};

use crate::folder::Home;
use crate::load::load;
use crate::utc::now_ms;

/// The variable that marks the processes of a run; see `sandbox::RUN_DIR_VARIABLE`.
const RUN_DIR_VARIABLE: &str = "LOOPWRIGHT_RUN_DIR";

/// How often a process that waits for a time looks whether somebody else does already.
const LOOK: Duration = Duration::from_secs(1);

/// Says whether a worker is at work: it holds the lock.
pub fn is_worker_there(home: &Home) -> bool {
    let Ok(lock) = File::open(home.worker_lock()) else {
        return false;
    };
    // Shared, so that two who look at the same time do not take each other for the worker.
    flock(&lock, FlockOperation::NonBlockingLockShared).is_err()
}

/// Starts a worker in the background, unless one is there: the second would end at once.
pub fn ensure_worker(home: &Home, program: &Path) -> io::Result<()> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(home.worker_log())?;
    let errors = log.try_clone()?;
    let mut command = Command::new(program);
    command
        .args(["serve", "--until-idle", "--detached"])
        .env("LOOPWRIGHT_HOME", home.root());
    // A worker serves all loops: it is no part of the run whose agent may have called us, and does
    // not end with it.
    command.env_remove(RUN_DIR_VARIABLE);
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    command.spawn().map(drop)
}

/// Waits beside a worker: until it has ended, and then until the first loop that waits must be looked
/// at. Says whether a worker is wanted then. It costs nothing while a worker lives, and one such
/// process is enough for a state folder.
pub fn wait_beside(home: &Home) -> bool {
    let Some(_only_one) = locked(&home.waker_lock(), FlockOperation::NonBlockingLockExclusive)
    else {
        return false;
    };
    loop {
        // Blocks until no worker lives.
        if locked(&home.alive_lock(), FlockOperation::LockShared).is_none() {
            return false;
        }
        let Some(until_ms) = first_wait(home) else {
            return false;
        };
        while now_ms() < until_ms && !is_worker_there(home) {
            let left_ms = u64::try_from(until_ms - now_ms()).unwrap_or_default();
            std::thread::sleep(LOOK.min(Duration::from_millis(left_ms)));
        }
        if !is_worker_there(home) {
            return true;
        }
        // The new worker may not have taken its second lock yet.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Opens and locks a file; none if somebody else has it or it cannot be made.
fn locked(path: &Path, how: FlockOperation) -> Option<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .ok()?;
    flock(&file, how).ok().map(|()| file)
}

/// When the first loop that only waits must be looked at.
fn first_wait(home: &Home) -> Option<i64> {
    let journal = Journal::open(home.root()).ok()?;
    let heads = journal.heads().ok()?;
    let live = heads.into_iter().filter(|head| {
        head.row.quarantine.is_none() && !head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    live.filter_map(|head| {
        let loaded = load(&journal, &head.row.loop_id).ok()?;
        loaded.state.waits_until_ms()
    })
    .min()
}
