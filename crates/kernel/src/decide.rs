//! Says all that is owed now. Same state, same effects, for ever.

use std::collections::BTreeSet;

use crate::event::{EndReason, Event, RunKey};
use crate::spec::Commit;
use crate::state::{Attempt, RunState, State, Step, StoryProgress, StoryStatus};

/// An order to the engine. Carrying one out twice must be the same as once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Make the loop's own repository.
    Prepare,
    /// Choose: the decision itself is all there is to do, and it is recorded.
    Plan {
        /// Which story.
        story: String,
        /// From 1.
        attempt: u32,
        /// Who implements; nobody at a recheck.
        implementor: Option<String>,
        /// The commit to start from, or to look at again.
        base: Commit,
    },
    /// Record the intent, then start the run.
    StartRun(RunKey),
    /// See whether the run is over; adopt it, or find it lost.
    WatchRun(RunKey),
    /// End the run's processes.
    StopRun(RunKey),
    /// Say when this time has come.
    WakeAt {
        /// Milliseconds since 1970.
        until_ms: i64,
        /// The run that waits.
        run: RunKey,
    },
    /// Turn what the implementor left into a commit.
    MakeCandidate {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
    },
    /// Move the loop's branch to the accepted commit.
    Integrate {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
        /// The commit.
        commit: Commit,
    },
    /// Show the operator: their branch, their PRD.
    Announce {
        /// Which story.
        story: String,
        /// The commit.
        commit: Commit,
    },
    /// Set the story aside, in the PRD too.
    Skip {
        /// Which.
        story: String,
        /// Why.
        reason: String,
    },
    /// Record that a story can never begin.
    Block {
        /// Which.
        story: String,
        /// The dependency that will not pass.
        on: String,
    },
    /// Clear away what is left, and record the end.
    End(EndReasonOrder),
}

/// An end reason that can stand in a set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndReasonOrder {
    /// Every story that could be tried was.
    Completed,
    /// Somebody cancelled it.
    Cancelled(String),
    /// As many stories ended as were allowed.
    MaxIterationsReached,
    /// The next run would not fit into the budget.
    BudgetExhausted,
}

impl EndReasonOrder {
    /// The reason as it is recorded.
    pub fn reason(&self) -> EndReason {
        match self {
            Self::Completed => EndReason::Completed,
            Self::Cancelled(why) => EndReason::Cancelled { why: why.clone() },
            Self::MaxIterationsReached => EndReason::MaxIterationsReached,
            Self::BudgetExhausted => EndReason::BudgetExhausted,
        }
    }
}

/// Everything that is owed now. The engine carries out what has no outcome yet.
pub fn decide(state: &State) -> BTreeSet<Effect> {
    if state.ended.is_some() {
        return BTreeSet::new();
    }
    if let Some(why) = &state.cancel {
        return one(cancel(state, why));
    }
    if !state.prepared {
        return one(Effect::Prepare);
    }
    match state.active() {
        Some((story, attempt)) => of_attempt(state, story, attempt),
        None if state.paused => BTreeSet::new(),
        None => plan(state),
    }
}

fn one(effect: Effect) -> BTreeSet<Effect> {
    BTreeSet::from([effect])
}

/// A cancelled loop first ends its run, then itself. What was accepted and not yet shown stays in the loop's repository.
fn cancel(state: &State, why: &str) -> Effect {
    match state.active_run() {
        Some((run, RunState::Running)) => Effect::StopRun(run),
        _ => Effect::End(EndReasonOrder::Cancelled(why.to_owned())),
    }
}

