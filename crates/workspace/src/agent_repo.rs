//! The throw-away repository in which an agent may do as it likes.
//!
//! It shares nothing with ours: other work of the loop must not be readable in it, and nothing in
//! it is ever read back.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::error::{GitError, failed};
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::{LoopRepo, init_bare};
use crate::scratch::{Scratch, absolute};

/// Stands behind what `git init` wrote; the last value of a setting counts. Nothing may go on in
/// the background when the agent has ended.
const SETTINGS: &str = "[core]
\tbare = false
\tlogAllRefUpdates = true
[user]
\tname = Loopwright agent
\temail = agent@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

impl LoopRepo {
    /// Makes a git repository in `dir`, a fresh checkout of `commit`: its files as one commit on
    /// `main` and nothing else, no remote, no hook, an identity. A repository that is already there
    /// stays as it is.
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
        init_bare(git_dir, format_of(&root))?;
        self.hand_over(&root, git_dir)?;
        let config = git_dir.join("config");
        let added = fs::OpenOptions::new().append(true).open(&config);
        added
            .and_then(|mut file| file.write_all(SETTINGS.as_bytes()))
            .map_err(failed("write", &config))?;
        fill_index(git_dir, &dir)?;
        fs::rename(git_dir, &place).map_err(failed("put in place", &place))
    }

    /// The files of a commit without its history, in which answers might be found.
    fn as_one_commit(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        self.commit_tree(
            &format!("{commit}^{{tree}}"),
            None,
            "The project as it is\n",
            0,
        )
    }

    /// Writes one pack with all that the commit needs, and nothing else of ours, straight into the
    /// new repository. A fetch does the same with five processes.
    fn hand_over(&self, root: &CommitId, git_dir: &Path) -> Result<(), GitError> {
        let packs = git_dir.join("objects/pack");
        let git = self
            .git()
            .unflushed()
            .args(["pack-objects", "-q", "--revs", "--window=0"])
            .arg(packs.join("pack"));
        git.run_with(format!("{root}\n").as_bytes())?;
        let main = git_dir.join("refs/heads/main");
        fs::write(&main, format!("{root}\n")).map_err(failed("write", &main))
    }
}

/// The length of an id says by what it was made.
fn format_of(commit: &CommitId) -> &'static str {
    if commit.as_str().len() == 64 {
        "sha256"
    } else {
        "sha1"
    }
}

/// Nobody but us has written here yet, so git may look at the files.
fn fill_index(git_dir: &Path, dir: &Path) -> Result<(), GitError> {
    let git = || Git::of_ours(git_dir).unflushed().work_tree(dir);
    git().args(["read-tree", "HEAD"]).run()?;
    git()
        .args(["update-index", "-q", "--refresh"])
        .run()
        .map(drop)
}
