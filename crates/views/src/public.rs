//! The public events: the names and payloads that others build on, whatever the journal's own form
//! is.

use kernel::{EndReason, Event, RunOutcome, Stage, Stamped, State, StoryStatus};
use serde::Serialize;
use serde_json::{Value, json};

/// One public event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublicEvent {
    /// Its name, such as `agent/loop.story.pass`.
    pub name: &'static str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Its payload.
    pub data: Value,
}

/// Every public event of a loop, in order. Records that cannot be replayed end the list.
pub fn public_events(records: &[Stamped]) -> Vec<PublicEvent> {
    let mut fold = PublicFold::default();
    records
        .iter()
        .flat_map(|record| fold.push(record))
        .collect()
}

/// Public events as the records come: whoever follows a loop folds only what is new.
#[derive(Debug, Clone, Default)]
pub struct PublicFold {
    state: Option<State>,
    is_broken: bool,
}

impl PublicFold {
    /// The public events of one more record; none after one that cannot be replayed.
    pub fn push(&mut self, record: &Stamped) -> Vec<PublicEvent> {
        if self.is_broken {
            return Vec::new();
        }
        let before = self.state.clone();
        let after = match self.state.take() {
            None => State::begin(record),
            Some(state) => state.after(record),
        };
        let Ok(after) = after else {
            self.is_broken = true;
            return Vec::new();
        };
        let events = public_of(record, before.as_ref(), &after);
        self.state = Some(after);
        events
    }
}

fn public_of(record: &Stamped, before: Option<&State>, after: &State) -> Vec<PublicEvent> {
    let spec = after.spec();
    let (loop_id, project) = (&spec.loop_id, &spec.project);
    let one = |name, data| {
        vec![PublicEvent {
            name,
            at_ms: record.at_ms,
            data,
        }]
    };
    match &record.event {
        Event::LoopStarted { .. } => one("agent/loop.start", start(spec)),
        Event::LoopPrepared => one("agent/loop.plan", planned(spec)),
        Event::StoryPlanned {
            story,
            attempt,
            implementor,
            base,
            ..
        } => {
            let feedback = after.story(story).and_then(|story| story.feedback.last());
            one(
                "agent/loop.implement",
                json!({ "loopId": loop_id, "project": project, "storyId": story, "tool": implementor, "attempt": attempt,
                        "feedback": feedback, "baseSha": base }),
            )
        }
        Event::RunStarted { run } if run.stage == Stage::Judge && run.try_number == 1 => {
            one("agent/loop.judge", judge(run, after))
        }
        Event::RunEnded { run, outcome, .. } => run_ended(record, run, outcome, before, after),
        Event::CandidateMade {
            story,
            attempt,
            commit,
            ..
        } => one("agent/loop.review", review(spec, story, *attempt, commit)),
        Event::NothingNew {
            story,
            attempt,
            why,
        } => retry(record, story, *attempt, why, after),
        Event::Announced { story, .. } => passed(record, story, after),
        Event::StorySkipped { story, reason, .. } => skipped(record, story, reason, before, after),
        Event::Hindered {
            story, question, ..
        } => one("agent/loop.needs_human", asked(loop_id, story, question)),
        Event::CancelRequested { reason } => one(
            "agent/loop.cancel",
            json!({ "loopId": loop_id, "reason": reason }),
        ),
        Event::ResumeRequested | Event::WaitEnded { .. } => {
            one("agent/loop.resumed", json!({ "loopId": loop_id }))
        }
        Event::AgentSwitched { run, from, to } => one(
            "agent/loop.agent_switched",
            switched(loop_id, run, from, to),
        ),
        Event::LoopEnded { reason } => one("agent/loop.complete", complete(reason, record, after)),
        Event::RecheckPlanned { .. }
        | Event::RunStarted { .. }
        | Event::TestsMade { .. }
        | Event::TestsRefused { .. }
        | Event::Integrated { .. }
        | Event::StoryBlocked { .. }
        | Event::PauseRequested
        | Event::PublishTried { .. }
        | Event::PublishRequested
        | Event::Reloaded { .. }
        | Event::Answered { .. } => Vec::new(),
    }
}

