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
fn what_the_base_ignores_stays_out_until_the_agent_tracks_it() {
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
            what: "un-ignored, except what tools fill",
            base: BASE,
            done: &[
                (".gitignore", "!node_modules/\n!*.log\n/.env\n"),
                ("node_modules/evil/x", "x"),
                ("deep/er/node_modules/x", "x"),
                ("a.log", "x"),
                (".env", "x"),
                ("src/b", "b"),
            ],
            taken: &[".gitignore", "a.log", "src/b"],
            left_out: &[
                ("deep/er/node_modules", Reason::BuildFolder),
                ("node_modules", Reason::BuildFolder),
            ],
            newly_ignored: &[],
        },
        Case {
            what: "a story that tracks a folder, but not all of it",
            base: &[(".gitignore", "dist/\n"), ("a", "a\n")],
            done: &[
                (".gitignore", "dist/*.tmp\n"),
                ("dist/app.sh", "x"),
                ("dist/b.tmp", "x"),
                ("dist/__pycache__/x", "x"),
            ],
            taken: &[".gitignore", "dist/app.sh"],
            left_out: &[("dist/__pycache__", Reason::BuildFolder)],
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
            taken: &[
                "src/.gitignore",
                "src/a.log",
                "sub/.gitignore",
                "sub/local/x",
            ],
            left_out: &[],
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
            base: &[("p/venv/mod.py", "m\n"), ("x/venv.py", "t\n")],
            done: &[
                ("p/venv/new.py", "n\n"),
                ("x/venv/bin/y", "y"),
                ("y/venv", "a file"),
            ],
            taken: &["p/venv/new.py", "y/venv"],
            left_out: &[("x/venv", Reason::BuildFolder)],
            newly_ignored: &[],
        },
        Case {
            what: "names that nobody ignores",
            base: &[("a", "a\n")],
            done: &[
                ("node_modules/x", "x"),
                (".venv/bin/x", "x"),
                ("venv/bin/x", "x"),
                (".tox/x", "x"),
                (".pytest_cache/x", "x"),
                (".mypy_cache/x", "x"),
                ("p/__pycache__/x", "x"),
            ],
            taken: &[],
            left_out: &[
                (".mypy_cache", Reason::BuildFolder),
                (".pytest_cache", Reason::BuildFolder),
                (".tox", Reason::BuildFolder),
                (".venv", Reason::BuildFolder),
                ("node_modules", Reason::BuildFolder),
                ("p/__pycache__", Reason::BuildFolder),
                ("venv", Reason::BuildFolder),
            ],
            newly_ignored: &[],
        },
    ] {
        check(&case, |_| ());
    }
}

#[test]
fn honest_files_may_lie_in_folders_that_builds_often_use() {
    for case in [
        Case {
            what: "names that honest files have too",
            base: &[("Cargo.toml", ""), ("a", "a\n")],
            done: &[
                ("src/target/mod.rs", "x"),
                ("target/by-hand.rs", "x"),
                ("src/target/CACHEDIR.TAG", "x"),
                ("dist/app.sh", "x"),
                ("build/x.py", "x"),
                ("python/x.py", "x"),
                ("out/x", "x"),
            ],
            taken: &[
                "build/x.py",
                "dist/app.sh",
                "out/x",
                "python/x.py",
                "src/target/CACHEDIR.TAG",
                "src/target/mod.rs",
                "target/by-hand.rs",
            ],
            left_out: &[],
            newly_ignored: &[],
        },
        Case {
            what: "where cargo builds",
            base: &[("Cargo.toml", ""), ("t/target/a", ""), ("t/Cargo.toml", "")],
            done: &[
                ("target/CACHEDIR.TAG", "x"),
                ("target/debug/x", "x"),
                ("new/Cargo.toml", ""),
                ("new/target/.rustc_info.json", "{}"),
                ("t/target/.rustc_info.json", "{}"),
            ],
            taken: &["new/Cargo.toml", "t/target/.rustc_info.json"],
            left_out: &[
                ("new/target", Reason::BuildFolder),
                ("target", Reason::BuildFolder),
            ],
            newly_ignored: &[],
        },
    ] {
        check(&case, |_| ());
    }
}

#[test]
fn rules_that_are_gone_no_longer_ignore() {
    let case = |what| Case {
        what,
        base: BASE,
        done: &[
            ("node_modules/evil/x", "x"),
            ("src/a.log", "x"),
            ("src/b", "b"),
        ],
        taken: &[".gitignore", "src/a.log", "src/b"],
        left_out: &[("node_modules", Reason::BuildFolder)],
        newly_ignored: &[],
    };
    check(&case("removed"), |dir| {
        fs::remove_file(dir.join(".gitignore")).expect("removed");
    });
    check(&case("made a link"), |dir| {
        fs::remove_file(dir.join(".gitignore")).expect("removed");
        symlink("src/a", dir.join(".gitignore")).expect("linked");
    });
    let folder = Case {
        done: &[
            (".gitignore/sub/x", "x"),
            (".gitignore/b.log", "x"),
            ("node_modules/evil/x", "x"),
        ],
        taken: &[".gitignore", ".gitignore/b.log", ".gitignore/sub/x"],
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
            done: &[(".gitignore", "venv/\n"), ("venv/x", "x")],
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
    write(&dir.join(".gitignore"), "/old/\n/new/*\n!/new/-rf\n");
    let Snapshot {
        newly_ignored,
        n_newly_ignored,
        left_out,
        tree,
        ..
    } = snapshot(&repo, &dir, &base);
    assert_eq!(left_out, []);
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
