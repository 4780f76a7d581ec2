//! How a run ended, in one vocabulary for all agents and checks.
//!
//! Whatever a decision depends on is a type here. The texts beside it are for people alone.

use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::verdict::{Proof, Review, Verdict};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The implementor or the prover did its work.
    Worked {
        /// What it learned that later stories should know.
        #[serde(default)]
        learned: Vec<String>,
        /// What the prover shows of its work; implementors show none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<Box<Proof>>,
    },
    /// The run failed by its own fault: the agent gave up, ran out of time, or broke.
    Failed {
        /// What is known, for people.
        why: String,
    },
    /// The checks ran.
    Checked {
        /// Whether the gate let the candidate through, for views. Decisions are made from `facts`.
        passed: bool,
        /// The results in words, bounded.
        report: String,
        /// What was measured, where single results are known.
        #[serde(default)]
        facts: Option<Box<Facts>>,
    },
    /// The test writer did its work, and said what covers what.
    TestsWritten(Review),
    /// The reviewer looked at the candidate.
    Reviewed(Review),
    /// The arbiter said whether the tests stand.
    Ruled {
        /// Whether they ask for what no criterion says, and must be written anew.
        fresh_tests: bool,
        /// The arbiter's reason.
        reason: String,
    },
    /// The judge gave a usable verdict on the very candidate.
    Judged(Verdict),
    /// The agent's answer is not of the form that its stage needs.
    BadAnswer {
        /// What is wrong with it.
        why: String,
    },
    /// Something around us failed: limits, network, our own fault. It costs no attempt.
    Infrastructure {
        /// What failed, for people.
        why: String,
        /// When it is worth trying again, where that was reported.
        until_ms: Option<i64>,
        /// Whether it is this agent's own trouble, so that another one could go on at once.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        elsewhere: bool,
        /// What kind of fault it was.
        #[serde(default, skip_serializing_if = "FaultCause::is_unknown")]
        cause: FaultCause,
    },
    /// Only a person can help: a login, a missing program.
    NeedsHuman {
        /// What to ask them.
        question: String,
        /// Whether any words may be the answer; the next try is told them.
        #[serde(default)]
        free: bool,
    },
    /// The run was cut short: its keeper died, the machine rebooted, its session broke.
    Interrupted {
        /// What happened, for people.
        why: String,
        /// What kind of interruption it was.
        #[serde(default, skip_serializing_if = "InterruptCause::is_unknown")]
        cause: InterruptCause,
    },
    /// We ended it because the loop was cancelled.
    Stopped,
}

/// What kind of infrastructure fault a run met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultCause {
    /// Recorded before causes were kept.
    #[default]
    Unknown,
    /// The plan's allowance is used up.
    UsageLimit,
    /// Too many requests in a short time.
    RateLimit,
    /// The model's servers are in trouble.
    Overloaded,
    /// The model's servers cannot be reached.
    Network,
    /// The agent asked to be tried again later.
    AskedToWait,
    /// The disk was full.
    DiskFull,
    /// The checks could not be made.
    Checks,
    /// Something of ours: a keeper, a repository, a file.
    Ours,
}

/// What kind of interruption a run met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptCause {
    /// Recorded before causes were kept.
    #[default]
    Unknown,
    /// Its keeper died.
    KeeperLost,
    /// The machine was started anew.
    Rebooted,
    /// The agent was cut off in the middle of its work.
    CutOff,
    /// The agent does not know the session that it should have resumed.
    SessionLost,
    /// The session grew larger than the model can take.
    Outgrown,
}

impl FaultCause {
    // Serde hands a reference to whatever decides on skipping.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the form that serde asks for"
    )]
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl InterruptCause {
    // Serde hands a reference to whatever decides on skipping.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the form that serde asks for"
    )]
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl RunOutcome {
    /// How the run ended, in a word or two, for people and logs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Worked { .. } => "worked",
            Self::Failed { .. } => "failed",
            Self::Checked { passed: true, .. } => "green",
            Self::Checked { passed: false, .. } => "red",
            Self::TestsWritten(_) => "tests written",
            Self::Reviewed(_) => "reviewed",
            Self::Ruled { .. } => "ruled",
            Self::Judged(_) => "judged",
            Self::BadAnswer { .. } => "bad answer",
            Self::Infrastructure { .. } => "fault",
            Self::NeedsHuman { .. } => "asks",
            Self::Interrupted { .. } => "interrupted",
            Self::Stopped => "stopped",
        }
    }

    /// A fault of ours or around us; it costs no attempt.
    pub fn fault(cause: FaultCause, why: impl Into<String>) -> Self {
        Self::Infrastructure {
            why: why.into(),
            until_ms: None,
            elsewhere: false,
            cause,
        }
    }

    /// An interruption; the next try begins at once.
    pub fn interrupted(cause: InterruptCause, why: impl Into<String>) -> Self {
        Self::Interrupted {
            why: why.into(),
            cause,
        }
    }
}

/// What one run may use at most: what is left of the budget beside what the other runs have reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Balance {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in millionths of a dollar.
    pub micro_usd: Option<u64>,
}

/// What a run of an agent used. Unknown is unknown, and not zero.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunUsage {
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens read anew.
    pub input_tokens: Option<u64>,
    /// Tokens read from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// What it cost, in millionths of a dollar.
    pub cost_micro_usd: Option<u64>,
    /// The CLI's own session.
    pub session: Option<String>,
    /// Whether the next try can resume that session, with the files as this one left them. The
    /// journal has called it `goes_on` since the first version.
    #[serde(rename = "goes_on", skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
}

impl RunUsage {
    /// All tokens together, where any were reported.
    pub fn tokens(&self) -> Option<u64> {
        let reported = [self.input_tokens, self.cached_tokens, self.output_tokens];
        if reported.iter().all(Option::is_none) {
            return None;
        }
        Some(reported.iter().flatten().sum())
    }

    /// The sum of two; what only one reported is what is known.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some(ours.saturating_add(theirs)),
            (known, None) | (None, known) => known,
        };
        Self {
            model: other.model.clone().or_else(|| self.model.clone()),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cost_micro_usd: sum(self.cost_micro_usd, other.cost_micro_usd),
            session: other.session.clone().or_else(|| self.session.clone()),
            resumable: other.resumable,
        }
    }
}
