//! What keeper and shim say to each other, one line of JSON each.
//!
//! The jailed program cannot take part: the keeper accepts one connection, and the shim makes it
//! before the program exists.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// From the keeper to the shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// The shim is recorded; the program may start.
    Go {
        /// Its environment, where it is not the shim's own.
        env: Option<BTreeMap<String, OsString>>,
    },
    /// Ask the program to end with `SIGTERM`.
    Term,
    /// Ask the program to end with `SIGINT`.
    Int,
    /// Everything was read that goes with the jail; the shim may end.
    Bye,
}

/// From the shim to the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The program runs.
    Started,
    /// The program never ran.
    CannotStart {
        /// The reason, for people.
        why: String,
        /// Whether a later try may succeed.
        is_passing: bool,
    },
    /// The program has ended.
    Ended {
        /// Its exit status, as the kernel encodes it.
        status: i32,
        /// How many processes it left behind. They end with the shim.
        n_left: u32,
        /// How many processes and threads there were at its end, the program and the shim included.
        n_tasks: u64,
    },
}

impl Word {
    pub(super) fn ended(status: ExitStatus, (n_left, n_tasks): (u32, u64)) -> Self {
        Self::Ended {
            status: status.into_raw(),
            n_left,
            n_tasks,
        }
    }

    pub(super) fn cannot_start(why: &str) -> Self {
        Self::CannotStart {
            why: why.to_owned(),
            is_passing: false,
        }
    }
}
