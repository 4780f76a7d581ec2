//! How many stories of a loop go on at once, and what a question or another landing means for the
//! others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::AgentName;

/// What a loop does with several stories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Together {
    /// Stories that are worked on at once. One that waits or asks a person is not counted.
    pub parallel: u32,
    /// What a question of one story means for the others.
    pub on_question: OnQuestion,
    /// Whether a candidate is judged again after it was put onto what landed meanwhile.
    pub rejudge: Rejudge,
    /// Runs of the project's own commands at once.
    pub checks_at_once: u32,
    /// Runs of an agent at once, for agents that have such a limit.
    pub agents_at_once: BTreeMap<AgentName, u32>,
}

impl Default for Together {
    fn default() -> Self {
        Self {
            parallel: 1,
            on_question: OnQuestion::GoOn,
            rejudge: Rejudge::WhenNeeded,
            checks_at_once: 1,
            agents_at_once: BTreeMap::new(),
        }
    }
}

impl Together {
    /// What loops did that were started before there was a choice: a question stopped them.
    pub fn of_earlier_versions() -> Self {
        Self {
            on_question: OnQuestion::Stop,
            ..Self::default()
        }
    }
}

/// What a question of one story means for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnQuestion {
    /// They go on.
    #[default]
    GoOn,
    /// Nothing new begins until it is answered.
    Stop,
}

impl OnQuestion {
    /// The words that people choose from.
    pub const WORDS: [&'static str; 2] = ["go-on", "stop"];

    /// The choice of that word.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "go-on" => Some(Self::GoOn),
            "stop" => Some(Self::Stop),
            _ => None,
        }
    }
}

/// Whether a candidate is judged again after it was put onto what landed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejudge {
    /// Only where the verdict could have been another one.
    #[default]
    WhenNeeded,
    /// Every time.
    Always,
}

impl Rejudge {
    /// The words that people choose from.
    pub const WORDS: [&'static str; 2] = ["when-needed", "always"];

    /// The choice of that word.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "when-needed" => Some(Self::WhenNeeded),
            "always" => Some(Self::Always),
            _ => None,
        }
    }
}
