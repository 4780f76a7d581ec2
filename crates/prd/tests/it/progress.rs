//! The word for work in progress: the file's own, and taken back byte by byte.

use prd::{Options, status_words, swap_word};

use crate::support::{read_text, real_files};

/// What stands there, and what stands there while somebody works on it.
fn words(name: &str, text: &str, id: &str) -> Option<(String, String)> {
    let words = status_words(&read_text(name, text), id, &Options::default())?;
    Some((words.now, words.in_progress))
}

#[test]
fn a_file_has_its_own_word_for_work_in_progress() {
    let graph = |more: &str, status: &str| {
        format!("nodes:\n{more}  - id: a\n    title: T\n    status: {status}\n")
    };
    let ticket = |status: &str| format!("---\nid: a\ntitle: T\nstatus: {status}\n---\ntext\n");
    let issue =
        "{\"id\":\"a\",\"title\":\"T\",\"status\":\"open\"}\n{\"id\":\"b\",\"title\":\"U\"}\n";
    let master = r#"{"master":{"tasks":[{"id":1,"title":"T","status":"pending","subtasks":[]}],"metadata":{}}}"#;
    for (name, text, id, expected) in [
        ("g.yaml", graph("", "ready"), "a", ("ready", "in_progress")),
        (
            "g.yaml",
            graph("", "not-started"),
            "a",
            ("not-started", "in-progress"),
        ),
        (
            "g.yaml",
            graph("", "\"Ready\""),
            "a",
            ("\"Ready\"", "\"In_progress\""),
        ),
        (
            "g.yaml",
            graph("", "'ready'"),
            "a",
            ("'ready'", "'in_progress'"),
        ),
        (
            "g.yaml",
            graph("  - {id: z, title: Z, status: wip}\n", "ready"),
            "a",
            ("ready", "wip"),
        ),
        (
            "g.yaml",
            graph("  - {id: z, title: Z, status: in-progress}\n", "READY"),
            "a",
            ("READY", "IN-PROGRESS"),
        ),
        (
            "g.yaml",
            graph("  - {id: z, title: Z, status: &same ready}\n", "*same"),
            "a",
            ("*same", "in_progress"),
        ),
        ("t.md", ticket("ready"), "a", ("ready", "in_progress")),
        ("t.md", ticket("To Do"), "a", ("To Do", "In Progress")),
        (
            "issues.jsonl",
            issue.to_owned(),
            "a",
            ("\"open\"", "\"in_progress\""),
        ),
        (
            "tasks.json",
            master.to_owned(),
            "1",
            ("\"pending\"", "\"in-progress\""),
        ),
        (
            "prd.json",
            r#"[{"id":"a","title":"T","passes":false,"status":"pending"}]"#.to_owned(),
            "a",
            ("\"pending\"", "\"in_progress\""),
        ),
    ] {
        let expected = Some((expected.0.to_owned(), expected.1.to_owned()));
        assert_eq!(words(name, &text, id), expected, "{text}");
    }
}

/// A box, a flag and nothing at all have no word for it; nor has a word that nobody understands.
#[test]
fn a_file_may_have_no_word_for_work_in_progress() {
    for (name, text) in [
        ("plan.md", "- [ ] a\n- [ ] b\n"),
        ("prd.json", r#"[{"id":"a","title":"T","passes":false}]"#),
        ("g.yaml", "nodes:\n  - {id: a, title: T}\nedges: []\n"),
        (
            "g.yaml",
            "nodes:\n  - {id: a, title: T, status: frobbed}\nedges: []\n",
        ),
        (
            "g.yaml",
            "nodes:\n  - id: a\n    title: T\n    status:\nedges: []\n",
        ),
        (
            "issues.json",
            r#"[{"number":3,"title":"T","body":"","state":"OPEN"}]"#,
        ),
    ] {
        let id = if name == "issues.json" { "3" } else { "a" };
        assert_eq!(words(name, text, id), None, "{text}");
    }
}

#[test]
fn a_word_gives_way_only_to_the_one_it_was_told_of() {
    let text = "nodes:\n  - id: a\n    title: \"status: ready\"   # status: ready\n    status:   ready  # mine\n";
    let reading = read_text("g.yaml", text);
    let swap = |from, to| swap_word(&reading, "a", from, to, &Options::default());
    let claimed = swap("ready", "in_progress").expect("it stands there").text;
    assert_eq!(
        claimed,
        text.replace("status:   ready", "status:   in_progress")
    );
    swap("pending", "in_progress").expect_err("something else stands there");
    swap("ready", "ready\n    title: other").expect_err("that would change more");
}

/// Every story of every real file: the word is written and taken back, and not one byte is different.
#[test]
fn words_of_real_files_come_back_byte_by_byte() {
    let Some(files) = real_files() else {
        return println!("passed over: the folder of real PRD files is not beside the project");
    };
    let mut n_words = 0;
    for (name, bytes) in &files {
        let reading = read_text(name, bytes.clone());
        let stories = reading.prd.iter().flat_map(|prd| &prd.stories);
        for id in stories.map(|story| story.id.as_str()) {
            let Some(words) = status_words(&reading, id, &Options::default()) else {
                continue;
            };
            let swap = |reading, from: &str, to: &str| {
                let swapped = swap_word(reading, id, from, to, &Options::default());
                swapped.unwrap_or_else(|refused| panic!("{name} {id}: {}", refused.message))
            };
            let claimed = swap(&reading, &words.now, &words.in_progress);
            let again = read_text(name, claimed.text);
            let back = swap(&again, &words.in_progress, &words.now);
            assert_eq!(back.text.as_bytes(), bytes, "{name} {id}");
            n_words += 1;
        }
    }
    println!("{n_words} words of {} real files", files.len());
    assert!(n_words > 50, "{n_words}");
}
