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
    home::ensure_worker(home, &program()?)
        .map_err(|error| Failure::environment("cannot start a worker", &error))
}

fn program() -> Result<PathBuf, Failure> {
    home::our_program().map_err(|error| Failure::environment("cannot find our own program", &error))
}
