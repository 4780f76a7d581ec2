//! Checkouts that an agent made to hurt whoever reads them, or filled by accident.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use workspace::{GitError, LeftOut, Limits, Oddity, Reason};

use crate::support::{World, content, listed, snapshot, write};

const GIGABYTE: u64 = 1024 * 1024 * 1024;

fn left_out(path: &str, reason: Reason) -> LeftOut {
    LeftOut {
        path: PathBuf::from(path),
        reason,
    }
}

/// Makes folders inside each other, with a file in each, far beyond the longest path.
fn dig(top: &Path, n_levels: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at: OwnedFd = openat(CWD, top, flags, Mode::empty()).expect("opened");
    for _ in 0..n_levels {
        mkdirat(&at, "d", Mode::RWXU).expect("made");
        at = openat(&at, "d", flags, Mode::empty()).expect("opened");
        let file = OFlags::CREATE | OFlags::WRONLY;
        openat(&at, "f", file, Mode::RUSR).expect("made");
    }
}

#[test]
fn a_tree_of_thousands_of_levels_costs_what_is_too_deep() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    dig(&dir, 2_000);
    let found = snapshot(&repo, &dir, &base);
    let depth_max = Limits::default().depth_max;
    let first = vec!["d"; depth_max].join("/");
    let expected = [
        left_out(&format!("{first}/d"), Reason::TooDeep),
        left_out(&format!("{first}/f"), Reason::TooDeep),
    ];
    assert_eq!(found.left_out, expected);
    assert_eq!(
        listed(&repo, &found.tree).len(),
        depth_max,
        "a.txt and the files above"
    );
}

#[test]
fn a_base_that_is_deep_itself_is_read_as_it_is() {
    let path = format!("{}/f", vec!["d"; 150].join("/"));
    let world = World::with(&[(&path, "one\n")]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join(&path), "two\n");
    let found = snapshot(&repo, &dir, &base);
    assert_eq!((found.n_left_out, found.changed), (0, true));
    assert_eq!(content(&repo, &found.tree, &path), "two\n");
}

#[test]
fn a_file_of_ten_gigabytes_costs_only_itself() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    let file = fs::File::create(dir.join("large")).expect("created");
    file.set_len(10 * GIGABYTE).expect("grown");
    let found = snapshot(&repo, &dir, &base);
    assert_eq!(found.left_out, [left_out("large", Reason::TooLarge)]);
    assert!(!found.changed);
}

#[test]
fn what_is_too_much_altogether_is_refused() {
    let world = World::with(&[("a.txt", "one\n"), ("kept/b.txt", "two\n")]);
    let (repo, base, dir) = world.checkout();
    let read = |limits: &Limits| repo.snapshot_within(&dir, &base, &[], limits);
    let normal = Limits::default();
    // What the base has does not count.
    let tight = Limits {
        names_max: 0,
        total_bytes_max: 0,
        rules_bytes_max: 0,
        ..normal
    };
    assert!(!read(&tight).expect("a snapshot").changed);

    for number in 0..30 {
        write(&dir.join(format!("many/{number}")), "12345678");
    }
    write(&dir.join("many/.gitignore"), "# 16 bytes long\n");
    let names = Limits {
        names_max: 20,
        ..normal
    };
    let refused = read(&names).expect_err("too many names");
    assert!(
        matches!(refused, GitError::TooManyFiles { .. }),
        "{refused}"
    );
    let bytes = Limits {
        total_bytes_max: 200,
        ..normal
    };
    let refused = read(&bytes).expect_err("too many bytes");
    assert!(
        matches!(refused, GitError::TooManyBytes { .. }),
        "{refused}"
    );
    let rules = Limits {
        rules_bytes_max: 15,
        ..normal
    };
    let refused = read(&rules).expect_err("too long rules");
    assert!(
        matches!(refused, GitError::TooManyRules { .. }),
        "{refused}"
    );
    let enough = Limits {
        names_max: 32,
        total_bytes_max: 256,
        rules_bytes_max: 16,
        ..normal
    };
    assert!(read(&enough).expect("a snapshot").changed);
    // Rules count together.
    write(&dir.join("more/.gitignore"), "# 16 bytes more\n");
    let rules = Limits {
        rules_bytes_max: 31,
        ..normal
    };
    let refused = read(&rules).expect_err("too long rules");
    assert!(
        matches!(refused, GitError::TooManyRules { .. }),
        "{refused}"
    );
}

