//! What verbs need of the worker: that there is one.

use std::path::PathBuf;

use home::Home;

use crate::failure::Failure;

/// Starts a worker in the background, unless one is there, and wakes it.
pub fn ensure_worker(home: &Home) -> Result<(), Failure> {
    home::wake_worker(home);
    if home::is_worker_there(home) {
        return Ok(());
    }
    start_worker(home)
}

/// Sees to it that a new loop finds a worker.
///
/// One is started even if another is there: that one may be about to end for want of work, having
/// looked for the last time before the loop's first record. The new one waits for a moment and ends
/// if it is not needed.
pub(super) fn worker_for_new_loop(home: &Home) -> Result<(), Failure> {
    home::wake_worker(home);
    start_worker(home)
}

fn start_worker(home: &Home) -> Result<(), Failure> {
    home::ensure_worker(home, &program()?)
        .map_err(|error| Failure::environment("cannot start a worker", &error))
}

fn program() -> Result<PathBuf, Failure> {
    home::our_program().map_err(|error| Failure::environment("cannot find our own program", &error))
}
