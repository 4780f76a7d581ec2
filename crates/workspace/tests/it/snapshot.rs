//! Which files of a checkout get into a tree.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::git;
use workspace::{GitError, LeftOut, Reason};

use crate::support::{AT_SECS, World, candidate, content, listed, raw, snapshot, write};

fn left_out(path: &str, reason: Reason) -> LeftOut {
    LeftOut {
        path: PathBuf::from(path),
        reason,
    }
}

fn fifo(path: &Path) {
    assert!(
        Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("mkfifo runs")
            .success()
    );
}

#[test]
fn an_untouched_checkout_is_the_base() {
    let world = World::with(&[
        ("a.txt", "one\n"),
        ("b/c.txt", "a\r\nb\n"),
        (".gitattributes", "* text=auto\n"),
    ]);
    let (repo, base, dir) = world.checkout();
    let found = snapshot(&repo, &dir, &base);
    assert_eq!((found.changed, found.n_left_out), (false, 0));
    assert_eq!(found.tree, repo.tree_of(&base).expect("a tree"));
    let names: Vec<_> = fs::read_dir(world.at("state")).expect("a folder").collect();
    assert_eq!(names.len(), 2, "no scratch is left: {names:?}");
}

#[test]
fn files_are_taken_as_they_are() {
    let world = World::with(&[
        ("a.txt", "one\n"),
        ("gone.txt", "x\n"),
        ("turned", "a file\n"),
        ("d/f", "x\n"),
    ]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join("crlf.txt"), "a\r\nb\r\n");
    write(&dir.join("run.sh"), "#!/bin/sh\n");
    fs::set_permissions(dir.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("mode set");
    fs::remove_file(dir.join("gone.txt")).expect("removed");
    fs::remove_file(dir.join("turned")).expect("removed");
    write(&dir.join("turned/into/folder"), "");
    fs::remove_dir_all(dir.join("d")).expect("removed");
    write(&dir.join("d"), "now a file");
    symlink("turned/into", dir.join("to-folder")).expect("linked");
    symlink("../../a.txt", dir.join("turned/into/up")).expect("linked");
    fs::write(dir.join(raw(b"caf\xe9\n\"")), "latin").expect("written");
    write(&dir.join(":(exclude)*"), "no pattern");
    write(&dir.join("-rf"), "no option");
    let found = snapshot(&repo, &dir, &base);
    assert_eq!(
        (found.changed, found.n_left_out),
        (true, 0),
        "{:?}",
        found.left_out
    );
    let expected = [
        "100644 -rf",
        "100644 :(exclude)*",
        "100644 a.txt",
        r#"100644 "caf\351\n\"""#,
        "100644 crlf.txt",
        "100644 d",
        "100755 run.sh",
        "120000 to-folder",
        "100644 turned/into/folder",
        "120000 turned/into/up",
    ];
    assert_eq!(listed(&repo, &found.tree), expected);
    assert_eq!(content(&repo, &found.tree, "crlf.txt"), "a\r\nb\r\n");
    assert_eq!(content(&repo, &found.tree, "to-folder"), "turned/into");
    let commit = candidate(&repo, &dir, &base);
    let paths = repo.changed_paths(&base, &commit).expect("paths");
    assert!(paths.contains(&b"caf\xe9\n\"".to_vec()), "{paths:?}");
    assert_eq!(paths.len(), 12, "nine new, three gone: {paths:?}");
}

#[test]
fn ignored_files_stay_out_and_tracked_ones_in() {
    let world = World::with(&[
        (".gitignore", "target/\nnode_modules/\n*.log\n!keep.log\n"),
        ("target/tracked.txt", "one\n"),
        ("sub/.gitignore", "/local\n"),
    ]);
    let (repo, base, dir) = world.checkout();
    for path in [
        "target/debug/x",
        "target/y",
        "a/node_modules/p/q",
        "x.log",
        "sub/local",
        ".env/dist/z",
    ] {
        write(&dir.join(path), "made");
    }
    write(&dir.join("target/tracked.txt"), "two\n");
    write(&dir.join("keep.log"), "kept");
    write(&dir.join("local"), "kept");
    write(&dir.join(".env/.gitignore"), "dist\n");
    fifo(&dir.join("x.pipe.log"));
    let found = snapshot(&repo, &dir, &base);
    assert_eq!(found.left_out, [], "an ignored pipe is not worth a word");
    let expected = [
        "100644 .env/.gitignore",
        "100644 .gitignore",
        "100644 keep.log",
        "100644 local",
        "100644 sub/.gitignore",
        "100644 target/tracked.txt",
    ];
    assert_eq!(listed(&repo, &found.tree), expected);
    assert_eq!(content(&repo, &found.tree, "target/tracked.txt"), "two\n");
}

#[test]
fn what_cannot_be_taken_is_reported() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    fifo(&dir.join("pipe"));
    fifo(&dir.join(".gitignore"));
    write(&dir.join("d/x"), "x");
    fifo(&dir.join("d/.gitattributes"));
    let _socket = UnixListener::bind(dir.join("socket")).expect("bound");
    write(&dir.join(".GIT/config"), "[core]");
    write(&dir.join("d/git~1"), "x");
    symlink("a.txt", dir.join(".gitmodules")).expect("linked");
    let large = fs::File::create(dir.join("large")).expect("created");
    large.set_len(100 * 1024 * 1024 + 1).expect("grown");
    let found = snapshot(&repo, &dir, &base);
    let expected = [
        left_out(".GIT", Reason::ReservedName),
        left_out(".gitignore", Reason::Special),
        left_out(".gitmodules", Reason::ReservedName),
        left_out("d/.gitattributes", Reason::Special),
        left_out("d/git~1", Reason::ReservedName),
        left_out("large", Reason::TooLarge),
        left_out("pipe", Reason::Special),
        left_out("socket", Reason::Special),
    ];
    assert_eq!(found.left_out, expected);
    assert_eq!(listed(&repo, &found.tree), ["100644 a.txt", "100644 d/x"]);
}

