//! The errors of keeping a run, on the worker's side and on the keeper's.
//!
//! A program that fails is not one of them: its exit record says so.

use std::io;
use std::path::PathBuf;

/// Why an operation on a run failed.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// A file operation failed.
    #[error("cannot {attempt} `{path}`")]
    File {
        /// The verb of the operation, such as `read`.
        attempt: &'static str,
        /// The file or folder it was tried on.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A file in the run folder does not contain the record it should.
    #[error("`{path}` cannot be read as a record")]
    Record {
        /// The record's file.
        path: PathBuf,
        /// The JSON error.
        #[source]
        source: serde_json::Error,
    },
    /// The folder was prepared for another run.
    #[error("`{path}` already holds the spec of another run")]
    OtherSpec {
        /// The path of the existing spec.
        path: PathBuf,
    },
    /// The program that should become the keeper could not be started.
    #[error("cannot launch a keeper with `{program}`")]
    Launch {
        /// The keeper's program.
        program: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The program that should become the keeper started, but failed before it was detached.
    #[error("`{program}` ended with {status} before it had become a keeper")]
    LaunchEnded {
        /// The keeper's program.
        program: PathBuf,
        /// Its exit status.
        status: std::process::ExitStatus,
    },
    /// The folder's keeper is alive, so there is nothing to sweep.
    #[error("the keeper of `{path}` is alive")]
    Kept {
        /// The run folder.
        path: PathBuf,
    },
    /// An orphaned process cannot be killed.
    #[error("cannot kill process {pid}")]
    Kill {
        /// The process id.
        pid: i32,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Orphaned processes are still there although they were killed.
    #[error("{n_left} processes of `{path}` are still there after {waited_secs} s")]
    NotSwept {
        /// The run folder.
        path: PathBuf,
        /// How many processes are left.
        n_left: usize,
        /// How long we waited for them to disappear.
        waited_secs: u64,
    },
    /// A system call on our own process, or on the process table, failed.
    #[error("cannot {attempt}")]
    Process {
        /// What was attempted, as a verb phrase.
        attempt: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// There is no keeper for this operating system.
    #[error("keeping a process tree is not supported on this system")]
    Unsupported,
}

impl KeeperError {
    /// Builds the error of a file operation, for `map_err`.
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

    /// Builds the error of a process operation, for `map_err`.
    #[cfg(target_os = "linux")]
    pub(crate) fn process<E: Into<io::Error>>(attempt: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Process {
            attempt,
            source: source.into(),
        }
    }
}
