//! The files on disk: no other user can read them, whatever their modes were before.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, append};

const PRIVATE: u32 = 0o600;

#[test]
fn files_are_for_their_owner_only() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    append(&journal, "one", &["a"]).unwrap();
    assert_eq!(modes(&scratch), all_private());
    assert_eq!(
        folder_mode(&scratch),
        0o700,
        "a new folder is closed to others"
    );
}

/// Such modes can come from a backup that was restored with another umask.
#[test]
fn files_that_were_open_to_others_are_closed_to_them() {
    let scratch = Scratch::new();
    let first = scratch.open();
    append(&first, "one", &["a"]).unwrap();
    for name in all_private().keys() {
        fs::set_permissions(
            scratch.state_dir().join(name),
            Permissions::from_mode(0o644),
        )
        .unwrap();
    }
    fs::set_permissions(scratch.state_dir(), Permissions::from_mode(0o755)).unwrap();
    let second = scratch.open();
    append(&second, "one", &["b"]).unwrap();
    assert_eq!(modes(&scratch), all_private());
    assert_eq!(
        folder_mode(&scratch),
        0o755,
        "a folder that was there keeps its owner's mode"
    );
}

fn folder_mode(scratch: &Scratch) -> u32 {
    fs::metadata(scratch.state_dir())
        .unwrap()
        .permissions()
        .mode()
        & 0o777
}

/// The modes of all files in the folder.
fn modes(scratch: &Scratch) -> BTreeMap<String, u32> {
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let entries = fs::read_dir(scratch.state_dir())
        .unwrap()
        .map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), mode(entry.path())))
        .collect()
}

fn all_private() -> BTreeMap<String, u32> {
    [
        "journal.db",
        "journal.db-wal",
        "journal.db-shm",
        "journal.lock",
    ]
    .map(|name| (name.to_owned(), PRIVATE))
    .into()
}
