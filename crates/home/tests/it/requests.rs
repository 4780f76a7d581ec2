//! What faces may ask for, and what is refused.

use std::sync::Barrier;

use home::{RequestError, load, request, start};
use journal::{AppendError, Journal};
use kernel::{Event, RunOutcome};

use crate::support::{Scratch, ended, play_to_first_run, record, spec};

fn cancel() -> Event {
    Event::CancelRequested {
        reason: "not wanted".to_owned(),
    }
}

fn answer(choice: &str) -> Event {
    Event::Answered {
        choice: choice.to_owned(),
        story: None,
    }
}

#[test]
fn a_request_is_recorded() {
    let journal = Journal::in_memory().expect("a journal");
    start(&journal, spec("L")).expect("started");
    request(&journal, "L", &Event::PauseRequested).expect("taken");
    request(&journal, "L", &cancel()).expect("taken");
    let state = load(&journal, "L").expect("loaded").state;
    assert!(state.is_paused());
    assert_eq!(state.cancel_reason(), Some("not wanted"));
}

#[test]
fn a_request_that_makes_no_sense_leaves_no_record() {
    let journal = Journal::in_memory().expect("a journal");
    let run = play_to_first_run(&journal, "L");
    let refused = |event: &Event| {
        let before = journal.row("L").expect("read");
        let error = request(&journal, "L", event).expect_err("refused");
        assert!(matches!(error, RequestError::Illegal(_)), "{error:?}");
        assert_eq!(journal.row("L").expect("read"), before);
    };
    refused(&answer("retry"));
    let question = RunOutcome::NeedsHuman {
        question: "who are you?".to_owned(),
        free: false,
    };
    record(&journal, "L", &ended(run, question));
    refused(&answer("whatever"));
    request(&journal, "L", &answer("retry")).expect("now somebody asks");
}

#[test]
fn a_loop_cannot_begin_twice_or_be_asked_before_it_began() {
    let journal = Journal::in_memory().expect("a journal");
    let error = request(&journal, "L", &cancel()).expect_err("nobody knows it");
    assert!(
        matches!(error, RequestError::Load(home::LoadError::Missing)),
        "{error:?}"
    );
    let mut doubled = spec("L");
    doubled.stories.extend_from_within(..);
    let error = start(&journal, doubled).expect_err("two stories of one id");
    assert!(matches!(error, RequestError::Illegal(_)), "{error:?}");
    assert_eq!(journal.loops().expect("read"), []);
    start(&journal, spec("L")).expect("started");
    let error = start(&journal, spec("L")).expect_err("it is there");
    let is_conflict = matches!(error, RequestError::Append(AppendError::Conflict { .. }));
    assert!(is_conflict, "{error:?}");
    journal.quarantine("L", "a bad record").expect("set apart");
    let error = request(&journal, "L", &cancel()).expect_err("it is set apart");
    assert!(matches!(error, RequestError::Append(_)), "{error:?}");
}

/// A request that finds the journal longer than it was is made again, on what the loop is now.
#[test]
fn requests_at_the_same_time_are_all_recorded() {
    const REQUESTS: usize = 20;
    const ASKERS: usize = 4;
    let scratch = Scratch::new();
    start(&scratch.journal(), spec("L")).expect("started");
    let together = Barrier::new(ASKERS);
    std::thread::scope(|scope| {
        for _ in 0..ASKERS {
            scope.spawn(|| {
                let journal = scratch.journal();
                together.wait();
                for _ in 0..REQUESTS {
                    request(&journal, "L", &Event::PauseRequested).expect("taken");
                }
            });
        }
    });
    let loaded = load(&scratch.journal(), "L").expect("loaded");
    assert_eq!(loaded.records.len(), 1 + ASKERS * REQUESTS);
}
