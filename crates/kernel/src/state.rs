//! Where a loop stands: what `apply` builds and `decide` looks at.

use std::collections::BTreeMap;

use crate::budget::Assumed;
use crate::event::{EndReason, Facts, Review, RunKey, RunUsage, Verdict};
use crate::flow::{Flow, FlowStep, Role, Stage};
use crate::spec::{Cast, Commit, LoopSpec, StorySpec};

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
    pub(crate) spent: Spent,
    pub(crate) spent_by: BTreeMap<(Role, String), Spent>,
    /// What runs are taken to have used that did not tell.
    pub(crate) assumed: Assumed,
    pub(crate) limits: BTreeMap<String, i64>,
    pub(crate) limits_in_a_row: BTreeMap<String, u32>,
    pub(crate) paused: bool,
    pub(crate) cancel: Option<String>,
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
    /// The commit that its last attempt began at.
    pub tried_on: Option<Commit>,
    /// What each failed attempt taught.
    pub feedback: Vec<String>,
    /// Rejected candidates, kept aside.
    pub rejected: Vec<Commit>,
    /// The tests that were written for it and stand.
    pub tests: Option<Tests>,
    /// What is asked of the test writer next, where tests must be written again.
    pub tests_order: Option<TestsOrder>,
    /// How often tests were written again.
    pub rewrites: u32,
    /// The new tests that were red in the attempt before.
    pub failing: Vec<String>,
    /// Whether the arbiter has spoken.
    pub ruled: bool,
    /// Why it was set aside the first time; a second look that fails says nothing new.
    pub skipped_because: Option<String>,
    /// What people answered to the agents' questions.
    pub answers: Vec<String>,
    /// What its agents learned.
    pub learned: Vec<String>,
    /// What its agents used.
    pub spent: Spent,
    /// When its first attempt began.
    pub began_at_ms: Option<i64>,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
}

/// What agents used, as far as they told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens of all runs that told.
    pub tokens: u64,
    /// Millionths of a dollar of all runs that told.
    pub micro_usd: u64,
    /// The most tokens that one run used.
    pub most_tokens: u64,
    /// The most that one run cost, in millionths of a dollar.
    pub most_micro_usd: u64,
    /// Runs, whether they told or not.
    pub runs: u32,
    /// Runs that told how many tokens.
    pub told_tokens: u32,
    /// Runs that told what they cost.
    pub told_cost: u32,
}

impl Spent {
    pub(crate) fn add(&mut self, usage: Option<&RunUsage>) {
        self.runs += 1;
        let Some(usage) = usage else { return };
        if let Some(tokens) = usage.tokens() {
            (self.tokens, self.told_tokens) =
                (self.tokens.saturating_add(tokens), self.told_tokens + 1);
            self.most_tokens = self.most_tokens.max(tokens);
        }
        if let Some(cost) = usage.cost_micro_usd {
            (self.micro_usd, self.told_cost) =
                (self.micro_usd.saturating_add(cost), self.told_cost + 1);
            self.most_micro_usd = self.most_micro_usd.max(cost);
        }
    }

    /// Tokens, where any run told.
    pub fn known_tokens(&self) -> Option<u64> {
        (self.told_tokens > 0).then_some(self.tokens)
    }

    /// Millionths of a dollar, where any run told.
    pub fn known_micro_usd(&self) -> Option<u64> {
        (self.told_cost > 0).then_some(self.micro_usd)
    }
}

/// Where a story stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoryStatus {
    /// Waits for its turn.
    Pending,
    /// Is being worked on.
    Active(Box<Attempt>),
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

/// The acceptance tests of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests {
    /// The commit that holds them, on the story's base; nothing where no criterion can be tested by
    /// machine.
    pub commit: Option<Commit>,
    /// From 1; it grows each time that they are written again.
    pub round: u32,
    /// What covers what.
    pub review: Review,
    /// What of the writer's work was dropped, and why.
    pub notes: Vec<String>,
}

/// Why tests must be written again, and what the writer is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestsOrder {
    /// They do not fit the names that the candidate has: only imports and calls may change.
    Repair(String),
    /// They prove nothing.
    Better(String),
    /// They ask for what no criterion says.
    Fresh(String),
}

