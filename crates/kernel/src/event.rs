//! What can happen to a loop: facts in the past tense, each with the time that it was recorded at.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::flow::{Flow, Stage};
use crate::ids::{AgentName, StoryId};
use crate::outcome::{RunOutcome, RunUsage};
use crate::restacked::{RestackClass, Restackable};
use crate::spec::{Cast, LoopSpec, StorySpec};
use crate::together::Together;
use crate::walls::Walls;

/// An event and when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// What happened.
    pub event: Event,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// The loop was asked for.
    LoopStarted {
        /// What it was asked with.
        spec: Box<LoopSpec>,
    },
    /// The loop's own repository is there.
    LoopPrepared,
    /// A story was chosen; a new attempt begins.
    StoryPlanned {
        /// The story's id.
        story: StoryId,
        /// Attempt number, starting at 1.
        attempt: u32,
        /// The agent that implements.
        implementor: AgentName,
        /// The commit that the attempt starts from.
        base: Commit,
        /// The attempt's flow.
        #[serde(default)]
        flow: Flow,
        /// Everybody who takes part; loops from before there were flows name the implementor only.
        #[serde(default)]
        cast: Option<Cast>,
        /// Whether the story's tests are put onto the commit that the attempt starts from; otherwise
        /// tests of another commit are forgotten.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps_tests: bool,
    },
    /// A skipped story is looked at once more, against what the branch is now.
    RecheckPlanned {
        /// The story's id.
        story: StoryId,
        /// The attempt number that the recheck goes by.
        attempt: u32,
        /// The commit that is looked at.
        head: Commit,
        /// The agent that judges.
        #[serde(default)]
        judge: Option<AgentName>,
    },
    /// A run is about to be started: the intent comes before the deed.
    RunStarted {
        /// The run.
        run: RunKey,
    },
    /// A run is over.
    RunEnded {
        /// The run.
        run: RunKey,
        /// How it ended.
        outcome: RunOutcome,
        /// What it used, where the agent reported that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<RunUsage>,
        /// What it met at the walls of its jail. Older records have none.
        #[serde(default, skip_serializing_if = "Walls::is_untouched")]
        walls: Walls,
    },
    /// A wait is over.
    WaitEnded {
        /// The run that waited.
        run: RunKey,
    },
    /// An agent has reached its limit, and another one takes its place in this run.
    AgentSwitched {
        /// The run that waited.
        run: RunKey,
        /// The agent at its limit.
        from: AgentName,
        /// The agent that takes over.
        to: AgentName,
    },
    /// What the test writer left is a commit now.
    TestsMade {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The commit that holds the tests, on the story's base; nothing where no criterion can be
        /// tested by machine.
        commit: Option<Commit>,
        /// What of the writer's work was dropped, and why.
        notes: Vec<String>,
    },
    /// The test writer left nothing that could be used.
    TestsRefused {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// What is wrong with it.
        why: String,
    },
    /// What the implementor left is a commit now.
    CandidateMade {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The commit.
        commit: Commit,
        /// What a judge must know of how it was made.
        #[serde(default)]
        notes: Vec<String>,
        /// Why a person must agree before it lands, where one must.
        #[serde(default)]
        ask: Option<String>,
    },
    /// What the author left is a commit now, and may not go on: it holds secrets. The attempt has
    /// failed, and a person may accept the commit all the same.
    CandidateRefused {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The commit.
        commit: Commit,
        /// What was found, and where.
        why: String,
    },
    /// The implementor changed nothing, or made the same tree as a rejected attempt.
    NothingNew {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// What was found.
        why: String,
    },
    /// A step of an attempt beside its runs cannot be done until a person helps.
    Hindered {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// What they are asked.
        question: String,
    },
    /// Work was put onto the head of the branch, which has moved since it was made.
    Restacked {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// How often that was done in this attempt, this time included.
        round: u32,
        /// What was put there.
        what: Restackable,
        /// The commit that it was.
        from: Commit,
        /// The head.
        onto: Commit,
        /// The commit that it is now.
        commit: Commit,
        /// How it met what landed.
        class: RestackClass,
        /// What a judge must know of how it was made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Why a person must agree before it lands, where one must.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<String>,
    },
    /// Work does not fit onto the head of the branch.
    RestackRefused {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// How often that was tried in this attempt, this time included.
        round: u32,
        /// What should have been put there.
        what: Restackable,
        /// The commit that it is.
        from: Commit,
        /// The head.
        onto: Commit,
        /// The files that stand in the way.
        paths: Vec<String>,
    },
    /// The loop's branch moved to an accepted commit.
    Integrated {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The commit.
        commit: Commit,
    },
    /// The loop's branch went back: a commit that had landed is red with everything built anew. The
    /// operator was never shown it.
    Retracted {
        /// The story's id.
        story: StoryId,
        /// The attempt's number.
        attempt: u32,
        /// The commit.
        commit: Commit,
        /// The commit that the branch went back to, the last one that is confirmed.
        onto: Commit,
        /// What is red.
        why: String,
    },
    /// The operator was shown: branch in their repository, state in their PRD.
    Announced {
        /// The story's id.
        story: StoryId,
        /// What became of the branch.
        branch: PublishResult,
        /// What became of the PRD file.
        prd: WriteBack,
    },
    /// The branch that was behind was tried again: publishing is owed until it is done, also after
    /// the end.
    PublishTried {
        /// The commit that it should show.
        commit: Commit,
        /// What became of the branch.
        branch: PublishResult,
    },
    /// Somebody asked to publish again what they had moved or removed, or what an older version left
    /// unpublished.
    PublishRequested,
    /// The last attempt failed; the story is set aside for a person.
    StorySkipped {
        /// The story's id.
        story: StoryId,
        /// The reason, for people.
        reason: String,
        /// What became of the PRD file.
        prd: WriteBack,
    },
    /// A story can never begin.
    StoryBlocked {
        /// The story's id.
        story: StoryId,
        /// The dependency that will not pass.
        on: StoryId,
    },
    /// Somebody asked for an end.
    CancelRequested {
        /// The reason, for people.
        reason: String,
    },
    /// Somebody asked for a pause.
    PauseRequested,
    /// Somebody asked to go on; waits are cut short too.
    ResumeRequested,
    /// Somebody asked to read PRD and configuration again, for everything that has not begun.
    Reloaded {
        /// What the engine needs to carry out orders.
        settings: Arc<str>,
        /// The stories as the PRD has them now.
        stories: Vec<Arc<StorySpec>>,
        /// What the loop does with several stories from now on; records of earlier versions say
        /// nothing about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        together: Option<Together>,
    },
    /// A person asked for another try at a story; a loop that is over goes on.
    RetryRequested {
        /// The story's id.
        story: StoryId,
        /// What the next attempts are told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// The agent that shall implement.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
        /// The flow that it shall follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<Flow>,
    },
    /// A person wants a story set aside.
    SkipRequested {
        /// The story's id.
        story: StoryId,
        /// The reason, for people.
        reason: String,
    },
    /// A person says yes to a candidate, whatever became of it.
    AcceptRequested {
        /// The story's id.
        story: StoryId,
        /// The candidate.
        commit: Commit,
        /// Who says so.
        by: String,
        /// Why, which is owed where its checks do not say yes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person does a story themselves.
    TakeRequested {
        /// The story's id.
        story: StoryId,
        /// Who does it.
        by: String,
        /// The folder in which they do it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A person hands in what they made of a story that they took.
    HandedIn {
        /// The story's id.
        story: StoryId,
        /// Their commit, in the project's repository.
        commit: Commit,
        /// Who made it.
        by: String,
    },
    /// Somebody answered a question.
    Answered {
        /// One of the question's choices, or words of their own where the question takes any.
        choice: String,
        /// The story whose question it is; may be missing while only one story asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        story: Option<StoryId>,
    },
    /// The loop is over.
    LoopEnded {
        /// Why it ended.
        reason: EndReason,
    },
}

impl Event {
    /// The candidate that was made, and what is to be known of it.
    pub fn candidate(&self) -> Option<(&StoryId, &Commit, &[String])> {
        match self {
            Self::CandidateMade {
                story,
                commit,
                notes,
                ..
            } => Some((story, commit, notes)),
            Self::CandidateRefused {
                story, commit, why, ..
            } => Some((story, commit, std::slice::from_ref(why))),
            _ => None,
        }
    }

    /// The attempt that left nothing which may go on, and why.
    pub fn refusal(&self) -> Option<(&StoryId, u32, &str)> {
        match self {
            Self::CandidateRefused {
                story,
                attempt,
                why,
                ..
            }
            | Self::NothingNew {
                story,
                attempt,
                why,
            } => Some((story, *attempt, why)),
            _ => None,
        }
    }

    /// The event's name in the journal.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LoopStarted { .. } => "loop-started",
            Self::LoopPrepared => "loop-prepared",
            Self::StoryPlanned { .. } => "story-planned",
            Self::RecheckPlanned { .. } => "recheck-planned",
            Self::RunStarted { .. } => "run-started",
            Self::RunEnded { .. } => "run-ended",
            Self::WaitEnded { .. } => "wait-ended",
            Self::AgentSwitched { .. } => "agent-switched",
            Self::TestsMade { .. } => "tests-made",
            Self::TestsRefused { .. } => "tests-refused",
            Self::CandidateMade { .. } => "candidate-made",
            Self::CandidateRefused { .. } => "candidate-refused",
            Self::NothingNew { .. } => "nothing-new",
            Self::Hindered { .. } => "hindered",
            Self::Restacked { .. } => "restacked",
            Self::RestackRefused { .. } => "restack-refused",
            Self::Integrated { .. } => "integrated",
            Self::Retracted { .. } => "retracted",
            Self::Announced { .. } => "announced",
            Self::PublishTried { .. } => "publish-tried",
            Self::PublishRequested => "publish-requested",
            Self::StorySkipped { .. } => "story-skipped",
            Self::StoryBlocked { .. } => "story-blocked",
            Self::CancelRequested { .. } => "cancel-requested",
            Self::PauseRequested => "pause-requested",
            Self::ResumeRequested => "resume-requested",
            Self::Reloaded { .. } => "reloaded",
            Self::RetryRequested { .. } => "retry-requested",
            Self::SkipRequested { .. } => "skip-requested",
            Self::AcceptRequested { .. } => "accept-requested",
            Self::TakeRequested { .. } => "take-requested",
            Self::HandedIn { .. } => "handed-in",
            Self::Answered { .. } => "answered",
            Self::LoopEnded { .. } => "loop-ended",
        }
    }

    /// What a person says in their own words; such words may hold a secret.
    pub fn words_of_a_person(&mut self) -> Option<&mut String> {
        match self {
            Self::RetryRequested { hint, .. } => hint.as_mut(),
            Self::AcceptRequested { reason, .. } => reason.as_mut(),
            Self::CancelRequested { reason } | Self::SkipRequested { reason, .. } => Some(reason),
            Self::Answered { choice, .. } => Some(choice),
            Self::LoopStarted { .. }
            | Self::LoopPrepared
            | Self::StoryPlanned { .. }
            | Self::RecheckPlanned { .. }
            | Self::RunStarted { .. }
            | Self::RunEnded { .. }
            | Self::WaitEnded { .. }
            | Self::AgentSwitched { .. }
            | Self::TestsMade { .. }
            | Self::TestsRefused { .. }
            | Self::CandidateMade { .. }
            | Self::CandidateRefused { .. }
            | Self::NothingNew { .. }
            | Self::Hindered { .. }
            | Self::Restacked { .. }
            | Self::RestackRefused { .. }
            | Self::Integrated { .. }
            | Self::Retracted { .. }
            | Self::Announced { .. }
            | Self::PublishTried { .. }
            | Self::PublishRequested
            | Self::StorySkipped { .. }
            | Self::StoryBlocked { .. }
            | Self::PauseRequested
            | Self::ResumeRequested
            | Self::Reloaded { .. }
            | Self::TakeRequested { .. }
            | Self::HandedIn { .. }
            | Self::LoopEnded { .. } => None,
        }
    }
}

