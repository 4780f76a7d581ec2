//! What a loop is started with. It is the first record of a loop's journal and never changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::flow::{Flow, Role, Stage};
use crate::ids::{AgentName, StoryId};
use crate::together::Together;

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
    /// The stories in file order. They are shared: every order carries its story.
    pub stories: Vec<Arc<StorySpec>>,
    /// The agent that implements, unless a story or the ladder says otherwise.
    pub implementor: AgentName,
    /// The agent that judges.
    pub judge: AgentName,
    /// Implementors for the second attempt and later; empty: the same again.
    pub ladder: Vec<AgentName>,
    /// Whether another agent of the ladder takes over from one that reached its limit.
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
    /// The flow of stories that do not name their own.
    #[serde(default)]
    pub flow: Flow,
    /// The agent that writes tests and reviews.
    #[serde(default)]
    pub reviewer: AgentName,
    /// The agent that proves.
    #[serde(default)]
    pub prover: AgentName,
    /// Whether somebody asked for this judge; if nobody did, one of another model family than the
    /// implementor's is preferred.
    #[serde(default = "yes")]
    pub judge_is_chosen: bool,
    /// The model family of each agent, where it is known.
    #[serde(default)]
    pub families: BTreeMap<AgentName, String>,
    /// The story to begin with, where somebody asked for one.
    #[serde(default)]
    pub first: Option<FirstStory>,
    /// What it does with several stories.
    #[serde(default = "Together::of_earlier_versions")]
    pub together: Together,
    /// What the engine needs to carry out orders. The kernel does not look inside; it hands the
    /// text on with every order.
    pub settings: Arc<str>,
}

/// Loops that were started before the field existed had a judge that somebody chose.
fn yes() -> bool {
    true
}

/// A story that somebody asked to begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstStory {
    /// The story's id.
    pub id: StoryId,
    /// The number of its next attempt.
    pub attempt: u32,
    /// The judgment on the attempt before.
    pub judgment: Option<String>,
    /// Whether the loop ends after it.
    pub only: bool,
}

/// The agents of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cast {
    /// Writes the code.
    pub implementor: AgentName,
    /// Writes tests and reviews.
    pub reviewer: AgentName,
    /// Proves and mends.
    pub prover: AgentName,
    /// Judges.
    pub judge: AgentName,
}

impl Cast {
    /// The agent of a role; the project's own commands need none.
    pub fn agent(&self, role: Role) -> Option<&AgentName> {
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
    /// Writes the code.
    pub implementor: Option<AgentName>,
    /// Writes tests and reviews.
    pub reviewer: Option<AgentName>,
    /// Judges.
    pub judge: Option<AgentName>,
}

/// One falling balance of tokens and money for the whole loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// Tokens in all.
    pub tokens: Option<u64>,
    /// Money in all, in millionths of a dollar.
    pub micro_usd: Option<u64>,
    /// The most tokens that one run is expected to use; without it the most that one has used.
    pub run_tokens: Option<u64>,
    /// The most that one run is expected to cost; without it the most that one has cost.
    pub run_micro_usd: Option<u64>,
}

/// One falling balance of time for the whole loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBudget {
    /// Time in all, in milliseconds.
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
            Stage::Baseline | Stage::Check | Stage::Confirm => self.check_cap_ms,
            Stage::Implement => self.implement_cap_ms,
            Stage::WriteTests | Stage::Review => self.review_cap_ms,
            Stage::Prove => self.prove_cap_ms,
            Stage::Judge | Stage::Arbitrate => self.judge_cap_ms,
        }
    }
}

/// One story as the loop sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StorySpec {
    /// The author's word for it.
    pub id: StoryId,
    /// The story in one line.
    pub title: String,
    /// The rest of what the author says.
    pub description: String,
    /// What the author noted beside it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The phase, epic or milestone that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Sentences that must be true when it is done.
    pub criteria: Vec<String>,
    /// Commands that the author names for this story alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<StoryCommand>,
    /// Files that the author expects to change, relative to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Its place in the order among the ready ones: lower first.
    pub rank: u32,
    /// Stories that must pass before it begins.
    pub depends_on: Vec<StoryId>,
    /// The agent that the author wants.
    pub tool: Option<AgentName>,
    /// The model that the author wants its implementor to have, in that agent's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Agents that the start of the loop named for it.
    #[serde(default)]
    pub assigned: Assigned,
    /// Its own flow, where the author wants another one than the loop's.
    #[serde(default)]
    pub flow: Option<Flow>,
    /// Where it stood when the loop began.
    pub start: StoryStart,
}

