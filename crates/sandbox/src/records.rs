//! The records of a run folder, and what one sees when one looks at it.
//!
//! Plain data: nothing here reads a file or knows whether a process lives.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::KeeperError;

/// The variable that the keeper adds to the program's environment; its value is the run folder,
/// links resolved.
///
/// It is the mark by which [`sweep`](crate::sweep) finds what a lost keeper left, so a jail must
/// let it through.
pub const RUN_DIR_VARIABLE: &str = "LOOPWRIGHT_RUN_DIR";

/// Says what to run and within which limits; `spec.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The run's key, copied into the exit record.
    pub run_id: String,
    /// The program; without a slash it is looked up in the `PATH` of `env`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Its environment, but for `pass_env` and [`RUN_DIR_VARIABLE`].
    pub env: BTreeMap<String, String>,
    /// Names of variables that it gets from the keeper's own environment, which has them from the
    /// worker: their values may be secrets and are never written down. A variable of `env` wins.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// A regular file given as standard input, so that it is closed at its end; without one it is
    /// `/dev/null`.
    pub stdin: Option<PathBuf>,
    /// How long it may run.
    pub wall_secs: u64,
    /// How long it may run without a byte of new output.
    pub idle_secs: Option<u64>,
    /// How long it may go on after `stop_signal` before it is killed.
    #[serde(default = "grace_secs_default")]
    pub grace_secs: u64,
    /// How many bytes of each of its two streams are kept, of the beginning and of the end.
    pub output_bytes_max: u64,
    /// How it is asked to end.
    #[serde(default)]
    pub stop_signal: StopSignal,
}

fn grace_secs_default() -> u64 {
    10
}

/// Names the signal by which a program is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// `SIGTERM`.
    #[default]
    Term,
    /// `SIGINT`, for programs that save their work only on that one.
    Int,
}

/// Says which process keeps the run; `keeper.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperRecord {
    /// The keeper's process id; alone it proves nothing, since ids are used again.
    pub pid: i32,
    /// When the process started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
    /// The boot that `pid` and `start_time` belong to.
    pub boot_id: String,
    /// The wall clock at that moment, for people.
    pub started_at_ms: u64,
}

/// Says how a run ended; `exit.json`. When it is there, no process of the run is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The run's key, as the spec has it.
    pub run_id: String,
    /// Why it ended.
    pub cause: ExitCause,
    /// The program's exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the program, if one did.
    pub signal: Option<i32>,
    /// The wall clock at the start.
    pub started_at_ms: u64,
    /// The wall clock when the last process was gone.
    pub ended_at_ms: u64,
    /// Bytes that are kept of standard output.
    pub stdout_bytes: u64,
    /// Bytes that are kept of standard error.
    pub stderr_bytes: u64,
    /// Bytes of standard output that are not kept; with the kept ones, its whole length.
    pub stdout_dropped: u64,
    /// Bytes of standard error that are not kept.
    pub stderr_dropped: u64,
    /// Processes that had to be killed after the program itself had ended.
    pub swept: u32,
    /// The disk was full when the program ended, or while it talked: if it failed, that may be why.
    #[serde(default)]
    pub found_full: bool,
}

/// Says why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExitCause {
    /// The program ended by itself.
    Exited,
    /// It ran for `wall_secs`.
    WallTimeout,
    /// It was silent for `idle_secs`.
    IdleTimeout,
    /// A stop was requested, or the run folder was taken away.
    Stopped,
    /// The program never ran.
    CannotStart {
        /// The reason, for people.
        why: String,
    },
}

/// Says what became of a run, as far as its folder and the process table can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunView {
    /// No keeper has taken it; launching one is safe at any time.
    NotStarted,
    /// Its keeper lives.
    Running(KeeperRecord),
    /// It is over, and nothing of it is left.
    Ended(ExitRecord),
    /// Its keeper died without a record; its tree may be left and must be swept.
    Lost(KeeperRecord),
    /// Its keeper belongs to an earlier boot, so that nothing of it can be left.
    Rebooted(KeeperRecord),
}

/// Says how a keeper's own life ended.
#[derive(Debug)]
pub enum ExitOutcome {
    /// It was the short-lived process in between, and has started the keeper proper.
    Relaunched,
    /// Another keeper has or had this folder, so there was nothing to do.
    AlreadyKept,
    /// The run is over and recorded.
    Ended(ExitRecord),
    /// It could not do its work; what is known is in the error and nowhere else.
    Failed(KeeperError),
}
