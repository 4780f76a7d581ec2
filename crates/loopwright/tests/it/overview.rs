//! `list`, and `status` without an id: what is remembered of loops that are over never shows in what
//! is told of them.

use std::fs;
use std::path::{Path, PathBuf};

use home::request;
use journal::{Journal, NewRecord};
use kernel::{EndReason, Event};
use serde_json::Value;

use crate::support::{Answer, TestEnv};

/// A state folder with eleven loops of an older version: five are over, six are not.
struct Folder {
    env: TestEnv,
}

impl Folder {
    fn new() -> Self {
        let folder = Self {
            env: TestEnv::new(),
        };
        fs::create_dir_all(folder.home()).expect("a folder");
        let fixture = "tests/fixtures/journals/journal.db";
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
        fs::copy(fixture, folder.home().join("journal.db")).expect("copied");
        folder
    }

    fn home(&self) -> PathBuf {
        self.env.path(".local/state/loopwright")
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.home()).expect("a journal")
    }

    fn memory(&self) -> PathBuf {
        self.home().join("cache.db")
    }

    /// All that is told of all loops, as text and as JSON.
    fn list(&self) -> (String, Value) {
        let text = self.env.run(&["list"]);
        assert_eq!(text.exit, 0, "{}", text.whole());
        (text.whole(), self.loops("list"))
    }

    fn loops(&self, verb: &str) -> Value {
        self.env.run(&[verb, "--json"]).json()["result"]["loops"].clone()
    }

    /// The status of one loop as the list has it; none if the list does not have it.
    fn status(&self, loop_id: &str) -> Option<String> {
        let loops = self.loops("list");
        let found = loops
            .as_array()?
            .iter()
            .find(|one| one["loopId"] == loop_id)?;
        found["status"].as_str().map(str::to_owned)
    }

    /// The id of the first loop with this status.
    fn first(&self, status: &str) -> String {
        let loops = self.loops("list");
        let mut all = loops.as_array().expect("loops").iter();
        let found = all
            .find(|one| one["status"] == status)
            .expect("one of them");
        found["loopId"].as_str().expect("an id").to_owned()
    }

    /// Ends a loop that waits for a person.
    fn cancel(&self, loop_id: &str) {
        let journal = self.journal();
        let why = "not wanted".to_owned();
        let asked = Event::CancelRequested {
            reason: why.clone(),
        };
        request(&journal, loop_id, &asked).expect("asked");
        let ended = Event::LoopEnded {
            reason: EndReason::Cancelled { why },
        };
        request(&journal, loop_id, &ended).expect("ended");
    }

    /// A loop with the records of another one, under another id and at another time.
    fn copy(&self, from: &str, to: &str, later_ms: i64) {
        let journal = self.journal();
        let records = journal.read(from, 0).expect("records");
        for record in records {
            let new = NewRecord {
                at_ms: record.at_ms + later_ms,
                kind: &record.kind,
                body: &record.body.replace(from, to),
            };
            journal
                .append(to, record.number - 1, None, &[new])
                .expect("appended");
        }
    }
}

#[test]
fn a_list_is_the_same_with_and_without_its_memory() {
    let folder = Folder::new();
    let first = folder.list();
    assert!(folder.memory().exists(), "something was remembered");
    assert_eq!(folder.list(), first, "from memory");
    fs::remove_file(folder.memory()).expect("removed");
    assert_eq!(folder.list(), first, "without it");
    fs::write(folder.memory(), "no database at all".repeat(1000)).expect("written");
    assert_eq!(folder.list(), first, "with something else in its place");
    assert_eq!(folder.list(), first, "and again");
    // A memory that cannot be used at all: there is a folder in its place.
    fs::remove_file(folder.memory()).expect("removed");
    fs::create_dir(folder.memory()).expect("a folder");
    assert_eq!(folder.list(), first, "where none can be");
}

#[test]
fn a_damaged_memory_changes_nothing() {
    let folder = Folder::new();
    let first = folder.list();
    let sound = fs::read(folder.memory()).expect("read");
    for at in (0..sound.len()).step_by(sound.len() / 16) {
        let mut damaged = sound.clone();
        let end = damaged.len().min(at + 200);
        damaged[at..end].fill(0x2a);
        fs::write(folder.memory(), damaged).expect("written");
        assert_eq!(folder.list(), first, "damage at {at}");
    }
    fs::write(folder.memory(), &sound[..sound.len() / 2]).expect("cut");
    assert_eq!(folder.list(), first, "cut in half");
}

