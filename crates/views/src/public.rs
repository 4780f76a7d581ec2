//! The public events: the names and payloads that others build on, whatever the journal's own form
//! is.

use std::collections::BTreeMap;
use std::path::Path;

use kernel::{
    AgentName, EndReason, Event, RunOutcome, Source, Stage, Stamped, State, StoryId, StoryStatus,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::confined::{CONFINED, confined};
use crate::confirmation_events::{confirmed, confirming, retracted};
use crate::landing_events::{all_queued, judged_commit, queued, restack, sent_back};
use crate::steering_events::steered;
use crate::told::{Told, one};

/// One public event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublicEvent {
    /// Its own id, the same however often it is read: whoever sees it twice can tell.
    pub id: String,
    /// The number of the record that it tells of, from 1.
    pub record: u64,
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
    n_records: u64,
    state: Option<State>,
    /// Whoever worked on each story last, a stand-in too.
    tools: BTreeMap<StoryId, AgentName>,
    is_broken: bool,
}

impl PublicFold {
    /// The public events of one more record; none after one that cannot be replayed.
    pub fn push(&mut self, record: &Stamped) -> Vec<PublicEvent> {
        if self.is_broken {
            return Vec::new();
        }
        self.n_records += 1;
        let before = self.state.clone();
        let after = match self.state.take() {
            None => State::begin(record),
            Some(state) => state.after(record),
        };
        let Ok(after) = after else {
            self.is_broken = true;
            return Vec::new();
        };
        self.remember_tool(&record.event, &after);
        let walls = confined(&record.event, &after.spec().loop_id);
        let mut told: Vec<Told> = walls
            .into_iter()
            .flat_map(|data| one(CONFINED, data))
            .collect();
        told.extend(public_of(record, before.as_ref(), &after, &self.tools));
        let (number, loop_id) = (self.n_records, &after.spec().loop_id);
        let events = (1..)
            .zip(told)
            .map(|(nth, Told { name, data })| PublicEvent {
                id: format!("{loop_id}-{number}-{nth}"),
                record: number,
                name,
                at_ms: record.at_ms,
                data,
            });
        let events = events.collect();
        self.state = Some(after);
        events
    }
}

impl PublicFold {
    fn remember_tool(&mut self, event: &Event, after: &State) {
        match event {
            Event::StoryPlanned {
                story, implementor, ..
            } => match after.attempt(story).map(|attempt| &attempt.source) {
                Some(Source::Person(_)) => self.tools.remove(story),
                // Whoever made it is still who made it.
                Some(Source::Accepted(_)) => None,
                Some(Source::Agents) | None => {
                    self.tools.insert(story.clone(), implementor.clone())
                }
            },
            Event::AgentSwitched { run, to, .. } if run.stage == Stage::Implement => {
                self.tools.insert(run.story.clone(), to.clone())
            }
            _ => None,
        };
    }
}

fn public_of(
    record: &Stamped,
    before: Option<&State>,
    after: &State,
    tools: &BTreeMap<StoryId, AgentName>,
) -> Vec<Told> {
    let spec = after.spec();
    let loop_id = &spec.loop_id;
    match &record.event {
        Event::LoopStarted { .. } => one("agent/loop.start", start(spec)),
        Event::StoryPlanned {
            story,
            attempt,
            implementor,
            base,
            ..
        } => {
            let work = implement(spec, after.story(story), *attempt, implementor, base);
            begun(story, work, before, after)
        }
        Event::RunStarted { run } if run.try_number == 1 => match run.stage {
            Stage::Judge => one("agent/loop.judge", judge(run, after)),
            Stage::Prove => one("agent/loop.prove", prove(run, after)),
            _ => Vec::new(),
        },
        Event::RunEnded { run, outcome, .. } => run_ended(run, outcome, before, after),
        Event::CandidateMade {
            story,
            attempt,
            commit,
            ..
        } => one("agent/loop.review", review(after, story, *attempt, commit)),
        Event::CandidateRefused { .. } | Event::NothingNew { .. } => match record.event.refusal() {
            Some((story, attempt, why)) => retry(story, attempt, why, after),
            None => Vec::new(),
        },
        Event::Restacked { .. } | Event::RestackRefused { .. } => restack(&record.event, after),
        Event::Integrated { story, .. } => confirming(story, after),
        Event::Retracted { .. } => taken_back(&record.event, before, after),
        Event::Announced { story, .. } => passed(
            record,
            story,
            after,
            tools.get(story),
            judged_commit(before, story),
        ),
        // Told once, at the skip; a recheck that fails again says nothing new.
        Event::StorySkipped { story, .. } if is_recheck(story, before) => Vec::new(),
        Event::StorySkipped { story, reason, .. } => {
            skipped(record, story, reason, after, tools.get(story))
        }
        Event::Hindered {
            story, question, ..
        } => one("agent/loop.needs_human", asked(loop_id, story, question)),
        Event::CancelRequested { reason } => one(
            "agent/loop.cancel",
            json!({ "loopId": loop_id, "reason": reason }),
        ),
        Event::ResumeRequested | Event::WaitEnded { .. } => {
            let mut told = one("agent/loop.resumed", json!({ "loopId": loop_id }));
            told.extend(all_queued(before, after));
            told
        }
        Event::AgentSwitched { run, from, to } => one(
            "agent/loop.agent_switched",
            switched(loop_id, run, from, to),
        ),
        Event::LoopEnded { reason } => one("agent/loop.complete", complete(reason, record, after)),
        Event::Answered { .. } => all_queued(before, after),
        event => steered(loop_id, event),
    }
}

