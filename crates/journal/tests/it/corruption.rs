//! Damage done behind the journal's back: it is found and named, and it affects only its own loop.

use std::fs::File;

use journal::{AppendError, JournalError, ReadError};

use crate::support::{Scratch, append, append_at, bodies, shown};

const CHECKSUM: &str = "its checksum fits neither its content nor the record before it";
const MISSING: &str = "it is missing";
const TYPE: &str = "its content is not of the right type";

#[test]
fn damage_to_one_loop_is_named_and_harms_no_other() {
    for (what, sql, number, why) in [
        (
            "a body",
            "UPDATE records SET body = 'X' WHERE loop_id = 'bad' AND number = 3",
            3,
            CHECKSUM,
        ),
        (
            "a kind",
            "UPDATE records SET kind = 'X' WHERE loop_id = 'bad' AND number = 1",
            1,
            CHECKSUM,
        ),
        (
            "a time",
            "UPDATE records SET at_ms = 8 WHERE loop_id = 'bad' AND number = 5",
            5,
            CHECKSUM,
        ),
        (
            "a checksum",
            "UPDATE records SET checksum = zeroblob(32) WHERE loop_id = 'bad' AND number = 2",
            2,
            CHECKSUM,
        ),
        (
            "not text",
            "UPDATE records SET body = CAST(x'ff' AS TEXT) WHERE loop_id = 'bad' AND number = 4",
            4,
            TYPE,
        ),
    ] {
        check(what, sql, number, why);
    }
}

#[test]
fn a_missing_or_misplaced_record_is_named_and_harms_no_other_loop() {
    for (what, sql, number, why) in [
        (
            "first gone",
            "DELETE FROM records WHERE loop_id = 'bad' AND number = 1",
            1,
            MISSING,
        ),
        (
            "middle gone",
            "DELETE FROM records WHERE loop_id = 'bad' AND number = 3",
            3,
            MISSING,
        ),
        (
            "last gone",
            "DELETE FROM records WHERE loop_id = 'bad' AND number = 5",
            5,
            MISSING,
        ),
        (
            "all gone",
            "DELETE FROM records WHERE loop_id = 'bad'",
            1,
            MISSING,
        ),
        ("swapped", SWAP_2_AND_4, 2, CHECKSUM),
        ("closed gap", CLOSE_GAP_AT_3, 3, CHECKSUM),
        ("of another loop", COPY_FROM_GOOD, 2, CHECKSUM),
        (
            "one too many",
            "UPDATE loops SET last = 4 WHERE loop_id = 'bad'",
            5,
            "it stands after the loop's last record",
        ),
        (
            "another head",
            "UPDATE loops SET head = zeroblob(32) WHERE loop_id = 'bad'",
            5,
            "it is not the record that was appended last",
        ),
        (
            "no loop row",
            "PRAGMA foreign_keys = OFF; DELETE FROM loops WHERE loop_id = 'bad'",
            1,
            "it stands after the loop's last record",
        ),
    ] {
        check(what, sql, number, why);
    }
}

const SWAP_2_AND_4: &str = "
    UPDATE records SET number = 1000 WHERE loop_id = 'bad' AND number = 2;
    UPDATE records SET number = 2 WHERE loop_id = 'bad' AND number = 4;
    UPDATE records SET number = 4 WHERE loop_id = 'bad' AND number = 1000";

const CLOSE_GAP_AT_3: &str = "
    DELETE FROM records WHERE loop_id = 'bad' AND number = 3;
    UPDATE records SET number = 3 WHERE loop_id = 'bad' AND number = 4;
    UPDATE records SET number = 4 WHERE loop_id = 'bad' AND number = 5;
    UPDATE loops SET last = 4 WHERE loop_id = 'bad'";

const COPY_FROM_GOOD: &str = "
    DELETE FROM records WHERE loop_id = 'bad' AND number = 2;
    INSERT INTO records SELECT 'bad', number, at_ms, kind, body, checksum FROM records
        WHERE loop_id = 'good' AND number = 2";

