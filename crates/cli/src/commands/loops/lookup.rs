//! Finding a loop in the journal, and reading it.

use home::{Home, LoadError, Loaded};
use journal::Journal;

use crate::failure::{Exit, Failure};

pub(super) fn open(home: &Home) -> Result<Journal, Failure> {
    Journal::open(home.root())
        .map_err(|error| Failure::environment("cannot open the journal", &error))
}

/// Finds a loop by its id or the beginning of it.
pub(super) fn find(journal: &Journal, id: &str) -> Result<String, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    if id.is_empty() {
        return Err(Failure::bad_input("an empty id names no loop")
            .hint("`loopwright list` shows all loops"));
    }
    let wanted = id.to_uppercase();
    let matching: Vec<String> = rows
        .into_iter()
        .map(|row| row.loop_id)
        .filter(|found| found.starts_with(&wanted))
        .collect();
    match matching.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::bad_input(format!("there is no loop `{id}`"))
            .hint("`loopwright list` shows all loops")),
        several => Err(
            Failure::bad_input(format!("`{id}` may mean {}", several.join(" or ")))
                .hint("give more of the id"),
        ),
    }
}

pub(super) fn load(journal: &Journal, loop_id: &str) -> Result<Loaded, Failure> {
    home::load(journal, loop_id).map_err(|error| unreadable(loop_id, &error))
}

/// Takes in what was recorded since.
pub(super) fn catch_up(
    loaded: &mut Loaded,
    journal: &Journal,
    loop_id: &str,
) -> Result<(), Failure> {
    let caught_up = loaded.catch_up(journal, loop_id);
    caught_up
        .map(drop)
        .map_err(|error| unreadable(loop_id, &error))
}

fn unreadable(loop_id: &str, error: &LoadError) -> Failure {
    match error {
        LoadError::Journal(_) => Failure::environment("cannot read the loop", error),
        other => Failure {
            exit: Exit::Environment,
            message: format!("loop {loop_id} cannot be read: {other}"),
            hints: Vec::new(),
        },
    }
}
