//! Publishing adds objects and one branch to the operator's repository, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::{git, try_git};
use workspace::{CommitId, GitError, LoopRepo, Published, look_at_project};

use crate::support::{World, candidate, files, write};

const BRANCH: &str = "agent-loop/l1";
const REF: &str = "refs/heads/agent-loop/l1";

/// Everything in the operator's folder except the objects and the published branch.
fn untouched(world: &World) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let mut found = files(&world.project());
    found.retain(|path, _| {
        !path.starts_with(b".git/objects/") && path != &[b".git/", REF.as_bytes()].concat()
    });
    found
}

/// An operator in the middle of work: staged, unstaged, untracked and stashed changes, another
/// branch and active hooks.
fn busy_operator() -> World {
    let world = World::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let project = world.project();
    write(&project.join("a.txt"), "stashed\n");
    git(&project, &["stash", "-q"]);
    git(&project, &["branch", "other"]);
    write(&project.join("a.txt"), "staged\n");
    git(&project, &["add", "a.txt"]);
    write(&project.join("b.txt"), "unstaged\n");
    write(&project.join("c.txt"), "untracked\n");
    for hook in [
        "reference-transaction",
        "post-receive",
        "update",
        "post-update",
        "pre-receive",
        "post-merge",
    ] {
        let path = project.join(".git/hooks").join(hook);
        write(
            &path,
            &format!(
                "#!/bin/sh\necho ran > '{}'\nexit 1\n",
                world.at("hook-ran").display()
            ),
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode set");
    }
    world
}

fn two_candidates(world: &World) -> (LoopRepo, CommitId, CommitId) {
    let (repo, base, dir) = world.checkout();
    write(&dir.join("new.txt"), "one\n");
    let first = candidate(&repo, &dir, &base);
    write(&dir.join("new.txt"), "two\n");
    let second = candidate(&repo, &dir, &first);
    (repo, first, second)
}

fn published(world: &World) -> String {
    git(&world.project(), &["rev-parse", REF])
}

#[test]
fn only_objects_and_the_branch_change() {
    let world = busy_operator();
    let (repo, first, second) = two_candidates(&world);
    let before = untouched(&world);
    let publish = |last, commit| {
        repo.publish(&world.project(), BRANCH, last, commit)
            .expect("an answer")
    };
    assert_eq!(publish(None, &first), Published::Done);
    assert_eq!(publish(None, &first), Published::AlreadyThere);
    assert_eq!(publish(Some(&first), &second), Published::Done);
    assert_eq!(publish(Some(&first), &second), Published::AlreadyThere);
    assert_eq!(untouched(&world), before);
    assert!(!world.at("hook-ran").exists());
    assert_eq!(published(&world), second.as_str());
    assert_eq!(git(&world.project(), &["fsck", "--no-dangling"]), "");
}

/// What stands in the way of publishing, and what to do about it.
fn trouble(published: Result<Published, GitError>) -> (String, String) {
    let error = published.expect_err("it cannot be published");
    (error.to_string(), error.remedy().unwrap_or_default())
}

/// Carries out the command that a remedy names.
fn carry_out(remedy: &str) {
    let command = remedy.split('`').nth(1).expect("a command");
    let status = std::process::Command::new("sh")
        .args(["-c", command])
        .status()
        .expect("it runs");
    assert!(status.success(), "{command}");
}

#[test]
fn a_garbled_ref_is_named_with_a_command_that_mends_it() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, first, second) = two_candidates(&world);
    let publish = |last, commit| repo.publish(&world.project(), BRANCH, last, commit);
    let file = world.project().join(".git").join(REF);
    let commits = [(None, &first), (Some(&first), &second)];
    for rubbish in ["rubbish\n", ""] {
        for (last, commit) in commits {
            write(&file, rubbish);
            let (what, remedy) = trouble(publish(last, commit));
            assert!(what.contains(&file.display().to_string()), "{what}");
            assert!(!what.contains('\n'), "{what}");
            carry_out(&remedy);
            assert_eq!(publish(last, commit).expect("mended"), Published::Done);
        }
        git(&world.project(), &["update-ref", "-d", REF]);
    }
}

#[test]
fn a_lock_on_the_branch_is_named_in_one_line() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, first, _) = two_candidates(&world);
    let publish = || repo.publish(&world.project(), BRANCH, None, &first);
    let lock = world.project().join(".git").join(format!("{REF}.lock"));
    write(&lock, "");
    let (what, remedy) = trouble(publish());
    assert!(what.contains(&lock.display().to_string()), "{what}");
    assert!(!what.contains('\n'), "{what}");
    carry_out(&remedy);
    assert_eq!(publish().expect("unlocked"), Published::Done);
}

