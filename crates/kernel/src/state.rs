//! Where a loop stands: what `apply` builds and `decide` looks at.
//!
//! Everything that a story could have several of is plural here, and everything that asks, waits or
//! fails has an address. How many stories are worked on at once is for `decide` alone to say.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attempt::{Attempt, Step};
use crate::budget::Assumed;
use crate::commit::Commit;
use crate::event::{EndReason, RunKey};
use crate::flow::{Flow, Role, Stage};
use crate::guard::Guard;
use crate::ids::{AgentName, StoryId};
use crate::lane::{Lane, RunFault, RunState, wait_left_ms};
use crate::outcome::RunUsage;
use crate::spec::{LoopSpec, StorySpec};
use crate::verdict::Review;
use crate::wishes::{Rejected, Wish};

/// A loop, as its journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Shared, as are attempts: copies of a state are made at every step.
    pub(crate) spec: Arc<LoopSpec>,
    pub(crate) prepared: bool,
    pub(crate) stories: Vec<StoryProgress>,
    pub(crate) head: Commit,
    pub(crate) published: Option<Commit>,
    pub(crate) unpublished: Option<Unpublished>,
    /// Whether somebody asked for the branch, though it may be gone.
    pub(crate) may_recreate: bool,
    /// Stories that passed and could not be marked in the PRD.
    pub(crate) unmarked: Vec<StoryId>,
    /// Why the PRD does not have the state of a story, by story.
    pub(crate) unwritten: BTreeMap<StoryId, String>,
    pub(crate) iterations: u32,
    pub(crate) spent_ms: i64,
    pub(crate) spent: Spent,
    pub(crate) spent_by: BTreeMap<(Role, AgentName), Spent>,
    /// What runs that reported no usage are charged.
    pub(crate) assumed: Assumed,
    /// Until when each agent is at its limit.
    pub(crate) limits: BTreeMap<AgentName, i64>,
    /// How often each agent reached its limit without doing anything else in between.
    pub(crate) limits_in_a_row: BTreeMap<AgentName, u32>,
    /// When each agent was last found at its limit.
    pub(crate) limited_at_ms: BTreeMap<AgentName, i64>,
    pub(crate) paused: bool,
    pub(crate) cancel: Option<String>,
    pub(crate) ended: Option<EndReason>,
    /// Why it was over before a person made it go on.
    pub(crate) reopened_from: Option<EndReason>,
    pub(crate) started_at_ms: i64,
    pub(crate) last_at_ms: i64,
    /// The ticket of whoever is proven next.
    pub(crate) next_ticket: u64,
    /// The stories that landed in this loop and their commits, oldest first.
    pub(crate) landed: Vec<(StoryId, Commit)>,
    /// What keeps the operator from being shown what is not confirmed.
    pub(crate) guard: Guard,
}

/// Why the operator's repository does not have the head of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unpublished {
    /// The reason, for people.
    pub(crate) why: String,
    /// Whether a person moved or removed the branch. It is theirs then, until somebody asks us to
    /// try again.
    pub(crate) is_taken: bool,
}

/// A story on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent thing that happened to it"
)]
pub struct StoryProgress {
    /// The story itself.
    pub spec: Arc<StorySpec>,
    /// Where it stands.
    pub status: StoryStatus,
    /// Attempts begun, rechecks not counted.
    pub attempts: u32,
    /// Those of them in which nobody worked: a person had accepted what was there.
    pub acceptances: u32,
    /// The attempt that made what the last one is about: an earlier one where a person accepted it.
    pub made_in: u32,
    /// The commit that its last attempt began at.
    pub tried_on: Option<Commit>,
    /// What each failed attempt taught.
    pub feedback: Vec<String>,
    /// What was wrong with the last candidate that failed.
    pub found_wrong: Option<String>,
    /// The number that its last recheck went by. Runs are named by it, so no attempt may have it too.
    pub rechecked_as: u32,
    /// Whether the base of its last attempt is known to build.
    pub has_baseline: bool,
    /// Attempts beyond those that every story gets, since a person asked for them.
    pub extra_attempts: u32,
    /// What a person wants of it and has not got yet.
    pub wish: Option<Wish>,
    /// Whether a person asked for it after the loop's end.
    pub is_asked_for: bool,
    /// Candidates that were set aside.
    pub rejected: Vec<Rejected>,
    /// The tests that were written for it and stand.
    pub tests: Option<Tests>,
    /// Why its tests must be written again, where they must.
    pub rewrite: Option<Rewrite>,
    /// How often tests were written again.
    pub rewrites: u32,
    /// How often tests were asked for before the last time that somebody began anew. Names of what
    /// writers left count on.
    pub earlier_writings: u32,
    /// The rounds of tests that there were. Their names count on too.
    pub rounds: u32,
    /// The new tests that were red in the attempt before.
    pub failing: Vec<String>,
    /// Whether the arbiter has spoken.
    pub ruled: bool,
    /// Why it was set aside the first time. A recheck that fails adds nothing new.
    pub skipped_because: Option<String>,
    /// What people say to the agents' questions.
    pub answers: Vec<String>,
    /// What its agents learned.
    pub learned: Vec<String>,
    /// What its agents used.
    pub spent: Spent,
    /// Its place in the queue of those that land, once it is proven.
    pub ticket: Option<u64>,
    /// How often it was sent back because others landed first, without its costing an attempt.
    pub returns: u32,
    /// The attempt that was sent back last. Its implementor gets to see what it made there.
    pub former: Option<u32>,
    /// Whether a story that it builds on was taken back, so that its attempt is left.
    pub is_recalled: bool,
    /// When its first attempt began.
    pub began_at_ms: Option<i64>,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
}

