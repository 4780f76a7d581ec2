//! `loopwright keeper FOLDER`: the life of one keeper. The worker starts it; people do not.

use std::path::Path;

use engine::Home;
use sandbox::ExitOutcome;

use crate::failure::{Exit, Failure};

pub(crate) fn run(folder: &Path) -> Result<Exit, Failure> {
    match sandbox::keep(folder) {
        ExitOutcome::Failed(error) => Err(Failure::environment(
            "the keeper cannot keep its run",
            &error,
        )),
        ExitOutcome::Relaunched | ExitOutcome::AlreadyKept => Ok(Exit::Done),
        ExitOutcome::Ended(_) => {
            wake_worker(folder);
            Ok(Exit::Done)
        }
    }
}

/// `loopwright wake LOOP TIME`: a wait that outlives its worker still ends by itself.
pub(crate) fn wake(loop_id: &str, until_ms: i64) -> Result<Exit, Failure> {
    let home = crate::home::home()?;
    let off = std::env::var_os("LOOPWRIGHT_WAKE").is_some_and(|value| value == "off");
    if off {
        return Ok(Exit::Done);
    }
    // Out of reach of the terminal that the worker may have; it fails when we lead a group already.
    let _ = rustix::process::setsid();
    if engine::wait_beside(&home, loop_id, until_ms) {
        super::loops::ensure_worker(&home)?;
    }
    Ok(Exit::Done)
}

/// `loopwright measure FOLDER`: the work of a check's run. What fails here is no fault of a
/// candidate.
pub(crate) fn measure(folder: &Path) -> Result<Exit, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment("cannot find our own program", &error))?;
    engine::measure(folder, &program)
        .map(|()| Exit::Done)
        .map_err(|why| {
            let mut failure = Failure::bad_input(why);
            failure.exit = Exit::Environment;
            failure
        })
}

/// A run that ends and finds no worker starts one: whoever killed the last need not know that an
/// agent was still at work.
fn wake_worker(run_folder: &Path) {
    // Whoever keeps a worker alive by other means, such as a service manager, may want no other.
    if std::env::var_os("LOOPWRIGHT_WAKE").is_some_and(|value| value == "off") {
        return;
    }
    // The run's folder is HOME/loops/LOOP/runs/RUN. Where a worker lives, the new one sees its lock
    // and ends at once.
    if let Some(root) = run_folder.ancestors().nth(4) {
        let _ = super::loops::ensure_worker(&Home::at(root));
    }
}
