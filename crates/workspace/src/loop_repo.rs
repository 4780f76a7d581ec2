//! The loop's own repository: bare, owning every object it needs, and the only one that we let git
//! work in.
//!
//! It has no remote, no hook and no configuration beyond what `git init` writes. It never reads
//! metadata that an agent could have written, and it leaves the operator's repository to
//! [`crate::look_at_project`] and to publishing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::entry::TreeLike;
use crate::error::{GitError, failed};
use crate::git::{ATTRIBUTES, Git};
use crate::id::{CommitId, TreeId};
use crate::memory::Memory;
use crate::moments::moment;
use crate::project::common_git_dir;
use crate::refs::read_ref;
use crate::scratch::{Scratch, absolute, is_free};

/// The bare repository of one loop.
#[derive(Debug, Clone)]
pub struct LoopRepo {
    git_dir: PathBuf,
    pub(crate) memory: Memory,
}

impl LoopRepo {
    /// Makes the repository with the base commit and its history, or finds it made.
    ///
    /// Objects are copied, never shared, so that nothing the operator does later (a reset, a
    /// garbage collection, a deleted project) can take the base away. It is built beside its place
    /// and moved there when it is whole.
    pub fn create(project_root: &Path, repo_dir: &Path, base: &CommitId) -> Result<Self, GitError> {
        let (project, repo_dir) = (absolute(project_root)?, absolute(repo_dir)?);
        if !is_free(&repo_dir)? {
            let repo = Self::open(&repo_dir)?;
            repo.take_in(&project, base)?;
            return Ok(repo);
        }
        let source = common_git_dir(&project)?;
        let scratch = Scratch::beside(&repo_dir, "new")?;
        init_bare(scratch.path(), &object_format(&source)?)?;
        Self {
            git_dir: scratch.path().to_owned(),
            memory: Memory::default(),
        }
        .take_in(&project, base)?;
        scratch.put_at(&repo_dir)?;
        Self::open(&repo_dir)
    }