fn check(what: &str, sql: &str, number: u64, why: &str) {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let written = ["a", "b", "c", "d", "e"];
    append(&journal, "bad", &written).unwrap();
    append(&journal, "good", &written).unwrap();
    drop(journal);
    scratch.damage(sql);
    let journal = scratch.open();
    assert_eq!(
        shown(journal.read("bad", 0)),
        format!("record {number} is corrupt: {why}"),
        "{what}"
    );
    assert_eq!(bodies(&journal, "good"), written, "{what}");
    assert!(
        journal
            .loops()
            .unwrap()
            .iter()
            .any(|row| row.loop_id == "good" && row.last == 5),
        "{what}"
    );
    assert_eq!(append(&journal, "good", &["f"]).unwrap(), 6, "{what}");
    journal.quarantine("bad", "corrupt").unwrap();
    journal.remove("bad").unwrap();
    assert_eq!(append(&journal, "bad", &["anew"]).unwrap(), 1, "{what}");
    assert_eq!(bodies(&journal, "bad"), ["anew"], "{what}");
}

/// A reader that continues after record 3 learns of damage after it, and not of damage before it.
#[test]
fn a_read_from_the_middle_verifies_what_it_returns() {
    for (damaged, expected) in [(2, None), (3, Some(3)), (4, Some(4)), (5, Some(5))] {
        let scratch = Scratch::new();
        let journal = scratch.open();
        append(&journal, "one", &["a", "b", "c", "d", "e"]).unwrap();
        scratch.damage(&format!("DELETE FROM records WHERE number = {damaged}"));
        let seen = match journal.read("one", 3) {
            Ok(_) => None,
            Err(ReadError::Corrupt { number, .. }) => Some(number),
            Err(error) => unreachable!("the journal itself is sound: {error}"),
        };
        assert_eq!(seen, expected, "record {damaged} is gone");
    }
}

/// Flips bits in the file itself, as a bad disk would.
#[test]
fn a_flipped_bit_in_the_file_is_found() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(
        &journal,
        "bad",
        &["first", "the words to look for", "third"],
    )
    .unwrap();
    append(&journal, "good", &["a"]).unwrap();
    drop(journal);
    let mut bytes = std::fs::read(scratch.database()).unwrap();
    let words = b"the words to look for";
    let at = bytes
        .windows(words.len())
        .position(|window| window == words)
        .unwrap();
    bytes[at + 4] ^= 1;
    std::fs::write(scratch.database(), bytes).unwrap();
    let journal = scratch.open();
    assert_eq!(
        shown(journal.read("bad", 0)),
        format!("record 2 is corrupt: {CHECKSUM}")
    );
    assert_eq!(bodies(&journal, "good"), ["a"]);
}

/// What was written behind the cut would leave a hole, which the database would later be filled from.
#[test]
fn a_log_that_is_cut_under_an_open_journal_is_noticed_and_read_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    for body in ["a", "b", "c", "d", "e", "f"] {
        append(&journal, "one", &[body]).unwrap();
    }
    let log = scratch.state_dir().join("journal.db-wal");
    let log = File::options().write(true).open(log).unwrap();
    let length = log.metadata().unwrap().len();
    log.set_len(length - 1000).unwrap();
    let damaged = |error: &JournalError| matches!(error, JournalError::Damaged { .. });
    assert!(journal.change_mark().is_err_and(|error| damaged(&error)));
    assert!(journal.loops().is_err_and(|error| damaged(&error)));
    let appended = append_at(&journal, "one", 6, &["g"]);
    assert!(
        matches!(&appended, Err(AppendError::Journal(error)) if damaged(error)),
        "{appended:?}"
    );
    drop(journal);
    let again = scratch.open();
    again.check().unwrap();
    assert_eq!(bodies(&again, "one"), ["a", "b", "c", "d", "e"]);
}
