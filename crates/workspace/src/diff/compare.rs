//! Compares contents line by line, with git.
//!
//! Git takes every file for text. Whether it is text is decided here, by its content: git calls a
//! file binary for one zero byte or for an attribute, and an agent can write both.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;

use super::facts::{Changed, Content};
use super::kinds::is_code;
use super::patch::{Patch, sections};
use crate::changes::Change;
use crate::entry::{Entry, Mode, TreeLike, above};
use crate::error::GitError;
use crate::loop_repo::LoopRepo;

/// The largest file that is compared.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The largest size of all files that are compared. The small ones come first.
const ALL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What one call of git compares, so that its arguments and its answer stay small.
const CALL_BYTES_MAX: u64 = 16 * 1024 * 1024;
const CALL_PATH_BYTES_MAX: usize = 64 * 1024;

impl LoopRepo {
    /// Compares all that differs, as far as it is not too large.
    pub(crate) fn compare(
        &self,
        trees: (&dyn TreeLike, &dyn TreeLike),
        changes: &[Change],
        facts: &mut [Changed],
    ) -> Result<(), GitError> {
        for call in calls(facts) {
            let paths: Vec<&[u8]> = call.iter().map(|index| &facts[*index].path[..]).collect();
            let mut patches = self.patches(trees, changes, &paths)?;
            for index in call {
                let file = &mut facts[index];
                let patch = patches.remove(&file.path).unwrap_or_default();
                file.content = if is_code(&file.path) || patch.is_mostly_text() {
                    Content::Text(patch)
                } else {
                    Content::Binary
                };
            }
        }
        Ok(())
    }

    /// The patches of some files, by their paths.
    fn patches(
        &self,
        (from, to): (&dyn TreeLike, &dyn TreeLike),
        changes: &[Change],
        paths: &[&[u8]],
    ) -> Result<BTreeMap<Vec<u8>, Patch>, GitError> {
        let words = [
            "diff-tree",
            "-r",
            "-p",
            "--text",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        let git = self.git().args(words);
        let git = git.args([from.object_id(), to.object_id(), "--"]);
        let git = paths.iter().fold(git, |git, path| git.literal_path(path));
        let output = git.run()?;
        let mut sections = sections(&output).into_iter();
        let mut patches: BTreeMap<Vec<u8>, Patch> = BTreeMap::new();
        let wanted: BTreeSet<&[u8]> = paths.iter().copied().collect();
        // Git answers in the order of `changes`, which it gave us too. A path stands for everything
        // below it as well, if a folder took the place of a file.
        for change in changes {
            let path = change.path.as_os_str().as_bytes();
            if !wanted.contains(path) && !above(path).any(|above| wanted.contains(above)) {
                continue;
            }
            let found = patches.entry(path.to_vec()).or_default();
            for _ in 0..n_sections(change) {
                found.add(sections.next().ok_or_else(garbled)?);
            }
        }
        match sections.next() {
            Some(_) => Err(garbled()),
            None => Ok(patches),
        }
    }
}

/// Which files to compare in which call. What is not compared is marked.
fn calls(facts: &mut [Changed]) -> Vec<Vec<usize>> {
    let mut order: Vec<_> = (0..facts.len())
        .filter(|index| matches!(facts[*index].content, Content::Differs))
        .collect();
    order.sort_by_key(|index| facts[*index].sizes().sum::<u64>());
    let mut calls: Vec<Vec<usize>> = Vec::new();
    let (mut all_bytes, mut call_bytes, mut path_bytes) = (0, 0, 0);
    for index in order {
        let bytes: u64 = facts[index].sizes().sum();
        let is_too_large = facts[index].sizes().any(|bytes| bytes > FILE_BYTES_MAX);
        if is_too_large || all_bytes + bytes > ALL_BYTES_MAX {
            facts[index].content = Content::TooLarge;
            continue;
        }
        let path = facts[index].path.len();
        let is_full =
            call_bytes + bytes > CALL_BYTES_MAX || path_bytes + path > CALL_PATH_BYTES_MAX;
        if is_full || calls.is_empty() {
            calls.push(Vec::new());
            (call_bytes, path_bytes) = (0, 0);
        }
        if let Some(call) = calls.last_mut() {
            call.push(index);
        }
        all_bytes += bytes;
        call_bytes += bytes;
        path_bytes += path;
    }
    calls
}

/// How many parts of git's patch a change has. A file that becomes a link is removed and added.
fn n_sections(change: &Change) -> usize {
    let kind = |entry: &Entry| match entry.mode {
        Mode::File | Mode::Executable => Mode::File,
        other => other,
    };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if kind(before) != kind(after) => 2,
        _ => 1,
    }
}

fn garbled() -> GitError {
    GitError::Garbled {
        command: "diff-tree -p".to_owned(),
    }
}
