//! Reading single files and folders of a tree.

use std::ffi::OsString;
use std::path::Path;
use std::thread;

use workspace::{GitError, Listed, Mode};

use crate::support::{HOSTILE, World, compose, put, put_as, raw};

fn shown(listed: &[(OsString, Listed)]) -> String {
    let one = |(name, listed): &(OsString, Listed)| match listed {
        Listed::Folder => format!("{}/", name.display()),
        Listed::Entry(entry) => format!("{} {}", entry.mode, name.display()),
    };
    listed.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_folder_is_listed() {
    let world = World::with(&[
        ("a", "a\n"),
        ("d/e", "e\n"),
        ("d/f/g", "g\n"),
        ("d.x", ""),
        ("d0", ""),
    ]);
    world.add_submodule();
    let (repo, base) = (world.repo(), world.head());
    let tree = compose(
        &repo,
        &repo.tree_of(&base).expect("a tree"),
        &[put_as(Mode::Link, "out", "d")],
    );
    let reader = repo.reader(&tree).expect("a reader");
    for (folder, expected) in [
        (
            "",
            "100644 a, d/, 100644 d.x, 100644 d0, 120000 out, 160000 sub",
        ),
        (
            ".",
            "100644 a, d/, 100644 d.x, 100644 d0, 120000 out, 160000 sub",
        ),
        ("d", "100644 e, f/"),
        ("d/", "100644 e, f/"),
        ("d/f", "100644 g"),
        ("a", ""),
        ("out", ""),
        ("sub", ""),
        ("nothing", ""),
        ("d/f/g/h", ""),
    ] {
        let folder = Path::new(folder);
        assert_eq!(
            shown(&reader.list(folder).expect("listed")),
            expected,
            "{folder:?}"
        );
        assert_eq!(
            shown(&repo.list_folder(&tree, folder).expect("listed")),
            expected,
            "{folder:?} alone"
        );
    }
    assert!(matches!(
        reader.list(Path::new("..")),
        Err(GitError::OutsidePath { .. })
    ));
    assert_eq!(reader.entries().count(), 7);
}

#[test]
fn only_a_file_is_read() {
    let world = World::with(&[("a", "a\n"), ("empty", ""), ("d/e", "e\n")]);
    world.add_submodule();
    let (repo, base) = (world.repo(), world.head());
    let base = repo.tree_of(&base).expect("a tree");
    let tree = compose(
        &repo,
        &base,
        &[
            put_as(Mode::Link, "out", "a"),
            put_as(Mode::Executable, "run", "\n\0\n"),
        ],
    );
    let reader = repo.reader(&tree).expect("a reader");
    for (path, expected) in [
        ("a", Some("a\n")),
        ("./d/e", Some("e\n")),
        ("empty", Some("")),
        ("run", Some("\n\0\n")),
        ("d", None),
        ("out", None),
        ("sub", None),
        ("nothing", None),
        ("a/b", None),
        ("", None),
    ] {
        let (path, expected) = (
            Path::new(path),
            expected.map(|text| text.as_bytes().to_vec()),
        );
        assert_eq!(reader.read(path, 3).expect("read"), expected, "{path:?}");
        assert_eq!(
            repo.read_blob(&tree, path, 3).expect("read"),
            expected,
            "{path:?} alone"
        );
    }
}

#[test]
fn a_file_is_read_whole_or_not_at_all() {
    let world = World::with(&[("a", "a\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let tree = compose(&repo, &base, &[put("large", "x".repeat(1_000_000))]);
    let reader = repo.reader(&tree).expect("a reader");
    for _ in 0..2 {
        let refused = reader.read(Path::new("large"), 999_999);
        assert!(
            matches!(
                refused,
                Err(GitError::FileTooLarge {
                    bytes: 1_000_000,
                    bytes_max: 999_999,
                    ..
                })
            ),
            "{refused:?}"
        );
        assert_eq!(
            reader
                .read(Path::new("a"), 2)
                .expect("the next one is read"),
            Some(b"a\n".to_vec())
        );
    }
    assert_eq!(
        reader
            .read(Path::new("large"), 1_000_000)
            .expect("read")
            .map(|bytes| bytes.len()),
        Some(1_000_000)
    );
}

#[test]
fn many_files_are_read_by_many() {
    let world = World::with(&[("a", "a\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let edits: Vec<_> = HOSTILE.iter().map(|name| put(raw(name), name)).collect();
    let tree = compose(&repo, &base, &edits);
    let reader = repo.reader(&tree).expect("a reader");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for name in HOSTILE.iter().cycle().take(200) {
                    let read = reader.read(Path::new(raw(name)), 100).expect("read");
                    assert_eq!(read.as_deref(), Some(*name));
                }
            });
        }
    });
    for name in HOSTILE {
        let read = repo
            .read_blob(&tree, Path::new(raw(name)), 100)
            .expect("read");
        assert_eq!(read.as_deref(), Some(*name));
    }
    let inside = repo
        .list_folder(&tree, Path::new(raw(b"d\xff/-e")))
        .expect("listed");
    assert_eq!(inside.len(), 1);
    assert_eq!(
        inside,
        reader.list(Path::new(raw(b"d\xff/-e"))).expect("listed")
    );
}

/// The processes that this one started and has not waited for.
fn children() -> Vec<rustix::process::Pid> {
    let own = std::process::id().to_string();
    let folders = std::fs::read_dir("/proc").expect("processes").flatten();
    let is_ours = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(1) == Some(&own)
    };
    folders
        .filter_map(|folder| folder.file_name().to_str()?.parse::<i32>().ok())
        .filter(is_ours)
        .filter_map(rustix::process::Pid::from_raw)
        .collect()
}

#[test]
fn a_git_that_died_while_it_waited_is_replaced() {
    let world = World::with(&[("a", "a\n")]);
    let (repo, base) = (world.repo(), world.head());
    let tree = repo.tree_of(&base).expect("a tree");
    let kill_all = || {
        for pid in children() {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
        }
    };
    for text in ["b\n", "c\n"] {
        let changed = compose(&repo, &tree, &[put("a", text)]);
        assert_eq!(children().len(), 2, "one that reads and one that writes");
        kill_all();
        let read = repo.read_blob(&changed, Path::new("a"), 100);
        assert_eq!(read.expect("read"), Some(text.into()));
        kill_all();
    }
    drop(repo);
    assert!(children().is_empty(), "they end with their repository");
}
