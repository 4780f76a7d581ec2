//! What `start` learns about the operator's repository.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use testkit::git;
use workspace::{GitError, ProjectView, look_at_project};

use crate::support::{World, files, write};

#[test]
fn an_ordinary_project() {
    let world = World::with(&[("a.txt", "one\n")]);
    write(&world.project().join("prd.json"), "{}");
    let before = files(&world.project());
    let view = look_at_project(&world.project(), None).expect("a project");
    let expected = ProjectView {
        root: world.project(),
        subdir: PathBuf::new(),
        head: world.head(),
        dirty: false,
        shallow: false,
        detached: false,
    };
    assert_eq!(view, expected);
    assert_eq!(files(&world.project()), before, "looking changes nothing");
}

#[test]
fn a_dirty_work_tree_is_reported_and_its_index_left() {
    let world = World::with(&[("a.txt", "one\n"), ("b.txt", "same\n")]);
    // Only the time of the file changes, so an ordinary `git status` would refresh the index here.
    let old = SystemTime::now() - Duration::from_hours(1);
    let touched = File::options()
        .write(true)
        .open(world.project().join("b.txt"))
        .expect("opened");
    touched.set_modified(old).expect("touched");
    write(&world.project().join("a.txt"), "changed\n");
    let before = files(&world.project());
    assert!(
        look_at_project(&world.project(), None)
            .expect("a project")
            .dirty
    );
    assert_eq!(files(&world.project()), before);
    git(&world.project(), &["add", "a.txt"]);
    assert!(
        look_at_project(&world.project(), None)
            .expect("a project")
            .dirty,
        "staged counts"
    );
}

#[test]
fn a_sub_folder_a_revision_and_a_detached_head() {
    let world = World::with(&[("app/src/a.txt", "one\n")]);
    let first = world.head();
    world.add(&[("b.txt", "two\n")]);
    let view =
        look_at_project(&world.project().join("app/src"), Some("HEAD~1")).expect("a project");
    assert_eq!(
        (view.root, view.subdir.as_path()),
        (world.project(), Path::new("app/src"))
    );
    assert_eq!((view.head, view.detached), (first.clone(), false));
    git(
        &world.project(),
        &["checkout", "-q", "--detach", first.as_str()],
    );
    let view = look_at_project(&world.project(), None).expect("a project");
    assert_eq!((view.head, view.detached), (first, true));
}

#[test]
fn a_linked_worktree_and_a_shallow_clone() {
    let world = World::with(&[("a.txt", "one\n")]);
    let head = world.add(&[("b.txt", "two\n")]);
    let linked = world.at("linked");
    git(
        &world.project(),
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "side",
            linked.to_str().expect("text"),
        ],
    );
    let view = look_at_project(&linked, None).expect("a project");
    assert_eq!(
        (view.root, &view.head, view.shallow),
        (linked, &head, false)
    );
    let source = format!("file://{}", world.project().display());
    git(
        &world.at(""),
        &["clone", "-q", "--depth=1", &source, "shallow"],
    );
    let view = look_at_project(&world.at("shallow"), None).expect("a project");
    assert_eq!((view.head, view.shallow), (head, true));
}

#[test]
fn what_is_no_project_is_named() {
    let world = World::empty();
    let plain = tempfile::tempdir().expect("a folder");
    git(&world.at(""), &["init", "-q", "--bare", "bare.git"]);
    let error = |path: &Path, rev| look_at_project(path, rev).expect_err("no project");
    assert!(matches!(
        error(&world.project(), None),
        GitError::NoCommits { .. }
    ));
    assert!(matches!(
        error(&world.project(), Some("main")),
        GitError::NoCommits { .. }
    ));
    assert!(matches!(
        error(plain.path(), None),
        GitError::NotARepository { .. }
    ));
    assert!(matches!(
        error(&plain.path().join("none"), None),
        GitError::Io { .. }
    ));
    assert!(matches!(
        error(&world.at("bare.git"), None),
        GitError::NoWorkTree { .. }
    ));
    world.add(&[("a.txt", "one\n")]);
    for revision in ["nowhere", "--all", "", "a\0b", "HEAD:a.txt"] {
        let error = error(&world.project(), Some(revision));
        assert!(
            matches!(error, GitError::UnknownRevision { .. }),
            "{revision:?}: {error}"
        );
    }
    let said = error(plain.path(), None).to_string();
    assert!(said.ends_with("is not in a git repository"), "{said}");
}
