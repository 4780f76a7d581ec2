//! What happened to tasks, as facts. The store keeps them for ever and in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::file_word::FileWord;
use crate::lease::Lease;

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The plan had these tasks when somebody first wrote to the store: what its file said of each
    /// then. Later words of the file count no more.
    Seen {
        /// The ids, and whether each was complete.
        tasks: BTreeMap<String, bool>,
    },
    /// Somebody took a task.
    Claimed {
        /// The task.
        task: String,
        /// Who, since when and until when.
        lease: Box<Lease>,
        /// The word that the claim writes into the plan's file, where the file has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        word: Option<FileWord>,
    },
    /// Its holder still works on it.
    Renewed {
        /// The task.
        task: String,
        /// The number of the claim.
        claim: u64,
        /// Until when it is held now.
        until_ms: i64,
    },
    /// Its holder says that it is done; checks decide.
    Submitted {
        /// The task.
        task: String,
        /// The number of the claim.
        claim: u64,
    },
    /// It is done.
    Completed {
        /// The task.
        task: String,
        /// Who said so.
        by: String,
    },
    /// The agent that worked on it failed.
    Failed {
        /// The task.
        task: String,
        /// The number of the claim.
        claim: u64,
        /// Why, for people.
        why: String,
        /// What becomes of the task.
        then: Then,
        /// Whether the claim's word still stands in the plan's file, which could not be written.
        #[serde(default, skip_serializing_if = "is_false")]
        owes_word: bool,
    },
    /// Its holder gave it back.
    Released {
        /// The task.
        task: String,
        /// Why, for people.
        why: String,
        /// Whether the claim's word still stands in the plan's file, which could not be written.
        #[serde(default, skip_serializing_if = "is_false")]
        owes_word: bool,
    },
    /// Somebody wants it done anew.
    Reset {
        /// The task.
        task: String,
        /// Who.
        by: String,
        /// Whether the claim's word still stands in the plan's file, which could not be written.
        #[serde(default, skip_serializing_if = "is_false")]
        owes_word: bool,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What becomes of a task whose agent failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It stays in progress, for a person.
    Keep,
    /// Anybody may take it again.
    Open,
}

impl Event {
    /// The task that nobody works on any more because of this, and whether the word of its claim is
    /// still owed to the plan's file.
    pub(crate) fn frees(&mut self) -> Option<(&str, &mut bool)> {
        match self {
            Self::Released {
                task, owes_word, ..
            }
            | Self::Reset {
                task, owes_word, ..
            }
            | Self::Failed {
                task,
                owes_word,
                then: Then::Open,
                ..
            } => Some((task, owes_word)),
            _ => None,
        }
    }

    /// The event's name in the store.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Seen { .. } => "TasksSeen",
            Self::Claimed { .. } => "TaskClaimed",
            Self::Renewed { .. } => "ClaimRenewed",
            Self::Submitted { .. } => "TaskSubmitted",
            Self::Completed { .. } => "TaskCompleted",
            Self::Failed { .. } => "TaskFailed",
            Self::Released { .. } => "ClaimReleased",
            Self::Reset { .. } => "TaskReset",
        }
    }
}
