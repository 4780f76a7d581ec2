//! Puts accepted work into the operator's repository: objects, and one branch of ours.
//!
//! Index, work tree, HEAD, configuration and every other ref stay as they are. Somebody who checks
//! the branch out in the instant between our look and our write sees it move once; nothing of
//! theirs is lost by that.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::LoopRepo;
use crate::project::common_git_dir;
use crate::refs::{check_ref, read_ref, update_ref};
use crate::scratch::absolute;

/// The only branches we ever write in a repository that is not ours.
const BRANCHES: &str = "agent-loop/";

/// What came of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The branch points to the commit now.
    Done,
    /// It did so before.
    AlreadyThere,
    /// The branch is not where we left it, and stays there.
    MovedBySomebody {
        /// Where it is, if it still exists.
        found: Option<CommitId>,
    },
    /// Somebody has checked the branch out; it stays where it is.
    CheckedOut {
        /// The work tree that has it.
        at: PathBuf,
    },
}

impl LoopRepo {
    /// Moves `branch` (`agent-loop/…`) in the operator's repository from what we last published to
    /// `commit`.
    pub fn publish(
        &self,
        project_root: &Path,
        branch: &str,
        last_published: Option<&CommitId>,
        commit: &CommitId,
    ) -> Result<Published, GitError> {
        if !branch.starts_with(BRANCHES) {
            return Err(GitError::ForeignBranch {
                name: branch.to_owned(),
            });
        }
        let name = format!("refs/heads/{branch}");
        check_ref(&name)?;
        let theirs = common_git_dir(&absolute(project_root)?)?;
        if let Some(refused) = in_the_way(&theirs, &name, last_published, commit)? {
            return Ok(refused);
        }
        self.send_objects(&theirs, commit)?;
        // Sending may have taken a while.
        if let Some(refused) = in_the_way(&theirs, &name, last_published, commit)? {
            return Ok(refused);
        }
        match update_ref(Git::of_operator(&theirs), &name, last_published, commit) {
            Ok(()) => Ok(Published::Done),
            Err(error) => in_the_way(&theirs, &name, last_published, commit)?.ok_or(error),
        }
    }

    /// Lets their repository fetch from ours, which sends just what it lacks, whatever it has lost
    /// in the meantime.
    fn send_objects(&self, theirs: &Path, commit: &CommitId) -> Result<(), GitError> {
        let quiet = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
        ];
        let alone = [
            "--no-auto-maintenance",
            "--no-write-commit-graph",
            "--recurse-submodules=no",
            "--",
        ];
        let git = Git::of_operator(theirs).args(quiet).args(alone);
        git.arg(self.path()).arg(commit.as_str()).run().map(drop)
    }
}

/// Why the branch must not be moved now, if it must not.
fn in_the_way(
    theirs: &Path,
    name: &str,
    last_published: Option<&CommitId>,
    commit: &CommitId,
) -> Result<Option<Published>, GitError> {
    let found = read_ref(Git::of_operator(theirs), name)?;
    if found.as_ref() == Some(commit) {
        return Ok(Some(Published::AlreadyThere));
    }
    if let Some(at) = checked_out_at(theirs, name)? {
        return Ok(Some(Published::CheckedOut { at }));
    }
    if found.as_ref() != last_published {
        return Ok(Some(Published::MovedBySomebody { found }));
    }
    Ok(None)
}

fn checked_out_at(theirs: &Path, name: &str) -> Result<Option<PathBuf>, GitError> {
    let output = Git::of_operator(theirs)
        .args(["worktree", "list", "--porcelain", "-z"])
        .run()?;
    let branch = format!("branch {name}");
    let mut at = None;
    for line in output.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            at = Some(PathBuf::from(OsStr::from_bytes(path)));
        }
        if line == branch.as_bytes() {
            return Ok(at);
        }
    }
    Ok(None)
}
