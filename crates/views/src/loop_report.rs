//! A whole loop on one page: its stories, time and cost, and what each role caught.

use kernel::{Stamped, State};
use serde::Serialize;

use crate::loop_view::{LoopView, loop_view};
use crate::public::words;
use crate::rejected_by::RejectedBy;
use crate::report_types::AttemptReport;
use crate::story_report::story_report;

/// A loop for somebody who was away.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopReport {
    /// How it stands.
    #[serde(rename = "loop")]
    pub view: LoopView,
    /// From its start to its end, or to the last thing that happened.
    pub duration_ms: i64,
    /// The same for people.
    pub duration: String,
    /// What it cost, with who did not tell: `$0.23 + codex unknown`.
    pub cost: String,
    /// What each role found that would have landed without it.
    pub caught: Vec<Caught>,
    /// What a person should look at: flags, answered obligations, untested criteria of what landed.
    pub to_look_at: Vec<String>,
}

/// Something that a role found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Caught {
    /// `checks`, `judge`, `reviewer`, `prover`, `landing` or `person`.
    pub by: &'static str,
    /// The story.
    pub story_id: String,
    /// The attempt.
    pub attempt: u32,
    /// What it was, in a line.
    pub what: String,
}

/// Makes the report of a loop's records; nothing if they cannot be replayed.
pub fn loop_report(records: &[Stamped]) -> Option<LoopReport> {
    let (first, rest) = records.split_first()?;
    let mut state = State::begin(first).ok()?;
    for record in rest {
        state = state.after(record).ok()?;
    }
    let view = loop_view(&state);
    let duration_ms = (view.last_at_ms - view.started_at_ms).max(0);
    let (mut caught, mut to_look_at) = (Vec::new(), Vec::new());
    for story in &view.stories {
        let Some(report) = story_report(records, &story.id) else {
            continue;
        };
        let accepted = accepted_of(&report.attempts, story.status);
        let landed = accepted.and_then(|accepted| accepted.accepted_sha.as_ref());
        for attempt in &report.attempts {
            // What was found there has landed all the same.
            let has_landed = landed.is_some() && attempt.candidate_sha.as_ref() == landed;
            if !attempt.recheck && !has_landed {
                caught.extend(caught_in(&story.id, attempt));
            }
        }
        if story.status == "passed" {
            let id = &story.id;
            let words = accepted.and_then(|accepted| accepted.accepted.as_ref());
            to_look_at.extend(words.map(|words| format!("{id}: {words}, and not by a judge")));
            let flags = report.flags.iter();
            to_look_at
                .extend(flags.map(|flag| format!("{id}: {} ({})", flag.kind.words(), flag.place)));
            let owed = report.obligations.iter();
            to_look_at.extend(owed.map(|each| format!("{id}: {}", each.words)));
            let untested = report
                .criteria
                .iter()
                .filter(|each| each.untestable.is_some());
            to_look_at
                .extend(untested.map(|each| format!("{id}: no test for `{}`", each.criterion)));
        }
    }
    Some(LoopReport {
        duration: words(duration_ms),
        duration_ms,
        cost: cost(&view),
        caught,
        to_look_at,
        view,
    })
}

/// The attempt by which a person let the story pass.
fn accepted_of<'a>(attempts: &'a [AttemptReport], status: &str) -> Option<&'a AttemptReport> {
    let last = attempts.last().filter(|_| status == "passed")?;
    last.accepted.is_some().then_some(last)
}

/// What was found in one attempt. Whoever rejected it caught it; what others found is told as well.
fn caught_in(story: &str, attempt: &AttemptReport) -> Vec<Caught> {
    let caught = |by, what: &str| Caught {
        by,
        story_id: story.to_owned(),
        attempt: attempt.number,
        what: first_line(what),
    };
    let mut found = Vec::new();
    if let Some(by) = attempt.rejected_by.and_then(RejectedBy::catches) {
        let verdict = attempt.verdict.as_ref().filter(|verdict| !verdict.pass);
        let said = verdict.filter(|_| attempt.rejected_by == Some(RejectedBy::Judge));
        found.push(caught(
            by,
            said.map_or(&attempt.feedback, |verdict| &verdict.reason),
        ));
    }
    let findings = attempt.review.iter().flat_map(|review| &review.findings);
    found.extend(findings.map(|finding| caught("reviewer", finding)));
    let proven = attempt.proof.iter().flat_map(|proof| &proof.found);
    found.extend(proven.map(|each| caught("prover", each)));
    found
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// What agents told of their cost, and who told nothing.
fn cost(view: &LoopView) -> String {
    let mut silent: Vec<&str> = view
        .used_by
        .iter()
        .filter(|used| used.cost_usd.is_none() && used.runs > 0)
        .map(|used| used.agent.as_str())
        .collect();
    silent.sort_unstable();
    silent.dedup();
    let unknown = silent.iter().map(|agent| format!("{agent} unknown"));
    let known = view.cost_usd.map(|usd| format!("${usd:.2}"));
    let parts: Vec<String> = known.into_iter().chain(unknown).collect();
    parts.join(" + ")
}