/// One try at a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// The way that it goes.
    pub flow: Flow,
    /// Who takes part.
    pub cast: Cast,
    /// The commit that it starts from.
    pub base: Commit,
    /// When it was planned; the candidate's date, so that making it again gives the same id.
    pub planned_at_ms: i64,
    /// Whether it only looks again at a skipped story.
    pub recheck: bool,
    /// Whether the implementor's work is there.
    pub implemented: bool,
    /// Why the attempt fails as soon as nothing of it runs any more.
    pub failure: Option<String>,
    /// Why there are no tests, where their writer failed for good.
    pub unwritten: Option<String>,
    /// What the test writer said of tests that are not a commit yet.
    pub written: Option<Review>,
    /// What it proposes.
    pub candidate: Option<Commit>,
    /// What a judge must know of how that was made.
    pub notes: Vec<String>,
    /// Why a person must agree before it lands.
    pub ask: Option<String>,
    /// What the checks showed.
    pub checked: Option<Checked>,
    /// What the reviewer said.
    pub review: Option<Review>,
    /// What the judge said.
    pub verdict: Option<Verdict>,
    /// The last try of each stage.
    pub tries: BTreeMap<Stage, u32>,
    /// Who stands in for an agent that is at its limit, by stage.
    pub stand_ins: BTreeMap<Stage, String>,
    /// The try whose checkout the last try of a stage worked in, where that is an earlier one's.
    pub worked_in: BTreeMap<Stage, u32>,
    /// How far it is.
    pub step: Step,
}

/// What the checks showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What they said, bounded.
    pub report: String,
    /// What follows from them.
    pub facts: Option<Box<Facts>>,
}

/// How far an attempt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Runs are owed or under way.
    Runs {
        /// The step of the flow; the arbiter stands beside it.
        at: Option<usize>,
        /// What runs.
        lanes: Vec<Lane>,
    },
    /// What the test writer left must become a commit.
    MakeTests {
        /// The step of the flow.
        at: usize,
    },
    /// What the writers left must become the candidate.
    MakeCandidate {
        /// The step of the flow.
        at: usize,
    },
    /// A person must agree.
    Approve(Commit),
    /// The branch must move to the accepted candidate.
    Integrate(Commit),
    /// The operator must be shown.
    Announce(Commit),
    /// It failed: another attempt is owed, or the skip.
    Rejected,
    /// No further attempt would help: the skip is owed.
    GivenUp(String),
}

/// One of the runs that may be under way at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The stage.
    pub stage: Stage,
    /// Its run.
    pub run: Run,
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
    /// Answers that could not be used.
    pub bad_answers: u32,
    /// What went wrong around us, while it waits for that.
    pub fault: Option<String>,
    /// What a person is asked, while it waits for them, and whether any words may be the answer.
    pub question: Option<(String, bool)>,
    /// When it was started.
    pub began_at_ms: Option<i64>,
    /// What it goes on with, where an earlier try was cut off and its session can be taken up.
    pub goes_on: Option<GoesOn>,
}

/// An earlier try's work that a run goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoesOn {
    /// The CLI's session.
    pub session: String,
    /// The try that made the checkout; a session knows its folder by its path.
    pub checkout_try: u32,
    /// What the session's runs have used, as far as they told.
    pub used: RunUsage,
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
    /// Is over, and there is nothing more to do for it.
    Ended,
}

/// Something that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The story that it is about.
    pub story: String,
    /// What is asked.
    pub text: String,
    /// What can be answered.
    pub choices: Vec<&'static str>,
    /// Whether any other words may be the answer too.
    pub free: bool,
}

impl Run {
    pub(crate) fn numbered(try_number: u32) -> Self {
        let state = RunState::Owed;
        Self {
            try_number,
            state,
            faults: 0,
            bad_answers: 0,
            fault: None,
            question: None,
            began_at_ms: None,
            goes_on: None,
        }
    }

    /// The next try, due now.
    pub(crate) fn again(&self) -> Self {
        let (faults, bad_answers) = (self.faults, self.bad_answers);
        Self {
            faults,
            bad_answers,
            goes_on: self.goes_on.clone(),
            ..Self::numbered(self.try_number + 1)
        }
    }
}

