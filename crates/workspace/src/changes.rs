//! Lists the differences between two trees path by path, without rename detection.
//!
//! It compares object ids and reads no content, so attributes in the trees have no effect.

use std::path::PathBuf;

use crate::entry::{Entry, Mode, TreeLike};
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::walk::as_path;

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, relative to the top of the tree.
    pub path: PathBuf,
    /// The entry in the first tree; `None` if the path is new.
    pub before: Option<Entry>,
    /// The entry in the second tree; `None` if the path was removed.
    pub after: Option<Entry>,
}

impl LoopRepo {
    /// Every path that differs, in git's order. A file that became a folder is one removed path and
    /// some new ones.
    pub fn tree_changes(
        &self,
        from: &dyn TreeLike,
        to: &dyn TreeLike,
    ) -> Result<Vec<Change>, GitError> {
        if from.object_id() == to.object_id() {
            return Ok(Vec::new());
        }
        // No renames: git guesses them by similar content, and the agent writes that content.
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
        // Each change is two fields, its facts and its path. After the last zero byte comes an
        // empty one.
        let mut fields = output.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let Some(facts) = fields.next().filter(|facts| !facts.is_empty()) {
            changes.push(change(facts, fields.next().ok_or_else(garbled)?)?);
        }
        Ok(changes)
    }
}

/// Parses `:mode mode id id letter`.
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

/// Parses one side of a change. Git writes the mode 000000 for a side that does not exist.
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
