//! The public events: their names and payloads are what others build on.

use std::collections::BTreeSet;

use kernel::{Event, Flow, RunOutcome, Stage, Stamped};
use serde_json::{Value, json};
use views::{PublicEvent, PublicFold, public_events};

use crate::support::{Played, cancel, checked, limit, question, review, spec, usage, worked};

/// Every name with the keys of its payload.
const CONTRACT: [(&str, &str); 15] = [
    (
        "agent/loop.start",
        "loopId project prdPath maxRetries maxIterations toolAssignments retryLadder flow budget",
    ),
    ("agent/loop.plan", "loopId project prdPath storyId"),
    (
        "agent/loop.implement",
        "loopId project storyId tool model attempt feedback baseSha",
    ),
    (
        "agent/loop.prove",
        "loopId project storyId commitSha attempt",
    ),
    (
        "agent/loop.review",
        "loopId project storyId commitSha attempt by",
    ),
    (
        "agent/loop.judge",
        "loopId project storyId commitSha testResults feedback attempt by",
    ),
    (
        "agent/loop.story.pass",
        "loopId storyId commitSha judgedSha attempt tool duration durationMs tokens costUsd",
    ),
    (
        "agent/loop.story.retry",
        "loopId storyId attempt reason nextTool",
    ),
    (
        "agent/loop.story.fail",
        "loopId storyId reason attempts tool duration durationMs tokens costUsd",
    ),
    ("agent/loop.cancel", "loopId reason"),
    (
        "agent/loop.complete",
        "loopId project summary storiesCompleted storiesFailed storiesSkipped storiesBlocked cancelled reason branch headSha duration durationMs tokens costUsd unlanded unconfirmed",
    ),
    ("agent/loop.needs_human", "loopId storyId question"),
    ("agent/loop.waiting", "loopId storyId cause until"),
    ("agent/loop.resumed", "loopId"),
    (
        "agent/loop.agent_switched",
        "loopId storyId attempt stage from to",
    ),
];

/// A loop in which everything happens that is told: a wait, a stand-in, a question, a rejected
/// attempt, a story that passes and one that fails.
fn eventful() -> Played {
    let mut spec = spec(Flow::Quartet, &["good", "bad"]);
    spec.max_retries = 1;
    spec.failover = true;
    spec.ladder = vec!["codex".into(), "claude".into()];
    for (rank, story) in spec.stories.iter_mut().enumerate() {
        std::sync::Arc::make_mut(story).rank = u32::try_from(rank).expect("few");
    }
    let mut played = Played::start(spec);
    // The base cannot be measured at first, and a person does not want to wait.
    played
        .end(Stage::Baseline, limit(1_000_000))
        .record(Event::ResumeRequested)
        .end(Stage::Baseline, checked());
    played.reach(Stage::WriteTests);
    // The implementor is at its limit, and another one takes over.
    played.end(Stage::Implement, limit(1_000_000));
    played.end(Stage::WriteTests, question(true));
    played.record(Event::Answered {
        choice: "in blue".to_owned(),
        story: None,
    });
    rest_of_attempt(&mut played, false);
    rest_of_attempt(&mut played, true);
    // It is still at its limit when the next story begins.
    played.end(Stage::Baseline, checked());
    rest_of_attempt(&mut played, false);
    rest_of_attempt(&mut played, false);
    played.settle();
    played
}

/// A quartet's attempt after its baseline.
fn rest_of_attempt(played: &mut Played, pass: bool) {
    let has_tests = |played: &Played| {
        let (story, _) = played.state.attempts().next().expect("an attempt");
        story.tests.is_some()
    };
    if !has_tests(played) {
        played.end(Stage::WriteTests, RunOutcome::TestsWritten(review("new")));
    }
    played
        .end_using(Stage::Implement, worked(), usage(10, 1_000_000))
        .end(Stage::Check, checked())
        .end(Stage::Review, RunOutcome::Reviewed(review("new")))
        .judge(pass);
}