/// Where a story stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoryStatus {
    /// Its turn has not come.
    Pending,
    /// Is being worked on.
    Active(Arc<Attempt>),
    /// Accepted; the commit is on the branch. Without one it had passed before the loop.
    Passed(Option<Commit>),
    /// Set aside after its last attempt.
    Skipped {
        /// The reason, for people.
        reason: String,
        /// Whether it was rechecked.
        rechecked: bool,
    },
    /// Can never begin.
    Blocked {
        /// The dependency that will not pass.
        on: StoryId,
    },
    /// Was not this loop's business from the start.
    SetAside,
    /// A person does it.
    Taken {
        /// Who.
        by: String,
        /// The folder in which they do it.
        folder: Option<String>,
    },
}

/// The acceptance tests of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// The commit that holds them, on the story's base; none where no criterion can be tested by a
    /// machine.
    pub commit: Option<Commit>,
    /// Round number, starting at 1; it grows each time that they are written again.
    pub round: u32,
    /// What covers what.
    pub review: Review,
    /// What of the writer's work was dropped, and why.
    pub notes: Vec<String>,
    /// Whoever wrote them.
    #[serde(default)]
    pub writer: Option<AgentName>,
}

/// Why tests must be written again, with what the writer is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rewrite {
    /// They do not fit the names that the candidate has: only imports and calls may change.
    Repair(String),
    /// They prove nothing.
    Better(String),
    /// They ask for what no criterion says.
    Fresh(String),
}

/// What agents used, as far as they reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens of all runs that reported them.
    pub tokens: u64,
    /// Millionths of a dollar of all runs that reported a cost.
    pub micro_usd: u64,
    /// The most tokens that one run used.
    pub most_tokens: u64,
    /// The most that one run cost, in millionths of a dollar.
    pub most_micro_usd: u64,
    /// Runs, whether they reported anything or not.
    pub runs: u32,
    /// Runs that reported tokens.
    pub reported_tokens: u32,
    /// Runs that reported a cost.
    pub reported_cost: u32,
}

/// Something that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The story that it is about.
    pub story: StoryId,
    /// The stage whose run asks; none where a candidate must be approved.
    pub stage: Option<Stage>,
    /// What is asked.
    pub text: String,
    /// What can be answered.
    pub choices: &'static [Choice],
    /// Whether any other words may be the answer too.
    pub free: bool,
}

/// An answer that a question offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Try the run again.
    Retry,
    /// Set the story aside.
    Skip,
    /// End the loop.
    Cancel,
    /// Let the candidate land.
    Approve,
    /// Reject the candidate.
    Reject,
}

/// A run that waits for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The run.
    pub run: RunKey,
    /// Its agent; checks have none.
    pub agent: Option<AgentName>,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// Until when.
    pub until_ms: i64,
    /// What it waits for to pass.
    pub fault: RunFault,
}

impl Choice {
    /// What a person types.
    pub fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Cancel => "cancel",
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

impl Rewrite {
    /// What the writer is told.
    pub fn why(&self) -> &str {
        match self {
            Self::Repair(why) | Self::Better(why) | Self::Fresh(why) => why,
        }
    }
}

impl Spent {
    pub(crate) fn add(&mut self, usage: Option<&RunUsage>) {
        self.runs += 1;
        let Some(usage) = usage else { return };
        if let Some(tokens) = usage.tokens() {
            self.tokens = self.tokens.saturating_add(tokens);
            self.most_tokens = self.most_tokens.max(tokens);
            self.reported_tokens += 1;
        }
        if let Some(cost) = usage.cost_micro_usd {
            self.micro_usd = self.micro_usd.saturating_add(cost);
            self.most_micro_usd = self.most_micro_usd.max(cost);
            self.reported_cost += 1;
        }
    }

