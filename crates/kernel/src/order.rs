//! Orders: what is owed, each with everything that carrying it out needs.
//!
//! An order can be written to a file, read in another process and carried out there with the same
//! result. Whoever carries it out sees neither the state nor the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::event::{EndReason, Event, RunKey};
use crate::facts::{Flag, Mutants, Obligation};
use crate::failover::StandIn;
use crate::flow::{Flow, Stage, StageRow};
use crate::ids::{AgentName, StoryId};
use crate::lane::{Resume, wait_left_ms};
use crate::outcome::Balance;
use crate::restacked::Restackable;
use crate::spec::{Cast, StorySpec};
use crate::state::{Rewrite, Tests};
use crate::verdict::{Proof, Review};
use crate::wishes::{Acceptance, PersonsWork};

/// One thing that is owed now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The loop that it is for.
    pub loop_id: String,
    /// The operator's project folder.
    pub project: String,
    /// What the engine needs beside the order; the kernel does not look inside.
    pub settings: Arc<str>,
    /// What to do.
    pub deed: Deed,
}

/// What an order asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
pub enum Deed {
    /// Make the loop's own repository.
    Prepare {
        /// The commit that the loop begins at.
        base: Commit,
    },
    /// Begin an attempt. The decision itself is all there is to do, and it is recorded.
    Plan(Plan),
    /// Record that a run is about to start: the intent comes before the deed.
    StartRun {
        /// The run.
        run: RunKey,
    },
    /// See how a run stands: start it, adopt it, read its end, or find it lost.
    Run(Box<RunOrder>),
    /// End a run's processes.
    StopRun(Box<StopOrder>),
    /// Say when a wait is over, or hand the run to another agent.
    Wait(WaitOrder),
    /// Turn what the test writer left into a commit.
    MakeTests(Box<MakeTestsOrder>),
    /// Turn what the implementor or the prover left into the candidate.
    MakeCandidate(Box<MakeCandidateOrder>),
    /// Put a candidate that a person accepted onto the branch as it is now, and say so in its message.
    MakeAccepted(Box<AcceptedOrder>),
    /// Put a story's tests or its candidate onto the head of the branch, which has moved since they
    /// were made.
    Restack(Box<RestackOrder>),
    /// Move the loop's branch to the accepted commit, by compare-and-swap.
    Integrate {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The branch.
        branch: String,
        /// The head that the branch must be at; the branch may be missing while this is the loop's
        /// base.
        from: Commit,
        /// The commit that the loop began at.
        base: Commit,
        /// The accepted commit.
        to: Commit,
    },
    /// Move the loop's branch back from a commit that was not confirmed, by compare-and-swap.
    Retract(Box<RetractOrder>),
    /// Show the operator what landed: their branch, their PRD.
    Announce {
        /// The story's id.
        story: StoryId,
        /// The story's title.
        title: String,
        /// Attempts begun.
        attempts: u32,
        /// The branch.
        branch: String,
        /// The commit that was last published.
        published: Option<Commit>,
        /// The accepted commit.
        to: Commit,
        /// The PRD file.
        prd_path: String,
        /// What the story taught, for people.
        #[serde(default)]
        taught: Vec<String>,
    },
    /// Publish accepted work that could not be published when it landed.
    Publish(PublishOrder),
    /// Set a story aside, in the PRD too.
    Skip {
        /// The story's id.
        story: StoryId,
        /// Attempts begun.
        attempts: u32,
        /// The reason, for people.
        reason: String,
        /// The PRD file.
        prd_path: String,
        /// What the story taught, for people.
        #[serde(default)]
        taught: Vec<String>,
    },
    /// Record that a story can never begin.
    Block {
        /// The story's id.
        story: StoryId,
        /// The dependency that will not pass.
        on: StoryId,
    },
    /// Clear away what is left, and record the end.
    End {
        /// Why it ends.
        reason: EndReason,
    },
}

/// An attempt that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The story's id.
    pub story: StoryId,
    /// Attempt number, starting at 1.
    pub attempt: u32,
    /// Its flow.
    pub flow: Flow,
    /// Who takes part.
    pub cast: Cast,
    /// Whether it only looks again at a skipped story.
    pub is_recheck: bool,
    /// The commit to start from, or to look at again.
    pub base: Commit,
    /// Whether the story's tests are put onto that commit.
    #[serde(default)]
    pub keeps_tests: bool,
}

/// Where a run's files are, in words that every machine understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPlace {
    /// The run.
    pub run: RunKey,
    /// The story's position in the loop, starting at 1. Folders are named after it, since an id may
    /// hold anything.
    pub story_number: usize,
    /// The try whose checkout the run works in.
    pub checkout_try: u32,
}

