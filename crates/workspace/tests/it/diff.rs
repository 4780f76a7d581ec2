//! What a judge is shown of a candidate.

use workspace::{Edit, LoopRepo, Mode, ObjectId, TreeId};

use crate::support::{HOSTILE, World, compose, put, put_as, raw, remove};

/// As much as judges get.
const BYTES_MAX: usize = 200 * 1024;

const BASE: &[(&str, &str)] = &[
    ("calc.js", "one\ntwo\nthree\n"),
    ("data/a.csv", "1,2\n"),
    ("run.sh", "#!/bin/sh\n"),
    ("src/old.rs", "fn old() {}\n"),
    ("tests/t.py", "def test(): pass\n"),
];

fn diff(repo: &LoopRepo, from: &TreeId, to: &TreeId) -> String {
    repo.diff(from, to, BYTES_MAX).expect("a diff")
}

/// What is shown after these edits of [`BASE`].
fn shown(edits: &[Edit]) -> String {
    let world = World::with(BASE);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    diff(&repo, &base, &compose(&repo, &base, edits))
}

/// The listing alone, without its first line.
fn listed(shown: &str) -> Vec<&str> {
    let (listing, _) = shown.split_once("\n\n").unwrap_or((shown, ""));
    listing.lines().skip(1).collect()
}

#[test]
fn every_change_has_its_line() {
    for (edits, expected) in [
        (vec![], &[][..]),
        (
            vec![put("new.rs", "a\nb")],
            &["added new.rs (3 bytes, +2 lines)"],
        ),
        (
            vec![put("new.rs", "")],
            &["added new.rs (0 bytes, +0 lines)"],
        ),
        (
            vec![put_as(Mode::Executable, "x", "a\n")],
            &["added x (executable, 2 bytes, +1 lines)"],
        ),
        (
            vec![put("calc.js", "one\nzwei\nthree\nfour\n")],
            &["changed calc.js (14 -> 20 bytes, +2 -1 lines)"],
        ),
        (
            vec![remove("calc.js")],
            &["deleted calc.js (14 bytes, -3 lines)"],
        ),
        (
            vec![put_as(Mode::Link, "l", "src/old.rs")],
            &["added l (link to src/old.rs)"],
        ),
        (
            vec![put_as(Mode::Link, "run.sh", "calc.js")],
            &["changed run.sh (10 bytes -> link to calc.js, +1 -1 lines)"],
        ),
        (
            vec![
                remove("run.sh"),
                put_as(Mode::Link, "run.sh/x", "../calc.js"),
            ],
            &[
                "deleted run.sh (10 bytes, -1 lines)",
                "added run.sh/x (link to ../calc.js)",
            ],
        ),
        (
            vec![put("logo", [b'\x89', b'P', 0, 1, 2, 0xff].repeat(100))],
            &["added logo (binary, 600 bytes)"],
        ),
        (
            vec![put("a \"b\"\n.rs", "x\n"), put("caf\u{e9}\u{202e}", "x\n")],
            &[
                r#"added "a \"b\"\x0a.rs" (2 bytes, +1 lines)"#,
                r#"added "café\u202e" (2 bytes, +1 lines)"#,
            ],
        ),
    ] {
        let shown = shown(&edits);
        assert_eq!(listed(&shown), expected, "{edits:?}");
    }
}

#[test]
fn a_file_that_moves_or_gets_another_mode_is_told_apart() {
    let content = "#!/bin/sh\n";
    for (edits, expected) in [
        (
            vec![put_as(Mode::Executable, "run.sh", content)],
            "changed run.sh (mode 100644 -> 100755, 10 bytes, same content)",
        ),
        (
            vec![put_as(Mode::Executable, "run.sh", "exit\n")],
            "changed run.sh (mode 100644 -> 100755, 10 -> 5 bytes, +1 -1 lines)",
        ),
        (
            vec![remove("run.sh"), put("bin/run.sh", content)],
            "renamed run.sh -> bin/run.sh (10 bytes, same content)",
        ),
        (
            vec![
                remove("run.sh"),
                put_as(Mode::Executable, "bin/go", content),
            ],
            "renamed run.sh -> bin/go (mode 100644 -> 100755, 10 bytes, same content)",
        ),
        (
            vec![put("copy.sh", content)],
            "added copy.sh (10 bytes, +1 lines)",
        ),
    ] {
        assert_eq!(listed(&shown(&edits)), [expected], "{edits:?}");
    }
}