/// A story whose work a second agent proves before it is judged.
fn proven() -> Played {
    let mut played = Played::start(spec(Flow::Proof, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(Stage::Prove, worked())
        .end(Stage::Check, checked())
        .judge(true)
        .settle();
    played
}

fn cancelled() -> Played {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played.reach(Stage::Baseline);
    played.record(cancel()).settle();
    played
}

fn names(events: &[PublicEvent]) -> Vec<&'static str> {
    events.iter().map(|event| event.name).collect()
}

fn short(name: &str) -> &str {
    name.trim_start_matches("agent/loop.")
}

#[test]
fn what_happens_is_told_in_order() {
    let events = public_events(&eventful().records);
    let told: Vec<&str> = names(&events).into_iter().map(short).collect();
    let expected = "start plan implement waiting resumed waiting needs_human agent_switched \
        review judge story.retry implement review judge story.pass \
        plan implement agent_switched review judge story.retry \
        implement review judge story.fail complete";
    assert_eq!(told.join(" "), expected);
    let told = names(&public_events(&cancelled().records)).join(" ");
    assert_eq!(
        told,
        "agent/loop.start agent/loop.plan agent/loop.implement agent/loop.cancel agent/loop.complete"
    );
}

#[test]
fn every_event_has_the_keys_of_its_contract() {
    let mut seen = BTreeSet::new();
    for records in [eventful().records, cancelled().records, proven().records] {
        for event in public_events(&records) {
            let keys: Vec<&str> = event
                .data
                .as_object()
                .expect("an object")
                .keys()
                .map(String::as_str)
                .collect();
            let contract = CONTRACT.iter().find(|(name, _)| *name == event.name);
            let (name, expected) = contract.expect("a known name");
            let sorted = |keys: Vec<&str>| -> BTreeSet<String> {
                keys.into_iter().map(str::to_owned).collect()
            };
            assert_eq!(
                sorted(keys),
                sorted(expected.split(' ').collect()),
                "{name}"
            );
            seen.insert(event.name);
        }
    }
    let all: BTreeSet<&str> = CONTRACT.iter().map(|(name, _)| *name).collect();
    assert_eq!(seen, all, "every name was seen");
}

/// The payload of the nth event of a name.
fn data(played: &Played, name: &str, nth: usize) -> Value {
    let events = public_events(&played.records);
    let mut found = events.into_iter().filter(|event| short(event.name) == name);
    found.nth(nth).expect("it was told").data
}

#[test]
fn a_start_and_what_holds_a_loop_up_are_told_as() {
    let played = eventful();
    let data = |name: &str, nth: usize| data(&played, name, nth);
    assert_eq!(
        data("start", 0),
        json!({ "loopId": "L", "project": "project", "prdPath": "prd.json", "maxRetries": 1,
                "maxIterations": null, "retryLadder": ["codex", "claude"], "flow": "quartet",
                "toolAssignments": {}, "budget": null })
    );
    assert_eq!(
        data("waiting", 1),
        json!({ "loopId": "L", "storyId": "good", "cause": "usage limit", "until": 1_000_000 })
    );
    assert_eq!(
        data("agent_switched", 0),
        json!({ "loopId": "L", "storyId": "good", "attempt": 1, "stage": "implement",
                "from": "codex", "to": "claude" })
    );
    assert_eq!(
        data("needs_human", 0),
        json!({ "loopId": "L", "storyId": "good", "question": "which colour?" })
    );
}

#[test]
fn attempts_and_ends_are_told_as() {
    let played = eventful();
    let data = |name: &str, nth: usize| data(&played, name, nth);
    let first = data("judge", 0);
    assert_eq!(
        (&first["testResults"], &first["feedback"]),
        (
            &json!({ "summary": "all green" }),
            &json!("look at the parser")
        )
    );
    assert_eq!(first["commitSha"], data("review", 0)["commitSha"]);
    let words = "because\nnot met: it works (seen)";
    assert_eq!(
        data("story.retry", 0),
        json!({ "loopId": "L", "storyId": "good", "attempt": 1, "reason": words, "nextTool": "claude" })
    );
    let second = data("implement", 1);
    assert_eq!(
        (&second["attempt"], &second["tool"], &second["feedback"]),
        (&json!(2), &json!("claude"), &json!(words))
    );
    let pass = data("story.pass", 0);
    assert_eq!(
        (&pass["attempt"], &pass["tokens"], &pass["costUsd"]),
        (&json!(2), &json!(20), &json!(2.0))
    );
    assert_eq!(pass["commitSha"], json!(played.state.head()));
    let fail = data("story.fail", 0);
    assert_eq!(
        (&fail["storyId"], &fail["attempts"], &fail["reason"]),
        (&json!("bad"), &json!(2), &json!(words))
    );
    let complete = data("complete", 0);
    assert_eq!(
        json!([
            complete["summary"],
            complete["storiesCompleted"],
            complete["storiesFailed"],
            complete["cancelled"],
            complete["reason"],
            complete["tokens"]
        ]),
        json!([
            "1 passed, 1 skipped, 0 blocked",
            1,
            1,
            false,
            "completed",
            40
        ])
    );
    let ended = public_events(&cancelled().records)
        .pop()
        .expect("the end")
        .data;
    assert_eq!(
        json!([ended["cancelled"], ended["reason"], ended["tokens"]]),
        json!([true, "cancelled", null])
    );
}

/// Whoever follows a loop is told what a reader of the whole is told, wherever they began to look.
#[test]
fn records_one_by_one_tell_what_all_at_once_tell() {
    for records in [eventful().records, cancelled().records] {
        let all = public_events(&records);
        let mut fold = PublicFold::default();
        let mut told = Vec::new();
        for (n_records, record) in (1..).zip(&records) {
            told.extend(fold.push(record));
            assert_eq!(told, public_events(&records[..n_records]), "{n_records}");
        }
        assert_eq!(told, all);
    }
}

#[test]
fn nothing_is_told_after_a_record_that_cannot_be() {
    let records = cancelled().records;
    let illegal = Stamped {
        at_ms: 0,
        event: Event::LoopPrepared,
    };
    let mut broken = records[..4].to_vec();
    let before = public_events(&broken);
    broken.push(illegal);
    broken.extend_from_slice(&records[4..]);
    assert_eq!(public_events(&broken), before);
    assert_eq!(
        public_events(&records[1..]),
        [],
        "a loop without a beginning"
    );
}

/// A story that fails is told once, at the skip: a recheck that fails again says nothing new.
#[test]
fn a_failed_story_is_told_once() {
    let mut played = Played::start(spec(Flow::Judged, &["bad", "good"]));
    played.attempt(false).attempt(true);
    played.end(Stage::Check, checked()).judge(false).settle();
    let events = public_events(&played.records);
    let told: Vec<&str> = names(&events).into_iter().map(short).collect();
    let expected = "start plan implement review judge story.fail \
        plan implement review judge story.pass judge complete";
    assert_eq!(told.join(" "), expected);
}

/// What is cut off again and again waits, and is told like every wait.
#[test]
fn an_interruption_is_told_once_it_makes_the_loop_wait() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played.end(Stage::Baseline, checked());
    let lost = || RunOutcome::interrupted(kernel::InterruptCause::KeeperLost, "its keeper died");
    let mut n_silent = 0;
    while played.state.waits().is_empty() {
        assert!(n_silent < 50, "it never waits");
        played.end(Stage::Implement, lost());
        n_silent += 1;
    }
    let events = public_events(&played.records);
    let waiting: Vec<&PublicEvent> = events
        .iter()
        .filter(|event| short(event.name) == "waiting")
        .collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].data["cause"], "its keeper died");
    assert!(waiting[0].data["until"].is_i64());
}

