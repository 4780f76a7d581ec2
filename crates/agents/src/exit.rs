//! How the process ended and what time it is: what a parser is told from outside.

use std::collections::BTreeMap;

/// Says how the process of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Why it ended.
    pub ended: Ended,
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The end of its standard error; a few kilobytes are plenty.
    pub stderr_tail: String,
}

/// Says why a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by a signal that was not ours.
    Itself,
    /// It ran for as long as it may.
    WallTimeout,
    /// It was silent for as long as it may.
    IdleTimeout,
    /// We stopped it because somebody asked for that.
    Stopped,
    /// It never ran.
    CannotStart {
        /// The reason, for people.
        why: String,
    },
}

impl Exit {
    /// An end by itself with an exit code and nothing on standard error.
    pub fn with_code(code: i32) -> Self {
        Self {
            ended: Ended::Itself,
            code: Some(code),
            signal: None,
            stderr_tail: String::new(),
        }
    }

    /// An end by a signal; `ended` says whose it was.
    pub fn with_signal(signal: i32, ended: Ended) -> Self {
        Self {
            ended,
            code: None,
            signal: Some(signal),
            stderr_tail: String::new(),
        }
    }

    /// Says whether a signal ended it, also where a program turned it into an exit code.
    pub(crate) fn is_by_signal(&self) -> bool {
        const SHELL_CODES: [i32; 3] = [130, 137, 143];
        self.signal.is_some() || self.code.is_some_and(|code| SHELL_CODES.contains(&code))
    }

    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self.ended, Ended::WallTimeout | Ended::IdleTimeout)
    }
}

/// The time and the zones by which a time of day is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clock {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// How far the machine's own zone is ahead of UTC, in seconds.
    pub local_offset_secs: i32,
    /// How far named zones are ahead of UTC, in seconds; at least the machine's own (`Europe/Oslo`)
    /// should be here, since CLIs name it. UTC and the zones of RFC 822 need no entry.
    pub zones: BTreeMap<String, i32>,
}

impl Clock {
    /// A clock of a machine that lives in UTC.
    pub fn utc(now_ms: u64) -> Self {
        Self {
            now_ms,
            local_offset_secs: 0,
            zones: BTreeMap::new(),
        }
    }
}
