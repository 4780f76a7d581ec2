//! Where a loop stands: what `apply` builds and `decide` looks at.

use crate::event::{EndReason, RunKey, Stage};
use crate::spec::{Commit, LoopSpec, StorySpec};

/// A loop, as its journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(crate) spec: LoopSpec,
    pub(crate) prepared: bool,
    pub(crate) stories: Vec<StoryProgress>,
    pub(crate) head: Commit,
    pub(crate) published: Option<Commit>,
    pub(crate) unpublished: Option<String>,
    pub(crate) iterations: u32,
    pub(crate) spent_ms: i64,
    pub(crate) run_began_at_ms: Option<i64>,
    pub(crate) paused: bool,
    pub(crate) cancel: Option<String>,
    pub(crate) question: Option<Question>,
    pub(crate) fault: Option<String>,
    pub(crate) ended: Option<EndReason>,
    pub(crate) started_at_ms: i64,
    pub(crate) last_at_ms: i64,
}

/// A story on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryProgress {
    /// What it is.
    pub spec: StorySpec,
    /// Where it stands.
    pub status: StoryStatus,
    /// Attempts begun, rechecks not counted.
    pub attempts: u32,
    /// What each failed attempt taught.
    pub feedback: Vec<String>,
    /// Rejected candidates, kept aside.
    pub rejected: Vec<Commit>,
    /// When its first attempt began.
    pub began_at_ms: Option<i64>,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
}

/// Where a story stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoryStatus {
    /// Waits for its turn.
    Pending,
    /// Is being worked on.
    Active(Attempt),
    /// Accepted; the commit is on the branch. Without one it had passed before the loop.
    Passed(Option<Commit>),
    /// Set aside after its last attempt.
    Skipped {
        /// Why.
        reason: String,
        /// Whether it was looked at again.
        rechecked: bool,
    },
    /// Can never begin.
    Blocked {
        /// The dependency that will not pass.
        on: String,
    },
    /// Was not this loop's business from the start.
    SetAside,
}

/// One try at a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// Who implements.
    pub implementor: String,
    /// The commit that it starts from.
    pub base: Commit,
    /// When it was planned; the candidate's date, so that making it again gives the same id.
    pub planned_at_ms: i64,
    /// Whether it only looks again at a skipped story.
    pub recheck: bool,
    /// How far it is.
    pub step: Step,
}

/// How far an attempt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The implementor works.
    Implement(Run),
    /// What it left must become a commit.
    MakeCandidate,
    /// The project's commands look at the candidate.
    Check(Commit, Run),
    /// The judge looks at the candidate.
    Judge(Commit, Run, String),
    /// The branch must move to the accepted candidate.
    Integrate(Commit),
    /// The operator must be shown.
    Announce(Commit),
    /// It failed: another attempt is owed, or the skip.
    Rejected,
}

/// One stage's run and its tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// From 1.
    pub try_number: u32,
    /// Where it stands.
    pub state: RunState,
    /// Infrastructure faults in a row, for the length of the wait.
    pub faults: u32,
    /// Answers that were no verdicts.
    pub bad_answers: u32,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Must be started.
    Owed,
    /// Was started; its outcome is not known yet.
    Running,
    /// Waits until a time.
    Waiting {
        /// Milliseconds since 1970.
        until_ms: i64,
    },
    /// Waits for a person.
    Asking,
}

/// Something that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The run that cannot go on.
    pub run: RunKey,
    /// What is asked.
    pub text: String,
    /// What can be answered.
    pub choices: Vec<&'static str>,
}

impl Run {
    pub(crate) fn first() -> Self {
        Self { try_number: 1, state: RunState::Owed, faults: 0, bad_answers: 0 }
    }

    /// The next try, due now.
    pub(crate) fn again(&self) -> Self {
        Self { try_number: self.try_number + 1, state: RunState::Owed, ..self.clone() }
    }
}

impl Attempt {
    /// The run that this step is about, and its stage.
    pub fn run(&self) -> Option<(Stage, &Run)> {
        match &self.step {
            Step::Implement(run) => Some((Stage::Implement, run)),
            Step::Check(_, run) => Some((Stage::Check, run)),
            Step::Judge(_, run, _) => Some((Stage::Judge, run)),
            Step::MakeCandidate | Step::Integrate(_) | Step::Announce(_) | Step::Rejected => None,
        }
    }

    pub(crate) fn run_mut(&mut self) -> Option<(Stage, &mut Run)> {
        match &mut self.step {
            Step::Implement(run) => Some((Stage::Implement, run)),
            Step::Check(_, run) => Some((Stage::Check, run)),
            Step::Judge(_, run, _) => Some((Stage::Judge, run)),
            Step::MakeCandidate | Step::Integrate(_) | Step::Announce(_) | Step::Rejected => None,
        }
    }

    /// The commit that is being checked, judged or landed.
    pub fn candidate(&self) -> Option<&Commit> {
        match &self.step {
            Step::Check(commit, _)
            | Step::Judge(commit, _, _)
            | Step::Integrate(commit)
            | Step::Announce(commit) => Some(commit),
            Step::Implement(_) | Step::MakeCandidate | Step::Rejected => None,
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
        self.stories.iter().find(|story| story.spec.id == id)
    }

    /// The story that is being worked on, and its attempt.
    pub fn active(&self) -> Option<(&StoryProgress, &Attempt)> {
        self.stories.iter().find_map(|story| match &story.status {
            StoryStatus::Active(attempt) => Some((story, attempt)),
            _ => None,
        })
    }

    /// The run that the active attempt is about, if it is about one.
    pub fn active_run(&self) -> Option<(RunKey, RunState)> {
        let (story, attempt) = self.active()?;
        let (stage, run) = attempt.run()?;
        let (story, attempt, try_number) = (story.spec.id.clone(), attempt.number, run.try_number);
        Some((RunKey { story, attempt, stage, try_number }, run.state))
    }

    /// The tip of the loop's branch.
    pub fn head(&self) -> &Commit {
        &self.head
    }

    /// What the operator's repository was last given.
    pub fn published(&self) -> Option<&Commit> {
        self.published.as_ref()
    }

    /// Why the operator's repository does not have the head of the branch, if it has not.
    pub fn unpublished(&self) -> Option<&str> {
        self.unpublished.as_deref()
    }

    /// The time that all runs together have taken.
    pub fn spent_ms(&self) -> i64 {
        self.spent_ms
    }

    /// What is left of the budget, if there is one.
    pub fn left_ms(&self) -> Option<i64> {
        self.spec.budget.map(|budget| budget.total_ms - self.spent_ms)
    }

    /// Whether a run of this stage fits into what is left: its cap is reserved before it starts.
    pub(crate) fn can_afford(&self, stage: Stage) -> bool {
        let Some((budget, left)) = self.spec.budget.zip(self.left_ms()) else { return true };
        let cap = match stage {
            Stage::Implement => budget.implement_cap_ms,
            Stage::Check => budget.check_cap_ms,
            Stage::Judge => budget.judge_cap_ms,
        };
        cap <= left
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

    /// What a person must answer.
    pub fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    /// The last infrastructure fault, while it lasts.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// When it was asked for.
    pub fn started_at_ms(&self) -> i64 {
        self.started_at_ms
    }

    /// When the last thing happened.
    pub fn last_at_ms(&self) -> i64 {
        self.last_at_ms
    }
}