    /// Tokens, where any run reported them.
    pub fn known_tokens(&self) -> Option<u64> {
        (self.reported_tokens > 0).then_some(self.tokens)
    }

    /// Millionths of a dollar, where any run reported a cost.
    pub fn known_micro_usd(&self) -> Option<u64> {
        (self.reported_cost > 0).then_some(self.micro_usd)
    }
}

impl StoryProgress {
    /// The attempt that is under way, if one is.
    pub fn attempt(&self) -> Option<&Attempt> {
        match &self.status {
            StoryStatus::Active(attempt) => Some(attempt),
            StoryStatus::Pending
            | StoryStatus::Passed(_)
            | StoryStatus::Skipped { .. }
            | StoryStatus::Blocked { .. }
            | StoryStatus::SetAside
            | StoryStatus::Taken { .. } => None,
        }
    }

    /// Whether anything was done for it, or asked of it by a person.
    pub fn has_begun(&self) -> bool {
        self.attempts > 0 || self.wish.is_some() || self.is_asked_for
    }

    /// Whether it has passed, in this loop or before it.
    pub fn has_passed(&self) -> bool {
        matches!(self.status, StoryStatus::Passed(_))
    }

    /// Whether there are tests that an attempt of this flow could use.
    pub(crate) fn has_tests_for(&self, flow: Flow) -> bool {
        let tests = self.tests.as_ref();
        flow.has(Stage::WriteTests) && tests.is_some_and(|tests| tests.commit.is_some())
    }

    fn key(&self, attempt: &Attempt, lane: &Lane) -> RunKey {
        RunKey {
            story: self.spec.id.clone(),
            attempt: attempt.number,
            stage: lane.stage,
            try_number: lane.run.try_number,
        }
    }
}

impl State {
    /// What the loop was started with.
    pub fn spec(&self) -> &LoopSpec {
        &self.spec
    }

    /// The stories in file order.
    pub fn stories(&self) -> &[StoryProgress] {
        &self.stories
    }

    /// One story.
    pub fn story(&self, id: &str) -> Option<&StoryProgress> {
        self.stories.iter().find(|story| story.spec.id == *id)
    }

    /// The stories that are being worked on, each with its attempt, in file order.
    pub fn attempts(&self) -> impl Iterator<Item = (&StoryProgress, &Attempt)> {
        let active = |story| Some((story, StoryProgress::attempt(story)?));
        self.stories.iter().filter_map(active)
    }

    /// The attempt at a story that is under way.
    pub fn attempt(&self, story: &str) -> Option<&Attempt> {
        self.story(story)?.attempt()
    }

    /// Every run that is not over, with where it stands.
    pub fn runs(&self) -> impl Iterator<Item = (RunKey, &RunState)> {
        self.attempts().flat_map(|(story, attempt)| {
            let open = attempt.lanes().iter().filter(|lane| lane.is_open());
            open.map(move |lane| (story.key(attempt, lane), &lane.run.state))
        })
    }

    /// The runs that were started and are not over.
    pub fn running(&self) -> Vec<RunKey> {
        let running = self
            .runs()
            .filter(|(_, state)| matches!(state, RunState::Running { .. }));
        running.map(|(run, _)| run).collect()
    }

    /// The runs that wait for a time.
    pub fn waits(&self) -> Vec<Wait> {
        let wait = |(run, state): (RunKey, &RunState)| match state {
            RunState::Waiting {
                since_ms,
                until_ms,
                fault,
            } => Some(Wait {
                agent: self.agent_of(&run).cloned(),
                since_ms: *since_ms,
                until_ms: *until_ms,
                fault: fault.clone(),
                run,
            }),
            RunState::Owed
            | RunState::Running { .. }
            | RunState::Asking { .. }
            | RunState::Ended => None,
        };
        self.runs().filter_map(wait).collect()
    }

    /// When the first of the waits will be over, if nothing else can be done until then. Whoever asks a
    /// person changes nothing about that.
    pub fn waits_until_ms(&self) -> Option<i64> {
        let waits = self.waits();
        let mut attempts = self.attempts();
        let is_busy = attempts.any(|(story, attempt)| {
            let mut lanes = attempt.lanes().iter();
            lanes.any(|lane| match lane.run.state {
                RunState::Running { .. } => true,
                RunState::Owed => !self.is_kept_back(story, attempt, lane.stage),
                RunState::Waiting { .. } | RunState::Asking { .. } | RunState::Ended => false,
            })
        });
        if waits.is_empty() || is_busy {
            return None;
        }
        waits.iter().map(|wait| self.wakes_at_ms(wait)).min()
    }

