//! Hooks right before and right after each write of a file in a run folder.
//!
//! They do nothing unless a watcher is set. Crash tests set one that kills the process there.

use std::sync::OnceLock;

static WATCHER: OnceLock<fn(&str)> = OnceLock::new();

/// Calls `watcher` at every such moment in this process. Only the first call has an effect.
pub fn watch_writes(watcher: fn(&str)) {
    let _ = WATCHER.set(watcher);
}

/// Tells the watcher that a file is about to be written (`before`) or has been (`after`).
pub(crate) fn moment(when: &str, name: &str) {
    if let Some(watcher) = WATCHER.get() {
        watcher(&format!("{when} {name}"));
    }
}
