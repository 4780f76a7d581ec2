//! Finding a loop in the journal, and reading it.

use home::{Home, LoadError, Loaded};
use journal::Journal;

use crate::failure::{Exit, Failure};

pub(super) fn open(home: &Home) -> Result<Journal, Failure> {
    Journal::open(home.root())
        .map_err(|error| Failure::environment("cannot open the journal", &error))
}

/// Finds a loop by its id, or by a beginning or an end that no other has. Loops that were started in
/// the same minutes begin alike.
pub(super) fn find(journal: &Journal, id: &str) -> Result<String, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    if id.is_empty() {
        return Err(Failure::bad_input("an empty id names no loop")
            .hint("`loopwright list` shows all loops"));
    }
    let matching = matching(rows.into_iter().map(|row| row.loop_id), id);
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

/// The ids that somebody may mean; an id as it is wins.
fn matching(ids: impl Iterator<Item = String>, wanted: &str) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let mut near = Vec::new();
    for id in ids {
        if id == wanted {
            return vec![id];
        }
        let known = id.to_lowercase();
        if known.starts_with(&lower) || known.ends_with(&lower) {
            near.push(id);
        }
    }
    near
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_meant_by_its_id_or_an_end_of_it() {
        let ids = ["01ABCX", "01ABDY", "shop", "shop-2"];
        for (wanted, expected) in [
            ("01ABCX", "01ABCX"),
            ("01abc", "01ABCX"),
            ("y", "01ABDY"),
            ("01AB", "01ABCX 01ABDY"),
            ("shop", "shop"),
            ("Shop", "shop shop-2"),
            ("-2", "shop-2"),
            ("z", ""),
        ] {
            let found = matching(ids.iter().map(ToString::to_string), wanted);
            assert_eq!(found.join(" "), expected, "{wanted}");
        }
    }
}
