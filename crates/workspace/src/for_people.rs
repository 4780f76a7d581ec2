//! A loop's work for people: as a patch, and in a work tree of theirs.

use std::path::Path;

use crate::diff::{Escapes, visible};
use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::LoopRepo;
use crate::project::common_git_dir;
use crate::scratch::absolute;

/// Bytes of a patch that somebody can still look through.
const PATCH_BYTES_MAX: usize = 32 << 20;

impl LoopRepo {
    /// What changed between two commits, as git shows it. Agents wrote the files, so what would act
    /// on a terminal is shown as an escape.
    pub fn patch_for_people(&self, from: &CommitId, to: &CommitId) -> Result<String, GitError> {
        self.shown(&["--find-renames", "--no-color"], from, to)
    }

    /// The files that changed between two commits, each with how much.
    pub fn summary_for_people(&self, from: &CommitId, to: &CommitId) -> Result<String, GitError> {
        self.shown(&["--find-renames", "--no-color", "--stat=100"], from, to)
    }

    fn shown(&self, options: &[&str], from: &CommitId, to: &CommitId) -> Result<String, GitError> {
        let git = Git::of_ours(self.path())
            .args(["diff", "--no-ext-diff", "--no-textconv"])
            .args(options)
            .arg(from.as_str())
            .arg(to.as_str())
            .arg("--")
            .output_bytes_max(PATCH_BYTES_MAX);
        let bytes = git.run()?;
        let mut text = String::with_capacity(bytes.len());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            text.push_str(&visible(line, &mut Escapes::new()));
            text.push('\n');
        }
        Ok(text)
    }

    /// Puts a commit into a new work tree of the operator's repository, with no branch. Objects and
    /// the work tree are all that is added there.
    pub fn add_work_tree(
        &self,
        project_root: &Path,
        dir: &Path,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let theirs = common_git_dir(&absolute(project_root)?)?;
        self.send_objects(&theirs, commit)?;
        let git = Git::of_operator(&theirs).args(["worktree", "add", "--quiet", "--detach"]);
        git.arg(absolute(dir)?).arg(commit.as_str()).run().map(drop)
    }
}
