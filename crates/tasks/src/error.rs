//! What can go wrong with tasks, and what is refused.

use std::path::PathBuf;

use home::PrdFile;
use prd::Diagnostic;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The folder is in no git repository, so that nothing says which worktrees belong together.
    #[error("`{folder}` is not in a git repository; claims are kept per repository", folder = folder.display())]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// What git said.
        #[source]
        source: workspace::GitError,
    },
    /// There is no plan.
    #[error("there is no task graph in `{root}`", root = root.display())]
    NoGraph {
        /// The top of the work tree.
        root: PathBuf,
    },
    /// The plan cannot be used.
    #[error("the task graph cannot be used: {0}")]
    BadGraph(BadGraph),
    /// What was asked for is not allowed now.
    #[error("{0}")]
    Refused(Refusal),
    /// The store failed.
    #[error("the claim store failed")]
    Store(#[from] journal::JournalError),
    /// The store cannot be read.
    #[error("the claim store cannot be read")]
    Read(#[from] journal::ReadError),
    /// The store did not take what was written.
    #[error("the claim store refused a record")]
    Append(#[from] journal::AppendError),
    /// A record of the store is not understood.
    #[error("record {number} of the claim store is not understood")]
    Record {
        /// Its number.
        number: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// Somebody else has held the store's lock for too long.
    #[error("another process has held the claim store for {secs} s: `{path}` names it", path = path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long.
        secs: u64,
    },
    /// A file or folder refused.
    #[error("cannot {attempt} `{path}`", path = path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The system does not tell who we are.
    #[error("cannot find out which process this is")]
    Process(#[source] sandbox::KeeperError),
}

/// Why a plan cannot be used.
#[derive(Debug)]
pub enum BadGraph {
    /// It cannot be read at all.
    Unreadable(Box<Diagnostic>),
    /// It has errors, which the reading holds.
    Wrong(Box<PrdFile>),
}

impl std::fmt::Display for BadGraph {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(diagnostic) => out.write_str(&diagnostic.message),
            Self::Wrong(file) => {
                let errors = file.reading.diagnostics.iter();
                let first = errors
                    .filter(|one| one.severity == prd::Severity::Error)
                    .map(|one| one.message.as_str())
                    .next();
                out.write_str(first.unwrap_or("it has no tasks"))
            }
        }
    }
}

/// What is not allowed now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such task.
    #[error("there is no task `{task}`{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        task: String,
        /// A task with a similar id.
        near: Option<String>,
    },
    /// It is complete already.
    #[error("`{task}` is complete already")]
    Complete {
        /// The task.
        task: String,
    },
    /// Somebody else holds it.
    #[error("`{task}` is held by {by}")]
    Held {
        /// The task.
        task: String,
        /// Who holds it.
        by: String,
    },
    /// It depends on others.
    #[error("`{task}` waits for {}", on.join(", "))]
    Waits {
        /// The task.
        task: String,
        /// What it waits for.
        on: Vec<String>,
    },
    /// The plan sets it aside.
    #[error("`{task}` is marked {word} in the plan")]
    SetAside {
        /// The task.
        task: String,
        /// The state's word.
        word: &'static str,
    },
    /// The claim is not the caller's any more.
    #[error("`{task}` is not yours any more: its claim was released, reset or taken over")]
    Lost {
        /// The task.
        task: String,
    },
    /// Its declared output is not there.
    #[error("`{task}` must produce `{output}`, {why}")]
    Output {
        /// The task.
        task: String,
        /// The file that it must produce.
        output: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nobody holds it.
    #[error("nobody holds `{task}`")]
    NotHeld {
        /// The task.
        task: String,
    },
}