#[test]
fn the_listing_begins_with_counts() {
    for (edits, expected) in [
        (vec![], "no file differs"),
        (vec![put("a", "a\n")], "1 file differs: 1 added"),
        (
            vec![
                put("a", "a\n"),
                put("b", "b\n"),
                put("calc.js", "x\n"),
                remove("data"),
                remove("run.sh"),
                put("go.sh", "#!/bin/sh\n"),
            ],
            "5 files differ: 2 added, 1 changed, 1 deleted, 1 renamed",
        ),
    ] {
        let shown = shown(&edits);
        assert_eq!(shown.lines().next(), Some(expected), "{edits:?}");
    }
}

#[test]
fn a_patch_shows_what_changed() {
    let shown = shown(&[
        put("calc.js", "one\nzwei\nthree\n"),
        put("z.rs", "fn z() {}"),
    ]);
    let expected = "\
2 files differ: 1 added, 1 changed
changed calc.js (14 -> 15 bytes, +1 -1 lines)
added z.rs (9 bytes, +1 lines)

=== changed calc.js (14 -> 15 bytes, +1 -1 lines)
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three

=== added z.rs (9 bytes, +1 lines)
@@ -0,0 +1 @@
+fn z() {}
\\ No newline at end of file
";
    assert_eq!(shown, expected);
}

#[test]
fn bytes_that_hide_something_are_made_visible() {
    for (content, expected, remark) in [
        (
            &b"let a = 1;\n\0\nevil();\n"[..],
            "+let a = 1;\n+\\x00\n+evil();\n",
            r"\x00 1 time",
        ),
        (
            b"evil();/*\0\0*/\n",
            "+evil();/*\\x00\\x00*/\n",
            r"\x00 2 times",
        ),
        (
            "if (a\u{202e} b\u{2066}) {}\n".as_bytes(),
            "+if (a\\u202e b\\u2066) {}\n",
            r"\u202e 1 time, \u2066 1 time",
        ),
        (
            "a\u{200b}b\u{feff}\u{3164}\u{e0041}\n".as_bytes(),
            "+a\\u200bb\\ufeff\\u3164\\U000e0041\n",
            r"\U000e0041 1 time, \u200b 1 time, \u3164 1 time, \ufeff 1 time",
        ),
        (
            b"\x1b[2Kx\x08\x7f\xe9\n",
            "+\\x1b[2Kx\\x08\\x7f\\xe9\n",
            r"\x08 1 time, \x1b 1 time, \x7f 1 time, \xe9 1 time",
        ),
        (b"a\rb\r\n", "+a\\rb\\r\n", r"\r 1 time"),
        (
            &[&b"evil();//"[..], &[0; 1000], b"more\n"].concat(),
            &format!(
                "+evil();//{}[984 more such bytes]more\n",
                r"\x00".repeat(16)
            ),
            r"\x00 1000 times",
        ),
    ] {
        let shown = shown(&[put("calc.js", content)]);
        assert!(shown.contains(expected), "{expected}\n{shown}");
        let remark = format!("; written as escapes: {remark})\n");
        assert!(shown.contains(&remark), "{remark}\n{shown}");
    }
    let honest = "\tä = \"日本 🙂\";\r\n\\x00\n";
    let shown = shown(&[put("calc.js", honest)]);
    assert!(
        shown.contains("+\tä = \"日本 🙂\";\\r\n+\\x00\n"),
        "{shown}"
    );
    assert!(!shown.contains("escapes"), "{shown}");
}

#[test]
fn attributes_hide_nothing() {
    for attributes in [
        "* -diff\n",
        "*.js binary\n",
        "*.js diff=x -text\n",
        "*.js filter=x linguist-generated\n",
    ] {
        let shown = shown(&[
            put(".gitattributes", attributes),
            put("calc.js", "evil\n"),
            put("sub/.gitattributes", attributes),
            put("sub/b.js", "worse\n\0"),
        ]);
        assert!(shown.contains("+evil\n"), "{attributes}{shown}");
        assert!(shown.contains("+worse\n"), "{attributes}{shown}");
    }
}

#[test]
fn a_large_file_leaves_room_for_the_others() {
    let many: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    let shown = shown(&[
        put("a.rs", &many),
        put("b.rs", &many),
        put("data/a.csv", &many),
        put("m.min.js", many.replace('\n', " ")),
        put("z.rs", "fn evil() {}\n"),
    ]);
    assert!(shown.contains("+fn evil() {}\n"));
    assert!(shown.contains("added a.rs (588890 bytes, +100000 lines)"));
    assert!(shown.len() < BYTES_MAX + 2000, "{}", shown.len());
    assert!(shown.len() > BYTES_MAX * 9 / 10, "{}", shown.len());
    let sections: Vec<_> = shown.split("\n=== ").skip(1).collect();
    let names: Vec<_> = sections
        .iter()
        .map(|section| section.split(' ').nth(1).unwrap_or_default())
        .collect();
    assert_eq!(names, ["a.rs", "b.rs", "z.rs", "data/a.csv", "m.min.js"]);
    for section in [sections[0], sections[1], sections[3]] {
        let lines: Vec<_> = section.trim_end().lines().skip(2).collect();
        let (note, lines) = lines.split_last().expect("lines");
        let left = 100_000 - lines.iter().filter(|line| line.starts_with('+')).count();
        let expected = format!("… {left} more lines of this file are not shown");
        assert_eq!(*note, expected);
        assert!(lines.len() > 1000, "{}", lines.len());
    }
    assert!(sections[4].contains("more bytes of this line are not shown"));
}