#[test]
fn a_path_that_is_too_long_costs_only_itself() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    // The path is longer than any system call accepts, so it is made one folder at a time.
    let made = "for i in $(seq 60); do mkdir \"$0\" && cd \"$0\" && touch x || exit 1; done";
    let name = "d".repeat(100);
    let status = Command::new("bash")
        .args(["-c", made, &name])
        .current_dir(&dir)
        .status();
    assert!(status.expect("bash runs").success());
    let found = snapshot(&repo, &dir, &base);
    assert!(
        found.changed
            && found
                .left_out
                .iter()
                .all(|left| left.reason == Reason::Unreadable)
    );
    assert_eq!(found.n_left_out, 1, "the folder that is too far down");
    repo.checkout_tree(&found.tree, &world.at("state/fresh"))
        .expect("what was taken can be checked out");
}

#[test]
fn a_submodule_stays_at_its_commit() {
    let world = World::with(&[("a.txt", "one\n")]);
    world.add_submodule();
    let (repo, base, dir) = world.checkout();
    assert!(!snapshot(&repo, &dir, &base).changed);
    write(&dir.join("sub/inside"), "x");
    let found = snapshot(&repo, &dir, &base);
    assert_eq!(
        (found.changed, found.left_out),
        (false, vec![left_out("sub", Reason::InSubmodule)])
    );
    fs::remove_dir_all(dir.join("sub")).expect("removed");
    assert_eq!(
        listed(&repo, &snapshot(&repo, &dir, &base).tree),
        ["100644 a.txt"]
    );
}

