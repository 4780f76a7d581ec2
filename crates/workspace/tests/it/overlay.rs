//! Laying one agent's tests over another's code.

use std::path::{Path, PathBuf};

use workspace::{Edit, LoopRepo, Mode, ObjectId, Overlay, TreeId};

use crate::support::{HOSTILE, World, compose, listed, put, put_as, raw, remove};

/// Whether a path is in a folder `tests`, or is itself called that.
fn is_test(path: &Path) -> bool {
    path.iter().any(|name| name == "tests")
}

const LONG: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn world() -> (World, LoopRepo, TreeId) {
    let world = World::with(&[
        ("src/lib", "code\n"),
        ("tests/old", LONG),
        ("tests/other", "other\n"),
    ]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    (world, repo, base)
}

fn overlay(repo: &LoopRepo, base: &TreeId, code: &[Edit], tests: &[Edit]) -> Overlay {
    let (code, tests) = (compose(repo, base, code), compose(repo, base, tests));
    let lay = || {
        repo.overlay(base, &code, &tests, &is_test)
            .expect("an overlay")
    };
    let found = lay();
    assert_eq!(lay(), found, "again");
    found
}

/// The report as one line per list: writer's files, dropped, conflicts, implementor's tests,
/// overridden.
fn reports(overlay: &Overlay) -> [String; 5] {
    let conflicts: Vec<_> = overlay
        .conflicts
        .iter()
        .map(|conflict| conflict.path.clone())
        .collect();
    let line = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    [
        line(&overlay.writer_files),
        line(&overlay.dropped),
        line(&conflicts),
        line(&overlay.implementor_tests),
        line(&overlay.overridden),
    ]
}

struct Case {
    what: &'static str,
    code: Vec<Edit>,
    tests: Vec<Edit>,
    /// The expected tree as edits of the base.
    tree: Vec<Edit>,
    reports: [&'static str; 5],
}

fn submodule(path: &str) -> Edit {
    let id = ObjectId::parse(&"1".repeat(40)).expect("an id");
    Edit::Put {
        path: PathBuf::from(path),
        mode: Mode::Submodule,
        id,
    }
}

fn check(cases: Vec<Case>) {
    let (_world, repo, base) = world();
    for Case {
        what,
        code,
        tests,
        tree,
        reports: expected,
    } in cases
    {
        let found = overlay(&repo, &base, &code, &tests);
        let wanted = compose(&repo, &base, &tree);
        assert_eq!(listed(&repo, &found.tree), listed(&repo, &wanted), "{what}");
        assert_eq!(found.tree, wanted, "{what}");
        assert_eq!(reports(&found), expected, "{what}");
    }
}

#[test]
fn a_new_test_is_the_writers() {
    check(vec![
        Case {
            what: "nobody did anything",
            code: vec![],
            tests: vec![],
            tree: vec![],
            reports: ["", "", "", "", ""],
        },
        Case {
            what: "each did their own",
            code: vec![
                put("src/lib", "better\n"),
                put("tests/mine", "m\n"),
                remove("tests/other"),
            ],
            tests: vec![put_as(Mode::Executable, "src/tests/new", "n\n")],
            tree: vec![
                put("src/lib", "better\n"),
                put("tests/mine", "m\n"),
                remove("tests/other"),
                put_as(Mode::Executable, "src/tests/new", "n\n"),
            ],
            reports: ["src/tests/new", "", "", "tests/other", ""],
        },
        Case {
            what: "both made the same path",
            code: vec![
                put("tests/a", "theirs\n"),
                put("tests/b", "b\n"),
                put_as(Mode::Link, "tests/c", "/etc"),
            ],
            tests: vec![
                put("tests/a", "writer\n"),
                put("tests/b", "b\n"),
                put("tests/c", "c\n"),
            ],
            tree: vec![
                put("tests/a", "writer\n"),
                put("tests/b", "b\n"),
                put("tests/c", "c\n"),
            ],
            reports: ["tests/a tests/b tests/c", "", "", "", "tests/a tests/c"],
        },
        Case {
            what: "a new file or link of the implementor's is where the writer has a folder",
            code: vec![
                put("x", "file\n"),
                put_as(Mode::Link, "y", "/etc"),
                put("z/tests/d/e", "e\n"),
            ],
            tests: vec![
                put("x/tests/a", "a\n"),
                put("y/tests/b", "b\n"),
                put("z/tests/d", "d\n"),
            ],
            tree: vec![
                put("x/tests/a", "a\n"),
                put("y/tests/b", "b\n"),
                put("z/tests/d", "d\n"),
            ],
            reports: [
                "x/tests/a y/tests/b z/tests/d",
                "",
                "",
                "",
                "x y z/tests/d/e",
            ],
        },
    ]);
}

#[test]
fn an_existing_test_is_merged() {
    let change = |from: &str, to: &str| LONG.replace(from, to);
    let both = change("one", "1").replace("eight", "8");
    check(vec![
        Case {
            what: "only the writer changed it",
            code: vec![put("src/lib", "better\n")],
            tests: vec![put("tests/old", change("one", "1"))],
            tree: vec![
                put("src/lib", "better\n"),
                put("tests/old", change("one", "1")),
            ],
            reports: ["tests/old", "", "", "", ""],
        },
        Case {
            what: "only the implementor changed it",
            code: vec![put("tests/old", change("one", "1"))],
            tests: vec![],
            tree: vec![put("tests/old", change("one", "1"))],
            reports: ["", "", "", "tests/old", ""],
        },
        Case {
            what: "both, far apart",
            code: vec![put("tests/old", change("one", "1"))],
            tests: vec![put("tests/old", change("eight", "8"))],
            tree: vec![put("tests/old", both.clone())],
            reports: ["tests/old", "", "", "tests/old", ""],
        },
        Case {
            what: "both, far apart, one of them with the mode",
            code: vec![put_as(Mode::Executable, "tests/old", change("one", "1"))],
            tests: vec![put("tests/old", change("eight", "8"))],
            tree: vec![put_as(Mode::Executable, "tests/old", both)],
            reports: ["tests/old", "", "", "tests/old", ""],
        },
        Case {
            what: "a mode here, a text there",
            code: vec![put("tests/old", change("one", "1"))],
            tests: vec![put_as(Mode::Executable, "tests/old", LONG)],
            tree: vec![put_as(Mode::Executable, "tests/old", change("one", "1"))],
            reports: ["tests/old", "", "", "tests/old", ""],
        },
        Case {
            what: "both the same",
            code: vec![put("tests/old", change("one", "1"))],
            tests: vec![put("tests/old", change("one", "1"))],
            tree: vec![put("tests/old", change("one", "1"))],
            reports: ["tests/old", "", "", "tests/old", ""],
        },
    ]);
}

#[test]
fn the_writer_wins_a_conflict() {
    let writers = || vec![put("tests/old", LONG.replace("one", "writer"))];
    let case = |what, code: Vec<Edit>, overridden| Case {
        what,
        code,
        tests: writers(),
        tree: writers(),
        reports: ["tests/old", "", "tests/old", "tests/old", overridden],
    };
    check(vec![
        case(
            "the same line",
            vec![put("tests/old", LONG.replace("one", "1"))],
            "",
        ),
        case("not a text", vec![put("tests/old", "\0")], ""),
        case(
            "too long",
            vec![put(
                "tests/old",
                format!("{LONG}{}", "x\n".repeat(3_000_000)),
            )],
            "",
        ),
        case("removed", vec![remove("tests/old")], ""),
        case(
            "made a link",
            vec![put_as(Mode::Link, "tests/old", "/etc/passwd")],
            "",
        ),
        case("made a submodule", vec![submodule("tests/old")], ""),
        case(
            "made a folder",
            vec![put("tests/old/x", "x\n")],
            "tests/old/x",
        ),
    ]);
    let (_world, repo, base) = world();
    let code = [
        put("tests/old", LONG.replace("one", "1")),
        put("src/lib", "secret\n"),
    ];
    let found = overlay(&repo, &base, &code, &writers());
    let hunk = &found.conflicts[0].implementor_hunk;
    assert!(
        hunk.contains("-one\n+1\n") && !hunk.contains("secret"),
        "{hunk}"
    );
    let long = [put("tests/old", format!("1\n{}", "x\n".repeat(100_000)))];
    let found = overlay(&repo, &base, &long, &writers());
    let hunk = &found.conflicts[0].implementor_hunk;
    assert!(
        hunk.len() < 17_000 && hunk.contains("the difference goes on"),
        "{} bytes",
        hunk.len()
    );
}

#[test]
fn what_is_not_the_writers_to_do_is_dropped() {
    check(vec![
        Case {
            what: "code, links, submodules",
            code: vec![put("src/lib", "better\n")],
            tests: vec![
                put("src/lib", "sabotage\n"),
                put("src/new", "n\n"),
                put_as(Mode::Link, "tests/old", "/etc/passwd"),
                put_as(Mode::Link, "tests/link", "/etc/passwd"),
                submodule("tests/sub"),
                put("tests/good", "g\n"),
            ],
            tree: vec![put("src/lib", "better\n"), put("tests/good", "g\n")],
            reports: [
                "tests/good",
                "src/lib src/new tests/link tests/old tests/sub",
                "",
                "",
                "",
            ],
        },
        Case {
            what: "an existing file made a folder, and an existing folder a file",
            code: vec![],
            tests: vec![
                put("src/lib/tests/x", "x\n"),
                remove("tests"),
                put("tests", "t\n"),
            ],
            tree: vec![remove("tests/old"), remove("tests/other")],
            reports: ["", "src/lib src/lib/tests/x tests", "", "", ""],
        },
        Case {
            what: "a removal of code",
            code: vec![],
            tests: vec![remove("src/lib")],
            tree: vec![],
            reports: ["", "src/lib", "", "", ""],
        },
    ]);
}

#[test]
fn a_test_file_that_the_writer_removes_is_gone() {
    check(vec![
        Case {
            what: "nobody else touched it",
            code: vec![put("src/lib", "better\n")],
            tests: vec![remove("tests/other")],
            tree: vec![put("src/lib", "better\n"), remove("tests/other")],
            reports: ["", "", "", "", ""],
        },
        Case {
            what: "the implementor changed it, or removed it too",
            code: vec![put("tests/old", "changed\n"), remove("tests/other")],
            tests: vec![remove("tests/old"), remove("tests/other")],
            tree: vec![remove("tests/old"), remove("tests/other")],
            reports: ["", "", "tests/old", "tests/old tests/other", ""],
        },
    ]);
    let (_world, repo, base) = world();
    let found = overlay(&repo, &base, &[], &[remove("tests/other")]);
    assert_eq!(found.removed, [PathBuf::from("tests/other")]);
}

#[test]
fn attributes_of_a_tree_do_not_change_a_merge() {
    let world = World::with(&[
        (".gitattributes", "* merge=ours -diff -merge binary\n"),
        ("tests/old", LONG),
    ]);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let code = [put("tests/old", LONG.replace("one", "1\r"))];
    let found = overlay(
        &repo,
        &base,
        &code,
        &[put("tests/old", LONG.replace("eight", "8"))],
    );
    assert_eq!(reports(&found), ["tests/old", "", "", "tests/old", ""]);
    let text = repo
        .read_blob(&found.tree, Path::new("tests/old"), 1000)
        .expect("read")
        .expect("a file");
    assert_eq!(
        String::from_utf8_lossy(&text),
        LONG.replace("one", "1\r").replace("eight", "8")
    );
    let found = overlay(
        &repo,
        &base,
        &code,
        &[put("tests/old", LONG.replace("one", "2"))],
    );
    assert!(
        found.conflicts[0].implementor_hunk.contains("-one\n+1\r\n"),
        "{:?}",
        found.conflicts
    );
}

#[test]
fn any_name_can_be_a_test() {
    let (_world, repo, base) = world();
    let path = |name: &[u8]| PathBuf::from(raw(&[b"tests/", name].concat()));
    let existing: Vec<_> = HOSTILE.iter().map(|name| put(path(name), LONG)).collect();
    let base = compose(&repo, &base, &existing);
    let edits = |text: &str| {
        HOSTILE
            .iter()
            .map(|name| put(path(name), text))
            .collect::<Vec<_>>()
    };
    let mut names: Vec<_> = HOSTILE.iter().map(|name| path(name)).collect();
    names.sort();
    let sorted = |mut paths: Vec<PathBuf>| {
        paths.sort();
        paths
    };
    let found = overlay(&repo, &base, &edits("theirs\n"), &edits("writer\n"));
    assert_eq!(found.tree, compose(&repo, &base, &edits("writer\n")));
    assert!(
        found
            .conflicts
            .iter()
            .all(|conflict| conflict.implementor_hunk.contains("+theirs\n"))
    );
    assert_eq!(
        sorted(
            found
                .conflicts
                .into_iter()
                .map(|conflict| conflict.path)
                .collect()
        ),
        names
    );
    assert_eq!(sorted(found.writer_files), names);
    let found = overlay(
        &repo,
        &base,
        &edits(&LONG.replace("one", "1")),
        &edits(&LONG.replace("eight", "8")),
    );
    assert_eq!(
        found.tree,
        compose(
            &repo,
            &base,
            &edits(&LONG.replace("one", "1").replace("eight", "8"))
        )
    );
}
