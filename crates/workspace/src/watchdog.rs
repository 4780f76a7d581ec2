//! Kills a git process that takes too long, together with everything that it started.
//!
//! It signals the child's process group only while nobody has waited for the child: until then the
//! kernel cannot give the same id to another group.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Watches one child, which must lead its own process group.
#[derive(Debug)]
pub(crate) struct Watchdog {
    child: Pid,
    has_fired: AtomicBool,
}

impl Watchdog {
    pub(crate) fn new(child: &Child) -> Self {
        Self {
            child: Pid::from_child(child),
            has_fired: AtomicBool::new(false),
        }
    }

    /// Kills the process group after `time_max`, unless the returned sender is dropped before.
    pub(crate) fn watch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        time_max: Duration,
    ) -> Sender<()> {
        let (watch, is_over) = mpsc::channel();
        scope.spawn(move || {
            // Nothing is ever sent. Dropping the sender disconnects the channel, which also covers
            // a caller that returns early or panics.
            if is_over.recv_timeout(time_max) == Err(RecvTimeoutError::Timeout) {
                self.has_fired.store(true, Ordering::Release);
                // It fails only if the group is gone already.
                let _ = kill_process_group(self.child, Signal::KILL);
            }
        });
        watch
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
}
