//! Work is put onto another commit than the one that it was made on.

use std::path::PathBuf;

use testkit::git;
use workspace::{CommitId, LoopRepo, Restacked, is_same_repository};

use crate::support::{AT_SECS, World, compose, content, listed, put, remove};

/// A commit with these edits on top of another one.
fn on(repo: &LoopRepo, base: &CommitId, edits: &[workspace::Edit]) -> CommitId {
    let tree = compose(repo, &repo.tree_of(base).expect("a tree"), edits);
    repo.commit(&tree, base, "work", AT_SECS).expect("made")
}

#[test]
fn work_is_put_onto_what_landed_since() {
    let world = World::with(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("gone", "x\n")]);
    let repo = world.repo();
    let base = world.head();
    let work = on(
        &repo,
        &base,
        &[
            put("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            put("new", "n\n"),
            remove("gone"),
        ],
    );
    let landed = on(
        &repo,
        &base,
        &[
            put("a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"),
            put("other", "o\n"),
        ],
    );
    let Restacked::Clean(tree) = repo.restack(&work, &landed).expect("restacked") else {
        panic!("it fits");
    };
    assert_eq!(
        content(&repo, &tree, "a"),
        "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
    );
    assert_eq!(
        listed(&repo, &tree).join(", "),
        "100644 a, 100644 new, 100644 other"
    );
    // On the commit that it was made on it is what it was.
    let same = repo.restack(&work, &base).expect("restacked");
    assert_eq!(same, Restacked::Clean(repo.tree_of(&work).expect("a tree")));
}

#[test]
fn what_cannot_be_put_together_is_named() {
    let world = World::with(&[("a b", "1\n"), ("c", "1\n")]);
    let repo = world.repo();
    let base = world.head();
    let work = on(&repo, &base, &[put("a b", "2\n"), put("c", "2\n")]);
    let landed = on(&repo, &base, &[put("a b", "3\n"), remove("c")]);
    assert_eq!(
        repo.restack(&work, &landed).expect("restacked"),
        Restacked::Conflict(vec![PathBuf::from("a b"), PathBuf::from("c")])
    );
}

#[test]
fn work_of_another_history_is_unrelated() {
    let world = World::with(&[("a", "1\n")]);
    let repo = world.repo();
    let base = world.head();
    git(&world.project(), &["checkout", "-q", "--orphan", "other"]);
    let other = world.add(&[("a", "2\n")]);
    LoopRepo::create(&world.project(), repo.path(), &other).expect("imported");
    assert_eq!(
        repo.restack(&other, &base).expect("restacked"),
        Restacked::Unrelated
    );
}

#[test]
fn another_work_tree_is_of_the_same_repository() {
    let world = World::with(&[("a", "1\n")]);
    let tree = world.at("tree");
    let words = tree.display().to_string();
    git(
        &world.project(),
        &["worktree", "add", "-q", "--detach", &words],
    );
    assert!(is_same_repository(&tree, &world.project()));
    assert!(
        !is_same_repository(&world.project(), &world.project()),
        "it is the project"
    );
    assert!(!is_same_repository(&world.at("nothing"), &world.project()));
    let stranger = World::with(&[("a", "1\n")]);
    assert!(!is_same_repository(&stranger.project(), &world.project()));
}