/// Names one execution of one stage; a repeat after an infrastructure fault has the next
/// `try_number`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The story's id.
    pub story: StoryId,
    /// Attempt number, starting at 1.
    pub attempt: u32,
    /// The stage.
    pub stage: Stage,
    /// Try number, starting at 1.
    pub try_number: u32,
}

impl fmt::Display for RunKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} attempt {} {} try {}",
            self.story,
            self.attempt,
            self.stage.word(),
            self.try_number
        )
    }
}

/// What became of publishing the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum PublishResult {
    /// It is in the operator's repository.
    Done,
    /// It could not be moved now; it is tried again.
    LeftAlone {
        /// The reason, for people.
        why: String,
    },
    /// A person moved or removed it; it is theirs, unless they ask.
    Taken {
        /// The reason, for people.
        why: String,
    },
}

/// What became of writing a story's state into the PRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum WriteBack {
    /// It is written.
    Done,
    /// It was switched off.
    Off,
    /// It could not be done, which never fails a story.
    LeftAlone {
        /// The reason, for people.
        why: String,
    },
}

/// Why a loop is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum EndReason {
    /// Every story that could be tried was.
    Completed,
    /// Somebody cancelled it.
    Cancelled {
        /// The reason, for people.
        why: String,
    },
    /// As many stories ended as were allowed.
    MaxIterationsReached,
    /// What is left of the budget is less than the next run may take.
    BudgetExhausted,
    /// It cannot go on.
    Failed {
        /// The reason, for people.
        why: String,
    },
}
