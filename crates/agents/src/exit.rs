//! What a parser needs from outside: how the process ended, and what time it is.

use std::collections::BTreeMap;

/// Says how the process of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Why the process ended.
    pub ended: Ended,
    /// The exit code, if the process exited.
    pub code: Option<i32>,
    /// The signal that ended the process, if one did.
    pub signal: Option<i32>,
    /// The end of standard error. A few kilobytes are enough.
    pub stderr_tail: String,
}

/// Says why a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It ended by itself, or by a signal that was not ours.
    Itself,
    /// We ended it because it reached its time limit.
    WallTimeout,
    /// We ended it because it printed nothing for too long.
    IdleTimeout,
    /// We ended it because it did the same again and again.
    WentRound,
    /// We stopped it on request.
    Stopped,
    /// It never started.
    CannotStart {
        /// Why it could not be started, for people.
        why: String,
    },
}

impl Exit {
    /// A process that exited by itself with this code and an empty standard error.
    pub fn with_code(code: i32) -> Self {
        Self {
            ended: Ended::Itself,
            code: Some(code),
            signal: None,
            stderr_tail: String::new(),
        }
    }

    /// A process that a signal ended; `ended` says who sent it.
    pub fn with_signal(signal: i32, ended: Ended) -> Self {
        Self {
            ended,
            code: None,
            signal: Some(signal),
            stderr_tail: String::new(),
        }
    }

    /// Says whether a signal ended the process, including one that the program turned into an exit
    /// code.
    pub(crate) fn is_by_signal(&self) -> bool {
        // 128 plus SIGINT, SIGKILL or SIGTERM. claude and pi exit with 143 on SIGTERM.
        const SHELL_CODES: [i32; 3] = [130, 137, 143];
        self.signal.is_some() || self.code.is_some_and(|code| SHELL_CODES.contains(&code))
    }

    /// Says whether a watchdog of ours ended the process.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(
            self.ended,
            Ended::WallTimeout | Ended::IdleTimeout | Ended::WentRound
        )
    }
}

/// The current time, and the zones needed to read a time of day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clock {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// How far the machine's own zone is ahead of UTC, in seconds.
    pub local_offset_secs: i32,
    /// How far named zones are ahead of UTC, in seconds. Include at least the machine's own zone
    /// (`Europe/Oslo`), because CLIs name it. UTC and the zones of RFC 822 need no entry.
    pub zones: BTreeMap<String, i32>,
}

impl Clock {
    /// The clock of a machine whose zone is UTC.
    pub fn utc(now_ms: u64) -> Self {
        Self {
            now_ms,
            local_offset_secs: 0,
            zones: BTreeMap::new(),
        }
    }
}
