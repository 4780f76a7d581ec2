//! The worker, as everybody else sees it: whether one is there, and how to get one.
//!
//! Nobody talks to a worker. Whoever wants something writes it into the journal and sees to it that
//! a worker lives.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Journal;
use rustix::fs::{FlockOperation, flock};

use crate::folder::Home;
use crate::load::load;
use crate::utc::now_ms;

/// The variable that marks the processes of a run; see `sandbox::RUN_DIR_VARIABLE`.
pub(crate) const RUN_DIR_VARIABLE: &str = "LOOPWRIGHT_RUN_DIR";

/// How often a process that waits for a time looks whether somebody else does already.
const LOOK: Duration = Duration::from_secs(1);

/// How often it reads the waits again.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// How often and after which first pause a process is started again where the machine has none left.
const STARTS_MAX: u32 = 6;
const START_PAUSE: Duration = Duration::from_millis(100);

/// How long the end of a worker that was killed is waited for, and how often it is looked at.
const DYING_MAX: Duration = Duration::from_secs(10);
const DYING_LOOK: Duration = Duration::from_millis(5);

/// How the worker of a state folder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerState {
    /// There is none.
    Absent,
    /// One is at work. Its process is not known where it runs in another container.
    AtWork {
        /// Its process.
        pid: Option<u32>,
    },
    /// Its process was stopped, by a signal or a debugger: it holds the lock and does nothing.
    Stopped {
        /// Its process.
        pid: u32,
    },
}

impl WorkerState {
    /// Its process, where that is known.
    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Absent => None,
            Self::AtWork { pid } => pid,
            Self::Stopped { pid } => Some(pid),
        }
    }
}

/// Says how the worker stands: it holds the lock, and has written into it who it is.
pub fn worker_state(home: &Home) -> WorkerState {
    if !is_worker_there(home) {
        return WorkerState::Absent;
    }
    match signed_pid(home).filter(|pid| is_worker(*pid)) {
        Some(pid) if is_stopped(pid) => WorkerState::Stopped { pid },
        pid => WorkerState::AtWork { pid },
    }
}

/// Writes into the worker's lock, which the caller holds, who the worker is. Without it nobody knows
/// the worker's process, and everything else goes on.
pub fn sign_lock(mut lock: &File) {
    let _ = lock
        .set_len(0)
        .and_then(|()| writeln!(lock, "{}", std::process::id()));
}

/// The process that the lock names.
fn signed_pid(home: &Home) -> Option<u32> {
    let signed = fs::read_to_string(home.worker_lock()).ok()?;
    signed.trim().parse().ok()
}

/// Whether a process is a worker. The number in the lock may be one of another container.
fn is_worker(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"serve")
}

/// Whether a process is stopped: the letter after its name, which may itself hold anything.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    state.starts_with(['T', 't'])
}

/// Says whether a worker is at work: it holds the lock.
///
/// A worker that was killed holds its lock until the kernel has taken it apart, which takes a while on
/// a busy machine. It does no work any more, and whoever took it for one that does would start no
/// other. So its end is waited for.
pub fn is_worker_there(home: &Home) -> bool {
    let Ok(lock) = File::open(home.worker_lock()) else {
        return false;
    };
    let began = Instant::now();
    // Shared, so that two who look at the same time do not take each other for the worker.
    while flock(&lock, FlockOperation::NonBlockingLockShared).is_err() {
        if began.elapsed() > DYING_MAX || !signed_pid(home).is_some_and(is_dying) {
            return true;
        }
        std::thread::sleep(DYING_LOOK);
    }
    false
}

/// Whether a process was killed or has ended, and is still there: a kill is pending, or the kernel is
/// taking it apart.
fn is_dying(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    is_ending(&stat) || is_kill_pending(&status)
}

/// Reads a line of `/proc/PID/stat`. The name in it may itself hold anything, so the fields are counted
/// from behind it: the first is the state, and the seventh has the flags.
fn is_ending(stat: &str) -> bool {
    const EXITING: u32 = 0x4;
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let flags = fields
        .split(' ')
        .nth(6)
        .and_then(|flags| flags.parse().ok());
    fields.starts_with(['Z', 'X']) || flags.is_some_and(|flags: u32| flags & EXITING != 0)
}

