//! Reading loops from the journal.

use home::{LoadError, load};
use journal::Journal;
use kernel::{EndReason, Event, FaultCause, RunOutcome};

use crate::support::{ended, play_to_first_run, record, record_text, spec};

#[test]
fn a_loop_is_what_its_records_say() {
    let journal = Journal::in_memory().expect("a journal");
    let run = play_to_first_run(&journal, "L");
    let loaded = load(&journal, "L").expect("loaded");
    let kinds: Vec<&str> = loaded
        .records
        .iter()
        .map(|record| record.event.kind())
        .collect();
    let expected = [
        "loop-started",
        "loop-prepared",
        "story-planned",
        "run-started",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((loaded.last, loaded.state.running()), (4, vec![run]));
}

/// Whoever follows a loop takes in what is new, and sees what a fresh look would see.
#[test]
fn catching_up_from_any_record_is_loading_all() {
    let whole = Journal::in_memory().expect("a journal");
    let run = play_to_first_run(&whole, "L");
    let outcome = RunOutcome::fault(FaultCause::Network, "no network");
    record(&whole, "L", &ended(run, outcome));
    record(&whole, "L", &Event::PauseRequested);
    record(&whole, "L", &Event::ResumeRequested);
    let all = load(&whole, "L").expect("loaded");
    for n_seen in 1..all.records.len() {
        let journal = Journal::in_memory().expect("a journal");
        for stamped in &all.records[..n_seen] {
            record(&journal, "L", &stamped.event);
        }
        let mut follower = load(&journal, "L").expect("loaded");
        assert!(!follower.catch_up(&journal, "L").expect("nothing is new"));
        for stamped in &all.records[n_seen..] {
            record(&journal, "L", &stamped.event);
        }
        assert!(follower.catch_up(&journal, "L").expect("caught up"));
        let fresh = load(&journal, "L").expect("loaded");
        assert_eq!(follower.state, fresh.state, "after {n_seen}");
        assert_eq!(follower.records, fresh.records, "after {n_seen}");
        assert_eq!(follower.last, fresh.last, "after {n_seen}");
    }
}

#[test]
fn a_loop_that_cannot_be_read_says_why() {
    let prepared = r#"{"type":"loop-prepared"}"#;
    for (kind, body, expected) in [
        (
            "loop-prepared",
            "{",
            "record 2 is damaged: EOF while parsing an object at line 1 column 1",
        ),
        (
            "loop-ended",
            prepared,
            "record 2 is damaged: it is called `loop-ended` and says `loop-prepared`",
        ),
        (
            "wait-ended",
            r#"{"type":"wait-ended","run":{"story":"one","attempt":1,"stage":"check","try_number":1}}"#,
            "record 2 cannot be replayed: story `one` is not being worked on (`wait-ended`)",
        ),
    ] {
        let journal = Journal::in_memory().expect("a journal");
        home::start(&journal, spec("L")).expect("started");
        let mut follower = load(&journal, "L").expect("loaded");
        let before = follower.clone();
        record_text(&journal, "L", kind, body);
        let error = load(&journal, "L").expect_err("unreadable");
        assert_eq!(error.to_string(), expected);
        let error = follower.catch_up(&journal, "L").expect_err("unreadable");
        assert_eq!(error.to_string(), expected);
        assert_eq!(
            (follower.state, follower.last),
            (before.state, before.last),
            "what was read before stays"
        );
    }
    let journal = Journal::in_memory().expect("a journal");
    let nobody = load(&journal, "L").expect_err("nobody knows it");
    assert!(matches!(nobody, LoadError::Missing), "{nobody:?}");
    let end = Event::LoopEnded {
        reason: EndReason::Completed,
    };
    record(&journal, "L", &end);
    let first = load(&journal, "L").expect_err("no beginning");
    assert!(
        matches!(first, LoadError::Illegal { number: 1, .. }),
        "{first:?}"
    );
}
