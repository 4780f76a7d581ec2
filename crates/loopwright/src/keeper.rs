//! The life of one keeper, and the other small processes beside a worker. The program starts them;
//! people do not.

use std::path::Path;
use std::time::Duration;

use agents::{Kind, Reader};
use cli::{Exit, Failure, ensure_worker};
use home::{Home, is_waking_off, note_worker_fault, wait_beside, wake_worker};
use sandbox::{ExitOutcome, RunSpec, Watch};

/// How often a keeper tries to start a worker, in some ten minutes.
const STARTS_MAX: u32 = 9;

/// `loopwright keeper FOLDER`: owns one run.
pub(crate) fn run(folder: &Path) -> Result<Exit, Failure> {
    match sandbox::keep(folder, watch) {
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

/// Who watches the stream of a known CLI: one that goes round is ended.
fn watch(spec: &RunSpec) -> Option<Watch> {
    let kind = spec.stream.as_deref().and_then(Kind::of_word)?;
    let mut reader = Reader::new(kind);
    Some(Box::new(move |bytes| {
        reader.feed(bytes);
        reader.goes_round()
    }))
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
    let program = home::our_program()
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

/// A run that ends wakes the worker, and one that finds no worker starts one: whoever killed the last
/// need not know that an agent was still at work.
fn tell_worker(run_folder: &Path) {
    // The run's folder is HOME/loops/LOOP/runs/RUN. A `ralph` waits for its runs itself.
    let of_loops = run_folder.ancestors().nth(3);
    let root = of_loops
        .filter(|loops| loops.ends_with("loops"))
        .and_then(Path::parent);
    let Some(root) = root else {
        return;
    };
    let home = Home::at(root);
    if is_waking_off() {
        return wake_worker(&home);
    }
    // A machine that has no process left for a worker now may have one later. Nobody else is there to
    // try it again.
    let mut pause = Duration::from_secs(1);
    for _ in 0..STARTS_MAX {
        let Err(failure) = ensure_worker(&home) else {
            return;
        };
        note_worker_fault(&home, Some(&failure.message));
        std::thread::sleep(pause);
        pause *= 2;
    }
}