#[test]
fn rules_as_large_as_git_reads_them_are_refused_before_they_fill_the_disk() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    for number in 0..200 {
        let path = dir.join(format!("d{number}/.gitignore"));
        write(&path, "");
        let file = fs::File::options().write(true).open(path).expect("opened");
        file.set_len(99 * 1024 * 1024).expect("grown");
    }
    let refused = repo.snapshot(&dir, &base, &[]).expect_err("too long rules");
    assert!(
        matches!(refused, GitError::TooManyRules { .. }),
        "{refused}"
    );
}

#[test]
fn names_that_differ_only_in_case_are_not_added_beside_each_other() {
    let world = World::with(&[
        ("README", "one\n"),
        ("src/a.txt", "a\n"),
        ("Both", "1\n"),
        ("both", "2\n"),
        ("Old.txt", "old\n"),
        (".gitignore", "Ignored\n"),
    ]);
    let (repo, base, dir) = world.checkout();
    write(&dir.join("readme"), "mine");
    write(&dir.join("Src/b.txt"), "b");
    write(&dir.join("New"), "new");
    write(&dir.join("new"), "new too");
    write(&dir.join("É"), "new");
    write(&dir.join("é"), "new too");
    write(&dir.join("Ignored"), "x");
    write(&dir.join("ignored"), "x");
    // A change of case by itself is no clash.
    fs::rename(dir.join("Old.txt"), dir.join("old.txt")).expect("renamed");
    let found = snapshot(&repo, &dir, &base);
    let expected = [
        left_out("Src", Reason::CaseClash),
        left_out("new", Reason::CaseClash),
        left_out("readme", Reason::CaseClash),
        left_out("é", Reason::CaseClash),
    ];
    assert_eq!(found.left_out, expected);
    assert_eq!(content(&repo, &found.tree, "README"), "one\n");
    let names = listed(&repo, &found.tree);
    for name in ["Both", "both", "old.txt", "New", "ignored", "src/a.txt"] {
        let is_there = names.contains(&format!("100644 {name}"));
        assert!(is_there, "{name} in {names:?}");
    }
}

#[test]
fn special_bits_and_hard_links_are_told() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    for (name, mode) in [("root.sh", 0o4755), ("group", 0o2644), ("plain", 0o644)] {
        write(&dir.join(name), "x");
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(mode)).expect("mode set");
    }
    write(&world.at("state/outside"), "elsewhere");
    fs::hard_link(world.at("state/outside"), dir.join("linked")).expect("linked");
    write(&dir.join("twin-1"), "inside");
    fs::hard_link(dir.join("twin-1"), dir.join("twin-2")).expect("linked");
    let found = snapshot(&repo, &dir, &base);
    let expected = [
        (PathBuf::from("group"), Oddity::SpecialBits),
        (PathBuf::from("linked"), Oddity::HardLink),
        (PathBuf::from("root.sh"), Oddity::SpecialBits),
    ];
    assert_eq!(found.odd, expected);
    assert_eq!(found.n_left_out, 0);
    let names = listed(&repo, &found.tree);
    for line in [
        "100755 root.sh",
        "100644 group",
        "100644 linked",
        "100644 twin-2",
    ] {
        assert!(names.contains(&line.to_owned()), "{line} in {names:?}");
    }
}

#[test]
fn a_checkout_that_is_a_link_is_not_read() {
    let world = World::with(&[("a.txt", "one\n")]);
    let (repo, base, dir) = world.checkout();
    let secret = world.at("state/secret");
    write(&secret.join("key"), "private");
    for target in [secret.as_path(), Path::new("/dev/null"), Path::new("gone")] {
        fs::remove_dir_all(&dir)
            .or_else(|_| fs::remove_file(&dir))
            .expect("removed");
        symlink(target, &dir).expect("linked");
        let refused = repo.snapshot(&dir, &base, &[]).expect_err("a link");
        assert!(matches!(refused, GitError::NotAFolder { .. }), "{refused}");
    }
    fs::remove_file(&dir).expect("removed");
    write(&dir, "a file");
    let refused = repo.snapshot(&dir, &base, &[]).expect_err("a file");
    assert!(matches!(refused, GitError::NotAFolder { .. }), "{refused}");
}
