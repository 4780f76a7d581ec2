//! What is told of stories that a person steered.

use kernel::{Commit, Event, Facts, Flow, RunOutcome, Stage};
use serde_json::json;
use views::{loop_report, public_events, story_report};

use crate::support::{Played, checked, commit, review, spec, worked};

fn accept(commit: &Commit, reason: Option<&str>) -> Event {
    Event::AcceptRequested {
        story: "a".into(),
        commit: commit.clone(),
        by: "Ada".to_owned(),
        reason: reason.map(str::to_owned),
    }
}

fn retry() -> Event {
    Event::RetryRequested {
        story: "a".into(),
        hint: Some("more".to_owned()),
        agent: None,
        flow: None,
    }
}

fn take() -> Event {
    Event::TakeRequested {
        story: "a".into(),
        by: "Ada".to_owned(),
        folder: None,
    }
}

fn hand_in() -> Event {
    Event::HandedIn {
        story: "a".into(),
        commit: commit(99),
        by: "Ada".to_owned(),
    }
}

fn names(played: &Played) -> Vec<&'static str> {
    let events = public_events(&played.records);
    events.iter().map(|event| event.name).collect()
}

fn n_told(played: &Played, name: &str) -> usize {
    names(played).iter().filter(|told| **told == name).count()
}

fn green() -> RunOutcome {
    RunOutcome::Checked {
        passed: true,
        report: "green".to_owned(),
        facts: Some(Box::new(Facts {
            measured: true,
            ..Facts::default()
        })),
    }
}

fn red() -> RunOutcome {
    RunOutcome::Checked {
        passed: false,
        report: "1 failed".to_owned(),
        facts: Some(Box::new(Facts {
            measured: true,
            broken: vec!["old".to_owned()],
            ..Facts::default()
        })),
    }
}

#[test]
fn a_retry_is_told_after_a_person_gave_all_attempts_again() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    played.attempt(false);
    played
        .end(Stage::Implement, worked())
        .end(Stage::Check, checked())
        .judge(false);
    played.settle().record(retry());
    played
        .end(Stage::Implement, worked())
        .end(Stage::Check, checked())
        .judge(false);
    // The third attempt failed and the fourth follows.
    played.reach(Stage::Implement);
    assert_eq!(
        n_told(&played, "agent/loop.story.retry"),
        2,
        "{:?}",
        names(&played)
    );
}

#[test]
fn no_retry_is_told_of_what_a_person_handed_in() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 2;
    let mut played = Played::start(spec);
    played
        .record(Event::LoopPrepared)
        .record(take())
        .record(hand_in());
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Check, checked())
        .judge(false);
    played.settle();
    assert_eq!(
        n_told(&played, "agent/loop.story.fail"),
        1,
        "it is set aside"
    );
    assert_eq!(
        n_told(&played, "agent/loop.story.retry"),
        0,
        "and not tried again"
    );
}

#[test]
fn a_run_that_was_stopped_for_a_wish_is_no_judgment() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked());
    played.reach(Stage::Check);
    played.record(take()).settle();
    assert_eq!(
        n_told(&played, "agent/loop.judge"),
        0,
        "{:?}",
        names(&played)
    );
}

#[test]
fn no_agent_is_named_for_what_a_person_did() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played
        .record(Event::LoopPrepared)
        .record(take())
        .record(hand_in());
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Check, checked())
        .judge(true);
    played.settle();
    let events = public_events(&played.records);
    let pass = events
        .iter()
        .find(|event| event.name == "agent/loop.story.pass")
        .expect("a pass");
    assert_eq!(pass.data["tool"], serde_json::Value::Null, "{}", pass.data);
}

#[test]
fn what_was_accepted_over_red_is_not_called_checked() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, red());
    played.settle();
    let candidate = played.state.story("a").expect("a").rejected[0]
        .commit
        .clone();
    played.record(accept(&candidate, Some("flaky"))).settle();
    let report = story_report(&played.records, "a").expect("a report");
    assert_eq!(report.status, "passed");
    assert_eq!(report.criteria[0].standing, "accepted");
    let whole = loop_report(&played.records).expect("a report");
    assert_eq!(whole.caught, [], "it landed");
    assert_eq!(
        whole.to_look_at,
        ["a: accepted by Ada: flaky, and not by a judge"]
    );
}

#[test]
fn an_attempt_that_a_person_overtook_has_an_end() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, green());
    played.reach(Stage::Judge);
    let candidate = {
        let attempt = played.state.attempt("a").expect("an attempt");
        attempt.candidate().expect("a candidate").commit.clone()
    };
    played.record(accept(&candidate, None)).settle();
    let report = story_report(&played.records, "a").expect("a report");
    let ends: Vec<&str> = report
        .attempts
        .iter()
        .map(|attempt| attempt.ended)
        .collect();
    assert!(!ends[0].is_empty(), "{ends:?}");
}

/// What a person accepted is told as the attempt that made it.
#[test]
fn an_accepted_attempt_keeps_its_number_everywhere() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    played.attempt(false).settle();
    let candidate = story_report(&played.records, "a")
        .expect("a story")
        .attempts[0]
        .candidate_sha
        .clone();
    let candidate = Commit::new(&candidate.expect("a candidate")).expect("an id");
    played.record(accept(&candidate, Some("fine"))).settle();
    let events = public_events(&played.records);
    let passed = events
        .iter()
        .find(|event| event.name == "agent/loop.story.pass");
    assert_eq!(passed.expect("it passed").data["attempt"], 1);
    let report = loop_report(&played.records).expect("a report");
    assert_eq!(report.view.stories[0].attempts, 1);
    let story = story_report(&played.records, "a").expect("a story");
    let last = story.attempts.last().expect("an attempt");
    assert_eq!((last.number, last.accepted_attempt), (2, Some(1)));
}

/// Events have the same names in every flow, and name only those who take part.
#[test]
fn nobody_reviews_or_judges_where_the_flow_has_nobody_for_it() {
    for (flow, reviewer) in [
        (Flow::Solo, json!(null)),
        (Flow::Judged, json!(null)),
        (Flow::Quartet, json!("tester")),
    ] {
        let mut spec = spec(flow, &["a"]);
        spec.reviewer = "tester".into();
        spec.max_retries = 1;
        let mut played = Played::start(spec);
        played
            .end(Stage::Baseline, checked())
            .end(Stage::Implement, worked());
        if flow == Flow::Quartet {
            played.end(Stage::WriteTests, RunOutcome::TestsWritten(review("t")));
        }
        played.end(Stage::Check, red());
        let events = public_events(&played.records);
        let by = |name: &str| {
            let event = events.iter().find(|event| event.name == name);
            event.map(|event| event.data["by"].clone())
        };
        let word = flow.word();
        assert_eq!(by("agent/loop.review"), Some(reviewer), "{word}");
        assert_eq!(by("agent/loop.judge"), Some(json!("checks")), "{word}");
    }
}