/// A command that the author names for one story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryCommand {
    /// What it shows: a criterion, or a name such as `test`.
    pub shows: String,
    /// What the shell would be given.
    pub command: String,
}

/// Where a story stood when the loop began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoryStart {
    /// To be done.
    #[default]
    Open,
    /// Done before.
    Passed,
    /// Skipped, blocked or given up by somebody before: not this loop's business.
    SetAside,
}

impl StorySpec {
    /// The implementor that somebody asked for: the start of the loop first, then the author.
    pub fn asked_implementor(&self) -> Option<&AgentName> {
        self.assigned.implementor.as_ref().or(self.tool.as_ref())
    }
}

impl LoopSpec {
    /// The branch in the loop's own repository. It is named after the loop, whatever the operator's
    /// branch is called, so that it can be found without the journal.
    pub fn own_branch(&self) -> String {
        format!("agent-loop/{}", self.loop_id)
    }

    /// How many attempts a story gets.
    pub fn attempts_max(&self) -> u32 {
        self.max_retries.saturating_add(1)
    }

    /// The flow of a story.
    pub fn flow_of(&self, story: &StorySpec) -> Flow {
        story.flow.unwrap_or(self.flow)
    }

    /// The implementor of one attempt at one story: who was asked for first, then the ladder.
    pub fn implementor_for<'a>(&'a self, story: &'a StorySpec, attempt: u32) -> &'a AgentName {
        let first = story.asked_implementor().unwrap_or(&self.implementor);
        if attempt <= 1 || self.ladder.is_empty() {
            return first;
        }
        let rung = usize::try_from(attempt - 1).unwrap_or_default() % self.ladder.len();
        let (before, from_here) = self.ladder.split_at(rung);
        // Whoever was chosen to judge does not climb the ladder: it would judge its own work.
        let judge = self.chosen_judge(story);
        let mut rungs = from_here.iter().chain(before);
        rungs.find(|agent| Some(*agent) != judge).unwrap_or(first)
    }

    /// The judge that somebody named for a story or for the loop.
    fn chosen_judge<'a>(&'a self, story: &'a StorySpec) -> Option<&'a AgentName> {
        let of_loop = Some(&self.judge).filter(|_| self.judge_is_chosen);
        story.assigned.judge.as_ref().or(of_loop)
    }

    /// Everybody who takes part in one attempt at one story.
    pub fn cast_for(&self, story: &StorySpec, attempt: u32) -> Cast {
        let implementor = self.implementor_for(story, attempt).clone();
        let reviewer = story.assigned.reviewer.as_ref().unwrap_or(&self.reviewer);
        let judge = self.judge_for(story, &implementor);
        Cast {
            reviewer: reviewer.clone(),
            prover: self.prover.clone(),
            implementor,
            judge,
        }
    }

    /// The agent that a role has where nothing else is said.
    pub fn agent_of_role(&self, role: Role) -> Option<&AgentName> {
        match role {
            Role::Checker => None,
            Role::Implementor => Some(&self.implementor),
            Role::Reviewer => Some(&self.reviewer),
            Role::Prover => Some(&self.prover),
            Role::Judge => Some(&self.judge),
        }
    }

    /// The judge of a story that this agent implements.
    pub(crate) fn judge_for(&self, story: &StorySpec, implementor: &AgentName) -> AgentName {
        match &story.assigned.judge {
            Some(assigned) => assigned.clone(),
            None => self.judge_beside(implementor),
        }
    }

    /// The judge beside an implementor: of another family where nobody chose and there is one.
    fn judge_beside(&self, implementor: &AgentName) -> AgentName {
        let family = self.families.get(implementor);
        let is_same = family.is_some() && family == self.families.get(&self.judge);
        if self.judge_is_chosen || !is_same {
            return self.judge.clone();
        }
        let mut others = self
            .families
            .iter()
            .filter(|(_, other)| Some(*other) != family);
        match others.next() {
            Some((agent, _)) => agent.clone(),
            None => self.judge.clone(),
        }
    }
}