/// Checks that say no are the judgment, and are told as one with what they showed.
#[test]
fn red_checks_are_told_as_a_judgment() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    let facts = kernel::Facts {
        measured: true,
        broken: vec!["test_old".to_owned()],
        feedback: "mend test_old".to_owned(),
        ..kernel::Facts::default()
    };
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, worked())
        .end(
            Stage::Check,
            RunOutcome::Checked {
                passed: false,
                report: "1 red".to_owned(),
                facts: Some(Box::new(facts)),
            },
        );
    let events = public_events(&played.records);
    let told: Vec<&str> = names(&events).into_iter().map(short).collect();
    assert_eq!(
        told.join(" "),
        "start plan implement review judge story.retry"
    );
    let judged = data(&played, "judge", 0);
    assert_eq!(judged["testResults"]["broken"], json!(["test_old"]));
    assert_eq!(judged["testResults"]["summary"], "1 red");
    assert_eq!(judged["feedback"], "mend test_old");
    assert_eq!(judged["commitSha"], data(&played, "review", 0)["commitSha"]);
}

#[test]
fn every_event_has_an_id_of_its_own_and_the_number_of_its_record() {
    let played = eventful();
    let events = public_events(&played.records);
    let ids: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), events.len(), "no id twice");
    for event in &events {
        let record = &played.records[usize::try_from(event.record).expect("small") - 1];
        assert_eq!(event.at_ms, record.at_ms, "{}", event.id);
        assert!(
            event.id.starts_with(&format!("L-{}-", event.record)),
            "{}",
            event.id
        );
    }
    assert_eq!(
        events,
        public_events(&played.records),
        "the same when read again"
    );
}

#[test]
fn a_start_is_told_as_it_can_be_sent_again() {
    let mut spec = spec(Flow::Judged, &["a"]);
    spec.project = "/home/you/shop".to_owned();
    spec.prd_path = "/home/you/shop/plans/prd.json".to_owned();
    spec.budget = Some(kernel::TimeBudget {
        total_ms: 5_400_000,
        implement_cap_ms: 1,
        check_cap_ms: 1,
        judge_cap_ms: 1,
        review_cap_ms: 1,
        prove_cap_ms: 1,
    });
    spec.settings = r#"{"agents": {"codex": {"model": "large"}}}"#.into();
    let played = Played::start(spec.clone());
    let start = data(&played, "start", 0);
    assert_eq!(start["prdPath"], "plans/prd.json");
    assert_eq!(start["budget"], json!({ "hours": 1.5 }));
    spec.prd_path = "/elsewhere/prd.json".to_owned();
    let mut played = Played::start(spec);
    assert_eq!(data(&played, "start", 0)["prdPath"], "/elsewhere/prd.json");
    played.reach(Stage::Baseline);
    assert_eq!(data(&played, "implement", 0)["model"], "large");
}

#[test]
fn whoever_did_the_work_is_told_a_stand_in_too() {
    let played = eventful();
    assert_eq!(
        data(&played, "agent_switched", 1)["to"],
        data(&played, "agent_switched", 0)["to"]
    );
    assert_eq!(data(&played, "story.pass", 0)["tool"], "claude");
    assert_eq!(data(&played, "story.fail", 0)["tool"], "claude");
}