    /// Opens a repository that [`LoopRepo::create`] made.
    pub fn open(repo_dir: &Path) -> Result<Self, GitError> {
        let git_dir = absolute(repo_dir)?;
        let attributes = fs::read_to_string(git_dir.join("info/attributes")).unwrap_or_default();
        let borrows = git_dir.join("objects/info/alternates").exists();
        if attributes != ATTRIBUTES || borrows || !git_dir.join("HEAD").is_file() {
            return Err(GitError::NotALoopRepo { path: git_dir });
        }
        Ok(Self {
            git_dir,
            memory: Memory::default(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.git_dir
    }

    pub(crate) fn git(&self) -> Git {
        Git::of_ours(&self.git_dir)
    }

    /// Copies a commit of the operator's with its history, as far as that goes, and holds it by a
    /// ref.
    fn take_in(&self, project: &Path, base: &CommitId) -> Result<(), GitError> {
        let held = format!("refs/loopwright/base/{base}");
        if read_ref(self.git(), &held)?.is_some() {
            return Ok(());
        }
        let source = common_git_dir(project)?;
        let words = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ];
        moment("before", &held);
        let fetched = self
            .git()
            .args(words)
            .args(["--update-shallow", "--recurse-submodules=no", "--"])
            .arg(&source)
            .arg(format!("{base}:{held}"))
            .run();
        moment("after", &held);
        fetched
            .map(drop)
            .map_err(|error| match has_promisor(&source) {
                Ok(true) => GitError::PartialClone {
                    path: project.to_owned(),
                },
                Ok(false) | Err(_) => error,
            })
    }

    /// Writes the files of a commit into a new folder, with nothing of git's in it.
    ///
    /// Bytes, modes and links are as recorded: no filter runs, LFS pointers stay pointers,
    /// submodules are empty folders. The folder appears when it is whole. It is not flushed: after
    /// a power cut, make a new one.
    pub fn checkout(&self, commit: &CommitId, dir: &Path) -> Result<(), GitError> {
        self.check_out(commit, dir)
    }

    /// Writes the files of a tree into a new folder, as [`LoopRepo::checkout`] does those of a
    /// commit.
    pub fn checkout_tree(&self, tree: &TreeId, dir: &Path) -> Result<(), GitError> {
        self.check_out(tree, dir)
    }

    fn check_out(&self, files: &dyn TreeLike, dir: &Path) -> Result<(), GitError> {
        let dir = absolute(dir)?;
        if !is_free(&dir)? {
            return Err(GitError::Exists { path: dir });
        }
        let private = Scratch::beside(&dir, "checkout-index")?;
        let index = private.path().join("index");
        let place = Scratch::beside(&dir, "checkout")?;
        self.git()
            .unflushed()
            .env("GIT_INDEX_FILE", &index)
            .args(["read-tree", files.object_id()])
            .run()?;
        self.git()
            .work_tree(place.path())
            .env("GIT_INDEX_FILE", &index)
            .args(["checkout-index", "--all", "--quiet"])
            .run()?;
        place.put_at(&dir)
    }

    /// Makes one commit. The same inputs give the same id, so doing it again does nothing.
    pub fn commit(
        &self,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, GitError> {
        self.commit_tree(tree.as_str(), Some(parent), message, at_secs)
    }

    pub(crate) fn commit_tree(
        &self,
        tree: &str,
        parent: Option<&CommitId>,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, GitError> {
        let date = format!("@{at_secs} +0000");
        let git = self
            .git()
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date);
        let git = git.args(["commit-tree", tree]);
        let git = match parent {
            Some(parent) => git.args(["-p", parent.as_str()]),
            None => git,
        };
        let id = git.args(["-F", "-"]).run_with(message.as_bytes())?;
        CommitId::parse(String::from_utf8_lossy(&id).trim_end())
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let peeled = format!("{commit}^{{tree}}");
        TreeId::parse(&self.ask_line(&["rev-parse", "--verify", "--end-of-options", &peeled])?)
    }

    /// A commit's message.
    pub fn message_of(&self, commit: &CommitId) -> Result<String, GitError> {
        let words = [
            "log",
            "-1",
            "--no-show-signature",
            "--format=%B",
            commit.as_str(),
        ];
        Ok(String::from_utf8_lossy(&self.ask(&words)?).into_owned())
    }

    /// The first parent of a commit.
    pub fn parent_of(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        let parent = format!("{commit}^1");
        CommitId::parse(&self.ask_line(&["rev-parse", "--verify", "--end-of-options", &parent])?)
    }

    /// The difference between two commits as a patch, cut after `bytes_max` with a note that says
    /// so.
    ///
    /// Bytes that are not UTF-8 are replaced; no attribute of either tree can hide a file or run a
    /// program.
    pub fn diff(
        &self,
        from: &CommitId,
        to: &CommitId,
        bytes_max: usize,
    ) -> Result<String, GitError> {
        self.patch(from, to, &[], bytes_max)
    }

    /// The same of any two trees, and of one path and what is below it unless that is empty.
    pub(crate) fn patch(
        &self,
        from: &dyn TreeLike,
        to: &dyn TreeLike,
        path: &[u8],
        bytes_max: usize,
    ) -> Result<String, GitError> {
        let words = [
            "diff-tree",
            "-r",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
        ];
        let git = self
            .git()
            .args(words)
            .args([from.object_id(), to.object_id(), "--"]);
        let git = if path.is_empty() {
            git
        } else {
            git.literal_path(path)
        };
        let git = git.output_bytes_max(bytes_max);
        let command = git.command_line();
        let output = git.outcome()?;
        if output.cut {
            return Ok(cut_with_note(output.stdout, bytes_max));
        }
        match output.code {
            Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            code => Err(GitError::Failed {
                command,
                code,
                stderr: output.stderr,
            }),
        }
    }

    /// The paths that differ between two commits, as bytes, in git's order; a moved file is two
    /// paths.
    pub fn changed_paths(&self, from: &CommitId, to: &CommitId) -> Result<Vec<Vec<u8>>, GitError> {
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            from.as_str(),
            to.as_str(),
        ];
        let output = self.git().args(words).run()?;
        Ok(output
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }
}

/// Makes a bare repository without template: no hooks, no descriptions, nothing that an
/// installation adds.
pub(crate) fn init_bare(dir: &Path, object_format: &str) -> Result<(), GitError> {
    let format = format!("--object-format={object_format}");
    Git::of_ours(dir)
        .args([
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--initial-branch=main",
            &format,
        ])
        .run()?;
    let info = dir.join("info");
    fs::create_dir_all(&info).map_err(failed("make", &info))?;
    let attributes = info.join("attributes");
    fs::write(&attributes, ATTRIBUTES).map_err(failed("write", &attributes))?;
    fs::File::open(&attributes)
        .and_then(|file| file.sync_all())
        .map_err(failed("flush", &attributes))
}

pub(crate) fn object_format(git_dir: &Path) -> Result<String, GitError> {
    Git::of_operator(git_dir)
        .args(["rev-parse", "--show-object-format"])
        .line()
}

fn has_promisor(git_dir: &Path) -> Result<bool, GitError> {
    let words = [
        "config",
        "--get-regexp",
        r"^(remote\..*\.promisor|extensions\.partialclone)$",
    ];
    Ok(Git::of_operator(git_dir).args(words).outcome()?.code == Some(0))
}

fn cut_with_note(mut bytes: Vec<u8>, bytes_max: usize) -> String {
    // Half a character at the end would read as damage.
    let half = bytes
        .utf8_chunks()
        .last()
        .map_or(0, |chunk| chunk.invalid().len());
    if half < 4 {
        bytes.truncate(bytes.len() - half);
    }
    let shown = String::from_utf8_lossy(&bytes);
    format!("{shown}\n[the difference goes on; only its first {bytes_max} bytes are shown]\n")
}
