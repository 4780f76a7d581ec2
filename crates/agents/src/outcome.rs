//! How a run ended, in one vocabulary for all CLIs.

use serde::{Deserialize, Serialize};

/// Says how a run of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// It finished by its own rule; whether the work is good is for others to say.
    Done,
    /// The work failed: it ran out of turns or time, or gave up.
    Failed,
    /// It was cut off before it ended, by us, by a signal or by a reboot.
    Interrupted,
    /// The program is not there or cannot be started.
    NotInstalled,
    /// The program does not know what we ask of it.
    TooOld,
    /// It has no credentials, or they are not accepted.
    NotLoggedIn,
    /// There is nothing left to spend: credits, a plan, a quota that only a person can raise.
    Billing,
    /// The plan's allowance is used up for now.
    UsageLimit {
        /// When it is there again, in milliseconds since 1970; only as told, never guessed.
        until_ms: Option<u64>,
    },
    /// Too many requests in too short a time.
    RateLimited {
        /// How long to wait, in milliseconds; only as told, never guessed.
        after_ms: Option<u64>,
    },
    /// The model's servers are in trouble.
    Overloaded,
    /// The model's servers cannot be reached, or the connection broke.
    Network,
    /// The session has grown beyond what the model can read.
    ContextOverflow,
    /// Something that the agent needed was forbidden to it.
    PermissionDenied,
    /// It asked a question that nobody was there to answer.
    NeedsAnswer {
        /// The question, as it was put.
        question: String,
    },
    /// It said something that we do not understand.
    Protocol {
        /// The line in question, cut to a bearable length.
        line: String,
    },
}

/// Says what an outcome asks for before the run is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the run is over, for good or ill.
    Nothing,
    /// Going on in the same session where the CLI can, else again from the base.
    Resume,
    /// A fresh session.
    FreshSession,
    /// Some time, told or doubling.
    Wait,
    /// A person.
    Person,
}

impl Outcome {
    /// Says whether the run's end counts against the story: work does, infrastructure does not.
    pub fn counts_against_the_story(&self) -> bool {
        matches!(self, Self::Failed)
    }

    /// Says what the outcome asks for.
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