/// An attempt that begins with this work for the implementor.
fn begun(story: &StoryId, work: Value, before: Option<&State>, after: &State) -> Vec<Told> {
    let mut told = match after.attempt(story).map(|attempt| &attempt.source) {
        // Nobody implements what a person made or accepted.
        Some(Source::Accepted(_) | Source::Person(_)) => Vec::new(),
        Some(Source::Agents) | None => one("agent/loop.implement", work),
    };
    // Later attempts are planned too, and the story was chosen before.
    if is_first(story, before) {
        told.splice(0..0, one("agent/loop.plan", planned(after.spec(), story)));
    }
    told
}

/// What `send agent/loop.start` takes again as it is.
fn start(spec: &kernel::LoopSpec) -> Value {
    json!({ "loopId": spec.loop_id, "project": spec.project, "prdPath": prd_path(spec),
            "maxRetries": spec.max_retries, "maxIterations": spec.max_iterations,
            "retryLadder": spec.ladder, "flow": spec.flow.word(),
            "toolAssignments": assignments(spec), "budget": budget(spec) })
}

/// Seen from the project where it is in it.
fn prd_path(spec: &kernel::LoopSpec) -> &str {
    let inside = Path::new(&spec.prd_path).strip_prefix(&spec.project);
    let inside = inside.ok().and_then(Path::to_str);
    inside.unwrap_or(&spec.prd_path)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody gives a loop so much that a second or a cent is lost"
)]
fn budget(spec: &kernel::LoopSpec) -> Option<Value> {
    let mut limits = serde_json::Map::new();
    if let Some(time) = spec.budget {
        limits.insert("hours".to_owned(), json!(time.total_ms as f64 / 3.6e6));
    }
    let allowance = spec.allowance.as_ref();
    if let Some(tokens) = allowance.and_then(|allowance| allowance.tokens) {
        limits.insert("tokens".to_owned(), json!(tokens));
    }
    if let Some(micro) = allowance.and_then(|allowance| allowance.micro_usd) {
        limits.insert("usd".to_owned(), json!(micro as f64 / 1e6));
    }
    (!limits.is_empty()).then_some(Value::Object(limits))
}

/// Whether nobody has worked on a story yet.
fn is_first(story: &str, before: Option<&State>) -> bool {
    let progress = before.and_then(|state| state.story(story));
    progress.is_none_or(|progress| progress.began_at_ms.is_none())
}

fn is_recheck(story: &str, before: Option<&State>) -> bool {
    let attempt = before.and_then(|before| before.attempt(story));
    attempt.is_some_and(|attempt| attempt.is_recheck)
}

fn implement(
    spec: &kernel::LoopSpec,
    story: Option<&kernel::StoryProgress>,
    attempt: u32,
    implementor: &AgentName,
    base: &kernel::Commit,
) -> Value {
    let asked = story.and_then(|story| story.spec.model.clone());
    json!({ "loopId": spec.loop_id, "project": spec.project,
            "storyId": story.map(|story| &story.spec.id), "tool": implementor,
            "model": asked.or_else(|| configured_model(spec, implementor)), "attempt": attempt,
            "feedback": story.and_then(|story| story.feedback.last()), "baseSha": base })
}

/// The model that an agent is told to use, where one is configured. Only this name of the engine's
/// settings is looked at: the rest is not ours to know.
fn configured_model(spec: &kernel::LoopSpec, agent: &AgentName) -> Option<String> {
    let settings: Value = serde_json::from_str(&spec.settings).ok()?;
    let model = settings.get("agents")?.get(agent.as_str())?.get("model")?;
    model.as_str().map(str::to_owned)
}