/// A run that was started, as far as the journal knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrder {
    /// The run and its files.
    pub place: RunPlace,
    /// What the stage's row in the flow says.
    pub row: StageRow,
    /// The flow of the attempt.
    pub flow: Flow,
    /// Whether a skipped story is rechecked.
    pub is_recheck: bool,
    /// The agent that does it; checks have none.
    pub agent: Option<AgentName>,
    /// The agent that the role has where nothing else is said. Model and effort of a role are words
    /// of this agent's CLI.
    pub role_agent: Option<AgentName>,
    /// The commit that the attempt starts from.
    pub base: Commit,
    /// The commit that a fresh checkout holds.
    pub checkout: Commit,
    /// The candidate that the stage is about.
    pub candidate: Option<Commit>,
    /// The story's tests.
    pub tests: Option<Tests>,
    /// Why the tests must be written again.
    pub rewrite: Option<Rewrite>,
    /// The story.
    pub story: Arc<StorySpec>,
    /// The session to resume.
    pub resume: Option<Resume>,
    /// Whether a session of this stage grew larger than the model can take.
    pub has_outgrown: bool,
    /// Faults in a row that were not the story's and that the tries before met.
    #[serde(default)]
    pub faults: u32,
    /// The attempt that was sent back last, for its implementor.
    #[serde(default)]
    pub former: Option<u32>,
    /// What is asked of a candidate beside what landed since it was made; none for all other runs.
    #[serde(default)]
    pub landing: Option<LandingCheck>,
    /// Whether everything must be built anew: nothing that an earlier build left may be reused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// What is left for it of the loop's budget; none where there is no budget of tokens or money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// What its prompt tells beside the story.
    pub told: Told,
}

/// What is asked of a candidate that was put onto the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandingCheck {
    /// The tests that proved the story where it was made. Each must be green here too.
    pub proven: Vec<String>,
}

/// What a run's prompt tells beside the story.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// What each failed attempt taught.
    pub feedback: Vec<String>,
    /// What people say to the agents' questions.
    pub answers: Vec<String>,
    /// What stories that passed in this loop taught.
    pub learned: Vec<String>,
    /// What is to be known of the candidate and its tests.
    pub notes: Vec<String>,
    /// What the checks showed, in words.
    pub checks: String,
    /// New tests that are red on the candidate.
    pub failing: Vec<String>,
    /// What a PASS must answer.
    pub obligations: Vec<Obligation>,
    /// What a judge should look at.
    pub flags: Vec<Flag>,
    /// How the story's tests did against small faults in the changed lines.
    pub mutants: Option<Mutants>,
    /// What the reviewer said.
    pub review: Option<Review>,
    /// What the prover showed of its work.
    pub proof: Option<Box<Proof>>,
    /// Why the answer before could not be used.
    pub bad_answer: Option<String>,
}

/// A run that must end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopOrder {
    /// The run and its files.
    pub place: RunPlace,
    /// What the stage's row in the flow says.
    pub row: StageRow,
    /// The agent that does it; checks have none.
    pub agent: Option<AgentName>,
    /// The commit that the attempt starts from.
    pub base: Commit,
    /// When the attempt was planned: the date of whatever is kept of it.
    pub planned_at_ms: i64,
}

/// A run that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitOrder {
    /// The run.
    pub run: RunKey,
    /// Since when, in milliseconds since 1970.
    #[serde(default)]
    pub since_ms: i64,
    /// Until when.
    pub until_ms: i64,
    /// Its agent; checks have none.
    pub agent: Option<AgentName>,
    /// Who could take it over, best first.
    pub others: Vec<StandIn>,
    /// When the loop must be looked at again, if everything in it waits.
    pub loop_until_ms: Option<i64>,
}

/// Accepted work that the operator's repository lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishOrder {
    /// The branch.
    pub branch: String,
    /// The commit that was last published.
    pub published: Option<Commit>,
    /// The commit that the branch should show.
    pub to: Commit,
    /// The reason that people were told last; only another one is worth a record.
    pub known: Option<String>,
    /// Whether a branch that was removed may be made again.
    pub may_recreate: bool,
    /// The PRD file.
    pub prd_path: String,
    /// Stories that passed and could not be marked in the PRD.
    pub unmarked: Vec<StoryId>,
}

/// Tests that must become a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MakeTestsOrder {
    /// The test writer's last run and its files.
    pub place: RunPlace,
    /// The story.
    pub story: Arc<StorySpec>,
    /// The commit that the attempt starts from.
    pub base: Commit,
    /// When the attempt was planned: the commit's date.
    pub planned_at_ms: i64,
    /// What the writer said of the tests.
    pub review: Review,
    /// The tests that stood before.
    pub before: Option<Tests>,
    /// Why they had to be written again.
    pub rewrite: Option<Rewrite>,
    /// How often tests were written again.
    pub rewrites: u32,
    /// The rounds of tests that there were before.
    #[serde(default)]
    pub rounds: u32,
}

