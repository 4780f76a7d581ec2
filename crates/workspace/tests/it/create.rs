//! The loop's repository: complete, independent of the operator's, and created only once however
//! often it is asked for. And fresh checkouts of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use testkit::{git, try_git};
use workspace::{CommitId, GitError, LoopRepo, look_at_project};

use crate::support::{World, files, raw, write};

fn is_whole(repo: &LoopRepo, base: &CommitId) {
    assert!(!repo.path().join("objects/info/alternates").exists());
    let said = try_git(
        repo.path(),
        &["fsck", "--full", "--strict", "--no-dangling"],
    );
    assert_eq!(
        said,
        (
            true,
            "notice: HEAD points to an unborn branch (main)\n".to_owned()
        )
    );
    git(repo.path(), &["rev-list", "--objects", base.as_str()]);
    assert_eq!(git(repo.path(), &["remote"]), "");
    assert!(!repo.path().join("hooks").exists());
}

#[test]
fn it_survives_the_operators_reset_and_gc() {
    let world = World::with(&[("a.txt", "one\n")]);
    let first = world.head();
    let base = world.add(&[("b.txt", "two\n")]);
    let before = files(&world.project());
    let repo = world.repo();
    assert_eq!(
        files(&world.project()),
        before,
        "making it changes nothing of the operator's"
    );
    git(&world.project(), &["reset", "-q", "--hard", first.as_str()]);
    git(
        &world.project(),
        &["reflog", "expire", "--expire=now", "--all"],
    );
    git(&world.project(), &["gc", "-q", "--prune=now"]);
    let (there, _) = try_git(&world.project(), &["cat-file", "-e", base.as_str()]);
    assert!(!there, "the operator's repository has lost the base");
    is_whole(&repo, &base);
    let again = LoopRepo::create(&world.project(), repo.path(), &base).expect("found");
    again
        .checkout(&base, &world.at("out"))
        .expect("checked out");
    assert_eq!(fs::read(world.at("out/b.txt")).expect("read"), b"two\n");
}

#[test]
fn it_is_made_once_and_over_what_a_crash_left() {
    let world = World::with(&[("a.txt", "one\n")]);
    write(
        &world.at("state/.loop.git.new/objects/half"),
        "left by a crash",
    );
    let repo = world.repo();
    is_whole(&repo, &world.head());
    let made = files(repo.path());
    world.repo();
    assert_eq!(files(repo.path()), made, "the second time nothing is done");
    let names: Vec<_> = fs::read_dir(world.at("state")).expect("a folder").collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let later = world.add(&[("b.txt", "two\n")]);
    world.repo();
    is_whole(&repo, &later);
}

#[test]
fn a_folder_that_is_not_ours_is_left() {
    let world = World::with(&[("a.txt", "one\n")]);
    write(&world.at("state/loop.git/precious"), "theirs");
    let made = LoopRepo::create(&world.project(), &world.at("state/loop.git"), &world.head());
    assert!(matches!(made, Err(GitError::NotALoopRepo { .. })));
    assert_eq!(
        fs::read(world.at("state/loop.git/precious")).expect("read"),
        b"theirs"
    );
    let unknown = CommitId::parse(&"1".repeat(40)).expect("an id");
    assert!(LoopRepo::create(&world.project(), &world.at("state/other.git"), &unknown).is_err());
    assert!(!world.at("state/other.git").exists());
}

#[test]
fn it_is_made_from_a_worktree_a_shallow_clone_a_borrower_and_sha_256() {
    let world = World::with(&[("a.txt", "one\n")]);
    let head = world.add(&[("b.txt", "two\n")]);
    git(
        &world.project(),
        &["worktree", "add", "-q", "--detach", "../linked", "HEAD~1"],
    );
    let source = format!("file://{}", world.project().display());
    git(
        &world.at(""),
        &["clone", "-q", "--depth=1", &source, "shallow"],
    );
    git(
        &world.at(""),
        &["clone", "-q", "--shared", "project", "borrower"],
    );
    git(
        &world.at(""),
        &["init", "-q", "--object-format=sha256", "long"],
    );
    git(
        &world.at("long"),
        &["commit", "-q", "--allow-empty", "-m", "one"],
    );
    for name in ["linked", "shallow", "borrower", "long"] {
        let base = look_at_project(&world.at(name), None)
            .expect("a project")
            .head;
        let place = world.at(&format!("state/{name}.git"));
        let repo = LoopRepo::create(&world.at(name), &place, &base).expect(name);
        is_whole(&repo, &base);
        assert_eq!(place.join("shallow").exists(), name == "shallow", "{name}");
        assert_eq!(
            base == head,
            matches!(name, "shallow" | "borrower"),
            "{name}"
        );
    }
}

#[test]
fn a_partial_clone_that_lacks_objects_is_refused() {
    let world = World::with(&[("a.txt", "one\n")]);
    world.add(&[("a.txt", "two\n")]);
    git(
        &world.project(),
        &["config", "uploadpack.allowFilter", "true"],
    );
    let source = format!("file://{}", world.project().display());
    git(
        &world.at(""),
        &["clone", "-q", "--filter=blob:none", &source, "partial"],
    );
    let made = LoopRepo::create(
        &world.at("partial"),
        &world.at("state/partial.git"),
        &world.head(),
    );
    assert!(
        matches!(made, Err(GitError::PartialClone { .. })),
        "{made:?}"
    );
}

#[test]
fn a_checkout_is_as_recorded() {
    let world = World::with(&[
        ("run.sh", "#!/bin/sh\n"),
        ("crlf.txt", "a\r\nb\n"),
        ("id.txt", "$Id$\n"),
        ("big.bin", "version https://git-lfs.github.com/spec/v1\n"),
        (
            ".gitattributes",
            "* text=auto eol=crlf ident\n*.bin -diff\n",
        ),
    ]);
    let project = world.project();
    fs::set_permissions(project.join("run.sh"), fs::Permissions::from_mode(0o755))
        .expect("mode set");
    symlink("../elsewhere", project.join("link")).expect("linked");
    fs::write(project.join(raw(b"caf\xe9")), "latin").expect("written");
    git(&project, &["add", "-A"]);
    world.add_submodule();
    let repo = world.repo();
    repo.checkout(&world.head(), &world.at("out"))
        .expect("checked out");
    let found = files(&world.at("out"));
    let names: Vec<&[u8]> = found.keys().map(Vec::as_slice).collect();
    let expected: [&[u8]; 7] = [
        b".gitattributes",
        b"big.bin",
        b"caf\xe9",
        b"crlf.txt",
        b"id.txt",
        b"link",
        b"run.sh",
    ];
    assert_eq!(names, expected);
    assert_eq!(found[b"run.sh".as_slice()].0 & 0o111, 0o111);
    assert_eq!(found[b"id.txt".as_slice()].1, b"$Id$\n");
    assert_eq!(
        fs::read_link(world.at("out/link")).expect("a link"),
        Path::new("../elsewhere")
    );
    assert!(
        fs::read_dir(world.at("out/sub"))
            .expect("a folder")
            .next()
            .is_none()
    );
    // The checkout has what git recorded, byte for byte: the attributes had turned the content into
    // `a\nb\n` when it was added.
    assert_eq!(found[b"crlf.txt".as_slice()].1, b"a\nb\n");
    assert!(matches!(
        repo.checkout(&world.head(), &world.at("out")),
        Err(GitError::Exists { .. })
    ));
}
