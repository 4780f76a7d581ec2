//! What people want of a story, and whose work an attempt is about.

use serde::{Deserialize, Serialize};

use crate::commit::Commit;

/// Whose work an attempt is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The agents of its cast do everything.
    Agents,
    /// A candidate that a person accepted.
    Accepted(Acceptance),
    /// A person did the implementor's part.
    Person(PersonsWork),
}

/// A person's yes to a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// The candidate.
    pub commit: Commit,
    /// The commit that it stands on.
    pub base: Commit,
    /// Who said yes.
    pub by: String,
    /// Why, where they said so.
    pub reason: Option<String>,
    /// When.
    pub at_ms: i64,
    /// Whether it was measured by reusing an earlier build, and only that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
}

impl Acceptance {
    /// Who accepted it, and why, in a line.
    pub fn words(&self) -> String {
        let why = self.reason.as_ref();
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        format!("accepted by {}{why}", self.by)
    }
}

/// What a person made of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonsWork {
    /// Their commit, in the project's repository.
    pub commit: Commit,
    /// Who made it.
    pub by: String,
}

/// What a person wants of a story and has not got yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// It shall be set aside.
    Skip {
        /// The reason, for people.
        reason: String,
    },
    /// A candidate shall land.
    Accept(Acceptance),
    /// They do it themselves.
    Take {
        /// Who.
        by: String,
        /// The folder in which they do it.
        folder: Option<String>,
    },
    /// What they made shall be measured and judged.
    HandIn(PersonsWork),
}

/// A candidate that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The attempt that made it.
    pub made_in: u32,
    /// The candidate.
    pub commit: Commit,
    /// The commit that it stands on.
    pub base: Commit,
    /// Whether its checks ran and nothing was red.
    pub is_green: bool,
    /// Whether they reused an earlier build.
    pub is_warm: bool,
}
