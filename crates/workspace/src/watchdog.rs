//! Kills a git process that takes too long, or whose work nobody wants any more, together with
//! everything that it started.
//!
//! It signals the child's process group only while nobody has waited for the child: until then the
//! kernel cannot give the same id to another group.

use std::cell::RefCell;
use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

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
        let look = move || {
            // Nothing is ever sent. Dropping the sender disconnects the channel, which also covers
            // a caller that returns early or panics.
            let reason = match wait(&is_over, time_max, abort.as_deref()) {
                Some(Early::TimeIsOver) => &self.has_fired,
                Some(Early::Aborted) => &self.was_aborted,
                None => return,
            };
            reason.store(true, Ordering::Release);
            self.kill();
        };
        thread::Builder::new().spawn_scoped(scope, look)?;
        Ok(watch)
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
        if abort.is_some_and(|abort| abort.load(Ordering::Acquire)) {
            return Some(Early::Aborted);
        }
        let left = time_max.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Some(Early::TimeIsOver);
        }
        let look = if abort.is_some() {
            LOOK.min(left)
        } else {
            left
        };
        match is_over.recv_timeout(look) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
