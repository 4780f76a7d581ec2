//! What a loop is started with. It is the first record of a loop's journal and never changes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A commit's id: 40 or 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(String);

/// A word that is not a commit's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotACommit(pub String);

impl fmt::Display for NotACommit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is not a commit id", self.0)
    }
}

impl Commit {
    /// Checks an id.
    pub fn new(id: &str) -> Result<Self, NotACommit> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if matches!(id.len(), 40 | 64) && id.bytes().all(hex) {
            Ok(Self(id.to_owned()))
        } else {
            Err(NotACommit(id.to_owned()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Commit {
    type Error = NotACommit;

    fn try_from(id: String) -> Result<Self, NotACommit> {
        Self::new(&id)
    }
}

impl From<Commit> for String {
    fn from(commit: Commit) -> Self {
        commit.0
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Everything that decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSpec {
    /// The loop's id.
    pub loop_id: String,
    /// The operator's project folder.
    pub project: String,
    /// The PRD file.
    pub prd_path: String,
    /// The commit that the loop begins at.
    pub base: Commit,
    /// The branch that accepted work lands on.
    pub branch: String,
    /// The stories in file order.
    pub stories: Vec<StorySpec>,
    /// The agent that implements, unless a story or the ladder says otherwise.
    pub implementor: String,
    /// The agent that judges.
    pub judge: String,
    /// Implementors for the second attempt and later; empty: the same again.
    pub ladder: Vec<String>,
    /// Further attempts after the first.
    pub max_retries: u32,
    /// Stories that may end, passed or skipped, before the loop stops.
    pub max_iterations: Option<u32>,
    /// The first wait after an infrastructure fault; it doubles up to ten times as much.
    pub retry_wait_ms: i64,
    /// The time that all runs together may take; a run's cap is reserved before it starts.
    #[serde(default)]
    pub budget: Option<TimeBudget>,
    /// What the engine needs to carry out effects; the kernel does not look inside.
    pub settings: String,
}

/// One falling balance of time for the whole loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBudget {
    /// All there is, in milliseconds.
    pub total_ms: i64,
    /// The most that one implementor's run may take.
    pub implement_cap_ms: i64,
    /// The most that the checks may take.
    pub check_cap_ms: i64,
    /// The most that one judge's run may take.
    pub judge_cap_ms: i64,
}

/// One story as the loop sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorySpec {
    /// The author's word for it.
    pub id: String,
    /// One line.
    pub title: String,
    /// The rest of what the author says.
    pub description: String,
    /// When it is done.
    pub criteria: Vec<String>,
    /// Its place in the order among the ready ones: lower first.
    pub rank: u32,
    /// Stories that must pass before it begins.
    pub depends_on: Vec<String>,
    /// The agent that the author wants.
    pub tool: Option<String>,
    /// Where it stood when the loop began.
    pub start: StoryStart,
}

/// Where a story stood when the loop began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoryStart {
    /// To be done.
    Open,
    /// Done before.
    Passed,
    /// Skipped, blocked or given up by somebody before: not this loop's business.
    SetAside,
}

impl LoopSpec {
    /// How many attempts a story gets.
    pub fn attempts_max(&self) -> u32 {
        self.max_retries.saturating_add(1)
    }

    /// The implementor of one attempt at one story: the author's choice first, then the ladder.
    pub fn implementor_for<'a>(&'a self, story: &'a StorySpec, attempt: u32) -> &'a str {
        let first = story.tool.as_deref().unwrap_or(&self.implementor);
        let rung = usize::try_from(attempt.saturating_sub(1)).unwrap_or_default();
        match (attempt, self.ladder.len()) {
            (0 | 1, _) | (_, 0) => first,
            (_, length) => &self.ladder[rung % length],
        }
    }
}
