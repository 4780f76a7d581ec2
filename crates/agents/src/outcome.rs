//! How a run ended, in one vocabulary for all CLIs. The caller decides by the kind of outcome and
//! never by message texts.

use serde::{Deserialize, Serialize};

/// Says how a run of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent finished by its CLI's own rule. That says nothing about the quality of the work.
    Done,
    /// The agent failed: it ran out of turns or time, or gave up.
    Failed,
    /// The run was cut off before it ended, by us, by a signal or by a reboot.
    Interrupted,
    /// The program is missing or cannot be started.
    NotInstalled,
    /// The program does not know an option that we use.
    TooOld,
    /// The CLI has no credentials, or they were rejected.
    NotLoggedIn,
    /// There is nothing left to spend: credits, a plan, or a quota that only a person can raise.
    Billing,
    /// The plan's allowance is used up for now.
    UsageLimit {
        /// When the allowance resets, in milliseconds since 1970. Only as reported, never guessed.
        until_ms: Option<u64>,
    },
    /// Too many requests in too short a time.
    RateLimited {
        /// How long to wait, in milliseconds. Only as reported, never guessed.
        after_ms: Option<u64>,
    },
    /// The model's servers failed or are overloaded.
    Overloaded,
    /// The model's servers cannot be reached, or the connection broke.
    Network,
    /// The session no longer fits into the model's context window.
    ContextOverflow,
    /// The agent was denied something that it needed.
    PermissionDenied,
    /// The agent asked a question that nobody was there to answer.
    NeedsAnswer {
        /// The question, as the agent put it.
        question: String,
    },
    /// The CLI said something that we do not understand.
    Protocol {
        /// The line that was not understood, cut short.
        line: String,
    },
}

/// What must happen before the run can be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the run is over, whether it succeeded or not.
    Nothing,
    /// Resume the session if the CLI supports that, otherwise start again from the base.
    Resume,
    /// Start a fresh session.
    FreshSession,
    /// Wait, for the reported time or for a doubling interval.
    Wait,
    /// A person must act.
    Person,
}

impl Outcome {
    /// Says whether the outcome counts as a failed attempt at the story. Only the agent's own
    /// failure does; trouble with infrastructure does not.
    pub fn counts_against_the_story(&self) -> bool {
        matches!(self, Self::Failed)
    }

    /// Says what must happen before the run can be tried again.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Done | Self::Failed => Remedy::Nothing,
            Self::Interrupted => Remedy::Resume,
            Self::ContextOverflow => Remedy::FreshSession,
            Self::UsageLimit { .. }
            | Self::RateLimited { .. }
            | Self::Overloaded
            | Self::Network => Remedy::Wait,
            Self::NotInstalled
            | Self::TooOld
            | Self::NotLoggedIn
            | Self::Billing
            | Self::PermissionDenied
            | Self::NeedsAnswer { .. }
            | Self::Protocol { .. } => Remedy::Person,
        }
    }
}
