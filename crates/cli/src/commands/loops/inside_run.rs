//! What only a person may do is refused from inside a run.

use home::Home;

use crate::failure::Failure;

/// What only a person may do is not done by what a run started.
pub(super) fn refuse_inside_run(home: &Home, verb: &str) -> Result<(), Failure> {
    match home::surrounding_run(home) {
        Some(run) => Err(Failure::bad_input(format!(
            "only a person may {verb}, and this was called from inside a run ({})",
            run.display()
        ))),
        None => Ok(()),
    }
}
