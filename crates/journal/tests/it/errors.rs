//! The errors of each call, and its results in edge cases.

use journal::{AppendError, Journal, JournalError, LoopRow, NewRecord};

use crate::support::{Scratch, append, append_at, bodies, noted, shown};

#[test]
fn an_append_answers() {
    for (expected_number, bodies, answer) in [
        (2, &["c"][..], "3"),
        (2, &["c", "d", "e"], "5"),
        (2, &[], "2"),
        (0, &["c"], "the loop's last record is number 2, not 0"),
        (1, &["c"], "the loop's last record is number 2, not 1"),
        (3, &["c"], "the loop's last record is number 2, not 3"),
        (
            u64::MAX,
            &["c"],
            "the loop's last record is number 2, not 18446744073709551615",
        ),
        (0, &[], "the loop's last record is number 2, not 0"),
    ] {
        let scratch = Scratch::new();
        let journal = scratch.open();
        append(&journal, "one", &["a", "b"]).unwrap();
        let seen = append_at(&journal, "one", expected_number, bodies);
        assert_eq!(
            shown(seen),
            answer,
            "expected {expected_number}, {bodies:?}"
        );
    }
}

#[test]
fn a_refused_append_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "one", &["a"]).unwrap();
    append_at(&journal, "one", 0, &["b", "c"]).unwrap_err();
    append_at(&journal, "unheard-of", 4, &["b"]).unwrap_err();
    assert_eq!(journal.read("one", 0).unwrap(), [noted(1, "a")]);
    assert_eq!(journal.loops().unwrap(), [row("one", 1, None)]);
}

#[test]
fn a_read_starts_after() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "one", &["a", "b", "c"]).unwrap();
    let all = [noted(1, "a"), noted(2, "b"), noted(3, "c")];
    for (after, expected) in [
        (0, &all[..]),
        (1, &all[1..]),
        (3, &[]),
        (4, &[]),
        (u64::MAX, &[]),
    ] {
        assert_eq!(
            journal.read("one", after).unwrap(),
            expected,
            "after {after}"
        );
    }
    assert_eq!(journal.read("unheard-of", 0).unwrap(), []);
    assert_eq!(journal.last("unheard-of").unwrap(), 0);
}

/// Texts and times come back exactly as they were, whatever they contain.
#[test]
fn a_record_comes_back_as_it_was() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let large = "x".repeat(3_000_000);
    for (index, (at_ms, body)) in [
        (i64::MIN, ""),
        (i64::MAX, "{\"a\":\"\\u0000\"}"),
        (0, "nul \0 inside"),
        (-1, "日本 🚂"),
        (1, &large),
    ]
    .into_iter()
    .enumerate()
    {
        let loop_id = format!("löop \0 {index}");
        journal
            .append(
                &loop_id,
                0,
                None,
                &[NewRecord {
                    at_ms,
                    kind: "ki'nd",
                    body,
                }],
            )
            .unwrap();
        let seen = journal.read(&loop_id, 0).unwrap().remove(0);
        assert!(
            (seen.number, seen.at_ms, seen.kind.as_str()) == (1, at_ms, "ki'nd")
                && seen.body == body
        );
    }
}

#[test]
fn a_quarantined_loop_can_be_read_and_removed_but_not_appended_to() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "bad", &["a"]).unwrap();
    append(&journal, "good", &["b"]).unwrap();
    journal.quarantine("bad", "record 1 is odd").unwrap();
    journal.quarantine("bad", "a later reason").unwrap();
    journal.quarantine("unheard-of", "never begun").unwrap();
    for (loop_id, expected_number, answer) in [
        ("bad", 1, "the loop is quarantined: record 1 is odd"),
        ("bad", 0, "the loop is quarantined: record 1 is odd"),
        ("unheard-of", 0, "the loop is quarantined: never begun"),
        ("good", 1, "2"),
    ] {
        assert_eq!(
            shown(append_at(&journal, loop_id, expected_number, &["c"])),
            answer,
            "{loop_id}"
        );
    }
    let odd = row("bad", 1, Some("record 1 is odd"));
    assert_eq!(
        journal.loops().unwrap(),
        [
            odd,
            row("good", 2, None),
            row("unheard-of", 0, Some("never begun"))
        ]
    );
    assert_eq!(bodies(&journal, "bad"), ["a"]);
    for loop_id in ["bad", "unheard-of", "unheard-of"] {
        journal.remove(loop_id).unwrap();
    }
    assert_eq!(journal.loops().unwrap(), [row("good", 2, None)]);
    assert_eq!(append_at(&journal, "bad", 0, &["anew"]).unwrap(), 1);
    assert_eq!(
        (bodies(&journal, "bad"), bodies(&journal, "good")),
        (vec!["anew".into()], vec!["b".into(), "c".into()])
    );
}

#[test]
fn a_newer_schema_is_refused_untouched() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "one", &["a"]).unwrap();
    scratch.damage("PRAGMA user_version = 2");
    let message = "the journal has schema version 2, this program knows versions up to 1; \
                   use the newer program that wrote it";
    assert_eq!(shown(Journal::open(&scratch.state_dir())), message);
    // An old program that had the file open during the migration must not write to it either.
    assert_eq!(shown(append_at(&journal, "one", 1, &["b"])), message);
    assert_eq!(shown(journal.read("one", 0)), message);
    scratch.damage("PRAGMA user_version = 1");
    assert_eq!(append_at(&journal, "one", 1, &["b"]).unwrap(), 2);
}

#[test]
fn a_file_that_is_no_database_is_refused_untouched() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.state_dir()).unwrap();
    let text = "somebody's notes\n".repeat(100);
    std::fs::write(scratch.database(), &text).unwrap();
    let said = shown(Journal::open(&scratch.state_dir()));
    let expected =
        "cannot read the schema version: the journal is damaged (file is not a database)";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(std::fs::read_to_string(scratch.database()).unwrap(), text);
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    std::fs::write(scratch.state_dir(), "a file is in the way").unwrap();
    let error = Journal::open(&scratch.state_dir()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot make the folder `{}`", scratch.state_dir().display())
    );
    assert!(matches!(error, JournalError::File { .. }), "{error:?}");
}

#[test]
fn threads_can_share_a_journal() {
    fn check<T: Send + Sync>() {}
    check::<Journal>();
    check::<AppendError>();
}

fn row(loop_id: &str, last: u64, quarantine: Option<&str>) -> LoopRow {
    LoopRow {
        loop_id: loop_id.to_owned(),
        last,
        quarantine: quarantine.map(str::to_owned),
    }
}
