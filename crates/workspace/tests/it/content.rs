//! Files that git records in another form than people see them: filters and submodules.

use std::fs;
use std::path::Path;

use testkit::git;
use workspace::{LoopRepo, Reason, check_content};

use crate::support::{World, candidate, content, listed, snapshot, write};

/// A filter that keeps files in a box, as LFS keeps them elsewhere.
fn configure(project: &Path) {
    for (key, command) in [
        ("filter.box.clean", "sed 's/^/boxed: /'"),
        ("filter.box.smudge", "sed 's/^boxed: //'"),
        ("filter.box.required", "true"),
    ] {
        git(project, &["config", key, command]);
    }
}

/// A project in which `*.bin` goes through the filter.
fn boxed() -> World {
    let world = World::empty();
    configure(&world.project());
    world.add(&[
        (".gitattributes", "*.bin filter=box\n"),
        ("a.bin", "one\n"),
        ("raw/.gitattributes", "*.bin -filter\n"),
        ("raw/b.bin", "two\n"),
    ]);
    world
}

#[test]
fn a_checkout_has_what_the_filter_gives() {
    let world = boxed();
    let (repo, base, dir) = world.checkout();
    let tree = repo.tree_of(&base).expect("a tree");
    assert_eq!(
        content(&repo, &tree, "a.bin"),
        "boxed: one\n",
        "as recorded"
    );
    let read = |path: &str| fs::read_to_string(dir.join(path)).expect("read");
    assert_eq!(read("a.bin"), "one\n");
    assert_eq!(read("raw/b.bin"), "two\n");
    assert_eq!(
        git(&dir, &["status", "--porcelain"]),
        "",
        "the agent's git agrees"
    );
    assert!(!snapshot(&repo, &dir, &base).changed);
}

#[test]
fn what_an_agent_writes_goes_through_the_filter() {
    let world = boxed();
    let (repo, base, dir) = world.checkout();
    write(&dir.join("a.bin"), "changed\n");
    write(&dir.join("new.bin"), "new\n");
    write(&dir.join("raw/new.bin"), "new\n");
    write(&dir.join("new.txt"), "text\n");
    let commit = candidate(&repo, &dir, &base);
    let tree = repo.tree_of(&commit).expect("a tree");
    for (path, expected) in [
        ("a.bin", "boxed: changed\n"),
        ("new.bin", "boxed: new\n"),
        ("raw/new.bin", "new\n"),
        ("new.txt", "text\n"),
    ] {
        assert_eq!(content(&repo, &tree, path), expected, "{path}");
    }
    let fresh = world.at("state/fresh");
    repo.checkout(&commit, &fresh).expect("checked out");
    assert_eq!(
        fs::read_to_string(fresh.join("new.bin")).expect("read"),
        "new\n"
    );
}

#[test]
fn the_filter_is_the_operators_and_the_patterns_are_the_trees() {
    let world = World::empty();
    configure(&world.project());
    world.add(&[("a.txt", "a\n")]);
    let (repo, base, dir) = world.checkout();
    write(
        &dir.join(".gitattributes"),
        "*.bin filter=box\n*.x filter=other\n",
    );
    write(&dir.join("new.bin"), "new\n");
    write(&dir.join("new.x"), "new\n");
    // A configuration that the agent writes is nobody's.
    git(&dir, &["config", "filter.other.clean", "echo planted"]);
    let tree = snapshot(&repo, &dir, &base).tree;
    assert_eq!(content(&repo, &tree, "new.bin"), "boxed: new\n");
    assert_eq!(content(&repo, &tree, "new.x"), "new\n");
}

/// A project with a submodule in a submodule, all of it there.
fn nested() -> World {
    let world = World::with(&[("a", "a\n")]);
    for (name, file) in [("inner", "deep"), ("outer", "near")] {
        fs::create_dir(world.at(name)).expect("made");
        testkit::init(&world.at(name), &[]);
        write(&world.at(name).join(file), "content\n");
        git(&world.at(name), &["add", "-A"]);
        git(&world.at(name), &["commit", "-q", "-m", "one"]);
    }
    add_submodule(&world.at("outer"), &world.at("inner"), "in");
    add_submodule(&world.project(), &world.at("outer"), "libs/out");
    let update = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
        "--recursive",
    ];
    git(&world.project(), &update);
    world
}

