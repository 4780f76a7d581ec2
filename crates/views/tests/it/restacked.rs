//! A story that was put onto what landed meanwhile: what proved it and what was measured where it landed
//! are both told, each with its commits.

use kernel::{Facts, Flow, Mutants, RunOutcome, Stage};
use serde_json::json;
use views::{StoryReport, story_report};

use crate::support::{Played, checked, commit, spec, worked};

/// A green measurement in which this test proves the story.
pub(crate) fn proven(report: &str, mutants: Option<Mutants>) -> RunOutcome {
    let facts = Facts {
        measured: true,
        proven: vec!["new".to_owned()],
        mutants,
        evidence: json!({ "of": report }).to_string(),
        ..Facts::default()
    };
    RunOutcome::Checked {
        passed: true,
        report: report.to_owned(),
        facts: Some(Box::new(facts)),
    }
}

/// Both stories are judged on the same commit, `a` has landed, and `b` is to be measured on top of it.
pub(crate) fn behind_another() -> Played {
    let mut spec = spec(Flow::Judged, &["a", "b"]);
    spec.together.parallel = 2;
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    let mutants = Some(Mutants {
        tried: 3,
        noticed: 3,
    });
    for story in ["a", "b"] {
        played
            .end_in(story, Stage::Baseline, checked())
            .end_in(story, Stage::Implement, worked())
            .end_in(story, Stage::Check, proven("where it was made", mutants));
    }
    played.reach_in(Some("b"), Stage::Judge);
    played.judge(true).judge(true);
    played.reach_in(Some("b"), Stage::Check);
    played
}

fn report(played: &Played) -> StoryReport {
    story_report(&played.records, "b").expect("the story")
}

#[test]
fn a_restacked_story_keeps_what_proved_it_beside_what_was_measured_where_it_landed() {
    let mut played = behind_another();
    let made = report(&played).attempts[0].judged_sha.clone();
    played
        .end_in("b", Stage::Check, proven("where it landed", None))
        .settle();
    let report = report(&played);
    let first = story_report(&played.records, "a").expect("the story");
    assert_eq!(report.status, "passed");
    assert_eq!(report.mutants.map(|mutants| mutants.noticed), Some(3));
    let attempt = &report.attempts[0];
    assert_eq!(attempt.base_sha, commit(0).to_string());
    assert_eq!(
        (attempt.checks.as_str(), &attempt.evidence),
        ("where it was made", &json!({ "of": "where it was made" }))
    );
    let verdict = attempt.verdict.as_ref().expect("a verdict");
    assert_eq!(Some(verdict.commit.to_string()), made);
    assert_ne!(made, report.commit_sha, "it is another commit now");
    let restacked = attempt.restacked.as_ref().expect("it was restacked");
    assert_eq!(
        (&restacked.checks[..], &restacked.evidence),
        ("where it landed", &json!({ "of": "where it landed" }))
    );
    assert_eq!(Some(&restacked.base_sha), first.commit_sha.as_ref());
    assert_eq!(Some(&restacked.commit_sha), report.commit_sha.as_ref());
    assert_eq!(attempt.parent_sha(), restacked.base_sha);
    assert_eq!(first.attempts[0].parent_sha(), commit(0).as_str());
}
