//! A writer that is killed without warning, again and again: every acknowledged record is stored.

use std::path::Path;

use journal::{NewRecord, Record};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::child;
use crate::support::{Scratch, open};

const KILLS: u32 = 20;
const LOOP: &str = "one";

/// Batches of one to four records, so that an incomplete batch would be noticed.
fn batch_size(batch: u64) -> u64 {
    1 + batch % 4
}

fn body(batch: u64, index: u64) -> String {
    format!(r#"{{"batch":{batch},"index":{index}}}"#)
}

/// The content of the journal after this many complete batches.
fn expected_bodies(batches: u64) -> Vec<String> {
    (0..batches)
        .flat_map(|batch| (0..batch_size(batch)).map(move |index| body(batch, index)))
        .collect()
}

/// The child: continues where the journal ends, and reports each number only after the append has
/// returned.
pub(crate) fn append_for_ever(state_dir: &Path) {
    let journal = open(state_dir);
    let mut last = journal.last(LOOP).unwrap();
    let mut batch = whole_batches(last);
    loop {
        let bodies: Vec<_> = (0..batch_size(batch))
            .map(|index| body(batch, index))
            .collect();
        let records: Vec<_> = bodies
            .iter()
            .map(|body| NewRecord {
                at_ms: 7,
                kind: "Noted",
                body,
            })
            .collect();
        last = journal.append(LOOP, last, None, &records).unwrap();
        child::answer(&last.to_string());
        batch += 1;
    }
}

/// How many batches make up this many records; a rest means that an append was stored in part.
fn whole_batches(last: u64) -> u64 {
    let mut batch = 0;
    let mut sum = 0;
    while sum < last {
        sum += batch_size(batch);
        batch += 1;
    }
    assert_eq!(sum, last, "an append is stored in part");
    batch
}

#[test]
fn every_acknowledged_record_survives_kill_9() {
    let scratch = Scratch::new();
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut acknowledged = 0;
    for round in 0..KILLS {
        let answers_to_wait_for = 1 + random.next_u32() % 12;
        acknowledged = run_and_kill(&scratch, answers_to_wait_for, random.next_u32() % 20_000)
            .max(acknowledged);
        let records = open(&scratch.state_dir()).read(LOOP, 0).unwrap();
        let last = records.last().map_or(0, |record: &Record| record.number);
        assert!(
            last >= acknowledged,
            "round {round}: {acknowledged} was acknowledged, {last} is there"
        );
        let bodies: Vec<_> = records.into_iter().map(|record| record.body).collect();
        assert_eq!(
            bodies,
            expected_bodies(whole_batches(last)),
            "round {round}"
        );
    }
}

/// Returns the last number that the child reported, including any that it wrote while it was being
/// killed.
fn run_and_kill(scratch: &Scratch, answers_to_wait_for: u32, spins: u32) -> u64 {
    let (mut process, mut answers) =
        child::start(&child::command_words(), "append", &scratch.state_dir());
    let mut last = None;
    for _ in 0..answers_to_wait_for {
        last = child::next_answer(&mut answers);
    }
    // The child reports right after a commit. Without a pause of varying length the kill would
    // always hit that moment.
    for _ in 0..spins {
        std::hint::spin_loop();
    }
    process.kill().unwrap();
    process.wait().unwrap();
    while let Some(answer) = child::next_answer(&mut answers) {
        last = Some(answer);
    }
    last.unwrap().parse().unwrap()
}