fn add_submodule(project: &Path, source: &Path, path: &str) {
    let source = source.display().to_string();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &source,
        path,
    ];
    git(project, &add);
    git(project, &["commit", "-q", "-m", "a submodule"]);
}

#[test]
fn submodules_are_populated_at_their_commits() {
    let world = nested();
    // What is not committed there is not part of the base.
    write(&world.project().join("libs/out/near"), "edited\n");
    let (repo, base, dir) = world.checkout();
    let read = |path: &str| fs::read_to_string(dir.join(path)).expect("read");
    assert_eq!(read("libs/out/near"), "content\n");
    assert_eq!(read("libs/out/in/deep"), "content\n");
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
    let same = snapshot(&repo, &dir, &base);
    assert!(!same.changed, "{same:?}");
    assert!(same.left_out.is_empty(), "{same:?}");
    write(&dir.join("libs/out/near"), "the agent's\n");
    write(&dir.join("a"), "better\n");
    let changed = snapshot(&repo, &dir, &base);
    let expected = ["100644 .gitmodules", "100644 a", "160000 libs/out"];
    assert_eq!(listed(&repo, &changed.tree), expected);
    let left: Vec<_> = changed
        .left_out
        .iter()
        .map(|left| (left.path.display().to_string(), left.reason))
        .collect();
    assert_eq!(left, [("libs/out".to_owned(), Reason::InSubmodule)]);
    fs::remove_dir_all(dir.join("libs")).expect("removed");
    assert_eq!(
        listed(&repo, &snapshot(&repo, &dir, &base).tree),
        ["100644 .gitmodules", "100644 a"]
    );
}

#[test]
fn what_cannot_be_whole_is_refused_with_the_reason() {
    let refused = |world: &World, project: &Path, words: &str| {
        let base = workspace::look_at_project(project, None)
            .expect("a project")
            .head;
        let looked = check_content(project, &base).expect_err("it is refused");
        let made = LoopRepo::create(project, &world.at("state/other.git"), &base);
        let made = made.and_then(|repo| repo.checkout(&base, &world.at("state/x")));
        for error in [looked, made.expect_err("it is refused")] {
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.remedy().is_some(), "{error}");
        }
    };
    let world = nested();
    git(&world.at(""), &["clone", "-q", "project", "bare-clone"]);
    refused(&world, &world.at("bare-clone"), "the submodule `libs/out`");

    let world = boxed();
    git(&world.at(""), &["clone", "-q", "project", "clone"]);
    refused(
        &world,
        &world.at("clone"),
        "`a.bin` goes through the filter `box`",
    );
    git(
        &world.project(),
        &["config", "filter.box.smudge", "echo no key >&2; exit 3"],
    );
    refused(&world, &world.project(), "no key");

    let world = World::with(&[
        (".gitattributes", "*.bin filter=lfs\n"),
        (
            "a.bin",
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        ),
    ]);
    refused(&world, &world.project(), "goes through the filter `lfs`");
    git(&world.project(), &["config", "filter.lfs.smudge", "cat"]);
    git(&world.project(), &["config", "filter.lfs.clean", "cat"]);
    refused(&world, &world.project(), "left a pointer");
}

#[test]
fn what_is_whole_is_not_refused() {
    let world = nested();
    let remarks = check_content(&world.project(), &world.head()).expect("whole");
    assert_eq!(remarks, [] as [String; 0]);
    let world = boxed();
    let remarks = check_content(&world.project(), &world.head()).expect("whole");
    assert_eq!(remarks, [] as [String; 0]);
    assert_eq!(git(&world.project(), &["status", "--porcelain"]), "");
    // A commit that somebody put there by mistake is in no `.gitmodules`, and in no clone.
    world.add_submodule();
    let remarks = check_content(&world.project(), &world.head()).expect("told");
    assert_eq!(remarks.len(), 1, "{remarks:?}");
}
