//! Refs of the loop's repository move by compare-and-swap only.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use testkit::git;
use workspace::{GitError, Moved};

use crate::support::{World, candidate, write};

const NAME: &str = "refs/loopwright/story/login-1";

#[test]
fn a_ref_moves_by_compare_and_swap() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join("b.txt"), "two\n");
    let next = candidate(&repo, &dir, &base);
    let refused = |found| Moved::Refused { found };
    assert_eq!(repo.read_ref(NAME).expect("read"), None);
    for (from, to, expected) in [
        (Some(&next), &base, refused(None)),
        (None, &base, Moved::Done),
        (None, &base, Moved::AlreadyThere),
        (None, &next, refused(Some(base.clone()))),
        (Some(&next), &base, Moved::AlreadyThere),
        (Some(&base), &next, Moved::Done),
        (Some(&base), &next, Moved::AlreadyThere),
    ] {
        assert_eq!(
            repo.move_ref(NAME, from, to).expect("moved"),
            expected,
            "{from:?} to {to}"
        );
    }
    assert_eq!(repo.read_ref(NAME).expect("read"), Some(next));
    assert_eq!(
        repo.read_ref("refs/loopwright/story").expect("read"),
        None,
        "a folder of refs is no ref"
    );
    assert!(matches!(
        repo.move_ref("refs/a..b", None, &base),
        Err(GitError::BadRef { .. })
    ));
    assert!(matches!(
        repo.read_ref("HEAD"),
        Err(GitError::BadRef { .. })
    ));
}

#[test]
fn a_lock_of_a_process_that_is_gone_does_not_hold_for_ever() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base) = (world.repo(), world.head());
    let lock = repo.path().join(format!("{NAME}.lock"));
    write(&lock, "");
    let young = repo.move_ref(NAME, None, &base);
    assert!(
        matches!(young, Err(GitError::Failed { .. })),
        "a young lock is respected"
    );
    let old = SystemTime::now() - Duration::from_hours(1);
    File::options()
        .write(true)
        .open(&lock)
        .and_then(|file| file.set_modified(old))
        .expect("aged");
    assert_eq!(
        repo.move_ref(NAME, None, &base).expect("moved"),
        Moved::Done
    );
    assert!(fs::symlink_metadata(&lock).is_err());
}

#[test]
fn a_ref_is_found_wherever_git_keeps_it() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base) = (world.repo(), world.head());
    repo.move_ref(NAME, None, &base).expect("moved");
    git(repo.path(), &["pack-refs", "--all"]);
    assert!(!repo.path().join(NAME).exists(), "its file is gone");
    assert_eq!(repo.read_ref(NAME).expect("read"), Some(base.clone()));
    assert_eq!(repo.read_ref("refs/loopwright/other").expect("read"), None);
    let link = repo.path().join("refs/loopwright/link");
    write(&link, &format!("ref: {NAME}\n"));
    assert_eq!(
        repo.read_ref("refs/loopwright/link").expect("read"),
        Some(base)
    );
}
