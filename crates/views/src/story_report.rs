//! Why a story passed or failed, attempt by attempt: criteria, tests, results, the judge's words,
//! the commit.

use kernel::{
    Commit, Event, Proof, Review, RunOutcome, Stage, Stamped, State, StoryStatus, Verdict,
};
use serde::Serialize;
use serde_json::Value;

/// One story with all its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryReport {
    /// The loop.
    pub loop_id: String,
    /// The story's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The way that it goes.
    pub flow: &'static str,
    /// `pending`, `running`, `passed`, `skipped` or `blocked`.
    pub status: &'static str,
    /// In the words of the `proof` flow: pending, implementing, proving, judging, done or blocked.
    pub phase: &'static str,
    /// Why it ended so, where it did not pass.
    pub reason: String,
    /// The accepted commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// Criterion by criterion, with what is known from the last attempt.
    pub criteria: Vec<CriterionReport>,
    /// Every attempt.
    pub attempts: Vec<AttemptReport>,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionReport {
    /// Its words.
    pub criterion: String,
    /// The tests that cover it.
    pub tests: Vec<String>,
    /// Why no machine can test it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// Whether the judge found it met; nothing while nobody judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// How one can tell.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// One attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptReport {
    /// From 1.
    pub number: u32,
    /// Whether it only looked again at a skipped story.
    pub recheck: bool,
    /// Who implemented.
    pub implementor: String,
    /// Who judged.
    pub judge: String,
    /// The commit that it began at.
    pub base_sha: String,
    /// What it proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_sha: Option<String>,
    /// What happened to the tests: written, mended, refused.
    pub tests: Vec<String>,
    /// What is to be known of how the candidate was made.
    pub notes: Vec<String>,
    /// What the checks showed, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checks: String,
    /// What the checks showed, as data.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub evidence: Value,
    /// What the prover checked, found and mended, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What the reviewer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// What the judge said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What the arbiter said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<String>,
    /// `passed`, `rejected`, `set aside`, `not finished` where the loop ended first, or nothing while
    /// it is under way.
    pub ended: &'static str,
    /// Why it was rejected: what the next attempt was told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feedback: String,
}

/// Makes the report; nothing where the loop has no such story.
pub fn story_report(records: &[Stamped], story: &str) -> Option<StoryReport> {
    let mut state: Option<State> = None;
    let mut attempts: Vec<AttemptReport> = Vec::new();
    for record in records {
        let before = state
            .as_ref()
            .and_then(|state| state.story(story))
            .map_or(0, |story| story.feedback.len());
        let next = match state.take() {
            None => State::begin(record).ok(),
            Some(state) => state.after(record).ok(),
        }?;
        take(record, story, &mut attempts);
        let feedback = next
            .story(story)
            .map(|story| &story.feedback[..])
            .unwrap_or_default();
        if let Some((last, words)) = attempts
            .last_mut()
            .zip(feedback.get(before..).and_then(<[String]>::last))
        {
            (last.ended, last.feedback) = ("rejected", words.clone());
        }
        if let Event::AgentSwitched { run, .. } = &record.event
            && run.story == story
            && let (Some(last), Some(attempt)) = (attempts.last_mut(), next.attempt(story))
        {
            let agent = |stage| attempt.agent(stage).map(ToString::to_string);
            last.implementor = agent(Stage::Implement).unwrap_or_default();
            last.judge = agent(Stage::Judge).unwrap_or_default();
        }
        state = Some(next);
    }
    report(&state?, story, attempts)
}

/// Takes one record into the attempt that it is about.
fn take(record: &Stamped, wanted: &str, attempts: &mut Vec<AttemptReport>) {
    match &record.event {
        Event::StoryPlanned {
            story,
            attempt,
            implementor,
            base,
            cast,
            ..
        } if story == wanted => {
            attempts.push(AttemptReport {
                number: *attempt,
                implementor: implementor.to_string(),
                judge: cast
                    .as_ref()
                    .map(|cast| cast.judge.to_string())
                    .unwrap_or_default(),
                base_sha: base.to_string(),
                ..AttemptReport::default()
            });
        }
        Event::RecheckPlanned {
            story,
            attempt,
            head,
            judge,
        } if story == wanted => {
            attempts.push(AttemptReport {
                number: *attempt,
                recheck: true,
                judge: judge.clone().unwrap_or_default().to_string(),
                base_sha: head.to_string(),
                ..AttemptReport::default()
            });
        }
        event => {
            if let Some(last) = attempts.last_mut() {
                take_into(event, wanted, last);
            }
        }
    }
}

fn take_into(event: &Event, wanted: &str, attempt: &mut AttemptReport) {
    match event {
        Event::TestsMade {
            story,
            commit,
            notes,
            ..
        } if story == wanted => {
            let made = commit
                .as_ref()
                .map_or("no test can be written".to_owned(), |commit| {
                    format!("tests written: {}", short(commit))
                });
            attempt.tests.push(made);
            attempt.tests.extend(notes.iter().cloned());
        }
        Event::TestsRefused { story, why, .. } if story == wanted => {
            attempt.tests.push(format!("tests refused: {why}"));
        }
        Event::CandidateMade {
            story,
            commit,
            notes,
            ..
        } if story == wanted => {
            attempt.candidate_sha = Some(commit.to_string());
            attempt.notes.clone_from(notes);
        }
        Event::Announced { story, .. } if story == wanted => attempt.ended = "passed",
        Event::StorySkipped { story, .. } if story == wanted && attempt.ended.is_empty() => {
            attempt.ended = "set aside";
        }
        Event::RunEnded { run, outcome, .. } if run.story == wanted => {
            take_outcome(run.stage, outcome, attempt);
        }
        _ => {}
    }
}