fn start(spec: &kernel::LoopSpec) -> Value {
    json!({ "loopId": spec.loop_id, "project": spec.project, "prdPath": spec.prd_path,
            "maxRetries": spec.max_retries, "maxIterations": spec.max_iterations,
            "retryLadder": spec.ladder, "flow": spec.flow.word(),
            "toolAssignments": assignments(spec),
            "budget": spec.budget.map(|budget| json!({ "ms": budget.total_ms })) })
}

fn review(spec: &kernel::LoopSpec, story: &str, attempt: u32, commit: &kernel::Commit) -> Value {
    json!({ "loopId": spec.loop_id, "project": spec.project, "storyId": story,
            "commitSha": commit, "attempt": attempt })
}

fn planned(spec: &kernel::LoopSpec) -> Value {
    json!({ "loopId": spec.loop_id, "project": spec.project, "prdPath": spec.prd_path })
}

fn switched(loop_id: &str, run: &kernel::RunKey, from: &str, to: &str) -> Value {
    json!({ "loopId": loop_id, "storyId": run.story, "attempt": run.attempt,
            "stage": run.stage.word(), "from": from, "to": to })
}

fn run_ended(
    record: &Stamped,
    run: &kernel::RunKey,
    outcome: &RunOutcome,
    before: Option<&State>,
    after: &State,
) -> Vec<PublicEvent> {
    let loop_id = &after.spec().loop_id;
    let one = |name, data| {
        vec![PublicEvent {
            name,
            at_ms: record.at_ms,
            data,
        }]
    };
    let rejected = || {
        let reason = after
            .story(&run.story)
            .and_then(|story| story.feedback.last())
            .cloned()
            .unwrap_or_default();
        let was = before
            .and_then(|state| state.story(&run.story))
            .map_or(0, |story| story.feedback.len());
        let is = after
            .story(&run.story)
            .map_or(0, |story| story.feedback.len());
        if is > was {
            retry(record, &run.story, run.attempt, &reason, after)
        } else {
            Vec::new()
        }
    };
    let waits = after.waits();
    let wait = waits.iter().find(|wait| wait.run == *run);
    let until = wait.map(|wait| wait.until_ms);
    let waiting = |why: &str| {
        one(
            "agent/loop.waiting",
            json!({ "loopId": loop_id, "storyId": run.story, "cause": why, "until": until }),
        )
    };
    match outcome {
        RunOutcome::Infrastructure { why, .. } => waiting(why),
        // What is cut off again and again waits too.
        RunOutcome::Interrupted { why, .. } if until.is_some() => waiting(why),
        RunOutcome::NeedsHuman { question, .. } => one(
            "agent/loop.needs_human",
            asked(loop_id, &run.story, question),
        ),
        _ => rejected(),
    }
}

fn asked(loop_id: &str, story: &kernel::StoryId, question: &str) -> Value {
    json!({ "loopId": loop_id, "storyId": story, "question": question })
}

fn judge(run: &kernel::RunKey, after: &State) -> Value {
    let attempt = after.attempt(&run.story);
    let candidate = attempt.and_then(|attempt| attempt.candidate());
    let checked = candidate.and_then(|candidate| candidate.checked.as_ref());
    let review = candidate.and_then(|candidate| candidate.review.as_ref());
    json!({ "loopId": after.spec().loop_id, "project": after.spec().project, "storyId": run.story,
            "commitSha": candidate.map(|candidate| &candidate.commit),
            "testResults": checked.map(|checked| &checked.report),
            "feedback": review.map(|review| review.findings.join("\n")), "attempt": run.attempt })
}

/// The agents that were named for single stories.
fn assignments(spec: &kernel::LoopSpec) -> Value {
    let named = spec
        .stories
        .iter()
        .filter(|story| story.assigned != kernel::Assigned::default());
    let entry = |story: &std::sync::Arc<kernel::StorySpec>| {
        let assigned = &story.assigned;
        let roles = json!({ "implementor": assigned.implementor, "reviewer": assigned.reviewer, "judge": assigned.judge });
        (story.id.to_string(), roles)
    };
    Value::Object(named.map(entry).collect())
}

