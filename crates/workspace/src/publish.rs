//! Publishes accepted work into the operator's repository: its objects, and one branch of ours.
//!
//! Index, work tree, HEAD, configuration and all other refs are left alone. One race remains: if
//! somebody checks the branch out between our last check and our write, it moves under them once.
//! They lose no work by that.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::branch_name::is_kept;
use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::LoopRepo;
use crate::project::common_git_dir;
use crate::refs::{check_ref, read_their_ref, their_lock, update_ref};
use crate::scratch::absolute;

/// Branches that hold the id of a loop in their name.
const OURS: &str = "agent-loop/";

/// The result of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The branch was moved to the commit.
    Done,
    /// The branch pointed to the commit already.
    AlreadyThere,
    /// Somebody else moved the branch; it was left where it is.
    MovedBySomebody {
        /// The commit it points to; `None` if it was deleted.
        found: Option<CommitId>,
    },
    /// Somebody has checked the branch out; it was left where it is.
    CheckedOut {
        /// The work tree in which it is checked out.
        at: PathBuf,
    },
}

impl LoopRepo {
    /// Moves `branch` in the operator's repository to `commit`, if it still points to what we last
    /// published. Before the first time it must not exist, so a branch that is not the loop's is
    /// never moved.
    pub fn publish(
        &self,
        project_root: &Path,
        branch: &str,
        last_published: Option<&CommitId>,
        commit: &CommitId,
    ) -> Result<Published, GitError> {
        if is_kept(branch) {
            return Err(GitError::ForeignBranch {
                name: branch.to_owned(),
            });
        }
        let name = format!("refs/heads/{branch}");
        check_ref(&name)?;
        let theirs = common_git_dir(&absolute(project_root)?)?;
        let early = match last_published {
            None => self.made_early(&theirs, branch, &name, commit)?,
            Some(_) => None,
        };
        let last_published = last_published.or(early.as_ref());
        if let Some(refused) = obstacle(&theirs, &name, last_published, commit)? {
            return Ok(refused);
        }
        self.send_objects(&theirs, commit)?;
        // Checked again, because sending may have taken a while.
        if let Some(refused) = obstacle(&theirs, &name, last_published, commit)? {
            return Ok(refused);
        }
        match update_ref(Git::of_operator(&theirs), &name, last_published, commit) {
            Ok(()) => Ok(Published::Done),
            // Most likely somebody moved the branch just now, or holds it. We look at the branch to
            // find out, since git's message is not for parsing.
            Err(error) => match obstacle(&theirs, &name, last_published, commit)? {
                Some(refused) => Ok(refused),
                None => Err(their_lock(&theirs, &name).unwrap_or(error)),
            },
        }
    }

    /// Where somebody made the loop's branch before us, on our way: moving it on loses nothing. The name
    /// holds the loop's id, so it can be meant for nothing else.
    fn made_early(
        &self,
        theirs: &Path,
        branch: &str,
        name: &str,
        commit: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        if !branch.starts_with(OURS) {
            return Ok(None);
        }
        let Some(found) = read_their_ref(theirs, name, None)? else {
            return Ok(None);
        };
        let is_behind = self
            .git()
            .args([
                "merge-base",
                "--is-ancestor",
                found.as_str(),
                commit.as_str(),
            ])
            .outcome()?;
        Ok((is_behind.code == Some(0)).then_some(found))
    }

    /// Makes the operator's repository fetch from ours. A fetch sends exactly what is missing
    /// there, even if a garbage collection has removed what we sent before.
    pub(crate) fn send_objects(&self, theirs: &Path, commit: &CommitId) -> Result<(), GitError> {
        // The operator's configuration is in force here and may ask for tags, pruning or
        // submodules. Each option turns off something that would change more than the objects.
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

/// The reason why the branch must not be moved now, if there is one.
fn obstacle(
    theirs: &Path,
    name: &str,
    last_published: Option<&CommitId>,
    commit: &CommitId,
) -> Result<Option<Published>, GitError> {
    let found = read_their_ref(theirs, name, last_published)?;
    // This comes first, so that a call that is repeated after a crash recognises its own work.
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

/// The work tree in which a branch is checked out, linked work trees included.
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
