//! Why a story passed or failed.

use kernel::{
    Event, Facts, Flag, FlagKind, Flow, Mutants, Obligation, ObligationKind, Obliged, Proof,
    RunOutcome, Stage, StoryStart,
};
use serde_json::json;
use views::{StoryReport, story_report};

use crate::support::{Played, cancel, checked, limit, question, review, spec, worked};

fn report(played: &Played) -> StoryReport {
    story_report(&played.records, "a").expect("the story")
}

fn quartet() -> Played {
    let mut spec = spec(Flow::Quartet, &["a"]);
    spec.max_retries = 1;
    Played::start(spec)
}

/// A quartet's story that is rejected once and then passes.
fn passed_at_second_attempt() -> Played {
    let mut played = quartet();
    let facts = Facts {
        measured: true,
        evidence: r#"{"proven":["new"]}"#.to_owned(),
        ..Facts::default()
    };
    let measured = RunOutcome::Checked {
        passed: true,
        report: "2 passed".to_owned(),
        facts: Some(Box::new(facts)),
    };
    played
        .end(Stage::Baseline, checked())
        .end(Stage::WriteTests, RunOutcome::TestsWritten(review("new")))
        .end(Stage::Implement, worked())
        .end(Stage::Check, measured.clone())
        .end(Stage::Review, RunOutcome::Reviewed(review("other")))
        .judge(false)
        .end(Stage::Implement, worked())
        .end(Stage::Check, measured)
        .end(Stage::Review, RunOutcome::Reviewed(review("other")))
        .judge(true)
        .settle();
    played
}

#[test]
fn a_story_that_passed_tells_its_commit_and_its_criteria() {
    let played = passed_at_second_attempt();
    let report = report(&played);
    assert_eq!(
        json!([
            report.loop_id,
            report.title,
            report.flow,
            report.status,
            report.phase,
            report.reason
        ]),
        json!(["L", "Story a", "quartet", "passed", "done", ""])
    );
    assert_eq!(report.commit_sha, Some(played.state.head().to_string()));
    // The writer's own tests count before what a reviewer says.
    assert_eq!(
        json!(report.criteria),
        json!([{
            "criterion": "it works", "tests": ["new"], "standing": "judged", "met": true,
            "evidence": "seen"
        }])
    );
}

#[test]
fn every_attempt_tells_what_was_made_measured_and_judged() {
    let report = report(&passed_at_second_attempt());
    let [first, second] = &report.attempts[..] else {
        unreachable!("two attempts: {report:?}");
    };
    assert_eq!(
        json!([
            first.number,
            first.ended,
            first.feedback,
            first.implementor,
            first.judge
        ]),
        json!([
            1,
            "rejected",
            "because\nnot met: it works (seen)",
            "codex",
            "judge"
        ])
    );
    assert_eq!(
        json!([second.number, second.ended, second.feedback, second.recheck]),
        json!([2, "passed", "", false])
    );
    assert_eq!(first.tests.len(), 2, "tests and a note: {:?}", first.tests);
    assert!(
        first.tests[0].starts_with("tests written: "),
        "{:?}",
        first.tests
    );
    assert_eq!(second.tests, Vec::<String>::new(), "the tests stand");
    assert_eq!(first.notes, ["no test was changed"]);
    assert_eq!(
        (first.checks.as_str(), &first.evidence),
        ("2 passed", &json!({ "proven": ["new"] }))
    );
    assert_eq!(first.review, Some(review("other")));
    assert_eq!(
        first.verdict.as_ref().map(|verdict| verdict.pass),
        Some(false)
    );
    assert_eq!(second.candidate_sha, report.commit_sha);
    assert_ne!(first.candidate_sha, second.candidate_sha);
}

#[test]
fn a_stand_in_is_named_in_its_attempt() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.failover = true;
    spec.ladder = vec!["codex".into(), "claude".into()];
    let mut played = Played::start(spec);
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, limit(1_000_000));
    let before = report(&played).attempts.remove(0);
    assert_eq!(
        (before.implementor.as_str(), before.judge.as_str()),
        ("codex", "judge")
    );
    played
        .end(Stage::Implement, worked())
        .end(Stage::Check, checked())
        .judge(true)
        .settle();
    let after = report(&played).attempts.remove(0);
    assert_eq!(
        (after.implementor.as_str(), after.judge.as_str()),
        ("claude", "judge")
    );
    assert_eq!(after.ended, "passed");
}

