//! The moments right before and right after each move of a ref and each change of an operator's
//! file.
//!
//! Nothing happens at them unless a watcher was set, as a crash test does, whose watcher ends the
//! process there.

use std::sync::OnceLock;

static WATCHER: OnceLock<fn(&str)> = OnceLock::new();

/// Lets a test be there at every moment of this process from now on; the first watcher stays.
pub fn watch_changes(watcher: fn(&str)) {
    let _ = WATCHER.set(watcher);
}

/// Something is about to be changed, or has just been.
pub(crate) fn moment(when: &str, name: &str) {
    if let Some(watcher) = WATCHER.get() {
        watcher(&format!("{when} {name}"));
    }
}
