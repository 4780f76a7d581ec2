//! Kills a git process that takes too long, or whose work nobody wants any more, together with
//! everything that it started.
//!
//! It signals the child's process group only while nobody has waited for the child: until then the
//! kernel cannot give the same id to another group.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::heard::Heard;

/// How often a process that may be aborted is looked after.
const LOOK: Duration = Duration::from_millis(20);

thread_local! {
    /// Set while this thread does something that may be broken off.
    static ABORT: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does something in which every git process is killed once the flag is set.
///
/// The flag belongs to the thread and not to a repository, so that nothing between a deed and its
/// git commands has to hand it on.
pub fn abortable<T>(flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let before = ABORT.with(|abort| abort.replace(Some(flag)));
    let done = work();
    ABORT.with(|abort| *abort.borrow_mut() = before);
    done
}

/// Watches one child, which must lead its own process group.
#[derive(Debug)]
pub(crate) struct Watchdog {
    child: Pid,
    has_fired: AtomicBool,
    was_aborted: AtomicBool,
}

impl Watchdog {
    pub(crate) fn new(child: &Child) -> Self {
        Self {
            child: Pid::from_child(child),
            has_fired: AtomicBool::new(false),
            was_aborted: AtomicBool::new(false),
        }
    }

    /// Kills the process group after `time_max`, unless the returned sender is dropped before. The
    /// error is that no thread was to be had.
    pub(crate) fn watch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        time_max: Duration,
    ) -> io::Result<Sender<()>> {
        let (watch, is_over) = mpsc::channel();
        let abort = ABORT.with(|abort| abort.borrow().clone());
        let watcher = move || {
            // Nothing is ever sent. Dropping the sender disconnects the channel, which also covers
            // a caller that returns early or panics.
            if let Some(early) = wait(&is_over, time_max, abort.as_deref()) {
                self.end_early(&early);
            }
        };
        thread::Builder::new().spawn_scoped(scope, watcher)?;
        Ok(watch)
    }

    /// Reads what a child without input says, until it has exited. It needs no thread.
    pub(crate) fn listen(&self, pipes: &mut [Heard; 2], time_max: Duration) {
        let abort = ABORT.with(|abort| abort.borrow().clone());
        let began = Instant::now();
        let mut is_killed = false;
        // Where there is no such handle, the exit is waited for when the pipes are closed.
        let mut exit = pidfd_open(self.child, PidfdFlags::empty()).ok();
        while exit.is_some() || pipes.iter().any(Heard::is_open) {
            let patience = match look(began, time_max, abort.as_deref()) {
                _ if is_killed => None,
                Ok(patience) => Some(patience),
                Err(early) => {
                    self.end_early(&early);
                    is_killed = true;
                    None
                }
            };
            if wait_for_any(exit.as_ref(), pipes, patience) {
                exit = None;
            }
        }
        self.wait_for_exit();
    }

    fn end_early(&self, early: &Early) {
        let reason = match early {
            Early::TimeIsOver => &self.has_fired,
            Early::Aborted => &self.was_aborted,
        };
        reason.store(true, Ordering::Release);
        self.kill();
    }

    /// Kills the process group now.
    pub(crate) fn kill(&self) {
        // It fails only if the group is gone already.
        let _ = kill_process_group(self.child, Signal::KILL);
    }

    /// Waits until the child has exited, but leaves it a zombie (`NOWAIT`), so that its id stays
    /// reserved until the watchdog is off.
    pub(crate) fn wait_for_exit(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.child), options), Err(Errno::INTR)) {}
    }

    /// Whether the time ran out and the group was killed.
    pub(crate) fn has_fired(&self) -> bool {
        self.has_fired.load(Ordering::Acquire)
    }

    /// Whether the group was killed because nobody wants its work any more.
    pub(crate) fn was_aborted(&self) -> bool {
        self.was_aborted.load(Ordering::Acquire)
    }
}

/// Why a child is killed.
enum Early {
    TimeIsOver,
    Aborted,
}

/// Waits until the child is over; says why if it has to be killed before that.
fn wait(is_over: &Receiver<()>, time_max: Duration, abort: Option<&AtomicBool>) -> Option<Early> {
    let began = Instant::now();
    loop {
        let patience = match look(began, time_max, abort) {
            Ok(patience) => patience,
            Err(early) => return Some(early),
        };
        match is_over.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// How long to wait before the next look at the clock and at the flag, unless it is time to kill.
fn look(began: Instant, time_max: Duration, abort: Option<&AtomicBool>) -> Result<Duration, Early> {
    if abort.is_some_and(|abort| abort.load(Ordering::Acquire)) {
        return Err(Early::Aborted);
    }
    let left = time_max.saturating_sub(began.elapsed());
    match (left.is_zero(), abort) {
        (true, _) => Err(Early::TimeIsOver),
        (false, Some(_)) => Ok(LOOK.min(left)),
        (false, None) => Ok(left),
    }
}

/// Reads what is there to be read, and says whether the child has exited.
fn wait_for_any(exit: Option<&OwnedFd>, pipes: &mut [Heard], patience: Option<Duration>) -> bool {
    let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
    let open = exit.into_iter().map(AsFd::as_fd);
    let open = open.chain(pipes.iter().filter_map(Heard::fd));
    let mut polled: Vec<PollFd<'_>> = open
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    if poll(&mut polled, timeout.as_ref()).is_err() {
        return false;
    }
    let mut ready = polled.iter().map(|fd| !fd.revents().is_empty());
    let has_exited = exit.is_some() && ready.next().unwrap_or(false);
    let ready: Vec<bool> = ready.collect();
    let open = pipes.iter_mut().filter(|pipe| pipe.is_open());
    for (pipe, _) in open.zip(ready).filter(|(_, is_ready)| *is_ready) {
        pipe.take_in();
    }
    has_exited
}