impl Attempt {
    /// The steps that it goes through.
    pub fn steps(&self) -> &'static [FlowStep] {
        if self.recheck {
            Flow::recheck_steps()
        } else {
            self.flow.steps()
        }
    }

    /// The runs that this step is about.
    pub fn lanes(&self) -> &[Lane] {
        match &self.step {
            Step::Runs { lanes, .. } => lanes,
            Step::MakeTests { .. }
            | Step::MakeCandidate { .. }
            | Step::Approve(_)
            | Step::Integrate(_)
            | Step::Announce(_)
            | Step::Rejected
            | Step::GivenUp(_) => &[],
        }
    }

    /// The commit that is being checked, judged or landed.
    pub fn candidate(&self) -> Option<&Commit> {
        self.candidate.as_ref()
    }

    /// Who does a stage: the agent of its role, or who stands in for it; our own hands have no
    /// name.
    pub fn agent(&self, stage: Stage) -> Option<&str> {
        let of_role = || self.cast.agent(self.flow.row(stage).role);
        self.stand_ins
            .get(&stage)
            .map(String::as_str)
            .or_else(of_role)
    }

    /// What the next try of a stage goes on with, if it does.
    pub fn goes_on(&self, stage: Stage) -> Option<&GoesOn> {
        self.lanes()
            .iter()
            .find(|lane| lane.stage == stage)?
            .run
            .goes_on
            .as_ref()
    }

    /// The try whose checkout a try works in: its own, unless it goes on with an earlier one's
    /// work.
    pub fn checkout_try(&self, stage: Stage, try_number: u32) -> u32 {
        let lane = self
            .lanes()
            .iter()
            .find(|lane| lane.stage == stage && lane.run.try_number == try_number);
        let earlier = match lane {
            Some(lane) if lane.run.state != RunState::Ended => lane
                .run
                .goes_on
                .as_ref()
                .map(|goes_on| goes_on.checkout_try),
            _ => self
                .worked_in
                .get(&stage)
                .copied()
                .filter(|_| self.tries.get(&stage) == Some(&try_number)),
        };
        earlier.unwrap_or(try_number)
    }

    /// What a person would call what it is doing.
    pub fn doing(&self) -> String {
        let busy = self
            .lanes()
            .iter()
            .filter(|lane| lane.run.state != RunState::Ended);
        let words: Vec<&str> = busy.map(|lane| lane.stage.word()).collect();
        if words.is_empty() {
            "landing".to_owned()
        } else {
            words.join(" and ")
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
            StoryStatus::Active(attempt) => Some((story, &**attempt)),
            _ => None,
        })
    }

    /// The runs of the active attempt that are not over, in the order of the flow.
    pub fn active_runs(&self) -> Vec<(RunKey, RunState)> {
        let Some((story, attempt)) = self.active() else {
            return Vec::new();
        };
        let key = |lane: &Lane| RunKey {
            story: story.spec.id.clone(),
            attempt: attempt.number,
            stage: lane.stage,
            try_number: lane.run.try_number,
        };
        let busy = attempt
            .lanes()
            .iter()
            .filter(|lane| lane.run.state != RunState::Ended);
        busy.map(|lane| (key(lane), lane.run.state)).collect()
    }

    /// The runs that were started and are not over.
    pub fn running(&self) -> Vec<RunKey> {
        let running = self
            .active_runs()
            .into_iter()
            .filter(|(_, state)| *state == RunState::Running);
        running.map(|(run, _)| run).collect()
    }

    /// When the first of the waits will be over, if everything that is not over waits.
    pub fn waits_until_ms(&self) -> Option<i64> {
        let runs = self.active_runs();
        let until = |run: &RunKey, state: &RunState| match state {
            RunState::Waiting { until_ms } => {
                let others = self
                    .stand_ins_for(run.stage)
                    .into_iter()
                    .map(|(_, free_at_ms)| free_at_ms);
                others
                    .chain([*until_ms])
                    .min()
                    .map(|first| first.max(self.last_at_ms.min(*until_ms)))
            }
            RunState::Owed | RunState::Running | RunState::Asking | RunState::Ended => None,
        };
        let all: Option<Vec<i64>> = runs.iter().map(|(run, state)| until(run, state)).collect();
        all?.into_iter().min()
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

    /// What agents used, as far as they told.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The same by role and agent.
    pub fn spent_by(&self) -> impl Iterator<Item = (Role, &str, Spent)> {
        self.spent_by
            .iter()
            .map(|((role, agent), spent)| (*role, agent.as_str(), *spent))
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
    pub fn question(&self) -> Option<Question> {
        let (story, attempt) = self.active()?;
        let story = story.spec.id.clone();
        if let (Step::Approve(_), Some(text)) = (&attempt.step, &attempt.ask) {
            let (text, choices) = (text.clone(), vec!["approve", "reject", "cancel"]);
            return Some(Question {
                story,
                text,
                choices,
                free: false,
            });
        }
        let mut asking = attempt
            .lanes()
            .iter()
            .filter(|lane| lane.run.state == RunState::Asking);
        let (text, free) = asking.find_map(|lane| lane.run.question.clone())?;
        Some(Question {
            story,
            text,
            choices: vec!["retry", "skip", "cancel"],
            free,
        })
    }

    /// The last infrastructure fault, while it lasts.
    pub fn fault(&self) -> Option<&str> {
        let (_, attempt) = self.active()?;
        attempt
            .lanes()
            .iter()
            .find_map(|lane| lane.run.fault.as_deref())
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
