//! Why a deed could not be done, as the kinds that lead to different things.
//!
//! The kind is said where it is known: by the port that met the fault. Nobody guesses it from words
//! afterwards.

use std::error::Error;
use std::io;
use std::path::Path;

use sandbox::KeeperError;
use workspace::GitError;

/// Why a deed could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Something around us failed; the same deed may succeed later.
    #[error("cannot {attempt}")]
    Transient {
        /// What was tried.
        attempt: String,
        /// Why it failed.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The files that the deed should work on are at fault, and so is whoever made them.
    #[error("{why}")]
    BadTree {
        /// What is wrong with them.
        why: String,
    },
    /// There is no room. Everything waits for it.
    #[error("the disk is full")]
    DiskFull,
    /// Only a person can help.
    #[error("{what}; {remedy}")]
    NeedsPerson {
        /// What is wrong.
        what: String,
        /// What they can do.
        remedy: String,
    },
    /// An agent is not logged in any more, and only a person can change that.
    #[error("{question}")]
    NotLoggedIn {
        /// What they are asked.
        question: String,
    },
    /// A host outside cannot be reached, without which an agent cannot begin. It may pass.
    #[error("cannot {attempt}")]
    Unreachable {
        /// What was tried.
        attempt: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// What stands in the way is known and recorded; the deed is tried again, less and less often.
    #[error("{why}")]
    Delayed {
        /// What stands in the way.
        why: String,
    },
    /// Somebody wants the loop to end, so the deed was broken off.
    #[error("the deed was broken off")]
    Aborted,
}

impl Fault {
    /// A fault that a later try may not meet.
    pub fn transient(
        attempt: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Transient {
            attempt: attempt.into(),
            source: source.into(),
        }
    }

    /// The fault of a file operation.
    pub fn io(attempt: &str, path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::DiskFull;
        }
        Self::transient(format!("{attempt} `{}`", path.display()), source)
    }

    /// The fault of a git command that worked in this folder. Git says a full disk in words, so the
    /// disk itself is asked.
    pub fn git(folder: &Path, source: GitError) -> Self {
        match source {
            GitError::Aborted { .. } => Self::Aborted,
            GitError::GitMissing => Self::NeedsPerson {
                what: source.to_string(),
                remedy: "install git".to_owned(),
            },
            GitError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Self::DiskFull
            }
            GitError::TooManyFiles { .. }
            | GitError::TooManyBytes { .. }
            | GitError::TooManyRules { .. }
            | GitError::NotAFolder { .. }
            | GitError::Changed { .. }
            | GitError::FilterRefused { .. } => Self::BadTree {
                why: tree_words(&source),
            },
            _ if !sandbox::has_room(folder) => Self::DiskFull,
            other => match other.remedy() {
                Some(remedy) => Self::NeedsPerson {
                    what: other.to_string(),
                    remedy,
                },
                None => Self::transient("use the loop's repository", other),
            },
        }
    }

    /// The fault of a keeper's files.
    pub fn keeper(folder: &Path, source: KeeperError) -> Self {
        match source {
            KeeperError::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Self::DiskFull
            }
            _ if !sandbox::has_room(folder) => Self::DiskFull,
            other => Self::transient("keep the run", other),
        }
    }

    /// What a person is asked, where only one can help.
    pub(crate) fn question(&self) -> Option<String> {
        match self {
            Self::NeedsPerson { what, remedy } => {
                Some(format!("{what}; {remedy}, then answer `retry`"))
            }
            Self::NotLoggedIn { question } => Some(question.clone()),
            Self::Transient { .. }
            | Self::Unreachable { .. }
            | Self::BadTree { .. }
            | Self::DiskFull
            | Self::Delayed { .. }
            | Self::Aborted => None,
        }
    }

    /// The whole chain in one line, for people.
    pub fn words(&self) -> String {
        home::words_of(self)
    }
}

/// What is wrong with the files of a checkout, for whoever left them. They know their folder by
/// another name than we do.
fn tree_words(error: &GitError) -> String {
    match error {
        GitError::TooManyFiles { entries_max, .. } => format!(
            "it left more than {entries_max} new files and folders; remove what no story needs, or \
             have `.gitignore` name it"
        ),
        GitError::TooManyBytes { bytes_max, .. } => format!(
            "it left new files of more than {bytes_max} bytes altogether; remove what no story needs, \
             or have `.gitignore` name it"
        ),
        GitError::TooManyRules { bytes_max, .. } => {
            format!("its new `.gitignore` files have more than {bytes_max} bytes altogether")
        }
        GitError::NotAFolder { .. } => {
            "the project's folder is gone, and something else is in its place".to_owned()
        }
        other => other.to_string(),
    }
}

/// A record or an order that cannot be written as JSON, or read from it.
impl From<serde_json::Error> for Fault {
    fn from(source: serde_json::Error) -> Self {
        Self::transient("read or write JSON", source)
    }
}

/// An id in the journal that git would not take is damage that only a person can look at.
impl From<GitError> for Fault {
    fn from(source: GitError) -> Self {
        match source {
            GitError::BadId { .. } => Self::NeedsPerson {
                what: source.to_string(),
                remedy: "the journal is damaged; `loopwright doctor` says where it is".to_owned(),
            },
            other => Self::transient("use the loop's repository", other),
        }
    }
}
