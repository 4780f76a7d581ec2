//! What can go wrong around a run folder, on the worker's side and on the keeper's.
//!
//! A program that fails is no error of ours: that is in its exit record.

use std::io;
use std::path::PathBuf;

/// Says what was attempted, and on what.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// The system refused a file operation.
    #[error("cannot {attempt} `{path}`")]
    File {
        /// The verb.
        attempt: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file of the run folder does not hold what it should.
    #[error("`{path}` cannot be read as a record")]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The folder was prepared for something else.
    #[error("`{path}` already holds the spec of another run")]
    OtherSpec {
        /// The spec that is there.
        path: PathBuf,
    },
    /// The program that should become the keeper does not start.
    #[error("cannot launch a keeper with `{program}`")]
    Launch {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program that should become the keeper started and failed before it had detached itself.
    #[error("`{program}` ended with {status} before it had become a keeper")]
    LaunchEnded {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// The keeper of the folder lives, so that nothing in it is left behind.
    #[error("the keeper of `{path}` is alive")]
    Kept {
        /// The run folder.
        path: PathBuf,
    },
    /// A process that was left behind cannot be killed.
    #[error("cannot kill process {pid}")]
    Kill {
        /// The process.
        pid: i32,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Processes that were left behind are still there, though they were killed.
    #[error("{n_left} processes of `{path}` are still there after {waited_secs} s")]
    NotSwept {
        /// The run folder.
        path: PathBuf,
        /// How many.
        n_left: usize,
        /// How long we tried.
        waited_secs: u64,
    },
    /// The system refused something that concerns the keeper's own process.
    #[error("cannot {attempt}")]
    Process {
        /// The verb.
        attempt: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// This system has no way to do it.
    #[error("keeping a process tree is not supported on this system")]
    Unsupported,
}

impl KeeperError {
    /// Makes the error of one file operation; for `map_err`.
    pub(crate) fn file(
        attempt: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            attempt,
            path,
            source,
        }
    }

    /// Makes the error of one operation on our own process; for `map_err`.
    #[cfg(target_os = "linux")]
    pub(crate) fn process<E: Into<io::Error>>(attempt: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Process {
            attempt,
            source: source.into(),
        }
    }
}
