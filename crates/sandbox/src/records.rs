//! The records in a run folder, and the states that a run can be in.
//!
//! Plain data: nothing here reads a file or the process table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{JailKind, JailSpec, KeeperError, LimitHit, Refused, TokensUsed};

/// The variable that the keeper adds to the program's environment. Its value is the path of the run
/// folder, with links resolved.
///
/// By this mark [`sweep`](crate::sweep) finds the processes of a lost keeper, so a jail must let it
/// through.
pub const RUN_DIR_VARIABLE: &str = "LOOPWRIGHT_RUN_DIR";

/// What to run, and its limits; the content of `spec.json`.
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
    /// Its environment, apart from `pass_env` and [`RUN_DIR_VARIABLE`].
    pub env: BTreeMap<String, String>,
    /// Names of variables whose values may be secrets, so that they are in no spec. A variable in
    /// `env` wins.
    // Added later: an older spec does not have it.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// The file that has their values, as a JSON object. Where there is no such file they are copied
    /// from the keeper's environment, which comes from the worker.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_env_file: Option<PathBuf>,
    /// Variables of `env`, as `NAME=value`, by which [`sweep`](crate::sweep) also knows processes of
    /// the run; what follows behind a slash counts too.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// Whether the program must not see [`RUN_DIR_VARIABLE`]. Then `marks` must name another one.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unnamed: bool,
    /// A regular file to use as standard input, so that the program sees its end; `/dev/null` if
    /// there is none.
    pub stdin: Option<PathBuf>,
    /// How long it may run.
    pub wall_secs: u64,
    /// How long it may run without any new output.
    pub idle_secs: Option<u64>,
    /// How long it may keep running after `stop_signal` before it is killed.
    #[serde(default = "grace_secs_default")]
    pub grace_secs: u64,
    /// How many bytes of each output stream are kept, beginning and end together.
    pub output_bytes_max: u64,
    /// The signal that asks it to end.
    #[serde(default)]
    pub stop_signal: StopSignal,
    /// The process that waits for the run. When it is gone, nobody will ever ask for the outcome, and
    /// the run is stopped.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_with: Option<ProcessMark>,
    /// What standard output is written in, for whoever watches it.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Whether it gets a free range of ports, which [`PORT_BASE_VARIABLE`](crate::PORT_BASE_VARIABLE)
    /// names, until it has ended. A variable of `env` wins.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_ports: bool,
    /// Whether no record of it is flushed: whoever waits for it dies in a power cut too, and then begins
    /// anew in another folder.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unflushed: bool,
    /// The jail to run it in; on this machine itself if there is none.
    ///
    /// With a jail, `program`, `args`, `cwd` and `env` are in inside terms. `stdin` and
    /// `pass_env_file` stay paths of this machine. `marks` and `unnamed` mean nothing then: the
    /// sweep knows a jail by its first process.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jail: Option<JailSpec>,
}

/// Takes standard output as it comes and says when the program must be ended, because it goes round.
pub type Watch = Box<dyn FnMut(&[u8]) -> bool>;

fn grace_secs_default() -> u64 {
    10
}

/// The signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// `SIGTERM`.
    #[default]
    Term,
    /// `SIGINT`, for programs that save their work only on this one.
    Int,
}

/// Names one process for as long as the machine is up. An id alone proves nothing, since ids are
/// reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Its process id.
    pub pid: i32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
    /// The boot that both belong to.
    pub boot_id: String,
}

/// Which process the keeper is; the content of `keeper.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperRecord {
    /// The keeper's process id. It proves nothing by itself, since ids are reused.
    pub pid: i32,
    /// When the process started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
    /// The boot that `pid` and `start_time` belong to.
    pub boot_id: String,
    /// When the record was written, in milliseconds since 1970; for people only.
    pub started_at_ms: u64,
}

/// The first process of a run's jail; the content of `jail.json`. When it ends, the kernel ends
/// everything in the jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JailRecord {
    /// The kind of jail.
    pub kind: JailKind,
    /// Its process id.
    pub pid: i32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
    /// The control groups that were made for it.
    #[serde(default)]
    pub cgroups: Vec<PathBuf>,
}

/// How a run ended; the content of `exit.json`. Once it exists, no process of the run is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The run's key, from the spec.
    pub run_id: String,
    /// Why the run ended.
    pub cause: ExitCause,
    /// The program's exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that killed the program, if one did.
    pub signal: Option<i32>,
    /// When the run started, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// When the last process was gone, in milliseconds since 1970.
    pub ended_at_ms: u64,
    /// How many bytes of standard output were kept.
    pub stdout_bytes: u64,
    /// How many bytes of standard error were kept.
    pub stderr_bytes: u64,
    /// How many bytes of standard output were dropped. Kept and dropped add up to its length.
    pub stdout_dropped: u64,
    /// How many bytes of standard error were dropped.
    pub stderr_dropped: u64,
    /// How many processes had to be killed after the program itself had ended.
    pub swept: u32,
    /// Whether the disk was full when the program ended or while it wrote output. If the program
    /// failed, that may be the cause.
    // Added later: an older record does not have it.
    #[serde(default)]
    pub found_full: bool,
    /// The limit of its jail that the run has hit. Where that ended it, the cause is
    /// [`ExitCause::Exited`] with signal 9, as if the kernel had.
    // Added later, with the next two: an older record does not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitHit>,
    /// What the proxy refused, each once, at most [`REFUSED_MAX`] of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// How many requests went through the routes of the proxy.
    #[serde(default)]
    pub requests: u64,
    /// The tokens that their answers told of, if any did.
    // Added later, with the next one: an older record does not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokensUsed>,
    /// The host that the run needed and was refused, which ended it: [`ProxySpec::needed`].
    ///
    /// [`ProxySpec::needed`]: crate::ProxySpec::needed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_need: Option<String>,
}

/// How many refusals an exit record has.
pub const REFUSED_MAX: usize = 64;

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExitCause {
    /// The program ended by itself, or a limit of its jail ended it.
    Exited,
    /// It reached `wall_secs`.
    WallTimeout,
    /// It wrote nothing for `idle_secs`.
    IdleTimeout,
    /// It did the same again and again, as far as who watches its output can tell.
    WentRound,
    /// A stop was requested, or the run folder was removed.
    Stopped,
    /// The program never ran.
    CannotStart {
        /// The reason, for people.
        why: String,
        /// Whether the machine had no process or thread left, so that a later try may succeed.
        // Added later: an older record does not have it.
        #[serde(default)]
        is_passing: bool,
    },
}

/// The state of a run, as far as its folder and the process table tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunView {
    /// No keeper has taken it. Launching one is safe at any time.
    NotStarted,
    /// Its keeper is alive.
    Running(KeeperRecord),
    /// It has ended, and no process of it is left.
    Ended(ExitRecord),
    /// Its keeper died without an exit record. Processes may be left and must be swept.
    Lost(KeeperRecord),
    /// Its keeper belongs to an earlier boot, so no process can be left.
    Rebooted(KeeperRecord),
}

/// How the keeper process itself ended.
#[derive(Debug)]
pub enum ExitOutcome {
    /// It was the short-lived intermediate process and has started the real keeper.
    Relaunched,
    /// This folder has or had another keeper, so there was nothing to do.
    AlreadyKept,
    /// The run has ended and is recorded.
    Ended(ExitRecord),
    /// The keeper failed. Nothing is recorded; only this error says why.
    Failed(KeeperError),
}