fn of_attempt(state: &State, story: &StoryProgress, attempt: &Attempt) -> BTreeSet<Effect> {
    let id = story.spec.id.clone();
    if let Some((run, run_state)) = state.active_run() {
        return match run_state {
            RunState::Running => one(Effect::WatchRun(run)),
            RunState::Owed if state.paused => BTreeSet::new(),
            RunState::Owed if !state.can_afford(run.stage) => {
                one(Effect::End(EndReasonOrder::BudgetExhausted))
            }
            RunState::Owed => one(Effect::StartRun(run)),
            RunState::Waiting { until_ms } => one(Effect::WakeAt { until_ms, run }),
            RunState::Asking => BTreeSet::new(),
        };
    }
    match &attempt.step {
        Step::MakeCandidate => one(Effect::MakeCandidate { story: id, attempt: attempt.number }),
        Step::Integrate(commit) => {
            one(Effect::Integrate { story: id, attempt: attempt.number, commit: commit.clone() })
        }
        Step::Announce(commit) => one(Effect::Announce { story: id, commit: commit.clone() }),
        Step::Rejected => after_rejection(state, story, attempt),
        Step::Implement(_) | Step::Check(..) | Step::Judge(..) => {
            unreachable!("a step that is about a run has a run")
        }
    }
}

/// Another attempt while there are any left, with what the last one taught; then the skip.
fn after_rejection(state: &State, story: &StoryProgress, attempt: &Attempt) -> BTreeSet<Effect> {
    let id = story.spec.id.clone();
    if !attempt.recheck && story.attempts < state.spec.attempts_max() {
        if state.paused {
            return BTreeSet::new();
        }
        return one(plan_attempt(state, story));
    }
    let reason = story.feedback.last().cloned().unwrap_or_default();
    one(Effect::Skip { story: id, reason })
}

fn plan_attempt(state: &State, story: &StoryProgress) -> Effect {
    let attempt = story.attempts + 1;
    let implementor = Some(state.spec.implementor_for(&story.spec, attempt).to_owned());
    Effect::Plan { story: story.spec.id.clone(), attempt, implementor, base: state.head.clone() }
}

/// The next story; when none is left, the blocked ones, the rechecks, the end.
fn plan(state: &State) -> BTreeSet<Effect> {
    if state.spec.max_iterations.is_some_and(|max| state.iterations >= max) {
        return one(Effect::End(EndReasonOrder::MaxIterationsReached));
    }
    let pending = || state.stories.iter().filter(|story| story.status == StoryStatus::Pending);
    let ready = pending().filter(|story| story.spec.depends_on.iter().all(|on| has_passed(state, on)));
    if let Some(next) = ready.min_by_key(|story| story.spec.rank) {
        return one(plan_attempt(state, next));
    }
    let again =
        |story: &&StoryProgress| matches!(story.status, StoryStatus::Skipped { rechecked: false, .. });
    if let Some(story) = state.stories.iter().find(again) {
        let (story, attempt) = (story.spec.id.clone(), story.attempts + 1);
        return one(Effect::Plan { story, attempt, implementor: None, base: state.head.clone() });
    }
    let blocked: BTreeSet<Effect> = pending().filter_map(|story| blocked_by(state, story)).collect();
    if blocked.is_empty() { one(Effect::End(EndReasonOrder::Completed)) } else { blocked }
}

fn has_passed(state: &State, id: &str) -> bool {
    state.story(id).is_some_and(|story| matches!(story.status, StoryStatus::Passed(_)))
}

/// A pending story that is left when nothing is ready waits for something that will not pass.
fn blocked_by(state: &State, story: &StoryProgress) -> Option<Effect> {
    let on = story.spec.depends_on.iter().find(|on| !has_passed(state, on))?;
    Some(Effect::Block { story: story.spec.id.clone(), on: on.clone() })
}

impl Effect {
    /// The event that carrying out a pure decision records; nothing for effects that need hands.
    pub fn decision(&self) -> Option<Event> {
        match self {
            Self::Plan { story, attempt, implementor: Some(implementor), base } => {
                Some(Event::StoryPlanned {
                    story: story.clone(),
                    attempt: *attempt,
                    implementor: implementor.clone(),
                    base: base.clone(),
                })
            }
            Self::Plan { story, attempt, implementor: None, base } => {
                Some(Event::RecheckPlanned { story: story.clone(), attempt: *attempt, head: base.clone() })
            }
            Self::Block { story, on } => Some(Event::StoryBlocked { story: story.clone(), on: on.clone() }),
            _ => None,
        }
    }
}
