//! Trees composed by edits, and the differences between two trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Random, git};
use workspace::{Change, Edit, Entry, GitError, LoopRepo, Mode, ObjectId};

use crate::support::{AT_SECS, HOSTILE, World, compose, files, listed, put, put_as, raw, remove};

#[test]
fn an_edit_wins_over_what_is_there() {
    let world = World::with(&[("a", "a\n"), ("d/e", "e\n"), ("d/f/g", "g\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    for (what, edits, expected) in [
        ("nothing", vec![], "100644 a, 100644 d/e, 100644 d/f/g"),
        (
            "a new file",
            vec![put("x/y", "")],
            "100644 a, 100644 d/e, 100644 d/f/g, 100644 x/y",
        ),
        (
            "a mode",
            vec![put_as(Mode::Executable, "a", "a\n")],
            "100755 a, 100644 d/e, 100644 d/f/g",
        ),
        (
            "a link",
            vec![put_as(Mode::Link, "./a", "/etc")],
            "120000 a, 100644 d/e, 100644 d/f/g",
        ),
        (
            "a file where a folder is",
            vec![put("d", "")],
            "100644 a, 100644 d",
        ),
        (
            "a folder where a file is",
            vec![put("a/b/c", "")],
            "100644 a/b/c, 100644 d/e, 100644 d/f/g",
        ),
        (
            "one file gone",
            vec![remove("d/e")],
            "100644 a, 100644 d/f/g",
        ),
        ("a folder gone", vec![remove("d/")], "100644 a"),
        (
            "what is below a file gone",
            vec![remove("a/b")],
            "100644 a, 100644 d/e, 100644 d/f/g",
        ),
        (
            "the later of two",
            vec![remove("d"), put("d/z", ""), put("q", ""), remove("q")],
            "100644 a, 100644 d/z",
        ),
        ("all gone", vec![remove("a"), remove("d")], ""),
    ] {
        let tree = compose(&repo, &base, &edits);
        assert_eq!(listed(&repo, &tree).join(", "), expected, "{what}");
        assert_eq!(compose(&repo, &base, &edits), tree, "{what}, again");
        assert_eq!(compose(&repo, &tree, &edits), tree, "{what}, twice");
    }
    let scratch = repo.path().join("loopwright-scratch");
    assert_eq!(
        fs::read_dir(scratch).expect("a folder").count(),
        0,
        "no scratch is left"
    );
}

#[test]
fn what_cannot_be_in_a_tree_is_refused() {
    let world = World::with(&[("a", "a\n"), ("d/e", "e\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let put_id = |mode, id: &str| Edit::Put {
        path: PathBuf::from("x"),
        mode,
        id: ObjectId::parse(id).expect("an id"),
    };
    let folder = git(repo.path(), &["rev-parse", &format!("{base}:d")]);
    let outside = "is not a path inside the checkout";
    for (edit, expected) in [
        (put("../x", ""), outside),
        (put("/x", ""), outside),
        (put("", ""), outside),
        (remove("."), outside),
        (put(raw(b"a\0b"), ""), outside),
        (put(".git/config", ""), "for its own metadata"),
        (put("d/.GIT", ""), "for its own metadata"),
        (
            put_as(Mode::Link, ".gitmodules", "a"),
            "for its own metadata",
        ),
        (
            put_as(Mode::Submodule, "x", ""),
            "a submodule has no content",
        ),
        (put_as(Mode::Link, "x", ""), "no link can point there"),
        (put_id(Mode::File, &folder), "no such blob"),
        (put_id(Mode::File, base.as_str()), "no such blob"),
        (put_id(Mode::Executable, &"0".repeat(40)), "no such blob"),
    ] {
        let said = repo
            .compose(&base, std::slice::from_ref(&edit))
            .expect_err("refused")
            .to_string();
        assert!(said.contains(expected), "{edit:?}: {said}");
    }
    let submodule = compose(
        &repo,
        &base,
        &[put_id(Mode::Submodule, &"1".repeat(40)), remove("d")],
    );
    assert_eq!(listed(&repo, &submodule), ["100644 a", "160000 x"]);
}

fn entry(mode: Mode, id: &str) -> Entry {
    Entry {
        mode,
        id: ObjectId::parse(id).expect("an id"),
    }
}

#[test]
fn a_change_is_what_was_and_what_is() {
    let world = World::with(&[
        ("a", "a\n"),
        ("d/e", "e\n"),
        ("gone", "a\n"),
        ("same", "s\n"),
    ]);
    world.add_submodule();
    let (repo, base) = (world.repo(), world.head());
    let tree = repo.tree_of(&base).expect("a tree");
    let id_of = |text: &str| {
        let hashed = compose(&repo, &tree, &[put("x", text)]);
        git(repo.path(), &["rev-parse", &format!("{hashed}:x")])
    };
    let (a, e, link, commit) = (
        id_of("a\n"),
        id_of("e\n"),
        id_of("/etc"),
        git(&world.project(), &["rev-parse", ":sub"]),
    );
    let edits = [
        put_as(Mode::Executable, "a", "a\n"),
        put_as(Mode::Link, "d", "/etc"),
        remove("gone"),
        put("moved", "a\n"),
        remove("sub"),
    ];
    let to = compose(&repo, &tree, &edits);
    let file = Mode::File;
    let expected = [
        ("a", Some((file, &a)), Some((Mode::Executable, &a))),
        ("d", None, Some((Mode::Link, &link))),
        ("d/e", Some((file, &e)), None),
        ("gone", Some((file, &a)), None),
        ("moved", None, Some((file, &a))),
        ("sub", Some((Mode::Submodule, &commit)), None),
    ]
    .map(|(path, before, after)| {
        let side = |side: Option<(Mode, &String)>| side.map(|(mode, id)| entry(mode, id));
        Change {
            path: PathBuf::from(path),
            before: side(before),
            after: side(after),
        }
    });
    let onto = repo.commit(&to, &base, "x\n", AT_SECS).expect("a commit");
    assert_eq!(
        repo.tree_of(&onto).expect("a tree"),
        to,
        "a composed tree can be committed"
    );
    assert_eq!(repo.tree_changes(&tree, &to).expect("changes"), expected);
    assert_eq!(repo.tree_changes(&base, &onto).expect("changes"), expected);
    assert_eq!(repo.tree_changes(&base, &to).expect("changes"), expected);
    assert_eq!(repo.tree_changes(&onto, &to).expect("changes"), []);
}

#[test]
fn any_name_goes_in_and_comes_out() {
    let world = World::with(&[("a", "a\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let edits: Vec<_> = HOSTILE.iter().map(|name| put(raw(name), name)).collect();
    let tree = compose(&repo, &base, &edits);
    let mut found: Vec<_> = repo.tree_changes(&base, &tree).expect("changes");
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let mut expected: Vec<_> = HOSTILE
        .iter()
        .map(|name| PathBuf::from(raw(name)))
        .collect();
    expected.sort();
    assert_eq!(
        found
            .into_iter()
            .map(|change| change.path)
            .collect::<Vec<_>>(),
        expected
    );
    let dir = world.at("state/fresh");
    repo.checkout_tree(&tree, &dir).expect("checked out");
    let on_disk = files(&dir);
    assert_eq!(on_disk.len(), HOSTILE.len() + 1);
    assert!(
        HOSTILE.iter().all(|name| on_disk[*name].1 == *name),
        "{on_disk:?}"
    );
    let again = repo.checkout_tree(&tree, &dir);
    assert!(matches!(again, Err(GitError::Exists { .. })), "{again:?}");
    let gone: Vec<_> = HOSTILE.iter().map(|name| remove(raw(name))).collect();
    assert_eq!(compose(&repo, &tree, &gone), base);
}

#[test]
fn edits_by_id_and_by_bytes_are_the_same() {
    let world = World::with(&[("a", "a\n"), ("b/c", "c\n")]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let edits: Vec<_> = (0..300)
        .map(|n| put(format!("new/{n}"), format!("{}", n % 7)))
        .collect();
    let tree = compose(&repo, &base, &edits);
    let by_id: Vec<_> = repo
        .tree_changes(&base, &tree)
        .expect("changes")
        .into_iter()
        .filter_map(|change| Some((change.path, change.after?)))
        .map(|(path, Entry { mode, id })| Edit::Put { path, mode, id })
        .collect();
    assert_eq!(by_id.len(), 300);
    assert_eq!(compose(&repo, &base, &by_id), tree);
    assert_eq!(
        repo.read_blob(&tree, Path::new("new/13"), 10)
            .expect("read"),
        Some(b"6".to_vec())
    );
}

/// Composing goes from folder to folder; git's own way through an index knows nothing of that.
#[test]
fn a_composed_tree_is_what_git_makes_of_the_same_files() {
    let seed = testkit::number("LOOPWRIGHT_SAMPLE_SEED", 1);
    let mut random = Random::new(seed);
    let world = World::with(&[("a", "a\n"), ("d/e", "e\n"), ("d/f/g", "g\n"), ("d.x", "")]);
    world.add_submodule();
    let repo = world.repo();
    let mut base = repo.tree_of(&world.head()).expect("a tree");
    for round in 0..25 {
        let edits: Vec<Edit> = (0..random.below(6_usize))
            .map(|_| random_edit(&mut random))
            .collect();
        let tree = compose(&repo, &base, &edits);
        let index = repo.path().join("other-index");
        let _ = fs::remove_file(&index);
        let script = "git ls-tree -r \"$1\" | git update-index --index-info && git write-tree";
        let output = Command::new("sh")
            .args(["-c", script, "sh", tree.as_str()])
            .env("GIT_DIR", repo.path())
            .env("GIT_INDEX_FILE", &index)
            .output()
            .expect("sh runs");
        let made = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(
            made,
            tree.as_str(),
            "round {round} of seed {seed}: {edits:?}"
        );
        // A repository that remembers nothing lists the tree as it is.
        let fresh = LoopRepo::open(repo.path()).expect("a repository");
        let known = repo.reader(&tree).expect("known");
        let listed = fresh.reader(&tree).expect("listed");
        assert!(
            known.entries().eq(listed.entries()),
            "round {round} of seed {seed}"
        );
        base = tree;
    }
}

/// Few names, so that files and folders often want the same place.
fn random_edit(random: &mut Random) -> Edit {
    let names = ["a", "d", "d.x", "e", "sub", "z"];
    let depth = 1 + random.below(3_usize);
    let path: Vec<&str> = (0..depth)
        .map(|_| names[random.below(names.len())])
        .collect();
    let path = path.join("/");
    match random.below(4_u32) {
        0 => remove(&path),
        1 => put_as(Mode::Executable, &path, "x\n"),
        2 => put_as(Mode::Link, &path, "a"),
        _ => put(&path, random.below(3_u32).to_string()),
    }
}
