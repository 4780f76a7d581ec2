//! Puts work onto another commit than the one that it was made on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::error::GitError;
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;

/// What came of putting work onto another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restacked {
    /// The files with both changes.
    Clean(TreeId),
    /// Both changed these files in ways that exclude each other.
    Conflict(Vec<PathBuf>),
    /// They have no commit in common.
    Unrelated,
}

impl LoopRepo {
    /// The files of `onto` with what `work` changed since both were one. Both must be here.
    pub fn restack(&self, work: &CommitId, onto: &CommitId) -> Result<Restacked, GitError> {
        let common = self
            .git()
            .args(["merge-base", onto.as_str(), work.as_str()])
            .outcome()?;
        // Git's way to say that there is none.
        if common.code == Some(1) {
            return Ok(Restacked::Unrelated);
        }
        let git = self
            .git()
            .args(["merge-tree", "--write-tree", "--no-messages", "--name-only"])
            .args(["-z", onto.as_str(), work.as_str()]);
        let command = git.command_line();
        let output = git.outcome()?;
        let failed = || GitError::Failed {
            command: command.clone(),
            code: output.code,
            stderr: output.stderr.clone(),
        };
        let mut words = output.stdout.split(|byte| *byte == 0);
        let tree = String::from_utf8_lossy(words.next().unwrap_or_default()).into_owned();
        match output.code {
            Some(0) => TreeId::parse(tree.trim()).map(Restacked::Clean),
            Some(1) if !output.cut => {
                let paths = words.filter(|word| !word.is_empty());
                let paths = paths.map(|word| PathBuf::from(OsStr::from_bytes(word)));
                Ok(Restacked::Conflict(paths.collect()))
            }
            _ => Err(failed()),
        }
    }
}
