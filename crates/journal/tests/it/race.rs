//! Several writers at once, each with its own connection: only one of them can win each race.

use std::sync::Barrier;
use std::thread;

use journal::AppendError;

use crate::support::{Scratch, append_at, bodies};

const ROUNDS: u64 = 30;
const RACERS: [&str; 2] = ["left", "right"];

/// Both see the same last number and append at once: exactly one wins, and the other learns the new
/// last number.
#[test]
fn of_two_appends_with_the_same_expected_number_one_wins() {
    let scratch = Scratch::new();
    let journals = [scratch.open(), scratch.open()];
    let start = Barrier::new(2);
    let race = &|index: usize| -> Vec<_> {
        let run = |round| {
            start.wait();
            append_at(&journals[index], "one", round, &[RACERS[index]])
        };
        (0..ROUNDS).map(run).collect()
    };
    let [left, right] = thread::scope(|scope| {
        let handles = [0, 1].map(|index| scope.spawn(move || race(index)));
        handles.map(|handle| handle.join().unwrap())
    });
    let winners: Vec<_> = left
        .iter()
        .zip(&right)
        .zip(0..)
        .map(|((left, right), round)| winner(left, right, round))
        .collect();
    assert_eq!(bodies(&journals[0], "one"), winners);
}

fn winner(
    left: &Result<u64, AppendError>,
    right: &Result<u64, AppendError>,
    round: u64,
) -> &'static str {
    let (won, lost, name) = if left.is_ok() {
        (left, right, RACERS[0])
    } else {
        (right, left, RACERS[1])
    };
    assert_eq!(*won.as_ref().unwrap(), round + 1);
    assert!(
        matches!(lost, Err(AppendError::Conflict { expected, found }) if (*expected, *found) == (round, round + 1)),
        "round {round}: {lost:?}"
    );
    name
}

/// Different loops do not get in each other's way, and waiting for the write lock is not an error.
#[test]
fn writers_of_different_loops_all_get_through() {
    let scratch = Scratch::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let journal = scratch.open();
            scope.spawn(move || {
                for number in 0..ROUNDS {
                    append_at(&journal, &format!("loop-{writer}"), number, &["a"]).unwrap();
                }
            });
        }
    });
    let journal = scratch.open();
    for writer in 0..4 {
        assert_eq!(
            journal.read(&format!("loop-{writer}"), 0).unwrap().len() as u64,
            ROUNDS
        );
    }
}

/// The file does not exist yet, and all of them try to create it.
#[test]
fn a_new_journal_can_be_opened_by_many_at_once() {
    let scratch = Scratch::new();
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for opener in 0..8 {
            let (scratch, start) = (&scratch, &start);
            scope.spawn(move || {
                start.wait();
                append_at(&scratch.open(), &format!("loop-{opener}"), 0, &["a"]).unwrap();
            });
        }
    });
    assert_eq!(scratch.open().loops().unwrap().len(), 8);
}

/// Threads that share one journal are serialised by it.
#[test]
fn threads_that_share_one_journal_take_turns() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let won: u64 = thread::scope(|scope| {
        let count = || {
            (0..ROUNDS)
                .filter(|round| append_at(&journal, "one", *round, &["a"]).is_ok())
                .count() as u64
        };
        let handles = [(); 4].map(|()| scope.spawn(count));
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .sum()
    });
    assert_eq!(journal.read("one", 0).unwrap().len() as u64, won);
}