#[test]
fn a_loop_that_ends_or_goes_is_shown_as_it_is_now() {
    let folder = Folder::new();
    let asking = folder.first("needs_human");
    assert_eq!(folder.status(&asking).as_deref(), Some("needs_human"));
    folder.cancel(&asking);
    assert_eq!(folder.status(&asking).as_deref(), Some("cancelled"));
    assert_eq!(
        folder.status(&asking).as_deref(),
        Some("cancelled"),
        "from memory"
    );

    // The same id with as many records, as after a backup was put back.
    let n_records = folder.journal().last(&asking).expect("read");
    let completed = folder.first("completed");
    folder.journal().remove(&asking).expect("removed");
    assert_eq!(folder.status(&asking), None);
    folder.copy(&completed, &asking, 0);
    assert_eq!(folder.status(&asking).as_deref(), Some("completed"));
    assert_ne!(n_records, 0);

    folder
        .journal()
        .quarantine(&asking, "a bad record")
        .expect("set apart");
    assert_eq!(folder.status(&asking).as_deref(), Some("failed"));
    let (text, _) = folder.list();
    assert!(text.contains("quarantined  a bad record"), "{text}");
}

#[test]
fn status_without_an_id_shows_what_is_live_and_what_ended_last() {
    let folder = Folder::new();
    let all = folder.loops("list");
    assert_eq!(folder.loops("status"), all, "few loops are all shown");
    let completed = folder.first("completed");
    // Twelve that ended later than all others, the first of them last of all.
    for number in 0..12 {
        let id = format!("01ZZZZZZZZZZZZZZZZZZZZZZ{number:02}");
        folder.copy(&completed, &id, 1_000_000 * (100 - number));
    }
    let answer = folder.env.run(&["status", "--json"]).json();
    let ids = |loops: &Value| -> Vec<String> {
        let loops = loops.as_array().expect("loops").iter();
        loops
            .map(|one| one["loopId"].as_str().expect("an id").to_owned())
            .collect()
    };
    let is_over = |one: &&Value| {
        let status = one["status"].as_str().expect("a status");
        ["completed", "cancelled", "failed"].contains(&status)
    };
    let mut expected: Vec<String> = all
        .as_array()
        .expect("loops")
        .iter()
        .filter(|one| !is_over(one))
        .map(|one| one["loopId"].as_str().expect("an id").to_owned())
        .collect();
    let n_over = 11 - expected.len() + 12;
    expected.extend((0..10).map(|number| format!("01ZZZZZZZZZZZZZZZZZZZZZZ{number:02}")));
    assert_eq!(ids(&answer["result"]["loops"]), expected);
    assert_eq!(answer["result"]["notShown"], n_over - 10);
    let Answer { stdout, stderr, .. } = folder.env.run(&["status"]);
    assert_eq!(stdout.lines().count(), expected.len());
    let told = format!(
        "{} more loops are over; `loopwright list` shows all",
        n_over - 10
    );
    assert!(stderr.contains(&told), "{stderr}");
    assert_eq!(ids(&folder.loops("list")).len(), 11 + 12);
}

/// Sizes are counted for the newest first; what was not counted is not known, and not zero.
#[test]
fn sizes_are_counted_as_far_as_there_is_time() {
    let folder = Folder::new();
    let loops = folder.loops("list");
    let ids: Vec<&str> = loops
        .as_array()
        .expect("loops")
        .iter()
        .map(|one| one["loopId"].as_str().expect("an id"))
        .collect();
    let [oldest, .., newest] = ids[..] else {
        unreachable!("there are eleven loops");
    };
    for (id, n_files) in [(oldest, 1), (newest, 3_000)] {
        let place = folder.home().join("loops").join(id);
        fs::create_dir_all(&place).expect("a folder");
        for number in 0..n_files {
            fs::write(place.join(number.to_string()), "some bytes").expect("written");
        }
    }
    let loops = folder.loops("list");
    let size = |id: &str| {
        let mut all = loops.as_array().expect("loops").iter();
        let found = all.find(|one| one["loopId"] == id).expect("the loop");
        found["diskBytes"].clone()
    };
    assert_eq!(size(newest), Value::Null, "too much to count");
    assert_eq!(size(oldest), Value::Null, "no time was left");
    assert_eq!(size(ids[1]), 0, "it has no folder");
    let (text, _) = folder.list();
    assert!(text.contains("  > "), "{text}");
    fs::remove_dir_all(folder.home().join("loops").join(newest)).expect("removed");
    let (_, loops) = folder.list();
    assert!(
        loops[0]["diskBytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 0)
    );
}
