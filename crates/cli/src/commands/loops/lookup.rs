//! Finding a loop in the journal, and reading it.

use std::path::{Path, PathBuf};

use home::{Home, LoadError, Loaded};
use journal::Journal;

use crate::failure::{Exit, Failure};

/// Candidates that an error names.
const CANDIDATES_MAX: usize = 10;

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
        several => Err(ambiguous(id, "loops", &told(journal, several))),
    }
}

/// Loops with how they stand, for somebody who must choose one.
fn told(journal: &Journal, ids: &[String]) -> Vec<String> {
    let line = |id: &String| match load(journal, id) {
        Ok(loaded) => {
            let view = views::loop_view(&loaded.state);
            format!("{id}  {}  {}", view.status, view.project)
        }
        Err(_) => format!("{id}  (it cannot be read)"),
    };
    ids.iter().map(line).collect()
}

/// The loop that is named, or else the newest one of the folder that somebody stands in. Only for
/// verbs that change nothing.
pub(super) fn find_or_newest(journal: &Journal, id: Option<&str>) -> Result<String, Failure> {
    match id {
        Some(id) => find(journal, id),
        None => newest_here(journal),
    }
}

/// The newest loop whose project is this folder, above it or below it.
fn newest_here(journal: &Journal) -> Result<String, Failure> {
    let here = current_folder()?;
    let ids = newest_first(journal)?;
    let is_here = |id: &&String| {
        load(journal, id).is_ok_and(|loaded| is_at(&loaded.state.spec().project, &here))
    };
    if let Some(found) = ids.iter().find(is_here) {
        return Ok(found.clone());
    }
    if ids.is_empty() {
        return Err(
            Failure::bad_input("there are no loops yet").hint("`loopwright start` makes one")
        );
    }
    Err(Failure::bad_input("no loop has worked on this folder")
        .hint("name one; `loopwright list` shows all loops"))
}

/// All loops, the newest first. Our ids tell when they were made; of others the first record does.
pub(super) fn newest_first(journal: &Journal) -> Result<Vec<String>, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let begun = |id: &str| match ulid::Ulid::from_string(id) {
        Ok(ulid) => i64::try_from(ulid.timestamp_ms()).unwrap_or(i64::MAX),
        Err(_) => load(journal, id).map_or(0, |loaded| loaded.state.started_at_ms()),
    };
    let mut ids: Vec<String> = rows.into_iter().map(|row| row.loop_id).collect();
    ids.sort_by_cached_key(|id| std::cmp::Reverse((begun(id), id.clone())));
    Ok(ids)
}

/// The error that names everything that may be meant.
pub(super) fn ambiguous(wanted: &str, what: &str, candidates: &[String]) -> Failure {
    let mut lines: String = candidates
        .iter()
        .take(CANDIDATES_MAX)
        .map(|candidate| format!("\n  {candidate}"))
        .collect();
    let n_more = candidates.len().saturating_sub(CANDIDATES_MAX);
    if n_more > 0 {
        lines.push_str(&format!("\n  and {n_more} more"));
    }
    Failure::bad_input(format!("`{wanted}` may mean several {what}:{lines}"))
        .hint("give more of the id")
}

/// Whether a project is this folder, above it or below it.
pub(super) fn is_at(project: &str, here: &Path) -> bool {
    let project = Path::new(project);
    here.starts_with(project) || project.starts_with(here)
}

pub(super) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::environment("cannot tell the current folder", &error))
}

/// The ids that somebody may mean; an id as it is wins.
pub(super) fn matching(ids: impl Iterator<Item = String>, wanted: &str) -> Vec<String> {
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
