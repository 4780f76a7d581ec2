//! What can happen to a loop: facts in the past tense, each with the time that it was recorded at.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::spec::{Commit, LoopSpec, StorySpec};

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
        /// Which.
        story: String,
        /// From 1.
        attempt: u32,
        /// Who implements.
        implementor: String,
        /// The commit that the attempt starts from.
        base: Commit,
    },
    /// A skipped story is looked at once more, against what the branch is now.
    RecheckPlanned {
        /// Which.
        story: String,
        /// The attempt number that the recheck goes by.
        attempt: u32,
        /// The commit that is looked at.
        head: Commit,
    },
    /// A run is about to be started: the intent comes before the deed.
    RunStarted {
        /// Which.
        run: RunKey,
    },
    /// A run is over.
    RunEnded {
        /// Which.
        run: RunKey,
        /// How.
        outcome: RunOutcome,
    },
    /// A wait is over.
    WaitEnded {
        /// The run that waited.
        run: RunKey,
    },
    /// What the implementor left is a commit now.
    CandidateMade {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// The commit.
        commit: Commit,
    },
    /// The implementor changed nothing, or made the same tree as a rejected attempt.
    NothingNew {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// What was found.
        why: String,
    },
    /// The loop's branch moved to an accepted commit.
    Integrated {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// The commit.
        commit: Commit,
    },
    /// The operator was shown: branch in their repository, state in their PRD.
    Announced {
        /// Which story.
        story: String,
        /// What became of the branch.
        branch: PublishResult,
        /// What became of the PRD file.
        prd: WriteBack,
    },
    /// The last attempt failed; the story is set aside for a person.
    StorySkipped {
        /// Which.
        story: String,
        /// Why.
        reason: String,
        /// What became of the PRD file.
        prd: WriteBack,
    },
    /// A story can never begin.
    StoryBlocked {
        /// Which.
        story: String,
        /// The dependency that will not pass.
        on: String,
    },
    /// Somebody asked for an end.
    CancelRequested {
        /// Why.
        reason: String,
    },
    /// Somebody asked for a pause.
    PauseRequested,
    /// Somebody asked to go on; waits are cut short too.
    ResumeRequested,
    /// Somebody asked to take in PRD and configuration as they are now, for all that has not begun.
    Reloaded {
        /// What the engine needs to carry out effects.
        settings: String,
        /// The stories as they are told now.
        stories: Vec<StorySpec>,
    },
    /// Somebody answered the open question.
    Answered {
        /// One of the question's choices.
        choice: String,
    },
    /// The loop is over.
    LoopEnded {
        /// Why.
        reason: EndReason,
    },
}

impl Event {
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
            Self::CandidateMade { .. } => "candidate-made",
            Self::NothingNew { .. } => "nothing-new",
            Self::Integrated { .. } => "integrated",
            Self::Announced { .. } => "announced",
            Self::StorySkipped { .. } => "story-skipped",
            Self::StoryBlocked { .. } => "story-blocked",
            Self::CancelRequested { .. } => "cancel-requested",
            Self::PauseRequested => "pause-requested",
            Self::ResumeRequested => "resume-requested",
            Self::Reloaded { .. } => "reloaded",
            Self::Answered { .. } => "answered",
            Self::LoopEnded { .. } => "loop-ended",
        }
    }
}

/// A step of the flow that a process is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The implementor writes code.
    Implement,
    /// The project's commands run on the candidate.
    Check,
    /// The judge decides.
    Judge,
}

impl Stage {
    /// The stage's word, as agents see it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Implement => "implement",
            Self::Check => "check",
            Self::Judge => "judge",
        }
    }
}

/// Names one execution of one stage; a repeat after an infrastructure fault has the next `try_number`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The story's id.
    pub story: String,
    /// From 1.
    pub attempt: u32,
    /// The step.
    pub stage: Stage,
    /// From 1.
    pub try_number: u32,
}

impl fmt::Display for RunKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} attempt {} {} try {}", self.story, self.attempt, self.stage.word(), self.try_number)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The implementor did its work.
    Worked,
    /// The run failed by its own fault: the agent gave up, ran out of time, or broke.
    Failed {
        /// What is known.
        why: String,
    },
    /// The checks ran.
    Checked {
        /// All green.
        passed: bool,
        /// What they said, bounded.
        report: String,
    },
    /// The judge gave a usable verdict on the very candidate.
    Judged(Verdict),
    /// The judge said something that is no verdict.
    BadAnswer {
        /// What is wrong with it.
        why: String,
    },
    /// Something around us failed: limits, network, our own fault. It costs no attempt.
    Infrastructure {
        /// What.
        why: String,
        /// When it is worth trying again, where that was said.
        until_ms: Option<i64>,
    },
    /// Only a person can help: a login, a missing program.
    NeedsHuman {
        /// What to ask them.
        question: String,
    },
    /// The run was lost with its keeper or a reboot.
    Interrupted {
        /// How.
        why: String,
    },
    /// We ended it because the loop was cancelled.
    Stopped,
}

/// What a judge decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Accepted or not.
    pub pass: bool,
    /// The commit that was judged.
    pub commit: Commit,
    /// Why.
    pub reason: String,
    /// Criterion by criterion.
    pub criteria: Vec<CriterionVerdict>,
    /// What to do better.
    pub guidance: Vec<String>,
}

/// What a judge says of one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionVerdict {
    /// The criterion.
    pub criterion: String,
    /// Met or not.
    pub pass: bool,
    /// How one can tell.
    #[serde(default)]
    pub evidence: String,
}

/// What became of publishing the branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum PublishResult {
    /// It is in the operator's repository.
    Done,
    /// It was left alone.
    LeftAlone {
        /// Why.
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
        /// Why.
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
        /// Why.
        why: String,
    },
    /// As many stories ended as were allowed.
    MaxIterationsReached,
    /// What is left of the budget is less than the next run may take.
    BudgetExhausted,
    /// It cannot go on.
    Failed {
        /// Why.
        why: String,
    },
}
