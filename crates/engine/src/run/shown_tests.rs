//! What an implementor sees of a story's tests: all but those that their writer holds back.

use std::path::PathBuf;

use checks::items::without_tests;
use kernel::{Review, Tests};
use workspace::{Edit, TreeId};

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::test_rules::read_text;
use crate::run::trees::commit_id;

/// The tree of a story's tests without those that are held back.
pub(crate) fn shown_tree(
    repository: &dyn Repository,
    tests: &Tests,
) -> Result<Option<TreeId>, Fault> {
    let Some(commit) = &tests.commit else {
        return Ok(None);
    };
    let commit = commit_id(commit)?;
    let whole = repository.tree_of(&commit)?;
    let hidden = held_back(&tests.review);
    if hidden.is_empty() {
        return Ok(Some(whole));
    }
    let base = repository.tree_of(&repository.parent_of(&commit)?)?;
    let (before, after) = (repository.reader(&base)?, repository.reader(&whole)?);
    let mut edits = Vec::new();
    for change in repository.tree_changes(&base, &whole)? {
        let Some(entry) = &change.after else { continue };
        let path: &PathBuf = &change.path;
        let text = read_text(&*after, path);
        let names: Vec<&str> = hidden
            .iter()
            .map(String::as_str)
            .filter(|name| text.contains(last_word(name)))
            .map(last_word)
            .collect();
        if names.is_empty() {
            continue;
        }
        edits.push(
            match without_tests(&path.to_string_lossy(), &text, &names) {
                Some(text) => Edit::Write {
                    path: path.clone(),
                    mode: entry.mode,
                    bytes: text.into_bytes(),
                },
                // What cannot be cut out takes its whole file along.
                None => match before.entry(path) {
                    Some(entry) => Edit::Put {
                        path: path.clone(),
                        mode: entry.mode,
                        id: entry.id,
                    },
                    None => Edit::Remove { path: path.clone() },
                },
            },
        );
    }
    repository.compose(&whole, &edits).map(Some)
}

fn held_back(review: &Review) -> Vec<String> {
    let marked = review
        .criteria
        .iter()
        .flat_map(|coverage| &coverage.held_back);
    marked.cloned().collect()
}

/// A test's own name, without its file, class or group.
fn last_word(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    name.rsplit(" > ").next().unwrap_or(name)
}
