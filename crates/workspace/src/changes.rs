//! What differs between two trees, path by path, without guessing that anything was moved.
//!
//! It compares objects and reads no content, so no attribute of either tree has a say.

use std::path::PathBuf;

use crate::entry::{Entry, Mode, TreeLike};
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::walk::as_path;

/// One path that is not the same in two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: PathBuf,
    /// What it was; none when it is new.
    pub before: Option<Entry>,
    /// What it is; none when it is gone.
    pub after: Option<Entry>,
}

impl LoopRepo {
    /// Every path that differs, in git's order; a file that became a folder is one path gone and
    /// others new.
    pub fn tree_changes(
        &self,
        from: &dyn TreeLike,
        to: &dyn TreeLike,
    ) -> Result<Vec<Change>, GitError> {
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-ext-diff",
        ];
        let output = self.ask(
            &[
                &words[..],
                &["--no-textconv", from.object_id(), to.object_id()],
            ]
            .concat(),
        )?;
        let mut fields = output.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let Some(facts) = fields.next().filter(|facts| !facts.is_empty()) {
            changes.push(change(facts, fields.next().ok_or_else(garbled)?)?);
        }
        Ok(changes)
    }
}

/// Reads `:mode mode id id letter`.
fn change(facts: &[u8], path: &[u8]) -> Result<Change, GitError> {
    let facts = std::str::from_utf8(facts)
        .ok()
        .and_then(|facts| facts.strip_prefix(':'));
    let facts: Vec<_> = facts.ok_or_else(garbled)?.split(' ').collect();
    let [mode_before, mode_after, id_before, id_after, _letter] = facts[..] else {
        return Err(garbled());
    };
    let path = as_path(path).to_owned();
    Ok(Change {
        path,
        before: side(mode_before, id_before)?,
        after: side(mode_after, id_after)?,
    })
}

/// A side that is not there has the mode zero.
fn side(mode: &str, id: &str) -> Result<Option<Entry>, GitError> {
    if mode == "000000" {
        return Ok(None);
    }
    let mode = Mode::parse(mode).ok_or_else(garbled)?;
    Ok(Some(Entry {
        mode,
        id: ObjectId::parse(id)?,
    }))
}

fn garbled() -> GitError {
    GitError::Garbled {
        command: "diff-tree --raw".to_owned(),
    }
}
