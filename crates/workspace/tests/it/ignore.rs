//! Which ignore rules apply to a snapshot if the agent changed them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use workspace::{LeftOut, Reason, Snapshot};

use crate::support::{HOSTILE, World, listed, raw, snapshot, write};

const BASE: &[(&str, &str)] = &[
    (".gitignore", "node_modules/\n*.log\n/.env\n"),
    ("src/a", "a\n"),
    ("sub/.gitignore", "/local\n"),
    ("vendor/node_modules/kept", "k\n"),
];

/// The files an agent wrote, and which of them are taken into the tree, left out or newly ignored.
struct Case {
    what: &'static str,
    base: &'static [(&'static str, &'static str)],
    done: &'static [(&'static str, &'static str)],
    taken: &'static [&'static str],
    left_out: &'static [(&'static str, Reason)],
    newly_ignored: &'static [&'static str],
}

fn check(case: &Case, prepare: impl Fn(&Path)) {
    let world = World::with(case.base);
    let (repo, base, dir) = world.checkout();
    prepare(&dir);
    for (path, content) in case.done {
        write(&dir.join(path), content);
    }
    let found = snapshot(&repo, &dir, &base);
    let tree = repo.tree_of(&base).expect("a tree");
    let changes = repo.tree_changes(&tree, &found.tree).expect("changes");
    let taken: Vec<_> = changes.into_iter().map(|change| change.path).collect();
    assert_eq!(taken, paths(case.taken), "{}", case.what);
    let left_out = case.left_out.iter().map(|(path, reason)| LeftOut {
        path: path.into(),
        reason: *reason,
    });
    assert_eq!(
        found.left_out,
        left_out.collect::<Vec<_>>(),
        "{}",
        case.what
    );
    assert_eq!(
        found.newly_ignored,
        paths(case.newly_ignored),
        "{}",
        case.what
    );
    assert_eq!(snapshot(&repo, &dir, &base), found, "{}, again", case.what);
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn an_agent_cannot_plant_what_the_base_ignores() {
    for case in [
        Case {
            what: "the rules are the base's",
            base: BASE,
            done: &[
                ("node_modules/evil/x", "x"),
                ("a.log", "x"),
                (".env", "x"),
                ("src/b", "b"),
            ],
            taken: &["src/b"],
            left_out: &[],
            newly_ignored: &[],
        },
        Case {
            what: "un-ignored and planted",
            base: BASE,
            done: &[
                (".gitignore", "!node_modules/\n!*.log\n"),
                ("node_modules/evil/x", "x"),
                ("deep/er/node_modules/x", "x"),
                ("a.log", "x"),
                (".env", "x"),
                ("src/b", "b"),
            ],
            taken: &[".gitignore", "src/b"],
            left_out: &[
                (".env", Reason::IgnoredByBase),
                ("a.log", Reason::IgnoredByBase),
                ("deep/er/node_modules", Reason::IgnoredByBase),
                ("node_modules", Reason::IgnoredByBase),
            ],
            newly_ignored: &[],
        },
        Case {
            what: "un-ignored further down",
            base: BASE,
            done: &[
                ("src/.gitignore", "!*.log\n"),
                ("src/a.log", "x"),
                ("sub/.gitignore", ""),
                ("sub/local/x", "x"),
            ],
            taken: &["src/.gitignore", "sub/.gitignore"],
            left_out: &[
                ("src/a.log", Reason::IgnoredByBase),
                ("sub/local", Reason::IgnoredByBase),
            ],
            newly_ignored: &[],
        },
    ] {
        check(&case, |_| ());
    }
}

#[test]
fn some_names_are_left_out_without_a_rule() {
    for case in [
        Case {
            what: "a tracked folder of that name takes what no rule ignores",
            base: &[("target/mod.rs", "m\n"), ("x/target.rs", "t\n")],
            done: &[
                ("target/new.rs", "n\n"),
                ("x/target/debug/y", "y"),
                ("y/target", "a file"),
            ],
            taken: &["target/new.rs", "y/target"],
            left_out: &[("x/target", Reason::BuildFolder)],
            newly_ignored: &[],
        },
        Case {
            what: "names that nobody ignores",
            base: &[("a", "a\n")],
            done: &[
                ("node_modules/x", "x"),
                (".venv/bin/x", "x"),
                ("p/__pycache__/x", "x"),
                ("p/target/x", "x"),
                ("p/targets/x", "x"),
            ],
            taken: &["p/targets/x"],
            left_out: &[
                (".venv", Reason::BuildFolder),
                ("node_modules", Reason::BuildFolder),
                ("p/__pycache__", Reason::BuildFolder),
                ("p/target", Reason::BuildFolder),
            ],
            newly_ignored: &[],
        },
    ] {
        check(&case, |_| ());
    }
}

#[test]
fn the_rules_of_the_base_outlive_their_file() {
    let case = |what| Case {
        what,
        base: BASE,
        done: &[
            ("node_modules/evil/x", "x"),
            ("src/a.log", "x"),
            ("src/b", "b"),
        ],
        taken: &[".gitignore", "src/b"],
        left_out: &[
            ("node_modules", Reason::IgnoredByBase),
            ("src/a.log", Reason::IgnoredByBase),
        ],
        newly_ignored: &[],
    };
    check(&case("removed"), |dir| {
        fs::remove_file(dir.join(".gitignore")).expect("removed");
    });
    check(&case("made a link"), |dir| {
        fs::remove_file(dir.join(".gitignore")).expect("removed");
        symlink("/dev/null", dir.join(".gitignore")).expect("linked");
    });
    let folder = Case {
        done: &[
            (".gitignore/sub/x", "x"),
            (".gitignore/b.log", "x"),
            ("node_modules/evil/x", "x"),
        ],
        taken: &[".gitignore", ".gitignore/sub/x"],
        left_out: &[
            (".gitignore/b.log", Reason::IgnoredByBase),
            ("node_modules", Reason::IgnoredByBase),
        ],
        ..case("made a folder")
    };
    check(&folder, |dir| {
        fs::remove_file(dir.join(".gitignore")).expect("removed");
    });
    let linked = Case {
        what: "a link by such a name",
        done: &[],
        taken: &[],
        left_out: &[("src/node_modules", Reason::BuildFolder)],
        ..case("")
    };
    check(&linked, |dir| {
        symlink("/usr", dir.join("src/node_modules")).expect("linked");
    });
}

#[test]
fn what_only_the_agents_rules_ignore_is_named() {
    for case in [
        Case {
            what: "a new build folder",
            base: BASE,
            done: &[
                (".gitignore", "node_modules/\n*.log\n/.env\ndist/\n"),
                ("dist/a/b", "x"),
                ("dist/c", "x"),
            ],
            taken: &[".gitignore"],
            left_out: &[],
            newly_ignored: &["dist"],
        },
        Case {
            what: "its own test file, and the rule with it",
            base: BASE,
            done: &[
                ("src/.gitignore", "/hidden_test\n.gitignore\n"),
                ("src/hidden_test", "x"),
                ("src/b", "b"),
            ],
            taken: &["src/b"],
            left_out: &[],
            newly_ignored: &["src/.gitignore", "src/hidden_test"],
        },
        Case {
            what: "everything, but not what is tracked",
            base: BASE,
            done: &[
                (".gitignore", "*\n"),
                ("src/a", "changed\n"),
                ("src/b", "b"),
                ("new/x", "x"),
                ("a.log", "x"),
            ],
            taken: &[".gitignore", "src/a"],
            left_out: &[],
            newly_ignored: &["new", "src/b"],
        },
        Case {
            what: "a cache that hides itself",
            base: BASE,
            done: &[
                (".cache/.gitignore", "*\n"),
                (".cache/v/x", "x"),
                (".cache/README", "r"),
                ("src/b", "b"),
            ],
            taken: &["src/b"],
            left_out: &[],
            newly_ignored: &[".cache"],
        },
        Case {
            what: "a rule for what is left out anyway",
            base: &[("a", "a\n")],
            done: &[(".gitignore", "target/\n"), ("target/x", "x")],
            taken: &[".gitignore"],
            left_out: &[],
            newly_ignored: &[],
        },
    ] {
        check(&case, |_| ());
    }
}

#[test]
fn any_name_can_be_ignored() {
    let world = World::with(&[("keep", "k\n"), (".gitignore", "/old/\n")]);
    let (repo, base, dir) = world.checkout();
    for name in HOSTILE {
        for folder in ["old", "new"] {
            let path = dir.join(folder).join(raw(name));
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, name).expect("written");
        }
    }
    write(&dir.join(".gitignore"), "/new/*\n!/new/-rf\n");
    let Snapshot {
        newly_ignored,
        n_newly_ignored,
        left_out,
        tree,
        ..
    } = snapshot(&repo, &dir, &base);
    assert_eq!(
        left_out,
        [LeftOut {
            path: "old".into(),
            reason: Reason::IgnoredByBase
        }]
    );
    assert_eq!(
        (newly_ignored.len(), n_newly_ignored),
        (HOSTILE.len() - 1, HOSTILE.len() - 1)
    );
    assert!(
        newly_ignored.contains(&PathBuf::from(raw(b"new/a\nb"))),
        "{newly_ignored:?}"
    );
    assert_eq!(
        listed(&repo, &tree),
        ["100644 .gitignore", "100644 keep", "100644 new/-rf"]
    );
}
