//! Every format that was ever released can still be read. A file under `tests/formats` is never
//! regenerated.

use std::fs;
use std::path::Path;

use journal::{LoopRow, Record};

use crate::support::{Scratch, append_at, shown};

#[test]
fn a_journal_of_version_1_is_read_and_written() {
    let scratch = Scratch::new();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/v1.db");
    fs::create_dir(scratch.state_dir()).unwrap();
    fs::copy(stored, scratch.database()).unwrap();
    let journal = scratch.open();
    let row = |loop_id: &str, last, quarantine: Option<&str>| LoopRow {
        loop_id: loop_id.to_owned(),
        last,
        quarantine: quarantine.map(str::to_owned),
    };
    assert_eq!(
        journal.loops().unwrap(),
        [
            row("loop-1", 3, None),
            row("loop-2", 1, Some("record 1 makes no sense")),
            row("loop-3", 0, Some("empty"))
        ]
    );
    assert_eq!(
        journal.read("loop-1", 0).unwrap(),
        [
            record(
                1,
                1_700_000_000_000,
                "LoopStarted",
                r#"{"prd":"prds/login.md"}"#
            ),
            record(
                2,
                1_700_000_000_001,
                "StoryPlanned",
                r#"{"story":"lögin-1 🚂"}"#
            ),
            record(3, -1, "StoryJudged", ""),
        ]
    );
    assert_eq!(
        journal.read("loop-2", 0).unwrap(),
        [record(1, 0, "LoopStarted", "{}")]
    );
    assert_eq!(shown(append_at(&journal, "loop-1", 3, &["more"])), "4");
    assert_eq!(
        shown(append_at(&journal, "loop-2", 1, &["more"])),
        "the loop is quarantined: record 1 makes no sense"
    );
    assert_eq!(
        journal
            .take_lease("worker", "bert", 1_700_000_000_099, 100)
            .unwrap(),
        None
    );
    assert_eq!(
        journal
            .take_lease("worker", "bert", 1_700_000_000_100, 100)
            .unwrap()
            .unwrap()
            .token(),
        3
    );
}

fn record(number: u64, at_ms: i64, kind: &str, body: &str) -> Record {
    Record {
        number,
        at_ms,
        kind: kind.to_owned(),
        body: body.to_owned(),
    }
}
