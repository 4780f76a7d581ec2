//! What landed and is not confirmed, as people see it.

use kernel::{Event, Flow, Stage};
use serde_json::json;
use views::{loop_view, public_events, story_report};

use crate::support::{Played, cancel, checked, red, spec, warm, worked};

/// Story `a` has landed by a reused build; `b` is next.
fn landed() -> Played {
    let mut spec = spec(Flow::Judged, &["a", "b"]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, warm())
        .judge(true);
    played.reach(Stage::Confirm);
    played
}

fn names(played: &Played) -> Vec<String> {
    let events = public_events(&played.records);
    let names = events.iter().map(|event| event.name);
    let names = names.map(|name| name.trim_start_matches("agent/loop.").to_owned());
    let is_told = |name: &String| name.starts_with("story.");
    names.filter(is_told).collect()
}

fn data(played: &Played, name: &str) -> serde_json::Value {
    let events = public_events(&played.records);
    let found = events.into_iter().rev().find(|event| event.name == name);
    found.expect("it is told").data
}

#[test]
fn a_story_that_is_confirmed_is_told_and_passes_after_that() {
    let mut played = landed();
    let view = loop_view(&played.state);
    assert_eq!(view.stories[0].status, "running");
    assert_eq!(view.stories[0].detail, "attempt 1, landed, confirming");
    assert_eq!(
        (view.unconfirmed.join(" "), view.landed),
        ("a".to_owned(), false)
    );
    assert_eq!(view.head_sha, played.state.spec().base.to_string());
    let report = story_report(&played.records, "a").expect("a report");
    assert_eq!(
        (report.phase, report.reason.as_str()),
        ("judging", "landed, confirming")
    );
    assert_eq!(names(&played), ["story.confirming"]);
    played.end(Stage::Confirm, checked());
    played.settle();
    assert_eq!(
        names(&played),
        ["story.confirming", "story.confirmed", "story.pass"]
    );
    let view = loop_view(&played.state);
    assert_eq!((view.stories[0].status, view.landed), ("passed", true));
    let report = story_report(&played.records, "a").expect("a report");
    assert_eq!(
        report.attempts[0].landing,
        ["green with everything built anew"]
    );
}

#[test]
fn a_story_that_is_taken_back_says_why_and_what_follows() {
    let mut played = landed();
    let commit = played.state.head().clone();
    played.end(Stage::Confirm, red());
    let view = loop_view(&played.state);
    assert_eq!(
        view.stories[0].detail,
        "attempt 1, landed, not confirmed, being taken back"
    );
    played.settle();
    assert_eq!(
        names(&played),
        ["story.confirming", "story.retracted", "story.retry"]
    );
    let told = data(&played, "agent/loop.story.retracted");
    assert_eq!(told["commitSha"], json!(commit));
    assert_eq!(told["ontoSha"], json!(played.state.spec().base));
    assert_eq!(told["reason"], json!("`an older test` is red"));
    assert_eq!(told["alsoBack"], json!([]));
    let off = "`a` was green with a reused build and is red without: `an older test` is red";
    assert_eq!(told["warmOff"], json!(off));
    assert_eq!(loop_view(&played.state).warm_off.as_deref(), Some(off));
    let report = story_report(&played.records, "a").expect("a report");
    let first = &report.attempts[0];
    assert_eq!(first.ended, "rejected");
    assert_eq!(first.landing.len(), 2, "{:?}", first.landing);
    assert_eq!(first.landing[0], "red with everything built anew");
    assert!(
        first.landing[1].contains("taken back"),
        "{:?}",
        first.landing
    );
    let cause = report.root_cause.as_deref();
    assert!(
        cause.is_some_and(|cause| cause.contains("was taken back")),
        "{cause:?}"
    );
}

#[test]
fn an_end_names_what_landed_and_is_not_confirmed() {
    let mut played = landed();
    let commit = played.state.head().clone();
    played.record(cancel()).settle();
    let view = loop_view(&played.state);
    assert_eq!(view.status, "cancelled");
    assert_eq!(
        view.unpublished.as_deref(),
        Some("landed, not confirmed, not published")
    );
    let story = &view.stories[0];
    assert_eq!(
        (story.status, story.detail.as_str()),
        ("pending", "attempt 1: landed, not confirmed, not published")
    );
    let told = data(&played, "agent/loop.complete");
    let left = json!([{ "storyId": "a", "commitSha": commit }]);
    assert_eq!(
        (&told["unconfirmed"], &told["unlanded"]),
        (&left, &json!([]))
    );
    assert_eq!(
        told["headSha"],
        json!(played.state.spec().base),
        "nobody was shown it"
    );
    let report = story_report(&played.records, "a").expect("a report");
    assert_eq!(report.reason, "landed, not confirmed, not published");
    played.record(Event::PublishRequested);
    played.end(Stage::Confirm, checked());
    played.settle();
    assert_eq!(
        data(&played, "agent/loop.complete")["unconfirmed"],
        json!([])
    );
}