/// A failed attempt that another one follows.
fn retry(
    record: &Stamped,
    story: &str,
    attempt: u32,
    reason: &str,
    after: &State,
) -> Vec<PublicEvent> {
    let spec = after.spec();
    let Some(progress) = after.story(story) else {
        return Vec::new();
    };
    let recheck = matches!(&progress.status, StoryStatus::Active(attempt) if attempt.is_recheck);
    if recheck || progress.attempts >= spec.attempts_max() {
        return Vec::new();
    }
    let data = json!({ "loopId": spec.loop_id, "storyId": story, "attempt": attempt, "reason": reason,
                       "nextTool": spec.implementor_for(&progress.spec, attempt + 1) });
    vec![PublicEvent {
        name: "agent/loop.story.retry",
        at_ms: record.at_ms,
        data,
    }]
}

fn passed(record: &Stamped, story: &str, after: &State) -> Vec<PublicEvent> {
    let Some(progress) = after.story(story) else {
        return Vec::new();
    };
    let StoryStatus::Passed(Some(commit)) = &progress.status else {
        return Vec::new();
    };
    let duration = progress.began_at_ms.map(|began| lasted(began, record));
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "commitSha": commit,
                       "attempt": progress.attempts, "durationMs": duration,
                       "tokens": progress.spent.known_tokens(), "costUsd": usd(progress.spent) });
    vec![PublicEvent {
        name: "agent/loop.story.pass",
        at_ms: record.at_ms,
        data,
    }]
}

/// Told once, at the skip; a recheck that fails again says nothing new.
fn skipped(
    record: &Stamped,
    story: &str,
    reason: &str,
    before: Option<&State>,
    after: &State,
) -> Vec<PublicEvent> {
    let recheck = before
        .and_then(|before| before.attempt(story))
        .is_some_and(|attempt| attempt.is_recheck);
    let Some(progress) = after.story(story).filter(|_| !recheck) else {
        return Vec::new();
    };
    let duration = progress.began_at_ms.map(|began| lasted(began, record));
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "reason": reason,
                       "attempts": progress.attempts, "durationMs": duration,
                       "tokens": progress.spent.known_tokens(), "costUsd": usd(progress.spent) });
    vec![PublicEvent {
        name: "agent/loop.story.fail",
        at_ms: record.at_ms,
        data,
    }]
}

fn complete(reason: &EndReason, record: &Stamped, after: &State) -> Value {
    let spec = after.spec();
    let count = |wanted: fn(&StoryStatus) -> bool| {
        after
            .stories()
            .iter()
            .filter(|story| wanted(&story.status))
            .count()
    };
    let completed = count(|status| matches!(status, StoryStatus::Passed(Some(_))));
    let skipped = count(|status| matches!(status, StoryStatus::Skipped { .. }));
    let blocked = count(|status| matches!(status, StoryStatus::Blocked { .. }));
    let (word, cancelled) = match reason {
        EndReason::Completed => ("completed", false),
        EndReason::Cancelled { .. } => ("cancelled", true),
        EndReason::MaxIterationsReached => ("max_iterations_reached", false),
        EndReason::BudgetExhausted => ("budget_exhausted", false),
        EndReason::Failed { .. } => ("failed", false),
    };
    json!({ "loopId": spec.loop_id, "project": spec.project,
            "summary": format!("{completed} passed, {skipped} skipped, {blocked} blocked"),
            "storiesCompleted": completed, "storiesFailed": skipped, "storiesSkipped": skipped, "cancelled": cancelled,
            "reason": word, "branch": spec.branch, "headSha": after.head(),
            "durationMs": lasted(after.started_at_ms(), record),
            "tokens": after.spent().known_tokens(), "costUsd": usd(after.spent()) })
}

/// Dollars, where any run told what it cost.
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody spends so much that a cent is lost"
)]
pub(crate) fn usd(spent: kernel::Spent) -> Option<f64> {
    spent.known_micro_usd().map(|micro| micro as f64 / 1e6)
}

/// The time from a moment to a record. A clock that was set back makes it unknown, and not negative.
fn lasted(since_ms: i64, record: &Stamped) -> i64 {
    (record.at_ms - since_ms).max(0)
}