/// Reads `/proc/PID/status`: the signals that are pending for the process and for its first thread.
fn is_kill_pending(status: &str) -> bool {
    const KILL: u64 = 1 << 8;
    status.lines().any(|line| {
        let pending = line
            .strip_prefix("SigPnd:")
            .or(line.strip_prefix("ShdPnd:"));
        let mask = pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & KILL != 0)
    })
}

/// Set for the process that leaves the terminal in another's place.
pub const LEAVING_VARIABLE: &str = "LOOPWRIGHT_LEAVING";

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
    // not end with it. Nor is it meant by a Ctrl-C in our terminal, from its first moment on.
    command.env_remove(RUN_DIR_VARIABLE).process_group(0);
    // Our own environment may be one that came from such a process.
    command.env_remove(LEAVING_VARIABLE);
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    start(&mut command)
}

/// Starts a process. A machine that has none left is asked again for a while.
fn start(command: &mut Command) -> io::Result<()> {
    let mut pause = START_PAUSE;
    for _ in 1..STARTS_MAX {
        match command.spawn() {
            Err(error) if is_passing(&error) => std::thread::sleep(pause),
            started => return started.map(drop),
        }
        pause *= 2;
    }
    command.spawn().map(drop)
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory
    )
}

/// Whoever keeps a worker alive by other means, such as a service manager, may want no other.
pub fn is_waking_off() -> bool {
    std::env::var_os("LOOPWRIGHT_WAKE").is_some_and(|value| value == "off")
}

/// Notes what keeps the worker from its work, for everybody who looks; none once nothing does.
pub fn note_worker_fault(home: &Home, fault: Option<&str>) {
    let path = home.worker_fault();
    // Without room it is not told, and nothing else is lost.
    let _ = match fault {
        Some(fault) => fs::write(path, fault),
        None => fs::remove_file(path),
    };
}

/// What keeps the worker from its work just now.
pub fn worker_fault(home: &Home) -> Option<String> {
    let fault = fs::read_to_string(home.worker_fault()).ok()?;
    Some(fault).filter(|fault| !fault.is_empty())
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
        let Some(left) = first_wait(home) else {
            return false;
        };
        // Counted by a clock that nobody can set. It stands still while the machine sleeps, so the
        // journal is looked at now and then.
        let began = Instant::now();
        let mut looked = began;
        while began.elapsed() < left && !is_worker_there(home) {
            std::thread::sleep(LOOK.min(left.saturating_sub(began.elapsed())));
            if looked.elapsed() > LOOK_AGAIN {
                looked = Instant::now();
                if first_wait(home).is_none_or(|left| left.is_zero()) {
                    break;
                }
            }
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

/// How long it is until the first loop that only waits must be looked at. A journal that cannot be
/// read now is looked at again soon: a worker would be wanted for that alone.
fn first_wait(home: &Home) -> Option<Duration> {
    let Ok(journal) = Journal::open(home.root()) else {
        return home.root().exists().then_some(LOOK);
    };
    let Ok(heads) = journal.heads() else {
        return Some(LOOK);
    };
    let live = heads.into_iter().filter(|head| {
        head.row.quarantine.is_none() && !head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    let left_ms = live.filter_map(|head| {
        let loaded = load(&journal, &head.row.loop_id).ok()?;
        loaded.state.waits_left_ms(now_ms())
    });
    let least = left_ms.min()?;
    Some(Duration::from_millis(
        u64::try_from(least).unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_dying_once_it_was_killed() {
        for (stat, expected) in [
            ("7 (loopwright) S 1 7 7 0 -1 4194304 1", false),
            ("7 (loopwright) R 1 7 7 0 -1 4194308 1", true),
            ("7 (loopwright) Z 1 7 7 0 -1 4194304 1", true),
            ("7 (a) Z 1 2) S 1 7 7 0 -1 4194304 1", false),
            ("", false),
        ] {
            assert_eq!(is_ending(stat), expected, "{stat}");
        }
        for (status, expected) in [
            (
                "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n",
                false,
            ),
            (
                "SigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n",
                true,
            ),
            (
                "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000102\n",
                true,
            ),
            (
                "SigBlk:\t0000000000000100\nShdPnd:\t0000000000000202\n",
                false,
            ),
        ] {
            assert_eq!(is_kill_pending(status), expected, "{status}");
        }
    }
}
