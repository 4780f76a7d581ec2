//! What verbs need of the worker: that there is one.

use std::path::PathBuf;

use home::Home;

use crate::failure::Failure;

/// Starts a worker in the background and wakes the one that may be there.
///
/// One is started even then: the other may be about to end for want of work, having looked for the
/// last time before our request. The new one waits for a moment and ends if it is not needed.
pub fn ensure_worker(home: &Home) -> Result<(), Failure> {
    home::wake_worker(home);
    home::ensure_worker(home, &program()?)
        .map_err(|error| Failure::environment("cannot start a worker", &error))
}

fn program() -> Result<PathBuf, Failure> {
    home::our_program().map_err(|error| Failure::environment("cannot find our own program", &error))
}