/// Work that must become the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MakeCandidateOrder {
    /// The author's last run and its files.
    pub place: RunPlace,
    /// The story.
    pub story: Arc<StorySpec>,
    /// The flow of the attempt.
    pub flow: Flow,
    /// The commit that the attempt starts from.
    pub base: Commit,
    /// When the attempt was planned: the commit's date.
    pub planned_at_ms: i64,
    /// The story's tests.
    pub tests: Option<Tests>,
    /// Candidates of this story that were rejected.
    pub rejected: Vec<Commit>,
    /// What a person made of the story, where one did the implementor's part.
    #[serde(default)]
    pub handed_in: Option<PersonsWork>,
    /// Who has a part in it; an order of an earlier version does not say.
    #[serde(default)]
    pub credits: Option<Credits>,
}

/// Work that must be put onto the head of the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestackOrder {
    /// The story's id.
    pub story: StoryId,
    /// The attempt's number.
    pub attempt: u32,
    /// How often that was done, this time included: in this attempt, or with tests in this story.
    pub round: u32,
    /// What is put there.
    pub what: Restackable,
    /// The commit that it is. It stands on its parent.
    pub from: Commit,
    /// The head.
    pub onto: Commit,
    /// When the attempt was planned: the commit's date.
    pub planned_at_ms: i64,
    /// What a judge must know of how it was made.
    pub notes: Vec<String>,
    /// The story's tests.
    pub tests: Option<Tests>,
    /// Whether a person accepted it, so that nobody has to agree any more.
    #[serde(default)]
    pub is_accepted: bool,
}

/// A landing that must be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetractOrder {
    /// The story's id.
    pub story: StoryId,
    /// The attempt's number.
    pub attempt: u32,
    /// The loop's own branch.
    pub branch: String,
    /// The head that the branch is at. A child of it may have landed without a record.
    pub from: Commit,
    /// The commit that is not confirmed.
    pub commit: Commit,
    /// The commit that the branch goes back to.
    pub to: Commit,
    /// What is red.
    pub why: String,
}

/// A candidate that a person accepted and that must stand on the branch's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedOrder {
    /// The story's id.
    pub story: StoryId,
    /// The attempt's number.
    pub attempt: u32,
    /// The candidate, and who accepted it why.
    pub acceptance: Acceptance,
    /// The head of the branch.
    pub onto: Commit,
}

/// Who has a part in a candidate, as its commit tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    /// The person who wrote the code, where one did.
    #[serde(default)]
    pub person: Option<String>,
    /// The agent that wrote the code.
    pub implementor: Option<AgentName>,
    /// Whoever wrote the tests that are in it.
    pub tests: Option<AgentName>,
    /// Whoever proved and mended it.
    pub prover: Option<AgentName>,
    /// Whoever will judge it. None while another agent may still stand in: a commit's words cannot
    /// be changed once it is judged.
    pub judge: Option<AgentName>,
}

impl Order {
    /// Names the order: two orders of one loop are the same deed exactly if their keys are equal.
    pub fn key(&self) -> String {
        match &self.deed {
            Deed::Prepare { .. } => "prepare".to_owned(),
            Deed::Plan(plan) => format!("plan {} {}", plan.story, plan.attempt),
            Deed::StartRun { run } => format!("start {run}"),
            Deed::Run(order) => format!("run {}", order.place.run),
            Deed::StopRun(order) => format!("stop {}", order.place.run),
            Deed::Wait(order) => format!("wait {}", order.run),
            Deed::MakeTests(order) => format!("make-tests {}", order.place.run),
            Deed::MakeCandidate(order) => {
                // Tests that were written again make another candidate of the same work.
                let round = order.tests.as_ref().map_or(0, |tests| tests.round);
                format!("make-candidate {} tests {round}", order.place.run)
            }
            Deed::MakeAccepted(order) => format!("make-accepted {} {}", order.story, order.attempt),
            Deed::Restack(order) => {
                let what = match order.what {
                    Restackable::Tests => "tests",
                    Restackable::Candidate => "candidate",
                };
                let (story, attempt, round) = (&order.story, order.attempt, order.round);
                format!("restack {what} {story} {attempt} {round}")
            }
            Deed::Integrate { story, attempt, .. } => format!("integrate {story} {attempt}"),
            Deed::Retract(order) => format!("retract {} {}", order.story, order.attempt),
            Deed::Announce { story, .. } => format!("announce {story}"),
            Deed::Publish(order) => format!("publish {}", order.to),
            Deed::Skip { story, .. } => format!("skip {story}"),
            Deed::Block { story, .. } => format!("block {story}"),
            Deed::End { .. } => "end".to_owned(),
        }
    }

