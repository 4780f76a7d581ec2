//! The loop's own repository. It is bare, owns every object that it needs, and is the repository
//! that git works in on our behalf.
//!
//! It has no remotes, no hooks and no configuration beyond what `git init` writes, and it never
//! reads metadata that an agent could have written. The operator's repository is left to
//! [`crate::look_at_project`] and [`LoopRepo::publish`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::conversation::Idle;
use crate::entry::TreeLike;
use crate::error::{GitError, failed};
use crate::git::{ATTRIBUTES, Git};
use crate::id::{CommitId, TreeId};
use crate::memory::Memory;
use crate::moments::moment;
use crate::project::common_git_dir;
use crate::scratch::{Scratch, absolute, is_free};
use crate::signature::Signature;

/// The bare repository of one loop.
#[derive(Debug, Clone)]
pub struct LoopRepo {
    git_dir: PathBuf,
    pub(crate) memory: Memory,
    /// A `git cat-file --batch` that nobody uses just now.
    pub(crate) idle_reader: Idle,
    /// A `git mktree --batch` that nobody uses just now.
    pub(crate) idle_tree_writer: Idle,
}

impl LoopRepo {
    /// Creates the repository with the base commit and its history. If it exists already, only the
    /// base is added where it is missing.
    ///
    /// Objects are copied, never shared, so that nothing the operator does later (a reset, a
    /// garbage collection, deleting the project) can take the base away. The repository is built
    /// beside its final place and renamed when it is complete.
    pub fn create(project_root: &Path, repo_dir: &Path, base: &CommitId) -> Result<Self, GitError> {
        let project = absolute(project_root)?;
        let repo_dir = absolute(repo_dir)?;
        if !is_free(&repo_dir)? {
            let repo = Self::open(&repo_dir)?;
            repo.import(&project, base)?;
            repo.import_content(&project, base)?;
            return Ok(repo);
        }
        let source = common_git_dir(&project)?;
        let scratch = Scratch::beside(&repo_dir, "new")?;
        init_bare(scratch.path(), &object_format(&source)?)?;
        let unfinished = Self::at(scratch.path().to_owned());
        unfinished.import(&project, base)?;
        unfinished.import_content(&project, base)?;
        scratch.put_at(&repo_dir)?;
        Self::open(&repo_dir)
    }

    /// Opens a repository that [`LoopRepo::create`] made.
    pub fn open(repo_dir: &Path) -> Result<Self, GitError> {
        let git_dir = absolute(repo_dir)?;
        // The attributes are both our mark and our protection: without them a `.gitattributes` in a
        // tree would apply. Alternates would mean that some objects are not ours.
        let attributes = fs::read_to_string(git_dir.join("info/attributes")).unwrap_or_default();
        let borrows = git_dir.join("objects/info/alternates").exists();
        if attributes != ATTRIBUTES || borrows || !git_dir.join("HEAD").is_file() {
            return Err(GitError::NotALoopRepo { path: git_dir });
        }
        Ok(Self::at(git_dir))
    }

    /// Somebody else's repository, for reading its objects by id and nothing else.
    pub(crate) fn only_read(git_dir: PathBuf) -> Self {
        Self::at(git_dir)
    }

    fn at(git_dir: PathBuf) -> Self {
        Self {
            git_dir,
            memory: Memory::default(),
            idle_reader: Idle::default(),
            idle_tree_writer: Idle::default(),
        }
    }

    /// The repository's folder.
    pub fn path(&self) -> &Path {
        &self.git_dir
    }

    /// What is wrong with the repository as a whole: refs that point nowhere, objects that are
    /// missing. None where nothing is found, and where git cannot tell.
    pub fn damage(&self) -> Option<String> {
        let arguments = [
            "fsck",
            "--connectivity-only",
            "--no-dangling",
            "--no-progress",
        ];
        let found = self.git().args(arguments).outcome().ok()?;
        if matches!(found.code, None | Some(0)) {
            return None;
        }
        let said = String::from_utf8_lossy(&found.stdout).into_owned() + &found.stderr;
        let mut lines = said.lines().filter(|line| !line.starts_with("notice: "));
        Some(lines.next().unwrap_or("`git fsck` fails").to_owned())
    }