fn prove(run: &kernel::RunKey, after: &State) -> Value {
    let spec = after.spec();
    let candidate = after
        .attempt(&run.story)
        .and_then(|attempt| attempt.candidate());
    json!({ "loopId": spec.loop_id, "project": spec.project, "storyId": run.story,
            "commitSha": candidate.map(|candidate| &candidate.commit), "attempt": run.attempt })
}

/// A candidate is there. The name is the same in every flow, and says who reviews it, if anybody does.
fn review(after: &State, story: &str, attempt: u32, commit: &kernel::Commit) -> Value {
    let spec = after.spec();
    json!({ "loopId": spec.loop_id, "project": spec.project, "storyId": story,
            "commitSha": commit, "attempt": attempt, "by": reviewer(after.attempt(story)) })
}

/// Whoever reviews a candidate: nobody in a flow without a reviewer, and nobody what a person accepted.
fn reviewer(attempt: Option<&kernel::Attempt>) -> Option<&AgentName> {
    let attempt = attempt.filter(|attempt| !matches!(attempt.source, Source::Accepted(_)))?;
    let has_reviewer = attempt.flow.has(Stage::Review);
    attempt.agent(Stage::Review).filter(|_| has_reviewer)
}

fn planned(spec: &kernel::LoopSpec, story: &StoryId) -> Value {
    json!({ "loopId": spec.loop_id, "project": spec.project, "prdPath": prd_path(spec), "storyId": story })
}

fn switched(loop_id: &str, run: &kernel::RunKey, from: &str, to: &str) -> Value {
    json!({ "loopId": loop_id, "storyId": run.story, "attempt": run.attempt,
            "stage": run.stage.word(), "from": from, "to": to })
}

fn run_ended(
    run: &kernel::RunKey,
    outcome: &RunOutcome,
    before: Option<&State>,
    after: &State,
) -> Vec<Told> {
    let loop_id = &after.spec().loop_id;
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
        let mut told = measured_verdict(run, outcome, before, after);
        let former = |state: &State| state.story(&run.story).and_then(|story| story.former);
        if is > was && former(after) != before.and_then(former) {
            told.extend(sent_back(&run.story, run.attempt, &reason, after));
        } else if is > was {
            told.extend(retry(&run.story, run.attempt, &reason, after));
        }
        told.extend(queued(&run.story, before, after));
        told.extend(confirmed(run, before, after));
        told
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

fn asked(loop_id: &str, story: &StoryId, question: &str) -> Value {
    json!({ "loopId": loop_id, "storyId": story, "question": question })
}

fn judge(run: &kernel::RunKey, after: &State) -> Value {
    let candidate = after
        .attempt(&run.story)
        .and_then(|attempt| attempt.candidate());
    let checked = candidate.and_then(|candidate| candidate.checked.as_ref());
    let results = checked.map(|checked| (checked.report.as_str(), checked.facts.as_deref()));
    let review = candidate.and_then(|candidate| candidate.review.as_ref());
    let feedback = review.map(|review| review.findings.join("\n"));
    let mut data = judging(run, after, candidate, results, feedback.as_deref());
    let attempt = after.attempt(&run.story);
    data["by"] = json!(attempt.and_then(|attempt| attempt.agent(Stage::Judge)));
    data
}

/// Checks that say no are the judgment: no judge is asked any more. An arbiter may have been asked
/// before they stood.
fn measured_verdict(
    run: &kernel::RunKey,
    outcome: &RunOutcome,
    before: Option<&State>,
    after: &State,
) -> Vec<Told> {
    let n_rejected = |state: Option<&State>| {
        let story = state.and_then(|state| state.story(&run.story));
        story.map_or(0, |story| story.rejected.len())
    };
    let is_judged = run.stage != Stage::Judge && *outcome != RunOutcome::Stopped;
    if !is_judged || n_rejected(Some(after)) <= n_rejected(before) {
        return Vec::new();
    }
    let attempt = before.and_then(|state| state.attempt(&run.story));
    let candidate = attempt.and_then(|attempt| attempt.candidate());
    let results = match outcome {
        RunOutcome::Checked { report, facts, .. } => Some((report.as_str(), facts.as_deref())),
        _ => candidate
            .and_then(|candidate| candidate.checked.as_ref())
            .map(|checked| (checked.report.as_str(), checked.facts.as_deref())),
    };
    let feedback = results
        .and_then(|(_, facts)| facts)
        .map(|facts| facts.feedback.as_str());
    let mut data = judging(run, after, candidate, results, feedback);
    data["by"] = json!("checks");
    one("agent/loop.judge", data)
}

fn judging(
    run: &kernel::RunKey,
    after: &State,
    candidate: Option<&kernel::Candidate>,
    results: Option<(&str, Option<&kernel::Facts>)>,
    feedback: Option<&str>,
) -> Value {
    json!({ "loopId": after.spec().loop_id, "project": after.spec().project, "storyId": run.story,
            "commitSha": candidate.map(|candidate| &candidate.commit),
            "testResults": results.map(|(report, facts)| test_results(report, facts)),
            "feedback": feedback, "attempt": run.attempt })
}

/// What the checks showed: in words, and as names where single tests are known.
fn test_results(report: &str, facts: Option<&kernel::Facts>) -> Value {
    let mut results = json!({ "summary": report });
    if let Some(facts) = facts.filter(|facts| facts.measured) {
        results["proven"] = json!(facts.proven);
        if !facts.doubted.is_empty() {
            results["doubted"] = json!(facts.doubted);
        }
        results["broken"] = json!(facts.broken);
        results["failing"] = json!(facts.failing);
        results["failedChecks"] = json!(facts.failed_checks);
        results["unstable"] = json!(facts.unstable);
        results["obligations"] = json!(facts.obligations);
        results["flags"] = json!(facts.flags);
        results["mutants"] = json!(facts.mutants);
    }
    results
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

/// A landing that was taken back is a failed attempt too.
fn taken_back(event: &Event, before: Option<&State>, after: &State) -> Vec<Told> {
    let mut told = retracted(event, before, after);
    if let Event::Retracted {
        story,
        attempt,
        why,
        ..
    } = event
    {
        told.extend(retry(story, *attempt, why, after));
    }
    told
}

/// A failed attempt that another one follows.
fn retry(story: &str, attempt: u32, reason: &str, after: &State) -> Vec<Told> {
    let spec = after.spec();
    let Some(progress) = after.story(story) else {
        return Vec::new();
    };
    let is_last_word = matches!(&progress.status, StoryStatus::Active(attempt)
        if attempt.is_recheck || attempt.source != Source::Agents);
    if is_last_word || progress.attempts >= progress.attempts_max(spec) {
        return Vec::new();
    }
    let next = (attempt + 1).saturating_sub(progress.extra_attempts + progress.returns);
    let data = json!({ "loopId": spec.loop_id, "storyId": story, "attempt": attempt, "reason": reason,
                       "nextTool": spec.implementor_for(&progress.spec, next) });
    one("agent/loop.story.retry", data)
}

fn passed(
    record: &Stamped,
    story: &str,
    after: &State,
    tool: Option<&AgentName>,
    judged: Option<kernel::Commit>,
) -> Vec<Told> {
    let Some(progress) = after.story(story) else {
        return Vec::new();
    };
    let StoryStatus::Passed(Some(commit)) = &progress.status else {
        return Vec::new();
    };
    let duration = progress.began_at_ms.map(|began| lasted(began, record));
    let judged = judged.filter(|judged| judged != commit);
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "commitSha": commit,
                       "judgedSha": judged,
                       "attempt": progress.made_in, "tool": tool,
                       "duration": duration.map(words), "durationMs": duration,
                       "tokens": progress.spent.known_tokens(), "costUsd": usd(progress.spent) });
    one("agent/loop.story.pass", data)
}

