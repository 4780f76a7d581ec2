//! Hooks right before and right after each move of a ref, each change of an operator's file, and each
//! step in which a tree or a root is made.
//!
//! They do nothing unless a watcher is set. Crash tests set one that kills the process there.

use std::sync::OnceLock;

static WATCHER: OnceLock<fn(&str)> = OnceLock::new();

/// Calls `watcher` at every such moment in this process. Only the first call has an effect.
pub fn watch_changes(watcher: fn(&str)) {
    let _ = WATCHER.set(watcher);
}

/// Tells the watcher that a change is about to happen (`before`) or has happened (`after`).
pub fn moment(when: &str, name: &str) {
    if let Some(watcher) = WATCHER.get() {
        watcher(&format!("{when} {name}"));
    }
}