#[test]
fn a_branch_that_somebody_moved_or_checked_out_is_left() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, first, second) = two_candidates(&world);
    let publish = |last, commit| {
        repo.publish(&world.project(), BRANCH, last, commit)
            .expect("an answer")
    };
    let moved = |found: Option<&CommitId>| Published::MovedBySomebody {
        found: found.cloned(),
    };
    assert_eq!(
        publish(Some(&first), &second),
        moved(None),
        "they deleted it"
    );
    git(&world.project(), &["branch", BRANCH]);
    assert_eq!(
        publish(None, &first),
        Published::Done,
        "they made it early, where we began"
    );
    let elsewhere = world.add(&[("b.txt", "theirs\n")]);
    git(&world.project(), &["branch", "-q", "-f", BRANCH]);
    assert_eq!(
        publish(None, &first),
        moved(Some(&elsewhere)),
        "they had one of that name"
    );
    git(&world.project(), &["branch", "-q", "-D", BRANCH]);
    assert_eq!(publish(None, &first), Published::Done);
    git(
        &world.project(),
        &["worktree", "add", "-q", "../theirs", BRANCH],
    );
    assert_eq!(
        publish(Some(&first), &second),
        Published::CheckedOut {
            at: world.at("theirs")
        }
    );
    assert_eq!(publish(None, &first), Published::AlreadyThere);
    git(&world.project(), &["worktree", "remove", "../theirs"]);
    git(&world.project(), &["checkout", "-q", BRANCH]);
    let from_elsewhere = repo
        .publish(&world.project(), BRANCH, Some(&first), &second)
        .expect("an answer");
    assert_eq!(
        from_elsewhere,
        Published::CheckedOut {
            at: world.project()
        }
    );
    assert_eq!(published(&world), first.as_str());
}

#[test]
fn only_branches_of_ours_are_written() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, first, _) = two_candidates(&world);
    let before = files(&world.project());
    for name in [
        "main",
        "refs/heads/main",
        "agent-loop",
        "agent-loop/../main",
        "agent-loop/",
        "agent-loop/x.lock",
    ] {
        let refused = repo.publish(&world.project(), name, None, &first);
        let expected = matches!(
            refused,
            Err(GitError::ForeignBranch { .. } | GitError::BadRef { .. })
        );
        assert!(expected, "{name}: {refused:?}");
    }
    assert_eq!(files(&world.project()), before);
}

#[test]
fn a_branch_of_any_name_is_made_but_one_that_exists_is_never_taken_over() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, first, second) = two_candidates(&world);
    git(&world.project(), &["branch", "feature/theirs"]);
    let theirs = git(&world.project(), &["rev-parse", "feature/theirs"]);
    let publish = |name: &str, last: Option<&CommitId>, to: &CommitId| {
        repo.publish(&world.project(), name, last, to)
            .expect("an answer")
    };
    assert_eq!(publish("feature/ours", None, &first), Published::Done);
    assert_eq!(
        publish("feature/ours", Some(&first), &second),
        Published::Done
    );
    let refused = publish("feature/theirs", None, &first);
    assert!(
        matches!(refused, Published::MovedBySomebody { .. }),
        "{refused:?}"
    );
    assert_eq!(
        git(&world.project(), &["rev-parse", "feature/theirs"]),
        theirs
    );
    assert_eq!(
        git(&world.project(), &["rev-parse", "feature/ours"]),
        second.as_str()
    );
}

#[test]
fn it_reaches_a_shallow_clone_a_linked_worktree_and_a_repository_that_lost_the_base() {
    let world = World::with(&[("a.txt", "one\n")]);
    world.add(&[("b.txt", "two\n")]);
    let source = format!("file://{}", world.project().display());
    git(
        &world.at(""),
        &["clone", "-q", "--depth=1", &source, "shallow"],
    );
    git(&world.at(""), &["clone", "-q", "project", "lost"]);
    git(
        &world.project(),
        &["worktree", "add", "-q", "--detach", "../linked"],
    );
    for name in ["shallow", "linked", "lost"] {
        let project = world.at(name);
        let base = look_at_project(&project, None).expect("a project").head;
        let repo =
            LoopRepo::create(&project, &world.at(&format!("state/{name}.git")), &base).expect(name);
        let dir = world.at(&format!("state/{name}"));
        repo.checkout(&base, &dir).expect("checked out");
        write(&dir.join("new.txt"), name);
        let commit = candidate(&repo, &dir, &base);
        if name == "lost" {
            git(&project, &["reset", "-q", "--hard", "HEAD~1"]);
            git(&project, &["remote", "remove", "origin"]);
            git(&project, &["reflog", "expire", "--expire=now", "--all"]);
            git(&project, &["gc", "-q", "--prune=now"]);
            assert!(
                !try_git(&project, &["cat-file", "-e", base.as_str()]).0,
                "the base is gone"
            );
        }
        let answer = repo.publish(&project, BRANCH, None, &commit).expect(name);
        assert_eq!(answer, Published::Done, "{name}");
        assert_eq!(
            git(&project, &["rev-parse", REF]),
            commit.as_str(),
            "{name}"
        );
        assert_eq!(git(&project, &["fsck", "--no-dangling"]), "", "{name}");
    }
}