#[test]
fn a_story_on_its_way_says_how_far_it_is() {
    let mut played = quartet();
    let stand = |played: &Played| {
        let report = report(played);
        format!("{} {}: {}", report.status, report.phase, report.reason)
    };
    assert_eq!(stand(&played), "pending pending: ");
    played.end(Stage::Baseline, checked());
    played.reach(Stage::WriteTests);
    assert_eq!(
        stand(&played),
        "running implementing: implement and write-tests"
    );
    played.end(Stage::WriteTests, question(false));
    assert_eq!(
        stand(&played),
        "running implementing: implement and write-tests: which colour?"
    );
    let mut cancelled = played.clone();
    cancelled.record(cancel()).settle();
    assert_eq!(
        stand(&cancelled),
        "pending pending: the loop ended before it did"
    );
    played.record(Event::Answered {
        choice: "retry".to_owned(),
        story: None,
    });
    played
        .end(Stage::WriteTests, RunOutcome::TestsWritten(review("new")))
        .end(Stage::Implement, worked());
    played.reach(Stage::Check);
    assert_eq!(stand(&played), "running judging: check");
    played.end(Stage::Check, limit(900_000));
    assert_eq!(stand(&played), "running judging: check: usage limit");
    let mut proof = Played::start(spec(Flow::Proof, &["a"]));
    proof
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked());
    proof.reach(Stage::Prove);
    assert_eq!(stand(&proof), "running proving: prove");
}

#[test]
fn a_skipped_story_tells_its_recheck_as_an_attempt_of_its_own() {
    let mut played = Played::start(spec(Flow::Judged, &["a", "b"]));
    played.attempt(false).attempt(true);
    played.end(Stage::Check, checked()).judge(false).settle();
    let report = report(&played);
    assert_eq!((report.status, report.phase), ("skipped", "blocked"));
    let ends: Vec<(u32, bool, &str)> = report
        .attempts
        .iter()
        .map(|attempt| (attempt.number, attempt.recheck, attempt.ended))
        .collect();
    assert_eq!(ends, [(1, false, "rejected"), (2, true, "rejected")]);
}

/// What a judge found met in work that was set aside is not in the branch.
#[test]
fn no_criterion_of_a_skipped_story_is_met() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    let owed = Obligation {
        kind: ObligationKind::OldTestRemoved,
        subject: "old".to_owned(),
    };
    let facts = measured(|facts| facts.obligations = vec![owed]);
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, facts)
        .judge(true);
    let standing = |played: &Played| {
        let report = report(played);
        (
            report.status,
            report.criteria[0].standing,
            report.criteria[0].met,
        )
    };
    played.settle();
    assert_eq!(standing(&played), ("skipped", "open", Some(true)));
}

#[test]
fn a_story_that_a_person_sets_aside_says_so() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played.end(Stage::Baseline, question(false));
    played
        .record(Event::Answered {
            choice: "skip".to_owned(),
            story: None,
        })
        .settle();
    let report = report(&played);
    let attempt = &report.attempts[0];
    assert_eq!((report.status, attempt.ended), ("skipped", "set aside"));
    assert!(!report.reason.is_empty(), "{report:?}");
}

#[test]
fn a_blocked_story_has_no_attempts_and_an_unknown_one_no_report() {
    let mut played = Played::start(spec(Flow::Judged, &["b", "a<b"]));
    played.attempt(false).settle();
    let report = report(&played);
    assert_eq!(
        (
            report.status,
            report.phase,
            report.reason.as_str(),
            report.attempts.len()
        ),
        ("blocked", "blocked", "waits for b", 0)
    );
    assert_eq!(
        json!(report.criteria),
        json!([{ "criterion": "it works", "tests": [], "standing": "open" }])
    );
    assert_eq!(story_report(&played.records, "c"), None);
    assert_eq!(story_report(&[], "a"), None);
}

