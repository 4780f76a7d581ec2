//! What can happen to a loop: facts in the past tense, each with the time that it was recorded at.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::flow::{Flow, Stage};
use crate::spec::{Cast, Commit, LoopSpec, StorySpec};

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
        /// The way that it goes.
        #[serde(default)]
        flow: Flow,
        /// Everybody who takes part; loops from before there were flows name the implementor only.
        #[serde(default)]
        cast: Option<Cast>,
    },
    /// A skipped story is looked at once more, against what the branch is now.
    RecheckPlanned {
        /// Which.
        story: String,
        /// The attempt number that the recheck goes by.
        attempt: u32,
        /// The commit that is looked at.
        head: Commit,
        /// Who judges.
        #[serde(default)]
        judge: Option<String>,
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
        /// What it used, where that was told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<RunUsage>,
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
        /// Who had it.
        from: String,
        /// Who has it now.
        to: String,
    },
    /// What the test writer left is a commit now.
    TestsMade {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// The commit that holds the tests, on the story's base; nothing where no criterion can be
        /// tested by machine.
        commit: Option<Commit>,
        /// What of the writer's work was dropped, and why.
        notes: Vec<String>,
    },
    /// The test writer left nothing that could be used.
    TestsRefused {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// What is wrong with it.
        why: String,
    },
    /// What the implementor left is a commit now.
    CandidateMade {
        /// Which story.
        story: String,
        /// Which attempt.
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
            Self::AgentSwitched { .. } => "agent-switched",
            Self::TestsMade { .. } => "tests-made",
            Self::TestsRefused { .. } => "tests-refused",
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

/// Names one execution of one stage; a repeat after an infrastructure fault has the next
/// `try_number`.
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

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The implementor or the prover did its work.
    Worked {
        /// What it learned that later stories should know.
        #[serde(default)]
        learned: Vec<String>,
    },
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
        /// What follows from them beside the baseline.
        #[serde(default)]
        facts: Option<Box<Facts>>,
    },
    /// The test writer did its work, and said what covers what.
    TestsWritten(Review),
    /// The reviewer looked at the candidate.
    Reviewed(Review),
    /// The judge said whether the tests stand.
    Ruled {
        /// Whether they ask for what no criterion says, and must be written anew.
        fresh_tests: bool,
        /// Why.
        reason: String,
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
        /// Whether it is this agent's own trouble, so that another one could go on at once.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        elsewhere: bool,
    },
    /// Only a person can help: a login, a missing program.
    NeedsHuman {
        /// What to ask them.
        question: String,
        /// Whether any words may be the answer; they are told to the next try.
        #[serde(default)]
        free: bool,
    },
    /// The run was lost with its keeper or a reboot.
    Interrupted {
        /// How.
        why: String,
    },
    /// We ended it because the loop was cancelled.
    Stopped,
}

/// What a run of an agent used. Unknown is unknown, and not nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunUsage {
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens read anew.
    pub input_tokens: Option<u64>,
    /// Tokens read from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// What it cost, in millionths of a dollar.
    pub cost_micro_usd: Option<u64>,
    /// The CLI's own session.
    pub session: Option<String>,
    /// Whether the next try can go on in that session, with the files as this one left them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
}

impl RunUsage {
    /// All tokens together, where any were told.
    pub fn tokens(&self) -> Option<u64> {
        let told = [self.input_tokens, self.cached_tokens, self.output_tokens];
        told.iter()
            .any(Option::is_some)
            .then(|| told.iter().flatten().sum())
    }

    /// The two together; what only one told is what is known.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some(ours.saturating_add(theirs)),
            (known, None) | (None, known) => known,
        };
        Self {
            model: other.model.clone().or_else(|| self.model.clone()),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cost_micro_usd: sum(self.cost_micro_usd, other.cost_micro_usd),
            session: other.session.clone().or_else(|| self.session.clone()),
            goes_on: other.goes_on,
        }
    }
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
    /// For each older test that the change made red, removed or skipped: the criterion that obliges
    /// it.
    #[serde(default)]
    pub obliged: Vec<Obliged>,
}

/// An older test that had to give way, and the criterion that says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obliged {
    /// The test's name.
    pub test: String,
    /// The criterion.
    pub criterion: String,
}

/// What the checks showed, beside the baseline. No agent can overrule it to a PASS.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// What follows for the candidate.
    pub gate: Gate,
    /// New tests of the writer that are red on the candidate.
    pub failing: Vec<String>,
    /// Older tests that the change itself made red, removed or skipped.
    pub obliged: Vec<String>,
    /// What the next attempt is told.
    pub feedback: String,
    /// What the test writer is told when the tests are at fault.
    pub for_writer: String,
    /// The whole comparison as JSON; the kernel does not look inside.
    pub evidence: String,
}

/// What the facts say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// The candidate may be judged.
    Green,
    /// It may not.
    #[default]
    Red,
    /// The new tests do not fit the candidate's names: the tests must be mended, and nothing counts
    /// against the story.
    SurfaceMismatch,
    /// No new test is red on the base, so they prove nothing: better ones are needed.
    NothingProven,
}

/// What a reviewer says: at `write-tests` of its own tests, at `review` of the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    /// In a sentence or two.
    pub summary: String,
    /// Criterion by criterion.
    pub criteria: Vec<Coverage>,
    /// What the judge should look at.
    pub findings: Vec<String>,
}

/// How one criterion is tested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// The criterion.
    pub criterion: String,
    /// The tests that cover it.
    pub tests: Vec<String>,
    /// Those of them whose names and output no implementor is told.
    pub held_back: Vec<String>,
    /// Why no machine can test it, where none can.
    pub untestable: Option<String>,
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
