//! Trees of realistic size, concurrent operations, and what a crash leaves behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use testkit::git;
use workspace::{LoopRepo, Mode, TreeId};

use crate::support::{World, candidate, compose, listed, put, put_as, snapshot, write};

const N_FILES: usize = 2000;

fn path(number: usize) -> String {
    format!("d{}/e{}/tests/f{number}", number % 10, number % 40)
}

fn big() -> (World, LoopRepo, TreeId) {
    let world = World::with(&[("a", "a\n")]);
    let repo = world.repo();
    let edits: Vec<_> = (0..N_FILES)
        .map(|number| put(path(number), format!("{number}\n")))
        .collect();
    let base = compose(&repo, &repo.tree_of(&world.head()).expect("a tree"), &edits);
    (world, repo, base)
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|name| name == "tests")
}

#[test]
fn a_big_tree_goes_all_the_way() {
    let (world, repo, base) = big();
    let first = repo
        .commit(&base, &world.head(), "big\n", 0)
        .expect("a commit");
    let dir = world.at("state/big");
    repo.checkout_tree(&base, &dir).expect("checked out");
    let mut writers = Vec::new();
    for number in 0..N_FILES {
        if number % 2 == 0 {
            write(&dir.join(path(number)), &format!("{number}\nchanged\n"));
        }
        if number % 20 == 1 {
            writers.push(put_as(
                Mode::Executable,
                path(number),
                format!("{number}\nwriter\n"),
            ));
        }
    }
    let code = snapshot(&repo, &dir, &first).tree;
    assert_eq!(
        repo.tree_changes(&first, &code).expect("changes").len(),
        N_FILES / 2
    );
    let tests = compose(&repo, &base, &writers);
    let overlay = repo
        .overlay(&base, &code, &tests, &is_test)
        .expect("an overlay");
    assert_eq!(
        (overlay.writer_files.len(), overlay.conflicts.len()),
        (N_FILES / 20, 0)
    );
    assert_eq!(overlay.implementor_tests.len(), N_FILES / 2);
    let reader = repo.reader(&overlay.tree).expect("a reader");
    for number in 0..N_FILES {
        let expected = match number {
            _ if number % 2 == 0 => format!("{number}\nchanged\n"),
            _ if number % 20 == 1 => format!("{number}\nwriter\n"),
            _ => format!("{number}\n"),
        };
        let read = reader
            .read(Path::new(&path(number)), 100)
            .expect("read")
            .expect("a file");
        assert_eq!(String::from_utf8_lossy(&read), expected);
    }
}

#[test]
fn several_pieces_of_work_do_not_meet() {
    let (_world, repo, base) = big();
    let edit = |number: usize| [put("same/path", format!("{number}"))];
    let expected: Vec<_> = (0..8)
        .map(|number| compose(&repo, &base, &edit(number % 4)))
        .collect();
    let found: Vec<_> = thread::scope(|scope| {
        let (repo, base) = (&repo, &base);
        let running: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || compose(repo, base, &edit(number % 4))))
            .collect();
        running
            .into_iter()
            .map(|running| running.join().expect("it ended"))
            .collect()
    });
    assert_eq!(found, expected);
    let scratch = repo.path().join("loopwright-scratch");
    write(&scratch.join("1-0/index.lock"), "");
    write(&scratch.join("1-1/index.lock"), "");
    let long_ago = SystemTime::now() - Duration::from_hours(48);
    fs::File::open(scratch.join("1-0"))
        .and_then(|folder| folder.set_modified(long_ago))
        .expect("made old");
    compose(&repo, &base, &edit(0));
    let left: Vec<_> = fs::read_dir(&scratch)
        .expect("a folder")
        .flatten()
        .map(|left| left.file_name())
        .collect();
    assert_eq!(
        left,
        ["1-1"],
        "only what a crash left long ago is cleared away"
    );
}

#[test]
fn submodules_and_repositories_inside_go_along() {
    let world = World::with(&[("a", "a\n"), ("tests/old", "old\n")]);
    world.add_submodule();
    let (repo, base, dir) = world.checkout();
    git(&dir, &["init", "-q", "tests/nested"]);
    write(&dir.join("tests/nested/b"), "b\n");
    write(&dir.join("sub/tests/x"), "in a submodule\n");
    let tests = repo
        .tree_of(&candidate(&repo, &dir, &base))
        .expect("a tree");
    let base = repo.tree_of(&base).expect("a tree");
    let code = compose(&repo, &base, &[put("a", "better\n")]);
    let overlay = repo
        .overlay(&base, &code, &tests, &is_test)
        .expect("an overlay");
    assert_eq!(overlay.writer_files, [PathBuf::from("tests/nested/b")]);
    assert_eq!(overlay.dropped, [] as [PathBuf; 0]);
    let expected = [
        "100644 a",
        "160000 sub",
        "100644 tests/nested/b",
        "100644 tests/old",
    ];
    assert_eq!(listed(&repo, &overlay.tree), expected);
    let fresh = world.at("state/fresh");
    repo.checkout_tree(&overlay.tree, &fresh)
        .expect("checked out");
    assert_eq!(
        fs::read_dir(fresh.join("sub"))
            .expect("an empty folder")
            .count(),
        0
    );
    let planted = compose(&repo, &base, &[put("sub/tests/x", "x\n")]);
    let overlay = repo
        .overlay(&base, &code, &planted, &is_test)
        .expect("an overlay");
    assert_eq!(overlay.dropped, ["sub", "sub/tests/x"].map(PathBuf::from));
    assert_eq!(
        overlay.tree, code,
        "a submodule is not taken away for a test"
    );
}
