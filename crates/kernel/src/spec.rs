//! What a loop is started with. It is the first record of a loop's journal and never changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::flow::{Flow, Role, Stage};

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
    /// Whether an agent at its limit is stood in for by another one of the ladder.
    #[serde(default)]
    pub failover: bool,
    /// Further attempts after the first.
    pub max_retries: u32,
    /// Stories that may end, passed or skipped, before the loop stops.
    pub max_iterations: Option<u32>,
    /// The first wait after an infrastructure fault; it doubles up to ten times as much.
    pub retry_wait_ms: i64,
    /// The time that all runs together may take; a run's cap is reserved before it starts.
    #[serde(default)]
    pub budget: Option<TimeBudget>,
    /// What agents may use of tokens and money, all together.
    #[serde(default)]
    pub allowance: Option<Allowance>,
    /// The way that stories go, unless one says otherwise.
    #[serde(default)]
    pub flow: Flow,
    /// The agent that writes tests and reviews.
    #[serde(default)]
    pub reviewer: String,
    /// The agent that proves.
    #[serde(default)]
    pub prover: String,
    /// Whether somebody asked for this judge; if nobody did, one of another family than the
    /// implementor's is better.
    #[serde(default = "yes")]
    pub judge_is_chosen: bool,
    /// The model family of each agent, where it is known.
    #[serde(default)]
    pub families: BTreeMap<String, String>,
    /// The story to begin with, where somebody asked for one.
    #[serde(default)]
    pub first: Option<FirstStory>,
    /// What the engine needs to carry out effects; the kernel does not look inside.
    pub settings: String,
}

fn yes() -> bool {
    true
}

/// A story that somebody asked to begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstStory {
    /// Which.
    pub id: String,
    /// The number of its next attempt.
    pub attempt: u32,
    /// What was said of the attempt before.
    pub judgment: Option<String>,
    /// Whether the loop ends after it.
    pub only: bool,
}

/// The agents of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Cast {
    /// Who implements.
    pub implementor: String,
    /// Who writes tests and reviews.
    pub reviewer: String,
    /// Who proves.
    pub prover: String,
    /// Who judges.
    pub judge: String,
}

impl Cast {
    /// The agent of a role; our own hands have none.
    pub fn agent(&self, role: Role) -> Option<&str> {
        match role {
            Role::Checker => None,
            Role::Implementor => Some(&self.implementor),
            Role::Reviewer => Some(&self.reviewer),
            Role::Prover => Some(&self.prover),
            Role::Judge => Some(&self.judge),
        }
    }
}

/// Agents that somebody asked for by name, for one story.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Assigned {
    /// Who implements.
    pub implementor: Option<String>,
    /// Who writes tests and reviews.
    pub reviewer: Option<String>,
    /// Who judges.
    pub judge: Option<String>,
}

/// One falling balance of tokens and money for the whole loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub micro_usd: Option<u64>,
    /// The most tokens that one run is expected to use; without it the most that one has used.
    pub run_tokens: Option<u64>,
    /// The most that one run is expected to cost; without it the most that one has cost.
    pub run_micro_usd: Option<u64>,
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
    /// The most that one reviewer's run may take.
    #[serde(default)]
    pub review_cap_ms: i64,
    /// The most that one prover's run may take.
    #[serde(default)]
    pub prove_cap_ms: i64,
}

impl TimeBudget {
    /// The most that a run of this stage may take.
    pub fn cap_ms(&self, stage: Stage) -> i64 {
        match stage {
            Stage::Baseline | Stage::Check => self.check_cap_ms,
            Stage::Implement => self.implement_cap_ms,
            Stage::WriteTests | Stage::Review => self.review_cap_ms,
            Stage::Prove => self.prove_cap_ms,
            Stage::Judge | Stage::Arbitrate => self.judge_cap_ms,
        }
    }
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
    /// Agents that the start of the loop named for it.
    #[serde(default)]
    pub assigned: Assigned,
    /// The way that it goes, where the author wants another one.
    #[serde(default)]
    pub flow: Option<Flow>,
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

    /// The way that a story goes.
    pub fn flow_of(&self, story: &StorySpec) -> Flow {
        story.flow.unwrap_or(self.flow)
    }

    /// The implementor of one attempt at one story: what was asked for first, then the ladder.
    pub fn implementor_for<'a>(&'a self, story: &'a StorySpec, attempt: u32) -> &'a str {
        let asked_for = story
            .assigned
            .implementor
            .as_deref()
            .or(story.tool.as_deref());
        let first = asked_for.unwrap_or(&self.implementor);
        let rung = usize::try_from(attempt.saturating_sub(1)).unwrap_or_default();
        if attempt <= 1 || self.ladder.is_empty() {
            return first;
        }
        // Whoever was chosen to judge does not climb the ladder: it would judge its own work.
        let judge = story.assigned.judge.as_deref().or(Some(&self.judge)
            .filter(|_| self.judge_is_chosen)
            .map(|judge| &**judge));
        let mut from_here = self
            .ladder
            .iter()
            .cycle()
            .skip(rung % self.ladder.len())
            .take(self.ladder.len());
        from_here
            .find(|agent| Some(agent.as_str()) != judge)
            .map_or(first, String::as_str)
    }

    /// Everybody who takes part in one attempt at one story.
    pub fn cast_for(&self, story: &StorySpec, attempt: u32) -> Cast {
        let implementor = self.implementor_for(story, attempt).to_owned();
        let reviewer = story
            .assigned
            .reviewer
            .clone()
            .unwrap_or_else(|| self.reviewer.clone());
        let judge = self.judge_for(story, &implementor);
        Cast {
            implementor,
            reviewer,
            prover: self.prover.clone(),
            judge,
        }
    }

    /// The agent that a role has where nothing else is said.
    pub fn agent_of_role(&self, role: Role) -> Option<&str> {
        match role {
            Role::Checker => None,
            Role::Implementor => Some(&self.implementor),
            Role::Reviewer => Some(&self.reviewer),
            Role::Prover => Some(&self.prover),
            Role::Judge => Some(&self.judge),
        }
    }

    /// The judge of a story that this agent implements.
    pub(crate) fn judge_for(&self, story: &StorySpec, implementor: &str) -> String {
        story
            .assigned
            .judge
            .clone()
            .unwrap_or_else(|| self.judge_beside(implementor))
    }

    /// The judge beside an implementor: of another family where nobody chose and there is one.
    fn judge_beside(&self, implementor: &str) -> String {
        let family = |agent: &str| self.families.get(agent);
        let same = family(implementor).is_some() && family(implementor) == family(&self.judge);
        let other = || {
            let mut others = self
                .families
                .iter()
                .filter(|(_, other)| Some(*other) != family(implementor));
            others.next().map(|(agent, _)| agent.clone())
        };
        if same && !self.judge_is_chosen {
            return other().unwrap_or_else(|| self.judge.clone());
        }
        self.judge.clone()
    }
}
