//! Why a story passed or failed, attempt by attempt: criteria, tests, results, the judge's words,
//! the commit.

use kernel::{
    Commit, Event, Facts, Review, RunOutcome, Source, Stage, Stamped, State, StoryStatus, Verdict,
    is_same_test, numbered, quotes_criterion,
};
use serde_json::Value;

use crate::asked::Asked;
use crate::loop_view::{LEFT_UNCONFIRMED, doing};
use crate::public::usd;
use crate::rejected_by::RejectedBy;
use crate::report_types::{
    AnswerReport, AttemptReport, CriterionReport, ObligationReport, RestackReport, StoryReport,
    rejected,
};
use crate::restacks::{Restack, restack_of, short};
use crate::root_cause::{cause, one_line};

/// Makes the report; nothing where the loop has no such story.
pub fn story_report(records: &[Stamped], story: &str) -> Option<StoryReport> {
    let mut state: Option<State> = None;
    let mut attempts: Vec<AttemptReport> = Vec::new();
    let mut runs_of_unknown_cost = 0;
    let mut asked = Asked::default();
    for record in records {
        let progress = state.as_ref().and_then(|state| state.story(story));
        let before = progress.map_or(0, |story| story.feedback.len());
        let former = progress.and_then(|story| story.former);
        let next = match state.take() {
            None => State::begin(record).ok(),
            Some(state) => state.after(record).ok(),
        }?;
        take(record, story, &mut attempts);
        asked.take(record, story, &next);
        note_person(record, story, &next, &mut attempts);
        runs_of_unknown_cost += u32::from(hides_its_cost(&record.event, story));
        let progress = next.story(story);
        let feedback = progress.map(|story| &story.feedback[..]);
        let feedback = feedback.unwrap_or_default();
        let is_sent_back = progress.and_then(|story| story.former) != former;
        if let Some((last, words)) = attempts
            .last_mut()
            .zip(feedback.get(before..).and_then(<[String]>::last))
        {
            (last.ended, last.feedback) = ("rejected", words.clone());
            last.cause = cause(last.last_facts(), last.verdict.as_ref(), words);
            last.rejected_by = Some(RejectedBy::of(&record.event, story, is_sent_back));
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
    let report = report(&state?, story, attempts)?;
    Some(StoryReport {
        runs_of_unknown_cost,
        questions: asked.into_reports(),
        ..report
    })
}

/// Notes what a person did to the attempts at a story.
fn note_person(record: &Stamped, id: &str, next: &State, attempts: &mut [AttemptReport]) {
    let Some(last) = attempts.last_mut() else {
        return;
    };
    let attempt = next.attempt(id);
    let made_in = attempt.map(|attempt| attempt.made_in);
    if matches!(&record.event, Event::StoryPlanned { story, .. } if story == id) {
        match attempt.map(|attempt| &attempt.source) {
            Some(Source::Accepted(acceptance)) => {
                last.accepted_attempt = made_in;
                last.accepted = Some(acceptance.words());
                last.accepted_sha = Some(acceptance.commit.to_string());
                last.implementor = String::new();
            }
            Some(Source::Person(work)) => last.implementor.clone_from(&work.by),
            Some(Source::Agents) | None => {}
        }
    }
    // What a person wanted instead has overtaken it.
    if attempt.is_none() && last.ended.is_empty() {
        last.ended = "set aside";
    }
}

/// Whether this is the end of an agent's run on the story that did not tell what it cost.
fn hides_its_cost(event: &Event, story: &str) -> bool {
    let Event::RunEnded { run, usage, .. } = event else {
        return false;
    };
    let cost = usage.as_ref().and_then(|usage| usage.cost_micro_usd);
    run.story == story && !run.stage.is_check() && cost.is_none()
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
    let made = event.candidate();
    if let Some((_, commit, notes)) = made.filter(|(story, ..)| *story == wanted) {
        attempt.candidate_sha = Some(commit.to_string());
        attempt.notes = notes.to_vec();
    }
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
        Event::Restacked { story, .. } | Event::RestackRefused { story, .. } if story == wanted => {
            take_restack(restack_of(event), attempt);
        }
        Event::Retracted {
            story,
            commit,
            onto,
            ..
        } if story == wanted => {
            let (commit, onto) = (short(commit), short(onto));
            attempt.landing.push(format!(
                "{commit} taken back, the branch is at {onto} again"
            ));
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

fn take_restack(restack: Option<Restack>, attempt: &mut AttemptReport) {
    match restack {
        Some(Restack::Tests(words)) => attempt.tests.push(words),
        Some(Restack::Candidate { words, moved }) => {
            attempt.landing.push(words);
            if let Some(moved) = moved {
                attempt.candidate_sha = Some(moved.commit.to_string());
                let made = || moved.from.to_string();
                attempt.judged_sha.get_or_insert_with(made);
                attempt.restacked = Some(RestackReport {
                    base_sha: moved.onto.to_string(),
                    commit_sha: moved.commit.to_string(),
                    ..RestackReport::default()
                });
            }
        }
        None => {}
    }
}

fn take_outcome(stage: Stage, outcome: &RunOutcome, attempt: &mut AttemptReport) {
    match outcome {
        RunOutcome::Checked { report, facts, .. } if stage == Stage::Check => {
            let evidence = facts
                .as_ref()
                .and_then(|facts| serde_json::from_str(&facts.evidence).ok())
                .unwrap_or(Value::Null);
            // What proved it where it was made is kept beside what was measured where it lands.
            match &mut attempt.restacked {
                Some(restacked) => {
                    restacked.checks.clone_from(report);
                    restacked.facts.clone_from(facts);
                    restacked.evidence = evidence;
                }
                None => {
                    attempt.checks.clone_from(report);
                    attempt.facts.clone_from(facts);
                    attempt.evidence = evidence;
                }
            }
            if let Some(facts) = facts.as_ref().filter(|facts| !facts.for_writer.is_empty()) {
                let first = facts.for_writer.lines().next().unwrap_or_default();
                attempt
                    .tests
                    .push(format!("tests to be written again: {first}"));
            }
        }
        RunOutcome::Checked {
            passed,
            report,
            facts,
        } if stage == Stage::Confirm => {
            take_confirmation(*passed, report, facts.as_deref(), attempt);
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

/// What landed was measured again. What is red there is why it was taken back.
fn take_confirmation(
    passed: bool,
    report: &str,
    facts: Option<&Facts>,
    attempt: &mut AttemptReport,
) {
    let word = if passed { "green" } else { "red" };
    attempt
        .landing
        .push(format!("{word} with everything built anew"));
    if !passed {
        let facts = facts.cloned().map(Box::new);
        match &mut attempt.restacked {
            Some(restacked) => {
                report.clone_into(&mut restacked.checks);
                restacked.facts = facts;
            }
            None => {
                report.clone_into(&mut attempt.checks);
                attempt.facts = facts;
            }
        }
    }
}

fn report(state: &State, id: &str, mut attempts: Vec<AttemptReport>) -> Option<StoryReport> {
    let story = state.story(id)?;
    // A loop that is cancelled owes nothing but its end.
    let is_over = state.ended().is_some() || state.cancel_reason().is_some();
    let (status, phase, mut reason, commit) = standing(&story.status, is_over);
    if let Some(attempt) = story.attempt().filter(|_| status == "running") {
        reason = doing(state, story, attempt);
    }
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
    let speaking = Speaking {
        criteria: &story.spec.criteria,
        tested: story.tests.as_ref().map(|tests| &tests.review),
        last,
        rejected: rejected(&attempts).filter(|_| status != "passed"),
        has_passed: status == "passed",
        is_skipped: status == "skipped",
    };
    let criteria = story.spec.criteria.iter();
    let criteria = criteria.map(|criterion| speaking.of(criterion)).collect();
    let has_failed = matches!(status, "skipped" | "running" | "pending");
    let root_cause = rejected(&attempts)
        .filter(|_| has_failed)
        .map(|attempt| attempt.cause.clone());
    // Somebody or something else than a rejection may have ended it.
    let given_up = (status == "skipped" && !attempts.is_empty()).then(|| one_line(&reason));
    Some(StoryReport {
        root_cause: root_cause.or(given_up).filter(|cause| !cause.is_empty()),
        tokens: story.spent.known_tokens(),
        cost_usd: usd(story.spent),
        runs_of_unknown_cost: 0,
        loop_id: state.spec().loop_id.clone(),
        id: id.to_owned(),
        title: story.spec.title.clone(),
        flow: state.spec().flow_of(&story.spec).word(),
        status,
        phase,
        reason,
        commit_sha: commit.map(ToString::to_string),
        criteria,
        flags: last.map(flags).unwrap_or_default(),
        obligations: obligations(&story.spec.criteria, last),
        mutants: last.and_then(mutants),
        attempts,
        questions: Vec::new(),
    })
}

fn standing(
    status: &StoryStatus,
    ended: bool,
) -> (&'static str, &'static str, String, Option<&Commit>) {
    match status {
        StoryStatus::Pending => ("pending", "pending", String::new(), None),
        StoryStatus::Active(attempt) if ended && attempt.has_landed() => {
            ("pending", "judging", LEFT_UNCONFIRMED.to_owned(), None)
        }
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
                    || at(Stage::Confirm)
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
            "was set aside in the PRD, or held by somebody else, when the loop began".to_owned(),
            None,
        ),
        StoryStatus::Taken { by, .. } => ("taken", "implementing", format!("{by} does it"), None),
    }
}

/// The flags of what was judged, and those that only what lands has.
fn flags(attempt: &AttemptReport) -> Vec<kernel::Flag> {
    let measured = [attempt.judged_facts(), attempt.last_facts()];
    let mut flags: Vec<kernel::Flag> = Vec::new();
    for flag in measured
        .into_iter()
        .flatten()
        .flat_map(|facts| &facts.flags)
    {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    flags
}

/// Small faults are tried where a story is made, and not again where it lands.
fn mutants(attempt: &AttemptReport) -> Option<kernel::Mutants> {
    let made = attempt.facts.as_deref().and_then(|facts| facts.mutants);
    made.or_else(|| attempt.last_facts().and_then(|facts| facts.mutants))
}

/// What the last attempt owed answers for, by the numbers of its prompt.
fn obligations(criteria: &[String], last: Option<&AttemptReport>) -> Vec<ObligationReport> {
    let owed = last.and_then(AttemptReport::judged_facts);
    let owed = owed.map(Facts::owed).unwrap_or_default();
    let verdict = last.and_then(|last| last.verdict.as_ref());
    let mut reports = Vec::new();
    for line in numbered(&owed) {
        for obligation in line.obligations {
            let answer = verdict.and_then(|verdict| verdict.answer_to(&obligation, criteria));
            reports.push(ObligationReport {
                id: line.id.clone(),
                words: obligation.words(),
                kind: obligation.kind,
                subject: obligation.subject,
                answer: answer.map(|answer| AnswerReport {
                    criterion: answer.criterion.clone(),
                    why: answer.why.clone(),
                }),
            });
        }
    }
    reports
}

/// Everything that speaks of a story's criteria.
struct Speaking<'a> {
    criteria: &'a [String],
    /// What the test writer says of its tests.
    tested: Option<&'a Review>,
    last: Option<&'a AttemptReport>,
    /// The attempt that decided against the story.
    rejected: Option<&'a AttemptReport>,
    has_passed: bool,
    /// Nothing of it is in the branch, whatever a judge found in the work that was set aside.
    is_skipped: bool,
}

impl Speaking<'_> {
    fn of(&self, criterion: &str) -> CriterionReport {
        let same = |said: &str| quotes_criterion(said, criterion, self.criteria);
        let coverage = |review: &Review| {
            let mut all = review.criteria.iter();
            all.find(|each| same(&each.criterion)).cloned()
        };
        let reviewed = self.last.and_then(|last| last.review.as_ref());
        let reviewed = reviewed.and_then(coverage);
        let covered = self
            .tested
            .and_then(coverage)
            .filter(|covered| !covered.tests.is_empty())
            .or(reviewed)
            .unwrap_or_default();
        let judged = self
            .last
            .and_then(|last| last.verdict.as_ref())
            .and_then(|verdict| verdict.criteria.iter().find(|each| same(&each.criterion)));
        let met = judged.map(|judged| judged.pass);
        CriterionReport {
            criterion: criterion.to_owned(),
            standing: self.standing(&covered.tests, met),
            failed: self.has_failed(criterion, &covered.tests),
            tests: covered.tests,
            untestable: covered.untestable,
            met,
            evidence: judged
                .map(|judged| judged.evidence.clone())
                .unwrap_or_default(),
        }
    }

    /// Whether the attempt that decided against the story failed this criterion.
    fn has_failed(&self, criterion: &str, tests: &[String]) -> bool {
        let Some(rejected) = self.rejected else {
            return false;
        };
        let is_unmet = |verdict: &Verdict| {
            let mut unmet = verdict.criteria.iter().filter(|each| !each.pass);
            unmet.any(|each| quotes_criterion(&each.criterion, criterion, self.criteria))
        };
        let is_red = |facts: &Facts| {
            let mut red = facts.failing.iter();
            red.any(|red| tests.iter().any(|test| is_same_test(test, red)))
        };
        rejected.verdict.as_ref().is_some_and(is_unmet) || rejected.last_facts().is_some_and(is_red)
    }

    /// How a criterion stands. No criterion of a story that passed is open.
    fn standing(&self, tests: &[String], met: Option<bool>) -> &'static str {
        let measured = self
            .last
            .map(|last| [last.facts.as_deref(), last.last_facts()]);
        let measured = measured.into_iter().flatten().flatten();
        let proven: Vec<&String> = measured.flat_map(|facts| &facts.proven).collect();
        // Runners print a test with its file: `test_swap.py::test_swap`.
        let bare = |test: &str| test.rsplit("::").next().unwrap_or_default().to_owned();
        let is_proven = |test: &String| {
            let is_named = |said: &str| proven.iter().any(|proven| is_same_test(said, proven));
            is_named(test) || is_named(&bare(test))
        };
        let is_accepted = self.last.is_some_and(|last| last.accepted.is_some());
        let verdict = self.last.and_then(|last| last.verdict.as_ref());
        match (self.has_passed, met) {
            (true, _) if is_accepted => "accepted",
            (true, _) if tests.iter().any(is_proven) => "proven",
            (true, _) if verdict.is_some() => "judged",
            (true, _) if self.last.is_some() => "checked",
            (true, _) => "passed",
            (false, Some(true)) if self.is_skipped => "open",
            (false, Some(true)) => "met",
            (false, Some(false)) => "not met",
            (false, None) => "open",
        }
    }
}