#[test]
fn the_provers_proof_of_work_is_in_the_report_of_its_attempt() {
    let proof = Proof {
        checked: vec!["it works".to_owned()],
        see: vec!["sh run.sh".to_owned()],
        ..Proof::default()
    };
    let mut played = Played::start(spec(Flow::Proof, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(
            Stage::Prove,
            RunOutcome::Worked {
                learned: Vec::new(),
                proof: Some(Box::new(proof)),
            },
        )
        .end(Stage::Check, checked())
        .judge(true)
        .settle();
    let report = json!(report(&played));
    assert_eq!(
        report["attempts"][0]["proof"],
        json!({ "checked": ["it works"], "found": [], "mended": [], "see": ["sh run.sh"] })
    );
}

fn measured(change: impl FnOnce(&mut Facts)) -> RunOutcome {
    let mut facts = Facts {
        measured: true,
        ..Facts::default()
    };
    change(&mut facts);
    RunOutcome::Checked {
        passed: true,
        report: "2 passed".to_owned(),
        facts: Some(Box::new(facts)),
    }
}

#[test]
fn obligations_flags_and_the_strength_of_proof_are_told_with_the_judges_answers() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    let owed = |kind, subject: &str| Obligation {
        kind,
        subject: subject.to_owned(),
    };
    let facts = measured(|facts| {
        facts.obligations = vec![
            owed(ObligationKind::Harness, "conftest.py"),
            owed(ObligationKind::OldTestRemoved, "old"),
        ];
        facts.obliged = vec!["older".to_owned()];
        facts.flags = vec![Flag {
            kind: FlagKind::WaitsForDate,
            place: "src/a.py:3".to_owned(),
            text: "today()".to_owned(),
        }];
        facts.mutants = Some(Mutants {
            tried: 3,
            noticed: 2,
        });
    });
    let answer = |kind, subject: &str, criterion: &str| Obliged {
        kind,
        test: subject.to_owned(),
        criterion: criterion.to_owned(),
        why: "w".to_owned(),
    };
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, facts)
        .judge_with(
            true,
            vec![
                answer(None, "older", "it works"),
                answer(Some(ObligationKind::Harness), "conftest.py", "It works."),
                answer(Some(ObligationKind::OldTestRemoved), "old", "I like it"),
            ],
        );
    let report = report(&played);
    let shown = json!(report);
    assert_eq!(
        shown["obligations"],
        json!([
            { "id": "O1", "kind": "old-test-red", "subject": "older",
              "answer": { "criterion": "it works", "why": "w" } },
            { "id": "O2", "kind": "old-test-removed", "subject": "old", "answer": null },
            { "id": "O3", "kind": "harness", "subject": "conftest.py",
              "answer": { "criterion": "It works.", "why": "w" } },
        ])
    );
    assert_eq!(
        shown["flags"],
        json!([{ "kind": "waits-for-date", "place": "src/a.py:3", "text": "today()" }])
    );
    assert_eq!(shown["mutants"], json!({ "tried": 3, "noticed": 2 }));
    assert_eq!(
        report.attempts[0].ended, "rejected",
        "one answer counts for nothing"
    );
}

#[test]
fn no_criterion_of_a_story_that_passed_is_open() {
    let proven = |names: &[&str]| {
        let names = names.iter().map(ToString::to_string).collect();
        measured(|facts| facts.proven = names)
    };
    for (proven, expected) in [
        (proven(&["new"]), "proven"),
        (proven(&["new (tests/a.rs)"]), "proven"),
        (proven(&["newer"]), "judged"),
        (proven(&[]), "judged"),
    ] {
        let mut played = quartet();
        played
            .end(Stage::Baseline, checked())
            .end(Stage::WriteTests, RunOutcome::TestsWritten(review("new")))
            .end(Stage::Implement, worked())
            .end(Stage::Check, proven)
            .end(Stage::Review, RunOutcome::Reviewed(review("other")));
        assert_eq!(report(&played).criteria[0].standing, "open");
        played.judge(true).settle();
        assert_eq!(report(&played).criteria[0].standing, expected);
    }
    let mut solo = Played::start(spec(Flow::Solo, &["a"]));
    solo.end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Check, checked())
        .settle();
    assert_eq!(report(&solo).criteria[0].standing, "checked");
    let mut before = spec(Flow::Solo, &["a"]);
    std::sync::Arc::make_mut(&mut before.stories[0]).start = StoryStart::Passed;
    assert_eq!(
        report(&Played::start(before)).criteria[0].standing,
        "passed"
    );
}