    /// How long it is, at this time, until the first of the waits is over, if everything that is not
    /// over waits.
    pub fn waits_left_ms(&self, now_ms: i64) -> Option<i64> {
        self.waits_until_ms()?;
        let left = |wait: &Wait| wait_left_ms(wait.since_ms, self.wakes_at_ms(wait), now_ms);
        self.waits().iter().map(left).min()
    }

    /// When a wait is over, or another agent could take the run over, whichever comes first.
    fn wakes_at_ms(&self, wait: &Wait) -> i64 {
        let others = self.stand_ins_for(&wait.run.story, wait.run.stage);
        let free = others.iter().map(|other| other.free_at_ms);
        let first = free.chain([wait.until_ms]).min().unwrap_or(wait.until_ms);
        first.max(self.last_at_ms.min(wait.until_ms))
    }

    /// Who does a run, or did it: the agent of its role, or the one that took over.
    pub fn agent_of(&self, run: &RunKey) -> Option<&AgentName> {
        self.attempt(&run.story)?.agent(run.stage)
    }

    /// The questions that a person can answer now, in file order. A loop that is cancelled or over
    /// has none.
    pub fn questions(&self) -> Vec<Question> {
        if self.ended.is_some() || self.cancel.is_some() {
            return Vec::new();
        }
        self.open_questions()
    }

    /// The questions of all attempts, whatever became of the loop since.
    pub(crate) fn open_questions(&self) -> Vec<Question> {
        self.attempts()
            .flat_map(|(story, attempt)| questions_of(&story.spec.id, attempt))
            .collect()
    }

    /// The tip of the loop's branch.
    pub fn head(&self) -> &Commit {
        &self.head
    }

    /// The commit that was last published to the operator's repository.
    pub fn published(&self) -> Option<&Commit> {
        self.published.as_ref()
    }

    /// The stories whose state could not be written into the PRD, and why.
    pub fn unwritten(&self) -> impl Iterator<Item = (&StoryId, &str)> {
        self.unwritten.iter().map(|(id, why)| (id, why.as_str()))
    }

    /// Whether a story of this loop has landed and may be shown, so that its branch exists.
    pub fn has_landed(&self) -> bool {
        *self.confirmed() != self.spec.base
    }

    /// The time that all runs together have taken.
    pub fn spent_ms(&self) -> i64 {
        self.spent_ms
    }

    /// What agents used, as far as they reported it.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// What agents used, by role and agent.
    pub fn spent_by(&self) -> impl Iterator<Item = (Role, &AgentName, Spent)> {
        self.spent_by
            .iter()
            .map(|((role, agent), spent)| (*role, agent, *spent))
    }

    /// Why it is over, if it is.
    pub fn ended(&self) -> Option<&EndReason> {
        self.ended.as_ref()
    }

    /// Whether a person asked for a pause.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Why it will end, if somebody cancelled it.
    pub fn cancel_reason(&self) -> Option<&str> {
        self.cancel.as_deref()
    }

    /// When it was started.
    pub fn started_at_ms(&self) -> i64 {
        self.started_at_ms
    }

    /// When the last thing happened.
    pub fn last_at_ms(&self) -> i64 {
        self.last_at_ms
    }
}

const OF_RUN: &[Choice] = &[Choice::Retry, Choice::Skip, Choice::Cancel];
/// What is on the branch cannot be set aside any more.
const OF_LANDED: &[Choice] = &[Choice::Retry, Choice::Cancel];
const OF_CANDIDATE: &[Choice] = &[Choice::Approve, Choice::Reject, Choice::Cancel];

fn questions_of(story: &StoryId, attempt: &Attempt) -> Vec<Question> {
    let of_run = if attempt.is_unconfirmed() {
        OF_LANDED
    } else {
        OF_RUN
    };
    if let Some(text) = &attempt.hindered {
        return vec![Question {
            story: story.clone(),
            stage: None,
            text: text.clone(),
            choices: of_run,
            free: false,
        }];
    }
    if let Step::Approve { question, .. } = &attempt.step {
        return vec![Question {
            story: story.clone(),
            stage: None,
            text: question.clone(),
            choices: OF_CANDIDATE,
            free: false,
        }];
    }
    let question = |lane: &Lane| match &lane.run.state {
        RunState::Asking { question, free } => Some(Question {
            story: story.clone(),
            stage: Some(lane.stage),
            text: question.clone(),
            choices: of_run,
            free: *free,
        }),
        RunState::Owed | RunState::Running { .. } | RunState::Waiting { .. } | RunState::Ended => {
            None
        }
    };
    attempt.lanes().iter().filter_map(question).collect()
}