#[test]
fn kept_paths_are_as_in_the_base() {
    let world = World::with(&[
        ("docs/prd.json", "{}\n"),
        ("docs/other", "x\n"),
        ("all/a", "a\n"),
    ]);
    let (repo, base, dir) = world.checkout();
    let keep = ["./docs/prd.json", "all", "notes.md"].map(PathBuf::from);
    write(&dir.join("docs/prd.json"), "{\"passes\": true}\n");
    write(&dir.join("notes.md"), "an agent's own PRD");
    write(&dir.join("all/b"), "b\n");
    fs::remove_file(dir.join("all/a")).expect("removed");
    let found = repo.snapshot(&dir, &base, &keep).expect("a snapshot");
    assert_eq!((found.changed, found.n_left_out), (false, 0));
    fs::remove_dir_all(dir.join("docs")).expect("removed");
    symlink("/etc", dir.join("docs")).expect("linked");
    let found = repo.snapshot(&dir, &base, &keep).expect("a snapshot");
    assert_eq!(found.left_out, [left_out("docs", Reason::InTheWay)]);
    assert_eq!(
        listed(&repo, &found.tree),
        ["100644 all/a", "100644 docs/prd.json"]
    );
    let outside = repo.snapshot(&dir, &base, &[PathBuf::from("../x")]);
    assert!(matches!(outside, Err(GitError::OutsidePath { .. })));
}

#[test]
fn the_same_inputs_give_the_same_commit() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join("b.txt"), "two\n");
    let tree = snapshot(&repo, &dir, &base).tree;
    let message = "feat: [l] [s] attempt-1 — a title\n\nLoop-Id: l\n";
    let commit = || {
        repo.commit(&tree, &base, message, AT_SECS)
            .expect("a commit")
    };
    assert_eq!(commit(), commit());
    let written = git(repo.path(), &["cat-file", "-p", commit().as_str()]);
    let who = "Loopwright <loopwright@localhost> 1700000000 +0000";
    let expected =
        format!("tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\n{message}");
    assert_eq!(written, expected.trim_end());
    assert_ne!(
        commit(),
        repo.commit(&tree, &base, message, AT_SECS + 1)
            .expect("a commit")
    );
}

/// Some tools write the mode of a folder with a zero before it. Such a folder keeps its other files when
/// one of them is edited.
#[test]
fn a_tree_of_another_tool_is_edited_as_gits_own() {
    let world = World::with(&[
        ("a/b/one", "1\n"),
        ("a/b/two", "2\n"),
        ("a/three", "3\n"),
        ("run", "#!/bin/sh\n"),
    ]);
    let project = world.project();
    fs::set_permissions(project.join("run"), fs::Permissions::from_mode(0o755)).expect("set");
    world.add(&[]);
    let padded = write_padded(&project, "HEAD^{tree}");
    let commit = git(
        &project,
        &["commit-tree", "-m", "padded", "-p", "HEAD", &padded],
    );
    git(&project, &["reset", "-q", "--hard", commit.trim()]);

    let (repo, base, dir) = world.checkout();
    write(&dir.join("a/b/one"), "changed\n");
    fs::remove_file(dir.join("a/three")).expect("removed");
    let first = candidate(&repo, &dir, &base);
    assert_eq!(
        listed(&repo, &repo.tree_of(&first).expect("a tree")),
        ["100644 a/b/one", "100644 a/b/two", "100755 run"]
    );
}

/// Writes a tree and all folders in it anew, with `040000` as the mode of each folder.
fn write_padded(project: &Path, tree: &str) -> String {
    let mut content = Vec::new();
    for line in git(project, &["ls-tree", tree]).lines() {
        let (entry, name) = line.split_once('\t').expect("an entry");
        let words: Vec<&str> = entry.split(' ').collect();
        let (mode, id) = match words[1] {
            "tree" => ("040000", write_padded(project, words[2])),
            _ => (words[0], words[2].to_owned()),
        };
        content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("an id");
        content.extend((0..id.len()).step_by(2).map(byte));
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&content).expect("written");
    let file = file.path().to_str().expect("text");
    git(
        project,
        &["hash-object", "-t", "tree", "--literally", "-w", file],
    )
    .trim()
    .to_owned()
}
