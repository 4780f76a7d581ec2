//! Which links of a checkout get into a tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use testkit::git;
use workspace::{BadLink, LeftOut, LinkTrouble, Reason};

use crate::support::{World, listed, snapshot, write};

/// A project with files, with links of its own, good and bad, and with something that it ignores.
fn project() -> World {
    let world = World::with(&[
        (".gitignore", "/made/\n"),
        ("a", "a\n"),
        ("d/e/f", "f\n"),
        ("d/g", "g\n"),
    ]);
    let project = world.project();
    link(&project, "to-folder", "d");
    link(&project, "to-file", "a");
    link(&project, "abroad", "/etc");
    link(&project, "empty", "made/x");
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "links"]);
    world
}

fn link(top: &Path, path: &str, target: &str) {
    let path = top.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    let _ = fs::remove_file(&path);
    symlink(target, path).expect("linked");
}

#[test]
fn a_link_lands_if_its_target_does() {
    use LinkTrouble::{Dangles, Endless, LeadsOut};
    let world = project();
    let (repo, base, dir) = world.checkout();
    write(&dir.join("made/x"), "made");
    write(&dir.join("new/file"), "new");
    link(&dir, "chain/2", "3");
    link(&dir, "chain/3", "4");
    let own = listed(&repo, &snapshot(&repo, &dir, &base).tree).len();
    for (path, target, expected) in [
        ("l", "a", None),
        ("l", "./a", None),
        ("l", "d", None),
        ("l", "d/", None),
        ("l", "new/file", None),
        ("d/l", "..", None),
        ("d/l", "../a", None),
        ("d/e/l", ".././../a", None),
        ("l", "to-file", None),
        ("l", "to-folder/e/f", None),
        ("l", "to-folder/../a", None),
        ("to-file", "d/g", None),
        ("l", "/etc/passwd", Some(LeadsOut)),
        ("l", "..", Some(LeadsOut)),
        ("d/l", "../../a", Some(LeadsOut)),
        ("l", "d/../../checkout/a", Some(LeadsOut)),
        ("l", "abroad", Some(LeadsOut)),
        ("l", "abroad/passwd", Some(LeadsOut)),
        ("d/e/l", "../../to-folder/../../a", Some(LeadsOut)),
        ("to-file", "/etc/passwd", Some(LeadsOut)),
        ("l", "missing", Some(Dangles)),
        ("l", "made/x", Some(Dangles)),
        ("l", "empty", Some(Dangles)),
        ("l", "a/", Some(Dangles)),
        ("l", "a/b", Some(Dangles)),
        ("l", "a/../d", Some(Dangles)),
        ("l", ".git/config", Some(Dangles)),
        ("l", "l", Some(Endless)),
        ("l", "d/../l/x", Some(Endless)),
    ] {
        let before = fs::read_link(dir.join(path));
        link(&dir, path, target);
        let found = snapshot(&repo, &dir, &base);
        let what = format!("{path} -> {target}");
        let bad = found
            .bad_links
            .iter()
            .find(|bad| bad.path == Path::new(path));
        assert_eq!(bad.map(|bad| bad.why), expected, "{what}");
        let is_there = listed(&repo, &found.tree).contains(&format!("120000 {path}"));
        assert_eq!(is_there, expected.is_none(), "{what}");
        fs::remove_file(dir.join(path)).expect("removed");
        if let Ok(target) = before {
            symlink(target, dir.join(path)).expect("linked");
        }
    }
    assert_eq!(listed(&repo, &snapshot(&repo, &dir, &base).tree).len(), own);
}

#[test]
fn a_bad_link_is_left_out_with_its_reason() {
    let world = project();
    let (repo, base, dir) = world.checkout();
    link(&dir, "chain/1", "2");
    link(&dir, "chain/2", "3");
    link(&dir, "chain/3", "../../out");
    fs::remove_file(dir.join("a")).expect("removed");
    let found = snapshot(&repo, &dir, &base);
    let bad = |path: &str, target: &str| BadLink {
        path: PathBuf::from(path),
        target: target.to_owned(),
        why: LinkTrouble::LeadsOut,
    };
    assert_eq!(
        found.bad_links,
        [
            bad("chain/1", "2"),
            bad("chain/2", "3"),
            bad("chain/3", "../../out")
        ]
    );
    let left_out = ["chain/1", "chain/2", "chain/3"].map(|path| LeftOut {
        path: PathBuf::from(path),
        reason: Reason::BadLink,
    });
    assert_eq!(found.left_out, left_out);
    assert_eq!(
        listed(&repo, &found.tree),
        [
            "100644 .gitignore",
            "120000 abroad",
            "100644 d/e/f",
            "100644 d/g",
            "120000 empty",
            "120000 to-file",
            "120000 to-folder",
        ],
        "the base's own links stay, even those that dangle now"
    );
}

#[test]
fn a_chain_of_links_is_followed_to_its_end() {
    let world = project();
    let (repo, base, dir) = world.checkout();
    for number in 0..100 {
        link(&dir, &format!("n{number}"), &format!("n{}", number + 1));
    }
    write(&dir.join("n100"), "the end");
    let found = snapshot(&repo, &dir, &base);
    let bad: Vec<_> = found.bad_links.iter().map(|bad| bad.why).collect();
    assert_eq!(bad, [LinkTrouble::Endless; 60], "as far as the system does");
}

#[test]
fn a_folder_of_bad_links_is_gone_with_them() {
    let world = project();
    let (repo, base, dir) = world.checkout();
    link(&dir, "first/bad", "/etc");
    link(&dir, "second/to-first", "../first");
    link(&dir, "to-second", "second");
    write(&dir.join("third/file"), "x");
    link(&dir, "third/bad", "/etc");
    link(&dir, "to-third", "third");
    let found = snapshot(&repo, &dir, &base);
    let bad: Vec<_> = found.bad_links.iter().map(|bad| &bad.path).collect();
    let expected = ["first/bad", "second/to-first", "third/bad", "to-second"];
    assert_eq!(bad, expected.map(Path::new));
}

#[test]
fn a_link_into_a_submodule_stays() {
    let world = project();
    world.add_submodule();
    let (repo, base, dir) = world.checkout();
    link(&dir, "to-sub", "sub");
    link(&dir, "into-sub", "sub/x/y");
    link(&dir, "beyond-sub", "sub/../../y");
    let found = snapshot(&repo, &dir, &base);
    let bad: Vec<_> = found.bad_links.iter().map(|bad| &bad.path).collect();
    assert_eq!(bad, [Path::new("beyond-sub")]);
}