#[test]
fn a_long_listing_is_cut_and_the_rest_is_counted() {
    let mut edits: Vec<_> = (0..2500)
        .map(|number| put(format!("a/{number:04}.csv"), "x\n".repeat(100)))
        .collect();
    edits.extend((0..3).map(|number| put(format!("b{number}.csv"), "x\n".repeat(100))));
    edits.extend([put("zz/evil.rs", "evil\n"), put("calc.js", "x\n")]);
    let shown = shown(&edits);
    let lines = listed(&shown);
    assert_eq!(lines.len(), 2002);
    assert_eq!(
        &lines[..2],
        [
            "changed calc.js (14 -> 2 bytes, +1 -3 lines)",
            "added zz/evil.rs (5 bytes, +1 lines)",
        ]
    );
    assert_eq!(
        &lines[2000..],
        ["and 502 more in a/", "and 3 more in the top folder",]
    );
    assert!(shown.contains("+evil\n"));
    let n_shown = shown.matches("\n=== ").count();
    let note = format!(
        "the patches of {} more files are not shown\n",
        2505 - n_shown
    );
    assert!(shown.ends_with(&note), "{note}");
    assert!(n_shown > 300, "{n_shown}");
}

#[test]
fn a_diff_is_bounded() {
    let long = "x".repeat(3000);
    let mut edits: Vec<_> = (0..50)
        .map(|number| put(format!("{number}.rs"), &long))
        .collect();
    edits.push(put("big.rs", "y\n".repeat(3 * 1024 * 1024)));
    edits.push(put_as(Mode::Link, "l", "z".repeat(4000)));
    let world = World::with(BASE);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let tree = compose(&repo, &base, &edits);
    for bytes_max in [0, 1, 100, 5000, 20_000, 100_000, 1_000_000] {
        let shown = repo.diff(&base, &tree, bytes_max).expect("a diff");
        assert!(shown.len() <= 2 * bytes_max + 1000, "{bytes_max}");
    }
    let shown = diff(&repo, &base, &tree);
    assert!(
        shown.contains("added big.rs (6291456 bytes, too large to compare)"),
        "{}",
        &shown[..5000]
    );
}

#[test]
fn names_and_lines_that_look_like_gits_own_do_no_harm() {
    let fake = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n=== added y\n";
    let mut edits: Vec<_> = HOSTILE.iter().map(|path| put(raw(path), fake)).collect();
    edits.push(put("a\ndiff --git a/b b/b", fake));
    // So many long names need more than one call of git.
    let long = "n".repeat(240);
    edits.extend((0..300).map(|number| put(format!("{long}{number}"), "x\n")));
    edits.extend([remove("run.sh"), put("run.sh/x", "x\n")]);
    let shown = shown(&edits);
    let lines = listed(&shown);
    assert_eq!(lines.len(), edits.len());
    assert!(
        lines.iter().all(|line| line.ends_with(" lines)")),
        "{lines:?}"
    );
    assert_eq!(shown.matches("\n=== ").count(), edits.len());
    assert_eq!(
        shown.matches("\n+diff --git a/x b/x\n+--- a/x\n").count(),
        HOSTILE.len() + 1
    );
    assert!(!shown.contains("\ndiff --git"), "{shown}");
}

#[test]
fn a_submodule_is_one_line() {
    let world = World::with(BASE);
    let repo = world.repo();
    let base = repo.tree_of(&world.head()).expect("a tree");
    let id = |digit: &str| ObjectId::parse(&digit.repeat(40)).expect("an id");
    let sub = |digit| Edit::Put {
        path: "sub".into(),
        mode: Mode::Submodule,
        id: id(digit),
    };
    let one = compose(&repo, &base, &[sub("1")]);
    let ignored = "[submodule \"sub\"]\n\tpath = sub\n\turl = x\n\tignore = all\n";
    let two = compose(&repo, &base, &[sub("2"), put(".gitmodules", ignored)]);
    let shown = diff(&repo, &one, &two);
    let expected = format!(
        "changed sub (submodule at {} -> submodule at {})",
        id("1"),
        id("2")
    );
    assert_eq!(listed(&shown)[1..], [expected]);
}
