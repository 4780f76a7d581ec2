//! Work is put onto another commit than the one that it was made on.

use testkit::git;
use workspace::{CommitId, LoopRepo, Mode, Restacked, is_same_repository};

use crate::support::{AT_SECS, World, compose, content, listed, put, put_as, remove};

/// A commit with these edits on top of another one.
fn on(repo: &LoopRepo, base: &CommitId, edits: &[workspace::Edit]) -> CommitId {
    let tree = compose(repo, &repo.tree_of(base).expect("a tree"), edits);
    repo.commit(&tree, base, "work", AT_SECS).expect("made")
}

/// One edit after the other, as a case reads them.
type Edits = Vec<workspace::Edit>;

/// Restacks work beside what landed, both made on the base; says how it went in a line.
fn restacked(world: &World, work: &[workspace::Edit], landed: &[workspace::Edit]) -> String {
    let repo = world.repo();
    let base = world.head();
    let (work, landed) = (on(&repo, &base, work), on(&repo, &base, landed));
    match repo.restack(&base, &work, &landed).expect("restacked") {
        Restacked::Clean { tree, overlap } => {
            let files: Vec<String> = listed(&repo, &tree)
                .into_iter()
                .map(|line| {
                    let path = line.split_once(' ').expect("a path").1;
                    let text = content(&repo, &tree, path).replace('\n', "/");
                    let mode = if line.starts_with("100755") { "*" } else { "" };
                    format!("{path}{mode}={text}")
                })
                .collect();
            format!("{overlap:?}: {}", files.join(" "))
        }
        Restacked::Conflict(paths) => {
            let paths: Vec<String> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            format!("conflict: {}", paths.join(" "))
        }
    }
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn work_is_put_onto_what_landed_since() {
    let first = || put("a", LINES.replace('1', "one"));
    let last = || put("a", LINES.replace('9', "nine"));
    let rows: Vec<(&str, Edits, Edits, &str)> = vec![
        (
            "nothing landed",
            vec![put("new", "n\n"), remove("b")],
            vec![],
            "Disjoint: a=1/2/3/4/5/6/7/8/9/ new=n/",
        ),
        (
            "other files landed",
            vec![put("new", "n\n"), remove("b")],
            vec![put("other", "o\n")],
            "Disjoint: a=1/2/3/4/5/6/7/8/9/ new=n/ other=o/",
        ),
        (
            "both changed a text",
            vec![first()],
            vec![last()],
            "Mixed: a=one/2/3/4/5/6/7/8/nine/ b=x/",
        ),
        (
            "both did the same",
            vec![put("new", "n\n"), remove("b")],
            vec![put("new", "n\n"), remove("b"), put("c", "c\n")],
            "Mixed: a=1/2/3/4/5/6/7/8/9/ c=c/ new=n/",
        ),
        (
            "mode here, content there",
            vec![put_as(Mode::Executable, "b", "x\n")],
            vec![put("b", "y\n")],
            "Mixed: a=1/2/3/4/5/6/7/8/9/ b*=y/",
        ),
        (
            "a file became a folder, which nobody else touched",
            vec![remove("b"), put("b/c", "c\n")],
            vec![put("other", "o\n")],
            "Disjoint: a=1/2/3/4/5/6/7/8/9/ b/c=c/ other=o/",
        ),
    ];
    let world = World::with(&[("a", LINES), ("b", "x\n")]);
    for (what, work, landed, expected) in rows {
        assert_eq!(restacked(&world, &work, &landed), expected, "{what}");
    }
}

#[test]
fn what_cannot_be_put_together_is_named() {
    let rows: Vec<(&str, Edits, Edits, &str)> = vec![
        (
            "the same line, and an edit of what was removed",
            vec![put("a b", "2\n"), put("c", "2\n")],
            vec![put("a b", "3\n"), remove("c")],
            "a b c",
        ),
        (
            "a removal of what was edited",
            vec![remove("c")],
            vec![put("c", "2\n")],
            "c",
        ),
        (
            "two files of one name",
            vec![put("new", "1\n")],
            vec![put("new", "2\n")],
            "new",
        ),
        (
            "not a text",
            vec![put("bin", "\0 1")],
            vec![put("bin", "\0 2")],
            "bin",
        ),
        (
            "a link",
            vec![put_as(Mode::Link, "c", "d")],
            vec![put("c", "2\n")],
            "c",
        ),
        (
            "a file where a folder landed",
            vec![put("x", "1\n")],
            vec![put("x/y", "2\n")],
            "x",
        ),
        (
            "a folder where a file landed",
            vec![put("x/y", "1\n")],
            vec![put("x", "2\n")],
            "x/y",
        ),
        (
            "names that differ by case",
            vec![put("Read.me", "1\n")],
            vec![put("README", "0\n"), put("read.me", "2\n")],
            "Read.me",
        ),
        (
            "folders that differ by case",
            vec![put("Docs/one", "1\n")],
            vec![put("docs/two", "2\n")],
            "Docs/one",
        ),
    ];
    let world = World::with(&[("a b", "1\n"), ("c", "1\n"), ("bin", "\0")]);
    for (what, work, landed, paths) in rows {
        let expected = format!("conflict: {paths}");
        assert_eq!(restacked(&world, &work, &landed), expected, "{what}");
    }
}

/// Renames are not followed: the edit would land in a file that the work never touched.
#[test]
fn an_edit_does_not_follow_a_file_that_was_renamed() {
    let world = World::with(&[("a", LINES)]);
    let work = [put("a", LINES.replace('1', "one"))];
    let landed = [remove("a"), put("renamed", LINES)];
    assert_eq!(restacked(&world, &work, &landed), "conflict: a");
}

fn function(name: &str, body: &[&str]) -> String {
    let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
    format!("fn {name}() {{\n{body}}}\n\n")
}

/// Git's default merge put these edits cleanly into another function than the one that was edited.
#[test]
fn an_edit_never_lands_in_another_function() {
    let calls = ["log(b);", "read();", "done()"];
    let edited = ["log(b);", "CHANGED;", "done()"];
    let short = ["store(b);", "read();"];
    let short_edited = ["store(b);", "CHANGED;"];
    let [f, g, h] = ["f", "g", "h"];
    let cases = [
        // The default algorithm is wrong, histogram refuses.
        (
            function(f, &calls) + &function(g, &calls),
            function(g, &calls) + &function(f, &calls),
            function(f, &edited) + &function(g, &calls),
        ),
        // Histogram is wrong too, patience refuses.
        (
            function(f, &short) + &function(g, &short) + &function(h, &short),
            function(g, &short) + &function(f, &short) + &function(h, &short),
            function(f, &short_edited) + &function(g, &short) + &function(h, &short),
        ),
    ];
    for (base, moved, edited) in cases {
        let world = World::with(&[("code", base.as_str())]);
        let [moved, edited] = [[put("code", moved)], [put("code", edited)]];
        for (work, landed) in [(&edited, &moved), (&moved, &edited)] {
            assert_eq!(restacked(&world, work, landed), "conflict: code", "{base}");
        }
    }
}

#[test]
fn work_of_another_history_has_no_base() {
    let world = World::with(&[("a", "1\n")]);
    let repo = world.repo();
    let base = world.head();
    let work = on(&repo, &base, &[put("a", "3\n")]);
    assert_eq!(
        repo.merge_base(&work, &base).expect("asked"),
        Some(base.clone())
    );
    git(&world.project(), &["checkout", "-q", "--orphan", "other"]);
    let other = world.add(&[("a", "2\n")]);
    LoopRepo::create(&world.project(), repo.path(), &other).expect("imported");
    assert_eq!(repo.merge_base(&other, &base).expect("asked"), None);
}

#[test]
fn another_work_tree_is_of_the_same_repository() {
    let world = World::with(&[("a", "1\n")]);
    let tree = world.at("tree");
    let words = tree.display().to_string();
    git(
        &world.project(),
        &["worktree", "add", "-q", "--detach", &words],
    );
    assert!(is_same_repository(&tree, &world.project()));
    assert!(
        !is_same_repository(&world.project(), &world.project()),
        "it is the project"
    );
    assert!(!is_same_repository(&world.at("nothing"), &world.project()));
    let stranger = World::with(&[("a", "1\n")]);
    assert!(!is_same_repository(&stranger.project(), &world.project()));
}
