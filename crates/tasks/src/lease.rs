//! A claim: who holds a task, since when and until when.

use serde::{Deserialize, Serialize};

use crate::owner::Owner;

/// A task that somebody holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The claim's own number, which nobody else ever gets: that of its record.
    #[serde(skip)]
    pub number: u64,
    /// Who holds it.
    pub owner: Owner,
    /// Since when.
    pub since_ms: i64,
    /// Until when, unless it is renewed.
    pub until_ms: i64,
    /// Whether checks must be green before the task counts as complete.
    #[serde(default)]
    pub verify: bool,
    /// Whether its holder says that it is done.
    #[serde(skip)]
    pub is_submitted: bool,
}

impl Lease {
    /// A lease that no store has numbered yet.
    pub fn new(owner: Owner, since_ms: i64, until_ms: i64) -> Self {
        Self {
            number: 0,
            owner,
            since_ms,
            until_ms,
            verify: false,
            is_submitted: false,
        }
    }
}