fn skipped(
    record: &Stamped,
    story: &str,
    reason: &str,
    after: &State,
    tool: Option<&AgentName>,
) -> Vec<Told> {
    let Some(progress) = after.story(story) else {
        return Vec::new();
    };
    let duration = progress.began_at_ms.map(|began| lasted(began, record));
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "reason": reason,
                       "attempts": progress.n_worked(), "tool": tool,
                       "duration": duration.map(words), "durationMs": duration,
                       "tokens": progress.spent.known_tokens(), "costUsd": usd(progress.spent) });
    one("agent/loop.story.fail", data)
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
            "storiesCompleted": completed, "storiesFailed": skipped, "storiesSkipped": skipped,
            "storiesBlocked": blocked, "cancelled": cancelled,
            "reason": word, "branch": spec.branch, "headSha": after.confirmed(),
            "duration": words(lasted(after.started_at_ms(), record)),
            "durationMs": lasted(after.started_at_ms(), record),
            "tokens": after.spent().known_tokens(), "costUsd": usd(after.spent()),
            "unlanded": named(after.unlanded()), "unconfirmed": named(after.unconfirmed()) })
}

/// What the end left behind: each story with its commit.
fn named(left: Vec<(&StoryId, &kernel::Commit)>) -> Vec<Value> {
    left.into_iter()
        .map(|(story, commit)| json!({ "storyId": story, "commitSha": commit }))
        .collect()
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

/// A duration as people say it: `42s`, `3m07s`, `2h05m`.
pub(crate) fn words(ms: i64) -> String {
    let secs = ms.max(0) / 1000;
    let (hours, minutes, rest) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest:02}s"),
        (hours, minutes) => format!("{hours}h{minutes:02}m"),
    }
}