    /// The commit that the loop began with.
    pub fn first_commit(&self) -> Result<Option<CommitId>, GitError> {
        let words = [
            "for-each-ref",
            "--format=%(objectname)",
            "refs/loopwright/base/",
        ];
        let found = self.git().args(words).run()?;
        let found = String::from_utf8_lossy(&found).into_owned();
        let mut ids = found.lines();
        match (ids.next(), ids.next()) {
            (Some(id), None) => CommitId::parse(id).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn git(&self) -> Git {
        Git::of_ours(&self.git_dir)
    }

    /// Copies a commit from the operator's repository, with as much history as there is, and keeps
    /// it alive with a ref.
    fn import(&self, project: &Path, base: &CommitId) -> Result<(), GitError> {
        let held = format!("refs/loopwright/base/{base}");
        // The fetch writes the ref last, so a ref that exists means that all objects are here.
        if self.find_ref(&held)?.is_some() {
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
        // Deltas that the source has are kept. Looking for new ones takes longer than all else here.
        let upload = "--upload-pack=git -c pack.window=0 -c pack.compression=1 upload-pack";
        moment("before", &held);
        let fetched = self
            .git()
            .args(words)
            .arg(upload)
            .args(["--update-shallow", "--recurse-submodules=no", "--"])
            .arg(&source)
            .arg(format!("{base}:{held}"))
            .run();
        moment("after", &held);
        // A partial clone that lacks objects fails with an error that names only an object id. The
        // operator needs to know the cause, so we look whether it is a partial clone.
        fetched
            .map(drop)
            .map_err(|error| match has_promisor(&source) {
                Ok(true) => GitError::PartialClone {
                    path: project.to_owned(),
                },
                Ok(false) | Err(_) => error,
            })
    }

    /// Writes the files of a commit into a new folder, without any git metadata.
    ///
    /// Modes and links are as recorded, and so are contents, except that the operator's filters have
    /// run and that submodules are populated. The folder appears only when it is complete. It is
    /// not flushed: after a power cut, make a new one.
    pub fn checkout(&self, commit: &CommitId, dir: &Path) -> Result<(), GitError> {
        self.check_out(commit, dir)
    }

    /// Writes the files of a tree into a new folder, as [`LoopRepo::checkout`] does for a commit.
    pub fn checkout_tree(&self, tree: &TreeId, dir: &Path) -> Result<(), GitError> {
        self.check_out(tree, dir)
    }

    pub(crate) fn check_out(&self, files: &dyn TreeLike, dir: &Path) -> Result<(), GitError> {
        let dir = absolute(dir)?;
        if !is_free(&dir)? {
            return Err(GitError::Exists { path: dir });
        }
        // The index is private to this call: the repository is shared by all checkouts of the loop.
        let private = Scratch::beside(&dir, "checkout-index")?;
        let index = private.path().join("index");
        let place = Scratch::beside(&dir, "checkout")?;
        let tree = match self.unfold(files)? {
            Some(unfolded) => self.write_tree(&unfolded.entries, &private)?.to_string(),
            None => files.object_id().to_owned(),
        };
        self.git()
            .without_fsync()
            .env("GIT_INDEX_FILE", &index)
            .args(["read-tree", &tree])
            .run()?;
        self.git()
            .work_tree(place.path())
            .env("GIT_INDEX_FILE", &index)
            .args(["checkout-index", "--all", "--quiet"])
            .run()?;
        place.put_at(&dir)
    }

    /// Makes a commit of our own. The same inputs give the same id, so repeating the call is
    /// harmless.
    pub fn commit(
        &self,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, GitError> {
        self.commit_by(&Signature::ours(), tree, parent, message, at_secs)
    }

    /// Makes a commit by somebody: they are its author and its committer, as if they had made it
    /// themselves.
    pub fn commit_by(
        &self,
        author: &Signature,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, GitError> {
        let git = self
            .git()
            .env("GIT_AUTHOR_NAME", author.name())
            .env("GIT_AUTHOR_EMAIL", author.email())
            .env("GIT_COMMITTER_NAME", author.name())
            .env("GIT_COMMITTER_EMAIL", author.email());
        commit_tree(git, tree.as_str(), Some(parent), message, at_secs)
    }

    /// Makes a commit without a parent.
    pub(crate) fn commit_root(
        &self,
        tree: &str,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, GitError> {
        commit_tree(self.git(), tree, None, message, at_secs)
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

    /// The difference between two trees as a patch. A patch longer than `bytes_max` is cut and ends
    /// in a note that says so. Unless `path` is empty, the patch is limited to that path and what is
    /// below it.
    ///
    /// Bytes that are not UTF-8 are replaced. No attribute in either tree can hide a file or run a
    /// program.
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
        let mut git = self
            .git()
            .args(words)
            .args([from.object_id(), to.object_id(), "--"])
            .output_bytes_max(bytes_max);
        if !path.is_empty() {
            git = git.literal_path(path);
        }
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

    /// The paths that differ between two commits, as bytes, in git's order. A renamed file is
    /// listed with both its paths.
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

/// Makes a bare repository without a template: no hooks, no description, nothing that the machine's
/// git installation would add.
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

/// Makes a commit; `git` says whose it is.
fn commit_tree(
    git: Git,
    tree: &str,
    parent: Option<&CommitId>,
    message: &str,
    at_secs: i64,
) -> Result<CommitId, GitError> {
    // The time comes from the caller, not from a clock: a commit's id depends on it, and a
    // repeated call must give the same id. The `@` marks seconds since 1970.
    let date = format!("@{at_secs} +0000");
    let mut git = git
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .args(["commit-tree", tree]);
    if let Some(parent) = parent {
        git = git.args(["-p", parent.as_str()]);
    }
    let id = git.args(["-F", "-"]).run_with(message.as_bytes())?;
    CommitId::parse(String::from_utf8_lossy(&id).trim_end())
}

fn cut_with_note(mut bytes: Vec<u8>, bytes_max: usize) -> String {
    // The cut may fall inside a character, which would be shown as a damaged one. A character has
    // at most four bytes, so a longer invalid end was in the file itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_falls_between_characters() {
        for (bytes, expected) in [
            (&b"abc"[..], "abc"),
            ("ä".as_bytes(), "ä"),
            (&"aä".as_bytes()[..2], "a"),
            (&"日".as_bytes()[..2], ""),
            (b"a\xff\xffb", "a\u{fffd}\u{fffd}b"),
        ] {
            let note = "\n[the difference goes on; only its first 9 bytes are shown]\n";
            let cut = cut_with_note(bytes.to_vec(), 9);
            assert_eq!(cut.strip_suffix(note), Some(expected), "{bytes:?}");
        }
    }
}