fn take_outcome(stage: Stage, outcome: &RunOutcome, attempt: &mut AttemptReport) {
    match outcome {
        RunOutcome::Checked { report, facts, .. } if stage == Stage::Check => {
            attempt.checks.clone_from(report);
            attempt.evidence = facts
                .as_ref()
                .and_then(|facts| serde_json::from_str(&facts.evidence).ok())
                .unwrap_or(Value::Null);
            if let Some(facts) = facts.as_ref().filter(|facts| !facts.for_writer.is_empty()) {
                let first = facts.for_writer.lines().next().unwrap_or_default();
                attempt
                    .tests
                    .push(format!("tests to be written again: {first}"));
            }
        }
        RunOutcome::Worked {
            proof: Some(proof), ..
        } => attempt.proof = Some((**proof).clone()),
        RunOutcome::Reviewed(review) => attempt.review = Some(review.clone()),
        RunOutcome::Judged(verdict) => attempt.verdict = Some(verdict.clone()),
        RunOutcome::Ruled {
            fresh_tests,
            reason,
        } => {
            let word = if *fresh_tests {
                "fresh tests"
            } else {
                "the tests stand"
            };
            attempt.ruling = Some(format!("{word}: {reason}"));
        }
        _ => {}
    }
}

fn report(state: &State, id: &str, mut attempts: Vec<AttemptReport>) -> Option<StoryReport> {
    let story = state.story(id)?;
    // A loop that is cancelled owes nothing but its end.
    let is_over = state.ended().is_some() || state.cancel_reason().is_some();
    let (status, phase, mut reason, commit) = standing(&story.status, is_over);
    if let Some(last) = attempts.last_mut()
        && last.ended.is_empty()
        && is_over
    {
        last.ended = "not finished";
    }
    // What a person is asked, or what the loop waits for, is why the story at hand does not go on.
    let asked = state
        .questions()
        .into_iter()
        .find(|question| question.story == *id)
        .map(|question| question.text);
    let waits_for = state
        .waits()
        .into_iter()
        .find(|wait| wait.run.story == *id)
        .map(|wait| wait.fault.why);
    let halt = asked.or(waits_for);
    if let Some(halt) = halt.filter(|_| status == "running") {
        reason = format!("{reason}: {halt}");
    }
    let last = attempts.last();
    let criteria = story.spec.criteria.iter().map(|criterion| {
        let tested = story.tests.as_ref().map(|tests| &tests.review);
        criterion_report(criterion, tested, last)
    });
    Some(StoryReport {
        loop_id: state.spec().loop_id.clone(),
        id: id.to_owned(),
        title: story.spec.title.clone(),
        flow: state.spec().flow_of(&story.spec).word(),
        status,
        phase,
        reason,
        commit_sha: commit.map(ToString::to_string),
        criteria: criteria.collect(),
        attempts,
    })
}

fn standing(
    status: &StoryStatus,
    ended: bool,
) -> (&'static str, &'static str, String, Option<&Commit>) {
    match status {
        StoryStatus::Pending => ("pending", "pending", String::new(), None),
        StoryStatus::Active(_) if ended => (
            "pending",
            "pending",
            "the loop ended before it did".to_owned(),
            None,
        ),
        StoryStatus::Active(attempt) => {
            let at = |stage| attempt.lanes().iter().any(|lane| lane.stage == stage);
            let phase = match () {
                () if at(Stage::Prove) => "proving",
                () if at(Stage::Check)
                    || at(Stage::Review)
                    || at(Stage::Judge)
                    || at(Stage::Arbitrate) =>
                {
                    "judging"
                }
                () => "implementing",
            };
            ("running", phase, attempt.doing(), None)
        }
        StoryStatus::Passed(commit) => ("passed", "done", String::new(), commit.as_ref()),
        StoryStatus::Skipped { reason, .. } => ("skipped", "blocked", reason.clone(), None),
        StoryStatus::Blocked { on } => ("blocked", "blocked", format!("waits for {on}"), None),
        StoryStatus::SetAside => (
            "skipped",
            "blocked",
            "was set aside in the PRD".to_owned(),
            None,
        ),
    }
}

fn criterion_report(
    criterion: &str,
    tested: Option<&Review>,
    last: Option<&AttemptReport>,
) -> CriterionReport {
    let same = |other: &str| other.trim() == criterion.trim();
    let coverage = |review: &Review| {
        review
            .criteria
            .iter()
            .find(|each| same(&each.criterion))
            .cloned()
    };
    let reviewed = last
        .and_then(|last| last.review.as_ref())
        .and_then(coverage);
    let covered = tested
        .and_then(coverage)
        .filter(|covered| !covered.tests.is_empty())
        .or(reviewed);
    let judged = last
        .and_then(|last| last.verdict.as_ref())
        .and_then(|verdict| verdict.criteria.iter().find(|each| same(&each.criterion)));
    CriterionReport {
        criterion: criterion.to_owned(),
        tests: covered
            .as_ref()
            .map(|covered| covered.tests.clone())
            .unwrap_or_default(),
        untestable: covered.and_then(|covered| covered.untestable),
        met: judged.map(|judged| judged.pass),
        evidence: judged
            .map(|judged| judged.evidence.clone())
            .unwrap_or_default(),
    }
}

fn short(commit: &Commit) -> &str {
    &commit.as_str()[..12]
}
