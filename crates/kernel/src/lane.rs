//! The runs of an attempt that may be under way at the same time, and how far each is.

use crate::flow::Stage;
use crate::outcome::{FaultCause, RunUsage};
use serde::{Deserialize, Serialize};

/// One of the runs that may be under way at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The stage.
    pub stage: Stage,
    /// Its run.
    pub run: Run,
}

/// One stage's run and its tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Try number, starting at 1.
    pub try_number: u32,
    /// Where it stands.
    pub state: RunState,
    /// Infrastructure faults in a row, for the length of the wait.
    pub faults: u32,
    /// Answers that could not be used.
    pub bad_answers: u32,
    /// Why the last of them could not be used.
    pub bad_answer: Option<String>,
    /// The session to resume, where an earlier try was cut short in it.
    pub resume: Option<Resume>,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// Must be started.
    Owed,
    /// Was started; its outcome is not known yet.
    Running {
        /// When it was started, in milliseconds since 1970.
        since_ms: i64,
    },
    /// Waits until a time.
    Waiting {
        /// When the wait began, in milliseconds since 1970.
        since_ms: i64,
        /// When it ends.
        until_ms: i64,
        /// What it waits for to pass.
        fault: RunFault,
    },
    /// Waits for a person.
    Asking {
        /// What they are asked.
        question: String,
        /// Whether any words may be the answer.
        free: bool,
    },
    /// Is over, and nothing more is to be done for it.
    Ended,
}

impl RunState {
    /// Whether nothing is done for it until a time has come or a person has answered.
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Waiting { .. } | Self::Asking { .. })
    }

    /// The state in a word or two, for people.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Owed => "not started",
            Self::Running { .. } => "running",
            Self::Waiting { .. } => "waiting",
            Self::Asking { .. } => "asking a person",
            Self::Ended => "over",
        }
    }
}

/// What went wrong around a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFault {
    /// What kind of fault it is.
    pub cause: FaultCause,
    /// The fault in words, for people.
    pub why: String,
}

/// A session that a run resumes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The CLI's own name for it.
    pub session: String,
    /// The try that made the checkout. A session knows its folder by its path.
    pub checkout_try: u32,
    /// What the session's runs have used, as far as they reported it. CLIs report running totals,
    /// so this much has been counted already.
    pub used: RunUsage,
}

impl Run {
    pub(crate) fn numbered(try_number: u32) -> Self {
        Self {
            try_number,
            state: RunState::Owed,
            faults: 0,
            bad_answers: 0,
            bad_answer: None,
            resume: None,
        }
    }

    /// The next try, due now.
    pub(crate) fn again(&self) -> Self {
        Self {
            faults: self.faults,
            bad_answers: self.bad_answers,
            bad_answer: self.bad_answer.clone(),
            resume: self.resume.clone(),
            ..Self::numbered(self.try_number + 1)
        }
    }

    pub(crate) fn wait(&mut self, since_ms: i64, until_ms: i64, cause: FaultCause, why: &str) {
        let fault = RunFault {
            cause,
            why: why.to_owned(),
        };
        self.state = RunState::Waiting {
            since_ms,
            until_ms,
            fault,
        };
    }

    pub(crate) fn ask(&mut self, question: &str, free: bool) {
        self.state = RunState::Asking {
            question: question.to_owned(),
            free,
        };
    }

    /// Keeps what a next try could resume. Every other end leaves nothing to resume.
    pub(crate) fn take_session(&mut self, usage: Option<&RunUsage>) {
        let before = self.resume.take();
        let Some(usage) = usage.filter(|usage| usage.resumable) else {
            return;
        };
        let Some(session) = usage.session.clone() else {
            return;
        };
        let before = before.filter(|before| before.session == session);
        let checkout_try = before
            .as_ref()
            .map_or(self.try_number, |before| before.checkout_try);
        let used = before.map(|before| before.used).unwrap_or_default();
        self.resume = Some(Resume {
            session,
            checkout_try,
            used: used.plus(usage),
        });
    }
}

impl Lane {
    /// Whether anything is still to be done for it.
    pub fn is_open(&self) -> bool {
        self.run.state != RunState::Ended
    }
}

/// So much a clock that the network sets right may jump.
const CLOCK_DRIFT_MS_MAX: i64 = 60_000;

/// How much of a wait is left at this time. A time before the wait began means that the clock was
/// set back. Nobody knows by how much, so the wait is over: whatever it was for is tried once early,
/// and says itself when to come again.
pub(crate) fn wait_left_ms(since_ms: i64, until_ms: i64, now_ms: i64) -> i64 {
    if now_ms.saturating_add(CLOCK_DRIFT_MS_MAX) < since_ms {
        return 0;
    }
    until_ms.saturating_sub(now_ms).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_wait_is_left() {
        const DAY_MS: i64 = 24 * 3600 * 1000;
        let (since_ms, until_ms) = (10 * DAY_MS, 11 * DAY_MS);
        for (what, now_ms, expected) in [
            ("at its beginning", since_ms, DAY_MS),
            ("before its end", until_ms - 1, 1),
            ("at its end", until_ms, 0),
            ("long after it", until_ms + DAY_MS, 0),
            (
                "a clock set right by a second",
                since_ms - 1000,
                DAY_MS + 1000,
            ),
            ("a clock set back by two days", since_ms - 2 * DAY_MS, 0),
        ] {
            assert_eq!(wait_left_ms(since_ms, until_ms, now_ms), expected, "{what}");
        }
    }
}
