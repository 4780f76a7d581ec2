//! Ends a git that takes too long, with everything that it started.
//!
//! It signals the process group of a child that was not yet waited for, so that the number cannot
//! name another group.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Our patience with one child that leads a process group of its own.
#[derive(Debug)]
pub(crate) struct Patience {
    child: Pid,
    is_lost: AtomicBool,
}

impl Patience {
    pub(crate) fn with(child: &Child) -> Self {
        Self {
            child: Pid::from_child(child),
            is_lost: AtomicBool::new(false),
        }
    }

    /// Kills the group when the time is over, unless what is returned was dropped before.
    pub(crate) fn watch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        time_max: Duration,
    ) -> Sender<()> {
        let (watch, is_over) = mpsc::channel();
        scope.spawn(move || {
            if is_over.recv_timeout(time_max) == Err(RecvTimeoutError::Timeout) {
                self.is_lost.store(true, Ordering::Release);
                // It fails only if the group is gone already.
                let _ = kill_process_group(self.child, Signal::KILL);
            }
        });
        watch
    }

    /// Waits until the child has ended, and leaves its status where it is.
    pub(crate) fn wait_for_end(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.child), options), Err(Errno::INTR)) {}
    }

    /// Whether it was killed.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }
}