    /// The attempt that a step beside the runs is about, if it is about one.
    pub fn attempt(&self) -> Option<(&StoryId, u32)> {
        match &self.deed {
            Deed::MakeTests(order) => Some((&order.place.run.story, order.place.run.attempt)),
            Deed::MakeCandidate(order) => Some((&order.place.run.story, order.place.run.attempt)),
            Deed::MakeAccepted(order) => Some((&order.story, order.attempt)),
            Deed::Restack(order) => Some((&order.story, order.attempt)),
            Deed::Integrate { story, attempt, .. } => Some((story, *attempt)),
            Deed::Retract(order) => Some((&order.story, order.attempt)),
            Deed::Prepare { .. }
            | Deed::Plan(_)
            | Deed::StartRun { .. }
            | Deed::Run(_)
            | Deed::StopRun(_)
            | Deed::Wait(_)
            | Deed::Announce { .. }
            | Deed::Publish(_)
            | Deed::Skip { .. }
            | Deed::Block { .. }
            | Deed::End { .. } => None,
        }
    }

    /// The run that the order is about, if it is about one.
    pub fn run(&self) -> Option<&RunKey> {
        match &self.deed {
            Deed::StartRun { run } => Some(run),
            Deed::Run(order) => Some(&order.place.run),
            Deed::StopRun(order) => Some(&order.place.run),
            Deed::Wait(order) => Some(&order.run),
            Deed::MakeTests(order) => Some(&order.place.run),
            Deed::MakeCandidate(order) => Some(&order.place.run),
            Deed::Prepare { .. }
            | Deed::Plan(_)
            | Deed::MakeAccepted(_)
            | Deed::Restack(_)
            | Deed::Integrate { .. }
            | Deed::Retract(_)
            | Deed::Announce { .. }
            | Deed::Publish(_)
            | Deed::Skip { .. }
            | Deed::Block { .. }
            | Deed::End { .. } => None,
        }
    }
}

impl Deed {
    /// The event that a pure decision records; none for deeds that act outside.
    pub fn decision(&self) -> Option<Event> {
        match self {
            Self::Plan(plan) if plan.is_recheck => Some(Event::RecheckPlanned {
                story: plan.story.clone(),
                attempt: plan.attempt,
                head: plan.base.clone(),
                judge: Some(plan.cast.judge.clone()),
            }),
            Self::Plan(plan) => Some(Event::StoryPlanned {
                story: plan.story.clone(),
                attempt: plan.attempt,
                implementor: plan.cast.implementor.clone(),
                base: plan.base.clone(),
                flow: plan.flow,
                cast: Some(plan.cast.clone()),
                keeps_tests: plan.keeps_tests,
            }),
            Self::StartRun { run } => Some(Event::RunStarted { run: run.clone() }),
            Self::Block { story, on } => Some(Event::StoryBlocked {
                story: story.clone(),
                on: on.clone(),
            }),
            Self::Prepare { .. }
            | Self::Run(_)
            | Self::StopRun(_)
            | Self::Wait(_)
            | Self::MakeTests(_)
            | Self::MakeCandidate(_)
            | Self::MakeAccepted(_)
            | Self::Restack(_)
            | Self::Integrate { .. }
            | Self::Retract(_)
            | Self::Announce { .. }
            | Self::Publish(_)
            | Self::Skip { .. }
            | Self::End { .. } => None,
        }
    }

    /// The stage of a run that is about to start.
    pub fn starts(&self) -> Option<Stage> {
        match self {
            Self::StartRun { run } => Some(run.stage),
            _ => None,
        }
    }
}

impl WaitOrder {
    /// What the wait comes to at this time: its end, another agent, or nothing yet.
    pub fn event(&self, now_ms: i64) -> Option<Event> {
        if wait_left_ms(self.since_ms, self.until_ms, now_ms) == 0 {
            return Some(self.ended());
        }
        let run = self.run.clone();
        let free = self
            .others
            .iter()
            .find(|other| other.free_at_ms <= now_ms)?;
        Some(Event::AgentSwitched {
            run,
            from: self.agent.clone().unwrap_or_default(),
            to: free.agent.clone(),
        })
    }

    /// The end of the wait.
    pub fn ended(&self) -> Event {
        Event::WaitEnded {
            run: self.run.clone(),
        }
    }

    /// How much of the wait is left at this time.
    pub fn left_ms(&self, now_ms: i64) -> i64 {
        wait_left_ms(self.since_ms, self.until_ms, now_ms)
    }
}
