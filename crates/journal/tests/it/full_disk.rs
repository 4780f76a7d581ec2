//! A full disk: the append reports it, stores nothing, and succeeds once there is room.

use std::path::Path;

use journal::{AppendError, Journal, JournalError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::child;
use crate::support::{Scratch, append, append_at, bodies, open};

/// Appends until the disk is full, and returns how many records there are.
fn append_until_full(journal: &Journal, body: &str) -> u64 {
    let mut last = 0;
    while last < 10_000 {
        match append_at(journal, "one", last, &[body, body]) {
            Ok(next) => last = next,
            Err(AppendError::DiskFull) => return last,
            Err(error) => unreachable!("neither stored nor full after {last}: {error:?}"),
        }
    }
    unreachable!("the limit is not in force")
}

/// The limit of `SQLite` itself: the file must not grow, which it reports like a full disk.
#[test]
fn an_append_without_room_stores_nothing_and_succeeds_later() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "before", &["a"]).unwrap();
    journal.limit_pages(20).unwrap();
    let large = "x".repeat(3_000);
    let last = append_until_full(&journal, &large);
    assert!(last > 0);
    assert_eq!(journal.last("one").unwrap(), last);
    assert_eq!(journal.read("one", 0).unwrap().len() as u64, last);
    let huge = "x".repeat(100_000);
    assert!(matches!(
        journal.quarantine("one", &huge),
        Err(JournalError::DiskFull { .. })
    ));
    drop(scratch.open());

    journal.limit_pages(u32::MAX).unwrap();
    assert_eq!(
        append_at(&journal, "one", last, &[&huge, "small"]).unwrap(),
        last + 2
    );
    assert_eq!(bodies(&journal, "before"), ["a"]);
    drop(journal);
    assert_eq!(bodies(&scratch.open(), "one").len() as u64, last + 2);
}

/// The operating system's limit on the size of a file: a write fails in the middle of a commit.
///
/// A shell sets the limit and ignores the signal that comes with it, and then starts the child: in
/// our own process that would need unsafe code. The shell counts in blocks of 512 or 1024 bytes.
#[test]
fn a_failed_write_stores_nothing_and_the_next_append_works() {
    let scratch = Scratch::new();
    append(&scratch.open(), "before", &["a"]).unwrap();
    let limited = r#"trap "" XFSZ; ulimit -S -f 256; exec "$0" "$@""#;
    let mut words = vec!["sh".to_owned(), "-c".to_owned(), limited.to_owned()];
    words.extend(child::command_words());
    let (mut process, mut answers) = child::start(&words, "fill", &scratch.state_dir());
    let seen: Vec<_> = std::iter::from_fn(|| child::next_answer(&mut answers)).collect();
    assert!(process.wait().unwrap().success(), "{seen:?}");
    assert_eq!(seen, ["full", "goes on"]);
    let journal = scratch.open();
    assert_eq!(bodies(&journal, "one").last().unwrap(), "after");
    assert_eq!(bodies(&journal, "before"), ["a"]);
}

/// The child: fills its files up to the limit, has the limit lifted, and continues.
pub(crate) fn fill(state_dir: &Path) {
    let journal = open(state_dir);
    let last = append_until_full(&journal, &"x".repeat(3_000));
    assert_eq!(journal.read("one", 0).unwrap().len() as u64, last);
    child::answer("full");
    let hard = getrlimit(Resource::Fsize).maximum;
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: hard,
            maximum: hard,
        },
    )
    .unwrap();
    assert_eq!(
        append_at(&journal, "one", last, &["after"]).unwrap(),
        last + 1
    );
    child::answer("goes on");
}
