//! The errors of working with `git` repositories.
//!
//! Callers branch on the variants. No variant is chosen by matching git's error text: that text is
//! only carried along, up to a limit, for people to read.

use std::io;
use std::path::{Path, PathBuf};

/// Why an operation on a repository failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The `git` program is not installed.
    #[error("there is no `git` program on the PATH")]
    GitMissing,
    /// The program could not be started, or a pipe to it broke.
    #[error("cannot run `git {command}`")]
    Run {
        /// The arguments, without the options that every call gets.
        command: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The program ran and exited with an error.
    #[error("`git {command}` failed{}: {stderr}", exit_words(*.code))]
    Failed {
        /// The arguments, without the options that every call gets.
        command: String,
        /// The exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The end of its standard error.
        stderr: String,
    },
    /// The program hung and was killed.
    #[error("`git {command}` did not end within {waited_secs} s and was killed")]
    TooSlow {
        /// The arguments, without the options that every call gets.
        command: String,
        /// The time limit that it exceeded.
        waited_secs: u64,
    },
    /// The program was ended because nobody wants its work any more.
    #[error("`git {command}` was broken off")]
    Aborted {
        /// The arguments, without the options that every call gets.
        command: String,
    },
    /// The program succeeded, but its output could not be parsed.
    #[error("`git {command}` gave an answer that cannot be read")]
    Garbled {
        /// The arguments, without the options that every call gets.
        command: String,
    },
    /// Neither this folder nor any folder above it is a repository.
    #[error("`{path}` is not in a git repository")]
    NotARepository {
        /// The folder in question.
        path: PathBuf,
    },
    /// The folder is in a bare repository or inside a `.git` folder.
    #[error("`{path}` is in a git repository, but not in a work tree")]
    NoWorkTree {
        /// The folder in question.
        path: PathBuf,
    },
    /// The repository, or the branch that is checked out, has no commit yet.
    #[error("the git repository of `{path}` has no commit yet")]
    NoCommits {
        /// The folder in question.
        path: PathBuf,
    },
    /// The revision names no commit.
    #[error("the git repository of `{path}` has no commit `{revision}`")]
    UnknownRevision {
        /// The revision that was asked for.
        revision: String,
        /// The folder in question.
        path: PathBuf,
    },
    /// Some objects of the base commit exist only on a remote.
    #[error(
        "the git repository of `{path}` is a partial clone that lacks objects of the base commit"
    )]
    PartialClone {
        /// The operator's repository.
        path: PathBuf,
    },
    /// A submodule's commit is not in the operator's repository of it.
    #[error("the submodule `{path}` is not there at its commit {commit}")]
    SubmoduleMissing {
        /// Its folder.
        path: PathBuf,
        /// The commit that the base records.
        commit: String,
    },
    /// A file needs a filter that the operator's git does not have.
    #[error("`{path}` goes through the filter `{name}`, which this git does not have")]
    FilterMissing {
        /// The filter.
        name: String,
        /// One of its files.
        path: PathBuf,
    },
    /// A filter of the operator's did not give what a file needs.
    #[error("`{path}` goes through the filter `{name}`, and {why}")]
    FilterFailed {
        /// The filter.
        name: String,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// A file that an agent wrote goes through a filter and does not come out again.
    #[error("`{path}` does not come out of the filter `{name}` again: {why}")]
    FilterRefused {
        /// The filter.
        name: String,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// Git does not accept this name for a ref.
    #[error("`{name}` cannot be the name of a ref")]
    BadRef {
        /// The rejected name.
        name: String,
    },
    /// The file of one of the operator's branches holds no commit id, so git passes over the branch.
    #[error("`{file}` is garbled: git finds no commit id in it, and so no branch")]
    BrokenRef {
        /// The file that git keeps the branch in.
        file: PathBuf,
        /// What the file should hold: the commit that we published last.
        last: Option<String>,
    },
    /// A git process holds a branch of the operator's, or left its lock behind when it died.
    #[error("another git holds the branch, or left its lock `{file}` behind")]
    RefLocked {
        /// The lock file.
        file: PathBuf,
    },
    /// The branch is not one that we may write.
    #[error("`{name}` is never published: it is the trunk, or a name that is kept")]
    ForeignBranch {
        /// The branch that was to be published.
        name: String,
    },
    /// The text is not an object id.
    #[error("`{text}` is not a git object id")]
    BadId {
        /// The text, cut to its first 100 characters.
        text: String,
    },
    /// The place for something new is already taken.
    #[error("`{path}` exists already and is not empty")]
    Exists {
        /// The path that is taken.
        path: PathBuf,
    },
    /// The folder was not made by [`crate::LoopRepo::create`].
    #[error("`{path}` is not a repository of a loop")]
    NotALoopRepo {
        /// The folder that was to be opened.
        path: PathBuf,
    },
    /// The path leads out of the checkout.
    #[error("`{path}` is not a path inside the checkout")]
    OutsidePath {
        /// The path as the caller gave it.
        path: PathBuf,
    },
    /// No tree of ours may contain this path.
    #[error("`{path}` has a name that some git would take for its own metadata")]
    ReservedPath {
        /// The path as the caller gave it.
        path: PathBuf,
    },
    /// An edit asks for an entry that cannot exist.
    #[error("`{path}` cannot be made: {reason}")]
    BadEdit {
        /// The path of the edit.
        path: PathBuf,
        /// What is wrong with the edit.
        reason: &'static str,
    },
    /// A file in a tree exceeds the caller's limit.
    #[error("`{path}` has {bytes} bytes, more than the {bytes_max} that are read")]
    FileTooLarge {
        /// The path in the tree.
        path: PathBuf,
        /// The file's length.
        bytes: u64,
        /// The caller's limit.
        bytes_max: usize,
    },
    /// A file changed while it was read: somebody is still writing in the checkout.
    #[error("`{path}` changed while it was read")]
    Changed {
        /// The file that changed.
        path: PathBuf,
    },
    /// The checkout has more files than we read.
    #[error("`{path}` holds more than {entries_max} files")]
    TooManyFiles {
        /// The top of the checkout.
        path: PathBuf,
        /// The largest number of files that we read.
        entries_max: usize,
    },
    /// The files of the checkout are larger than we read.
    #[error("`{path}` holds more than {bytes_max} bytes")]
    TooManyBytes {
        /// The top of the checkout.
        path: PathBuf,
        /// The most that we read of it.
        bytes_max: u64,
    },
    /// The `.gitignore` files of the checkout are larger than we read.
    #[error("the `.gitignore` files in `{path}` have more than {bytes_max} bytes")]
    TooManyRules {
        /// The top of the checkout.
        path: PathBuf,
        /// The most that we read of them.
        bytes_max: u64,
    },
    /// Something else is where the checkout was.
    #[error("`{path}` is no folder any more")]
    NotAFolder {
        /// The top of the checkout.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {attempt} `{path}`")]
    Io {
        /// The verb of the operation, such as `read`.
        attempt: &'static str,
        /// The path that it was tried on.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl GitError {
    /// What the operator can do about it, where it is for the operator to do.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::SubmoduleMissing { .. } => {
                Some("fetch it in the project: git submodule update --init --recursive".to_owned())
            }
            Self::FilterMissing { name, .. } if name == "lfs" => Some(
                "install git-lfs, then in the project: git lfs install && git lfs pull".to_owned(),
            ),
            Self::FilterMissing { name, .. } => Some(format!(
                "configure it (git config filter.{name}.smudge and .clean), with `cat` for both if its files may stay as git records them"
            )),
            Self::FilterFailed { name, .. } if name == "lfs" => Some(
                "see that `git lfs pull` works in the project and leaves no pointers".to_owned(),
            ),
            Self::FilterFailed { name, .. } => Some(format!(
                "see that the filter works in the project: git config --get-regexp filter.{name}"
            )),
            Self::BrokenRef { file, last } => Some(match last {
                Some(id) => format!("`echo {id} > {}` mends it", quoted(file)),
                None => format!("`rm {}` removes it", quoted(file)),
            }),
            Self::RefLocked { file } => Some(format!(
                "if no git is at work there, `rm {}` removes the lock",
                quoted(file)
            )),
            _ => None,
        }
    }
}

/// A path as one word of a shell command.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn exit_words(code: Option<i32>) -> String {
    match code {
        Some(code) => format!(" with exit code {code}"),
        None => " by a signal".to_owned(),
    }
}

/// Wraps a system error with the operation and the path that it belongs to.
pub(crate) fn failed<E: Into<io::Error>>(
    attempt: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> GitError {
    let path = path.to_owned();
    move |error| GitError::Io {
        attempt,
        path,
        source: error.into(),
    }
}
