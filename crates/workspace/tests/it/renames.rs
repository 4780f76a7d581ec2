//! Which files only moved.

use std::path::PathBuf;

use workspace::Mode;

use crate::support::{World, compose, put, put_as, remove};

const BASE: &[(&str, &str)] = &[
    ("a.rs", "a\n"),
    ("b.rs", "b\n"),
    ("e/__init__.py", ""),
    ("f/__init__.py", ""),
    ("same/1", "s\n"),
    ("same/2", "s\n"),
];

#[test]
fn a_file_moved_if_its_content_has_only_another_path() {
    let world = World::with(BASE);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    for (edits, expected) in [
        (vec![], &[][..]),
        (
            vec![remove("a.rs"), put("src/a.rs", "a\n")],
            &[("a.rs", "src/a.rs")],
        ),
        (
            vec![remove("a.rs"), put_as(Mode::Executable, "c", "a\n")],
            &[("a.rs", "c")],
        ),
        (
            vec![remove("a.rs"), put("a.rs/x", "a\n")],
            &[("a.rs", "a.rs/x")],
        ),
        (vec![put("copy.rs", "a\n")], &[]),
        (vec![remove("a.rs"), put("c.rs", "a \n")], &[]),
        (vec![remove("a.rs"), put("b.rs", "a\n")], &[]),
        (vec![remove("a.rs"), put_as(Mode::Link, "c", "a\n")], &[]),
        (
            vec![remove("a.rs"), put("c", "a\n"), put("d", "a\n")],
            &[("a.rs", "c")],
        ),
        (
            vec![remove("same"), put("x/2", "s\n"), put("y", "s\n")],
            &[("same/1", "y"), ("same/2", "x/2")],
        ),
        (
            vec![remove("e"), remove("f"), put("g/__init__.py", "")],
            &[("e/__init__.py", "g/__init__.py")],
        ),
    ] {
        let tree = compose(&repo, &base, &edits);
        let renames = repo.renames(&base, &tree).expect("renames");
        let expected: Vec<_> = expected
            .iter()
            .map(|(old, new)| (PathBuf::from(old), PathBuf::from(new)))
            .collect();
        assert_eq!(renames, expected, "{edits:?}");
    }
}
