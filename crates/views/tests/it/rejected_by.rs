//! Who caught what: told by what was recorded, never by its words.

use kernel::{Facts, Flow, RunOutcome, Stage};
use views::{RejectedBy, loop_report, story_report};

use crate::restacked::{behind_another, proven};
use crate::support::{Played, checked, red, spec, worked};

/// Who caught something in a story's first attempt, and what.
fn caught(played: &Played, story: &str) -> Vec<(&'static str, String)> {
    let report = loop_report(&played.records).expect("a report");
    let caught = report.caught.into_iter();
    let caught = caught.filter(|each| each.story_id == story && each.attempt == 1);
    caught.map(|each| (each.by, each.what)).collect()
}

fn rejected_by(played: &Played, story: &str) -> Option<RejectedBy> {
    let report = story_report(&played.records, story).expect("the story");
    report.attempts[0].rejected_by
}

fn measured() -> Played {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked());
    played
}

#[test]
fn a_judge_without_a_usable_verdict_is_named_and_not_the_checks() {
    let mut played = measured();
    let mumbles = || RunOutcome::BadAnswer {
        why: "there is no JSON".to_owned(),
    };
    played
        .end(Stage::Check, proven("1 check", None))
        .end(Stage::Judge, mumbles())
        .end(Stage::Judge, mumbles());
    let words = "the judge gave no usable verdict: there is no JSON".to_owned();
    assert_eq!(caught(&played, "a"), [("judge", words)]);
    assert_eq!(rejected_by(&played, "a"), Some(RejectedBy::Judge));
}

#[test]
fn a_verdict_and_a_red_check_are_told_by_whoever_found_them() {
    let mut played = measured();
    let mut judged = played.clone();
    judged
        .end(Stage::Check, proven("1 check", None))
        .judge(false);
    assert_eq!(caught(&judged, "a"), [("judge", "because".to_owned())]);
    played.end(Stage::Check, red());
    let words = "`an older test` is red".to_owned();
    assert_eq!(caught(&played, "a"), [("checks", words)]);
    // An implementor that fails has caught nothing.
    let mut failed = Played::start(spec(Flow::Judged, &["a"]));
    failed.end(Stage::Baseline, checked());
    let why = "it gave up".to_owned();
    failed.end(Stage::Implement, RunOutcome::Failed { why });
    assert_eq!(caught(&failed, "a"), []);
    assert_eq!(rejected_by(&failed, "a"), Some(RejectedBy::Author));
}

#[test]
fn work_that_is_sent_back_was_caught_by_its_landing() {
    let mut played = behind_another();
    let facts = Facts {
        measured: true,
        broken: vec!["of a".to_owned()],
        feedback: "`of a` is red".to_owned(),
        ..Facts::default()
    };
    let red = RunOutcome::Checked {
        passed: false,
        report: "1 red".to_owned(),
        facts: Some(Box::new(facts)),
    };
    played.end_in("b", Stage::Check, red);
    let found = caught(&played, "b");
    assert_eq!((found.len(), found[0].0), (1, "landing"), "{found:?}");
    assert_eq!(rejected_by(&played, "b"), Some(RejectedBy::Landing));
}
