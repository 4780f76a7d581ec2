//! The throw-away repository in which an agent may do as it likes.
//!
//! It shares nothing with ours: other work of the loop must not be readable in it, and nothing in it is ever read back.

use std::fs;
use std::path::Path;

use crate::error::{GitError, failed};
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::{LoopRepo, init_bare, object_format};
use crate::scratch::{Scratch, absolute};

const SETTINGS: &[(&str, &str)] = &[
    ("core.bare", "false"),
    ("core.logAllRefUpdates", "true"),
    ("user.name", "Loopwright agent"),
    ("user.email", "agent@localhost"),
    // Nothing may go on in the background when the agent has ended.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

impl LoopRepo {
    /// Makes a git repository in `dir`, a fresh checkout of `commit`: its files as one commit on `main` and nothing
    /// else, no remote, no hook, an identity. A repository that is already there stays as it is.
    pub fn make_agent_repo(&self, commit: &CommitId, dir: &Path) -> Result<(), GitError> {
        let dir = absolute(dir)?;
        let place = dir.join(".git");
        if fs::symlink_metadata(&place).is_ok() {
            return Ok(());
        }
        let root = self.as_one_commit(commit)?;
        // Not inside the checkout: what a crash leaves there would be taken for the agent's work.
        let scratch = Scratch::beside(&dir, "agent-git")?;
        let git_dir = scratch.path();
        init_bare(git_dir, &object_format(self.path())?)?;
        self.hand_over(&root, git_dir)?;
        for (name, value) in SETTINGS {
            Git::of_ours(git_dir).args(["config", name, value]).run()?;
        }
        fill_index(git_dir, &dir)?;
        fs::rename(git_dir, &place).map_err(failed("put in place", &place))
    }

    /// The files of a commit without its history, in which answers might be found.
    fn as_one_commit(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        let tree = self.tree_of(commit)?;
        self.commit_tree(tree.as_str(), None, "The project as it is\n", 0)
    }

    fn hand_over(&self, root: &CommitId, git_dir: &Path) -> Result<(), GitError> {
        Git::of_ours(git_dir)
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--"])
            .arg(self.path())
            .arg(format!("{root}:refs/heads/main"))
            .run()
            .map(drop)
    }
}

/// Nobody but us has written here yet, so git may look at the files.
fn fill_index(git_dir: &Path, dir: &Path) -> Result<(), GitError> {
    let git = || Git::of_ours(git_dir).work_tree(dir);
    git().args(["read-tree", "HEAD"]).run()?;
    git().args(["update-index", "-q", "--refresh"]).run().map(drop)
}
