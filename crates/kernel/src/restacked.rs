//! What is put onto another commit than the one that it was made on, and how it met what is there.

use serde::{Deserialize, Serialize};

/// What is put onto another commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restackable {
    /// The story's tests.
    Tests,
    /// The candidate.
    Candidate,
}

/// How work that was put onto another commit met what landed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestackClass {
    /// No path was changed by both.
    Disjoint,
    /// Some path was changed by both, and everything fits together.
    Mixed,
}

impl RestackClass {
    /// What one restack after another amounts to.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Disjoint, Self::Disjoint) => Self::Disjoint,
            (Self::Mixed, _) | (_, Self::Mixed) => Self::Mixed,
        }
    }
}
