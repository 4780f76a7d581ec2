//! An agent may do anything to its repository; we read its files and never run anything of its.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use testkit::{git, try_git};

use crate::support::{World, candidate, content, listed, snapshot, write};

#[test]
fn an_agent_gets_a_clean_repository_with_one_commit() {
    let world = World::with(&[
        ("a.txt", "one\n"),
        ("dist/x", "tracked\n"),
        (".gitignore", "dist\n"),
    ]);
    world.add(&[("secret.txt", "old\n")]);
    fs::remove_file(world.project().join("secret.txt")).expect("removed");
    world.add(&[(".gitattributes", "*.txt text eol=crlf ident\n")]);
    let (repo, base, dir) = world.checkout();
    assert_eq!(git(&dir, &["rev-list", "--all", "--count"]), "1");
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
    assert_eq!(git(&dir, &["branch", "--show-current"]), "main");
    assert_eq!(git(&dir, &["remote"]), "");
    let tree = git(&dir, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(tree, repo.tree_of(&base).expect("a tree").as_str());
    assert!(!dir.join(".git/hooks").exists() && !dir.join(".git/objects/info/alternates").exists());
    let config = fs::read_to_string(dir.join(".git/config")).expect("read");
    assert!(
        config.contains("email = agent@localhost") && !config.contains("worktree"),
        "{config}"
    );
    fs::write(dir.join(".git/mine"), "x").expect("written");
    repo.make_agent_repo(&base, None, &dir)
        .expect("already there");
    assert!(
        dir.join(".git/mine").exists(),
        "a repository in use is left alone"
    );
}

/// An agent of a task may look at what was done before, as far back as it is told.
#[test]
fn an_agent_of_a_task_gets_the_last_commits_on_its_own_branch() {
    let world = World::with(&[("a.txt", "one\n")]);
    for text in ["two\n", "three\n", "four\n"] {
        world.add(&[("a.txt", text)]);
    }
    let repo = world.repo();
    let head = world.head();
    for (n_commits, expected) in [(2, "2"), (4, "4"), (100, "4")] {
        let dir = world.at(&format!("state/task-{n_commits}"));
        repo.checkout(&head, &dir).expect("checked out");
        repo.make_task_repo(&head, "ralph/T-1", n_commits, &dir)
            .expect("made");
        assert_eq!(git(&dir, &["rev-list", "--all", "--count"]), expected);
        assert_eq!(git(&dir, &["rev-parse", "HEAD"]), head.as_str());
        assert_eq!(git(&dir, &["branch", "--show-current"]), "ralph/T-1");
        assert_eq!(git(&dir, &["status", "--porcelain"]), "");
        assert_eq!(
            git(&dir, &["diff", "--shortstat", "HEAD~1"])
                .lines()
                .count(),
            1
        );
        git(&dir, &["fsck", "--strict"]);
        git(&dir, &["commit", "--allow-empty", "-q", "-m", "mine"]);
        assert!(!dir.join(".git/hooks").exists() && git(&dir, &["remote"]).is_empty());
    }
}

/// Writes a program that leaves a marker if it is ever run.
fn trap(world: &World, path: &Path) {
    write(
        path,
        &format!(
            "#!/bin/sh\necho ran >> '{}'\ncat\n",
            world.at("marker").display()
        ),
    );
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode set");
}

#[test]
fn nothing_that_an_agent_plants_is_run_or_changes_what_is_read() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    let program = dir.join("trap.sh");
    trap(&world, &program);
    let run = program.to_str().expect("text");
    for name in [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.fsmonitor",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "merge.x.driver",
        "gpg.program",
        "core.pager",
        "core.editor",
        "alias.add",
    ] {
        git(&dir, &["config", name, run]);
    }
    git(&dir, &["config", "core.worktree", "/"]);
    for hook in [
        "pre-commit",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ] {
        trap(&world, &dir.join(".git/hooks").join(hook));
    }
    write(
        &dir.join(".gitattributes"),
        "* filter=x diff=x merge=x text eol=crlf ident\n",
    );
    write(
        &dir.join("sub/.gitattributes"),
        "* filter=x working-tree-encoding=UTF-16\n",
    );
    write(&dir.join("sub/b.txt"), "$Id: no$\r\nb\n");
    let found = snapshot(&repo, &dir, &base);
    let commit = candidate(&repo, &dir, &base);
    assert_eq!(content(&repo, &found.tree, "sub/b.txt"), "$Id: no$\r\nb\n");
    assert!(
        repo.diff(&base, &commit, 100_000)
            .expect("a diff")
            .contains("+$Id: no$\\r\n+b\n")
    );
    repo.checkout(&commit, &world.at("state/fresh"))
        .expect("checked out");
    assert_eq!(
        fs::read(world.at("state/fresh/sub/b.txt")).expect("read"),
        b"$Id: no$\r\nb\n"
    );
    repo.make_agent_repo(&commit, None, &world.at("state/fresh"))
        .expect("made");
    repo.publish(&world.project(), "agent-loop/l", None, &commit)
        .expect("published");
    assert!(
        !world.at("marker").exists(),
        "something of the agent's was run"
    );
    let (_, text) = try_git(&dir, &["-c", "core.worktree=.", "status"]);
    assert!(
        world.at("marker").exists(),
        "the trap works where git does read it: {text}"
    );
}

#[test]
fn the_agents_history_does_not_matter() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join("b.txt"), "two\n");
    let expected = snapshot(&repo, &dir, &base);
    let same = |what: &str| assert_eq!(snapshot(&repo, &dir, &base), expected, "after {what}");
    git(&dir, &["add", "-A"]);
    same("staging");
    git(&dir, &["commit", "-q", "-m", "mine"]);
    same("a commit");
    git(&dir, &["commit", "-q", "--amend", "-m", "mine too"]);
    same("an amend");
    git(&dir, &["checkout", "-q", "-b", "other"]);
    git(&dir, &["rebase", "-q", "--root"]);
    same("a rebase");
    git(&dir, &["gc", "-q", "--prune=now"]);
    same("a garbage collection");
    fs::remove_dir_all(dir.join(".git")).expect("removed");
    same("deleting .git");
    write(
        &dir.join(".git"),
        &format!("gitdir: {}\n", world.project().join(".git").display()),
    );
    same("a .git file that points to the operator's");
}

#[test]
fn a_repository_inside_is_plain_files() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    git(&dir, &["init", "-q", "nested"]);
    write(&dir.join("nested/b.txt"), "two\n");
    git(&dir.join("nested"), &["add", "-A"]);
    git(&dir.join("nested"), &["commit", "-q", "-m", "inner"]);
    write(&dir.join("broken/.git"), "gitdir: /nowhere\n");
    write(&dir.join("broken/c.txt"), "three\n");
    let found = snapshot(&repo, &dir, &base);
    assert_eq!(
        listed(&repo, &found.tree),
        ["100644 a.txt", "100644 broken/c.txt", "100644 nested/b.txt"]
    );
    assert_eq!(found.n_left_out, 0);
}
