//! Says all that is owed now. Same state, same effects, for ever.

use std::collections::BTreeSet;

use crate::event::{EndReason, Event, RunKey};
use crate::flow::{Flow, Stage};
use crate::spec::{Cast, Commit};
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
        /// The way that it goes.
        flow: Flow,
        /// Who takes part.
        cast: Cast,
        /// Whether it only looks again at a skipped story.
        recheck: bool,
        /// The commit to start from, or to look at again.
        base: Commit,
    },
    /// Record the intent, then start the run.
    StartRun(RunKey),
    /// See whether the run is over; adopt it, or find it lost.
    WatchRun(RunKey),
    /// End the run's processes.
    StopRun(RunKey),
    /// Say when this time has come, or hand the run to the first of the others that is free.
    WakeAt {
        /// Milliseconds since 1970.
        until_ms: i64,
        /// The run that waits.
        run: RunKey,
        /// Who has it.
        agent: String,
        /// Who could have it instead, the best first, and since when each is free.
        others: Vec<(String, i64)>,
    },
    /// Turn what the test writer left into a commit.
    MakeTests {
        /// Which story.
        story: String,
        /// Which attempt.
        attempt: u32,
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
        return cancel(state, why);
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

/// A cancelled loop first ends its runs, then itself. What was accepted and not yet shown stays in
/// the loop's repository.
fn cancel(state: &State, why: &str) -> BTreeSet<Effect> {
    let running = state.running();
    if running.is_empty() {
        return one(Effect::End(EndReasonOrder::Cancelled(why.to_owned())));
    }
    running.into_iter().map(Effect::StopRun).collect()
}

fn of_attempt(state: &State, story: &StoryProgress, attempt: &Attempt) -> BTreeSet<Effect> {
    let id = story.spec.id.clone();
    match &attempt.step {
        Step::Runs { .. } => of_runs(state),
        Step::MakeTests { .. } => one(Effect::MakeTests {
            story: id,
            attempt: attempt.number,
        }),
        Step::MakeCandidate { .. } => one(Effect::MakeCandidate {
            story: id,
            attempt: attempt.number,
        }),
        Step::Approve(_) => BTreeSet::new(),
        Step::Integrate(commit) => one(Effect::Integrate {
            story: id,
            attempt: attempt.number,
            commit: commit.clone(),
        }),
        Step::Announce(commit) => one(Effect::Announce {
            story: id,
            commit: commit.clone(),
        }),
        Step::Rejected => after_rejection(state, story, attempt),
        Step::GivenUp(why) => one(Effect::Skip {
            story: id,
            reason: why.clone(),
        }),
    }
}

fn of_runs(state: &State) -> BTreeSet<Effect> {
    let effect = |(run, run_state): (RunKey, RunState)| match run_state {
        RunState::Running => Some(Effect::WatchRun(run)),
        RunState::Owed if state.paused => None,
        RunState::Owed if state.can_afford(run.stage) => Some(Effect::StartRun(run)),
        // What another run has reserved and does not use may still be enough for this one.
        RunState::Owed if !state.running().is_empty() => None,
        RunState::Owed => Some(Effect::End(EndReasonOrder::BudgetExhausted)),
        RunState::Waiting { until_ms } => {
            let agent = state.agent_of(run.stage).unwrap_or_default().to_owned();
            let others = state.stand_ins_for(run.stage);
            Some(Effect::WakeAt {
                until_ms,
                run,
                agent,
                others,
            })
        }
        RunState::Asking | RunState::Ended => None,
    };
    state.active_runs().into_iter().filter_map(effect).collect()
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
    let reason = story
        .skipped_because
        .as_ref()
        .or(story.feedback.last())
        .cloned()
        .unwrap_or_default();
    one(Effect::Skip { story: id, reason })
}

fn plan_attempt(state: &State, story: &StoryProgress) -> Effect {
    let attempt = story.attempts + 1;
    Effect::Plan {
        story: story.spec.id.clone(),
        attempt,
        flow: state.spec.flow_of(&story.spec),
        cast: state.spec.cast_for(&story.spec, attempt),
        recheck: false,
        base: state.head.clone(),
    }
}

/// The next story; when none is left, the rechecks, the blocked ones, the end.
fn plan(state: &State) -> BTreeSet<Effect> {
    if state
        .spec
        .max_iterations
        .is_some_and(|max| state.iterations >= max)
    {
        return one(Effect::End(EndReasonOrder::MaxIterationsReached));
    }
    let pending = || {
        state
            .stories
            .iter()
            .filter(|story| story.status == StoryStatus::Pending)
    };
    if let Some(first) = &state.spec.first {
        match pending().find(|story| story.spec.id == first.id) {
            Some(story) => return one(plan_attempt(state, story)),
            None if first.only => return one(Effect::End(EndReasonOrder::Completed)),
            None => {}
        }
    }
    let ready =
        pending().filter(|story| story.spec.depends_on.iter().all(|on| has_passed(state, on)));
    if let Some(next) = ready.min_by_key(|story| story.spec.rank) {
        return one(plan_attempt(state, next));
    }
    let again = |story: &&StoryProgress| {
        // Without a judge, or without the tests that its flow asks for, a second look could only
        // pass a story falsely.
        let flow = state.spec.flow_of(&story.spec);
        let provable =
            flow.has(Stage::Judge) && (!flow.has(Stage::WriteTests) || story.tests.is_some());
        // A branch that has not moved since cannot hold what the story asks for.
        let moved = story.tried_on.as_ref() != Some(&state.head);
        provable
            && moved
            && matches!(
                story.status,
                StoryStatus::Skipped {
                    rechecked: false,
                    ..
                }
            )
    };
    if let Some(story) = state.stories.iter().find(again) {
        let Effect::Plan {
            story,
            attempt,
            flow,
            cast,
            base,
            ..
        } = plan_attempt(state, story)
        else {
            unreachable!("a plan is a plan")
        };
        return one(Effect::Plan {
            story,
            attempt,
            flow,
            cast,
            recheck: true,
            base,
        });
    }
    let blocked: BTreeSet<Effect> = pending()
        .filter_map(|story| blocked_by(state, story))
        .collect();
    if blocked.is_empty() {
        one(Effect::End(EndReasonOrder::Completed))
    } else {
        blocked
    }
}

fn has_passed(state: &State, id: &str) -> bool {
    state
        .story(id)
        .is_some_and(|story| matches!(story.status, StoryStatus::Passed(_)))
}

/// A pending story that is left when nothing is ready waits for something that will not pass.
fn blocked_by(state: &State, story: &StoryProgress) -> Option<Effect> {
    let on = story
        .spec
        .depends_on
        .iter()
        .find(|on| !has_passed(state, on))?;
    Some(Effect::Block {
        story: story.spec.id.clone(),
        on: on.clone(),
    })
}

impl Effect {
    /// What a wait comes to at this time: its end, a stand-in, or nothing yet.
    pub fn waited(&self, now_ms: i64) -> Option<Event> {
        let Self::WakeAt {
            until_ms,
            run,
            agent,
            others,
        } = self
        else {
            return None;
        };
        if now_ms >= *until_ms {
            return Some(Event::WaitEnded { run: run.clone() });
        }
        let (to, _) = others
            .iter()
            .find(|(_, free_at_ms)| *free_at_ms <= now_ms)?;
        Some(Event::AgentSwitched {
            run: run.clone(),
            from: agent.clone(),
            to: to.clone(),
        })
    }

    /// The event that carrying out a pure decision records; nothing for effects that need hands.
    pub fn decision(&self) -> Option<Event> {
        match self {
            Self::Plan {
                story,
                attempt,
                flow,
                cast,
                recheck: false,
                base,
            } => Some(Event::StoryPlanned {
                story: story.clone(),
                attempt: *attempt,
                implementor: cast.implementor.clone(),
                base: base.clone(),
                flow: *flow,
                cast: Some(cast.clone()),
            }),
            Self::Plan {
                story,
                attempt,
                cast,
                recheck: true,
                base,
                ..
            } => Some(Event::RecheckPlanned {
                story: story.clone(),
                attempt: *attempt,
                head: base.clone(),
                judge: Some(cast.judge.clone()),
            }),
            Self::Block { story, on } => Some(Event::StoryBlocked {
                story: story.clone(),
                on: on.clone(),
            }),
            _ => None,
        }
    }
}
