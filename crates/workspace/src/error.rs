//! What can go wrong between us and `git`.
//!
//! Variants are facts that a caller can branch on; nothing here is decided by reading git's prose,
//! which is only carried along, bounded, for people.

use std::io;
use std::path::{Path, PathBuf};

/// Why something with a repository did not work.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("there is no `git` program on the PATH")]
    GitMissing,
    /// The program could not be started, or talking with it broke off.
    #[error("cannot run `git {command}`")]
    Run {
        /// What it was asked, without our fixed options.
        command: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The program ran and refused.
    #[error("`git {command}` failed{}: {stderr}", exit_words(*.code))]
    Failed {
        /// What it was asked, without our fixed options.
        command: String,
        /// Its exit code, none when a signal ended it.
        code: Option<i32>,
        /// The end of what it said.
        stderr: String,
    },
    /// The program hung, and was ended.
    #[error("`git {command}` did not end within {waited_secs} s and was killed")]
    TooSlow {
        /// What it was asked, without our fixed options.
        command: String,
        /// How long it was given.
        waited_secs: u64,
    },
    /// The program answered something that we do not understand.
    #[error("`git {command}` gave an answer that cannot be read")]
    Garbled {
        /// What it was asked, without our fixed options.
        command: String,
    },
    /// No repository at this folder or above it.
    #[error("`{path}` is not in a git repository")]
    NotARepository {
        /// The folder that was looked at.
        path: PathBuf,
    },
    /// A bare repository, or the inside of a `.git` folder.
    #[error("`{path}` is in a git repository, but not in a work tree")]
    NoWorkTree {
        /// The folder that was looked at.
        path: PathBuf,
    },
    /// A repository without a first commit, or on a branch that has none.
    #[error("the git repository of `{path}` has no commit yet")]
    NoCommits {
        /// The folder that was looked at.
        path: PathBuf,
    },
    /// No such commit.
    #[error("the git repository of `{path}` has no commit `{revision}`")]
    UnknownRevision {
        /// What was asked for.
        revision: String,
        /// The folder that was looked at.
        path: PathBuf,
    },
    /// Objects of the base are still at a remote.
    #[error(
        "the git repository of `{path}` is a partial clone that lacks objects of the base commit"
    )]
    PartialClone {
        /// The operator's repository.
        path: PathBuf,
    },
    /// Not a name that git takes for a ref.
    #[error("`{name}` cannot be the name of a ref")]
    BadRef {
        /// The name.
        name: String,
    },
    /// A branch that is not ours to write.
    #[error("`{name}` is not a branch of ours: only `agent-loop/…` is ever published")]
    ForeignBranch {
        /// The branch.
        name: String,
    },
    /// Not an object id.
    #[error("`{text}` is not a git object id")]
    BadId {
        /// What was given.
        text: String,
    },
    /// Something is in the way.
    #[error("`{path}` exists already and is not empty")]
    Exists {
        /// Where something new was to be made.
        path: PathBuf,
    },
    /// A folder that [`crate::LoopRepo::create`] did not make.
    #[error("`{path}` is not a repository of a loop")]
    NotALoopRepo {
        /// The folder.
        path: PathBuf,
    },
    /// A path that leads out of the checkout.
    #[error("`{path}` is not a path inside the checkout")]
    OutsidePath {
        /// The path.
        path: PathBuf,
    },
    /// A path that no tree of ours may have.
    #[error("`{path}` has a name that some git would take for its own metadata")]
    ReservedPath {
        /// The path.
        path: PathBuf,
    },
    /// A path was to be something that it cannot be.
    #[error("`{path}` cannot be made: {reason}")]
    BadEdit {
        /// The path.
        path: PathBuf,
        /// What is wrong with what was given.
        reason: &'static str,
    },
    /// A file of a tree that is longer than was asked for.
    #[error("`{path}` has {bytes} bytes, more than the {bytes_max} that are read")]
    FileTooLarge {
        /// The path in the tree.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The limit.
        bytes_max: usize,
    },
    /// A file became shorter while it was read: somebody still writes there.
    #[error("`{path}` changed while it was read")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// More files than a checkout may have.
    #[error("`{path}` holds more than {entries_max} files")]
    TooManyFiles {
        /// The checkout.
        path: PathBuf,
        /// The limit.
        entries_max: usize,
    },
    /// The system refused.
    #[error("cannot {attempt} `{path}`")]
    Io {
        /// What was tried.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

fn exit_words(code: Option<i32>) -> String {
    match code {
        Some(code) => format!(" with exit code {code}"),
        None => " by a signal".to_owned(),
    }
}

/// Names the attempt that an error of the system belongs to.
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
