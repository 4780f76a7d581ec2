//! The life of one keeper, and the other small processes beside a worker. The program starts them;
//! people do not.

use std::path::Path;

use cli::{Exit, Failure, ensure_worker};
use home::{Home, wait_beside, wake_worker};
use sandbox::ExitOutcome;

/// `loopwright keeper FOLDER`: owns one run.
pub(crate) fn run(folder: &Path) -> Result<Exit, Failure> {
    match sandbox::keep(folder) {
        ExitOutcome::Failed(error) => Err(Failure::environment(
            "the keeper cannot keep its run",
            &error,
        )),
        ExitOutcome::Relaunched | ExitOutcome::AlreadyKept => Ok(Exit::Done),
        ExitOutcome::Ended(_) => {
            tell_worker(folder);
            Ok(Exit::Done)
        }
    }
}

/// `loopwright wake`: a wait that outlives its worker still ends by itself.
pub(crate) fn wake() -> Result<Exit, Failure> {
    let home = cli::home()?;
    if is_waking_off() {
        return Ok(Exit::Done);
    }
    // Out of reach of the terminal that the worker may have; it fails when we lead a group already.
    let _ = rustix::process::setsid();
    if wait_beside(&home) {
        ensure_worker(&home)?;
    }
    Ok(Exit::Done)
}

/// `loopwright measure FOLDER`: the work of a check's run. What fails here is no fault of a
/// candidate.
pub(crate) fn measure(folder: &Path) -> Result<Exit, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment("cannot find our own program", &error))?;
    match engine::measure(folder, &program) {
        Ok(()) => Ok(Exit::Done),
        Err(fault) => Err(Failure {
            exit: Exit::Environment,
            message: fault.words(),
            hints: Vec::new(),
        }),
    }
}

/// Whoever keeps a worker alive by other means, such as a service manager, may want no other.
fn is_waking_off() -> bool {
    std::env::var_os("LOOPWRIGHT_WAKE").is_some_and(|value| value == "off")
}

/// A run that ends wakes the worker, and one that finds no worker starts one: whoever killed the last
/// need not know that an agent was still at work.
fn tell_worker(run_folder: &Path) {
    // The run's folder is HOME/loops/LOOP/runs/RUN.
    let Some(root) = run_folder.ancestors().nth(4) else {
        return;
    };
    let home = Home::at(root);
    if is_waking_off() {
        wake_worker(&home);
    } else {
        let _ = ensure_worker(&home);
    }
}
