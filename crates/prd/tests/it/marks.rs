//! Marking: exact bytes before and after, in every style that people use.

use prd::{Input, Mark, Options, mark, mark_for_review, read};

use crate::support::{assert_reads_as_marked, read_text};

/// Marks one story of a text and returns the new text, or the refusal.
fn marked(name: &str, text: &str, id: &str, state: Mark) -> Result<String, String> {
    let reading = read_text(name, text);
    let result =
        mark(&reading, id, state, &Options::default()).map_err(|refused| refused.message)?;
    let story = &reading
        .prd
        .as_ref()
        .expect("stories")
        .stories
        .iter()
        .find(|story| story.id.as_str() == id)
        .expect("the story")
        .id;
    assert_reads_as_marked(&reading, &result, story, state);
    Ok(result.text)
}

fn check(name: &str, state: Mark, rows: &[(&str, &str)]) {
    for (before, after) in rows {
        assert_eq!(
            marked(name, before, "a", state).as_deref(),
            Ok(*after),
            "{before}"
        );
    }
}

/// Skips a story for review and marks it anew afterwards: the texts after each.
fn reviewed(name: &str, text: &str, then: Mark) -> (String, String) {
    let reason = "the \"test\" is red";
    let skipped = mark_for_review(&read_text(name, text), "a", reason, &Options::default());
    let skipped = skipped.map_err(|refused| refused.message).expect(text).text;
    let again = mark_for_review(
        &read_text(name, skipped.as_str()),
        "a",
        reason,
        &Options::default(),
    );
    assert_eq!(again.expect("marked").text, skipped, "once is enough");
    let marked = mark(
        &read_text(name, skipped.as_str()),
        "a",
        then,
        &Options::default(),
    );
    (
        skipped,
        marked.map_err(|refused| refused.message).expect(text).text,
    )
}

#[test]
fn a_story_that_needs_a_person_says_so_in_its_notes() {
    const NOTE: &str = r#"NEEDS HUMAN REVIEW: the \"test\" is red"#;
    for (name, before, skipped, open) in [
        (
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":false,"notes":""},{"id":"b","title":"T","notes":"x"}]"#,
            format!(
                r#"[{{"id":"a","title":"T","skipped":true,"notes":"{NOTE}"}},{{"id":"b","title":"T","notes":"x"}}]"#
            ),
            None,
        ),
        (
            // The author's own words stay as they are written.
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":false,"Notes" : "m\u0069ne\tand \"that\"" }]"#,
            format!(
                r#"[{{"id":"a","title":"T","skipped":true,"Notes" : "m\u0069ne\tand \"that\"\n{NOTE}" }}]"#
            ),
            None,
        ),
        (
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":false,"notes":null}]"#,
            format!(r#"[{{"id":"a","title":"T","skipped":true,"notes":"{NOTE}"}}]"#),
            Some(r#"[{"id":"a","title":"T","skipped":false,"notes":""}]"#),
        ),
        (
            // An older request gives way to the newer.
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":true,"notes":"mine\nNEEDS HUMAN REVIEW: once"}]"#,
            format!(r#"[{{"id":"a","title":"T","skipped":true,"notes":"mine\n{NOTE}"}}]"#),
            Some(r#"[{"id":"a","title":"T","skipped":false,"notes":"mine"}]"#),
        ),
        (
            // No field, no note; and what we cannot add to is left alone.
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":false}]"#,
            r#"[{"id":"a","title":"T","skipped":true}]"#.to_owned(),
            None,
        ),
        (
            "prd.json",
            r#"[{"id":"a","title":"T","skipped":false,"notes":["one"],"technicalNotes":"two"}]"#,
            r#"[{"id":"a","title":"T","skipped":true,"notes":["one"],"technicalNotes":"two"}]"#
                .to_owned(),
            None,
        ),
        (
            "prd.yaml",
            "- id: a\n  title: T\n  skipped: false\n  notes: mine # really\n",
            format!("- id: a\n  title: T\n  skipped: true\n  notes: \"mine\\n{NOTE}\" # really\n"),
            Some("- id: a\n  title: T\n  skipped: false\n  notes: \"mine\" # really\n"),
        ),
        (
            "prd.yaml",
            "- id: a\n  title: T\n  skipped: false\n  notes:\n",
            format!("- id: a\n  title: T\n  skipped: true\n  notes: \"{NOTE}\"\n"),
            Some("- id: a\n  title: T\n  skipped: false\n  notes: \"\"\n"),
        ),
        (
            "prd.yaml",
            "- id: a\n  title: T\n  skipped: false\n  notes: |\n    one\n    two\n",
            "- id: a\n  title: T\n  skipped: true\n  notes: |\n    one\n    two\n".to_owned(),
            None,
        ),
    ] {
        let found = reviewed(name, before, Mark::Open);
        assert_eq!(found.0, skipped, "{before}");
        assert_eq!(found.1, open.unwrap_or(before), "{before}");
    }
    let passes = r#"[{"id":"a","title":"T","passes":false,"notes":"mine"}]"#;
    assert_eq!(
        reviewed("prd.json", passes, Mark::Passed).1,
        r#"[{"id":"a","title":"T","passes":true,"notes":"mine","skipped":false}]"#
    );
    let still = reviewed("prd.json", passes, Mark::Skipped);
    assert_eq!(still.0, still.1, "a plain skip says nothing of the review");
}

#[test]
fn a_story_is_open_again() {
    check(
        "prd.json",
        Mark::Open,
        &[
            (
                r#"[{"id":"a","title":"T","passes":true}]"#,
                r#"[{"id":"a","title":"T","passes":false}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"skipped":true}]"#,
                r#"[{"id":"a","title":"T","passes":false,"skipped":false}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","Completed":"yes","status":"DONE"}]"#,
                r#"[{"id":"a","title":"T","Completed":"no","status":"OPEN"}]"#,
            ),
            // The file's own word for it.
            (
                r#"[{"id":"a","title":"T","status":"blocked"},{"id":"b","title":"T","status":"ready"}]"#,
                r#"[{"id":"a","title":"T","status":"ready"},{"id":"b","title":"T","status":"ready"}]"#,
            ),
            // What is open already stays as it is, and nothing said is open.
            (
                r#"[{"id":"a","title":"T","status":"in-progress"}]"#,
                r#"[{"id":"a","title":"T","status":"in-progress"}]"#,
            ),
            (r#"[{"id":"a","title":"T"}]"#, r#"[{"id":"a","title":"T"}]"#),
        ],
    );
    check(
        "prd.yaml",
        Mark::Open,
        &[(
            "- id: a\n  title: T\n  passes: true # at last\n",
            "- id: a\n  title: T\n  passes: false # at last\n",
        )],
    );
}

#[test]
fn a_passed_story_of_a_json_file() {
    check(
        "prd.json",
        Mark::Passed,
        &[
            // An existing field is changed, whatever its spelling and type.
            (
                r#"[{"id":"a","title":"T","passes":false}]"#,
                r#"[{"id":"a","title":"T","passes":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":true}]"#,
                r#"[{"id":"a","title":"T","passes":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes" : []}]"#,
                r#"[{"id":"a","title":"T","passes" : true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":null}]"#,
                r#"[{"id":"a","title":"T","passes":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","Completed":"no"}]"#,
                r#"[{"id":"a","title":"T","Completed":"yes"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","done":0}]"#,
                r#"[{"id":"a","title":"T","done":1}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":False}]"#,
                r#"[{"id":"a","title":"T","passes":true}]"#,
            ),
            // The file's own word is used, in the case of the word that it replaces.
            (
                r#"[{"id":"a","title":"T","status":"pending"}]"#,
                r#"[{"id":"a","title":"T","status":"done"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","status":"TO-DO"}]"#,
                r#"[{"id":"a","title":"T","status":"DONE"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","status":"open"},{"id":"b","title":"T","status":"Complete"}]"#,
                r#"[{"id":"a","title":"T","status":"Complete"},{"id":"b","title":"T","status":"Complete"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","status":null}]"#,
                r#"[{"id":"a","title":"T","status":"done"}]"#,
            ),
            // Every state field changes; a value that we do not understand stays.
            (
                r#"[{"id":"a","title":"T","passes":false,"status":"in-progress"}]"#,
                r#"[{"id":"a","title":"T","passes":true,"status":"done"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"status":"odd"}]"#,
                r#"[{"id":"a","title":"T","passes":true,"status":"odd"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"skipped":true}]"#,
                r#"[{"id":"a","title":"T","passes":true,"skipped":false}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"done":false,"completed":"2026-01-01"}]"#,
                r#"[{"id":"a","title":"T","passes":true,"done":true,"completed":"2026-01-01"}]"#,
            ),
            // A story without a field gets that of the other stories, or `passes`, in the style of
            // its last entry.
            (
                r#"[{"id":"a","title":"T"}]"#,
                r#"[{"id":"a","title":"T","passes":true}]"#,
            ),
            (
                r#"[{ "id": "a", "title": "T" }]"#,
                r#"[{ "id": "a", "title": "T", "passes": true }]"#,
            ),
            (
                r#"[{"id":"a"  ,  "title":"T",}]"#,
                r#"[{"id":"a"  ,  "title":"T"  ,  "passes":true,}]"#,
            ),
            (
                r#"[{"id":"a" "title":"T"}]"#,
                r#"[{"id":"a" "title":"T", "passes":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T"},{"id":"b","title":"T","completed":false}]"#,
                r#"[{"id":"a","title":"T","completed":true},{"id":"b","title":"T","completed":false}]"#,
            ),
            (
                r#"[{"id":"a","title":"T"},{"id":"b","title":"T","status":"closed"}]"#,
                r#"[{"id":"a","title":"T","status":"closed"},{"id":"b","title":"T","status":"closed"}]"#,
            ),
            (
                "[\r\n  {\r\n    \"id\": \"a\",\r\n    \"title\": \"T\"\r\n  }\r\n]\r\n",
                "[\r\n  {\r\n    \"id\": \"a\",\r\n    \"title\": \"T\",\r\n    \"passes\": true\r\n  }\r\n]\r\n",
            ),
            (
                "\u{FEFF}[{\"id\":\"a\",\n\t\"title\":\"é\" // why\n}]",
                "\u{FEFF}[{\"id\":\"a\",\n\t\"title\":\"é\",\n\t\"passes\":true // why\n}]",
            ),
            (
                "[{\"id\":\"a\", // one\n  \"title\":\"T\"}]",
                "[{\"id\":\"a\", // one\n  \"title\":\"T\",\n  \"passes\":true}]",
            ),
            (
                r#"{"stories":{"a":{"title":"T"}}}"#,
                r#"{"stories":{"a":{"title":"T","passes":true}}}"#,
            ),
        ],
    );
}

#[test]
fn a_skipped_story_of_a_json_file() {
    check(
        "prd.json",
        Mark::Skipped,
        &[
            (
                r#"[{"id":"a","title":"T","passes":false}]"#,
                r#"[{"id":"a","title":"T","passes":false,"skipped":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":true}]"#,
                r#"[{"id":"a","title":"T","passes":false,"skipped":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"skipped":false}]"#,
                r#"[{"id":"a","title":"T","passes":false,"skipped":true}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","skip":"no"}]"#,
                r#"[{"id":"a","title":"T","skip":"yes"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","status":"Pending"}]"#,
                r#"[{"id":"a","title":"T","status":"Skipped"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","status":"open"},{"id":"b","title":"T","status":"deferred"}]"#,
                r#"[{"id":"a","title":"T","status":"deferred"},{"id":"b","title":"T","status":"deferred"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T","passes":false,"status":"odd"}]"#,
                r#"[{"id":"a","title":"T","passes":false,"status":"skipped"}]"#,
            ),
            (
                r#"[{"id":"a","title":"T"}]"#,
                r#"[{"id":"a","title":"T","skipped":true}]"#,
            ),
        ],
    );
}

#[test]
fn a_passed_story_of_a_yaml_file() {
    check(
        "prd.yaml",
        Mark::Passed,
        &[
            (
                "- id: a\n  title: T\n  passes: false   # note\n",
                "- id: a\n  title: T\n  passes: true   # note\n",
            ),
            (
                "- id: a\n  title: T\n  passes:\n",
                "- id: a\n  title: T\n  passes: true\n",
            ),
            (
                "- id: a\n  title: T\n  passes: no\n",
                "- id: a\n  title: T\n  passes: yes\n",
            ),
            (
                "- id: a\n  title: T\n  status: 'pending'\n",
                "- id: a\n  title: T\n  status: 'done'\n",
            ),
            (
                "- id: a\n  title: T\n  status: \"pending\"\n",
                "- id: a\n  title: T\n  status: \"done\"\n",
            ),
            (
                "- id: a\n  title: T\n  status: \"pending\"   # it's \"so\"\n",
                "- id: a\n  title: T\n  status: \"done\"   # it's \"so\"\n",
            ),
            (
                "- id: a\n  title: T\n  status: 'pending'   # it's so\n",
                "- id: a\n  title: T\n  status: 'done'   # it's so\n",
            ),
            (
                "- {id: a, title: 'it''s', status: 'open' }   # it's so\n",
                "- {id: a, title: 'it''s', status: 'done' }   # it's so\n",
            ),
            (
                "- id: a\n  title: T\n",
                "- id: a\n  title: T\n  passes: true\n",
            ),
            ("- id: a\n  title: T", "- id: a\n  title: T\n  passes: true"),
            (
                "- id: a\r\n  title: T # why\r\n",
                "- id: a\r\n  title: T # why\r\n  passes: true\r\n",
            ),
            (
                "- id: a\n  title: T\n  acceptance_criteria:\n    - c\n",
                "- id: a\n  title: T\n  passes: true\n  acceptance_criteria:\n    - c\n",
            ),
            (
                "-   id: >\n      a\n    title: |\n      T\n",
                "-   passes: true\n    id: >\n      a\n    title: |\n      T\n",
            ),
            (
                "- {id: a, title: T}\n",
                "- {id: a, title: T, passes: true}\n",
            ),
            (
                "- {\"id\":\"a\",\"title\":\"T\"}\n",
                "- {\"id\":\"a\",\"title\":\"T\",\"passes\": true}\n",
            ),
            (
                "- id: a\n  title: T\n  passes: &p false\n",
                "- id: a\n  title: T\n  passes: true\n",
            ),
            (
                "base: &b\n  passes: false\nstories:\n  - id: a\n    title: T\n    <<: *b\n  - id: c\n    title: C\n    <<: *b\n",
                "base: &b\n  passes: false\nstories:\n  - id: a\n    title: T\n    passes: true\n    <<: *b\n  - id: c\n    title: C\n    <<: *b\n",
            ),
            (
                "no: &n false\nstories:\n  - id: a\n    title: T\n    passes: *n\n",
                "no: &n false\nstories:\n  - id: a\n    title: T\n    passes: true\n",
            ),
            (
                "stories:\n  a:\n    title: T\n",
                "stories:\n  a:\n    title: T\n    passes: true\n",
            ),
            (
                "nodes:\n  - id: a\n    title: T\n    status: ready\n  - id: b\n    title: T\n    status: complete\nedges: []\n",
                "nodes:\n  - id: a\n    title: T\n    status: complete\n  - id: b\n    title: T\n    status: complete\nedges: []\n",
            ),
            // A graph in which no node is done yet.
            (
                "nodes:\n  - id: a\n    title: T\n    status: ready\n  - id: b\n    title: T\n    status: pending\nedges: []\n",
                "nodes:\n  - id: a\n    title: T\n    status: complete\n  - id: b\n    title: T\n    status: pending\nedges: []\n",
            ),
        ],
    );
}

#[test]
fn what_cannot_be_marked_is_refused() {
    for (name, text, id, expected) in [
        (
            "prd.json",
            r#"[{"id":"login-1","title":"T"}]"#,
            "login-l",
            "there is no story `login-l`",
        ),
        (
            "prd.json",
            r#"[{"id":"a","title":"T"},{"id":"a","title":"T"}]"#,
            "a",
            "two stories have the id `a`, so it is not clear which to mark",
        ),
        (
            "prd.yaml",
            "x: &s {id: a, title: T}\nstories:\n  - *s\n",
            "a",
            "the story `a` is a YAML alias: marking it would mark other places too",
        ),
        (
            "prd.yaml",
            "stories: [id: a]\n",
            "a",
            "the story `a` is written in a way that leaves no room for a state",
        ),
        (
            "prd.yaml",
            "- id: a\n  title: T\n  status: |\n    pending\n",
            "a",
            "the story `a` is written in a way that leaves no room for a state",
        ),
        ("prd.json", "[]", "a", "there is no story `a`"),
        (
            "prd.yaml",
            "- &s\n  id: a\n  title: T\n  passes: &p false\n- id: b\n  title: B\n  passes: *p\n",
            "a",
            "the state of `a` cannot be written without changing something else",
        ),
    ] {
        let reading = read_text(name, text);
        let refused = mark(&reading, id, Mark::Passed, &Options::default()).expect_err(text);
        assert_eq!(
            (refused.code, refused.message.as_str()),
            ("PRD020", expected),
            "{text}"
        );
    }
}

#[test]
fn a_ticket_is_marked_in_its_own_file() {
    let ticket = |id: &str, status: &str| {
        format!("---\nid: {id}\nstatus: {status}\n---\n# {id}: T\n\n- [ ] a box\n")
    };
    let files = vec![
        ("t/a.md".to_owned(), ticket("a", "complete").into_bytes()),
        ("t/b.md".to_owned(), ticket("b", "pending").into_bytes()),
    ];
    let reading = read(
        Input::Tickets {
            name: "t".to_owned(),
            files,
        },
        &Options::default(),
    );
    let result = mark(&reading, "b", Mark::Passed, &Options::default()).expect("marked");
    assert_eq!((result.file, result.text), (1, ticket("b", "complete")));
    let skipped = mark(&reading, "b", Mark::Skipped, &Options::default()).expect("marked");
    assert_eq!(skipped.text, ticket("b", "skipped"));
}

/// Where no ticket and no node shows a word for what is done, the family of the file decides.
#[test]
fn a_finished_ticket_or_node_gets_the_word_of_its_family() {
    let ticket = |status: &str| format!("---\nid: a\ntitle: T\n{status}---\ntext\n");
    let graph = |status: &str| format!("nodes:\n  - id: a\n    title: T\n{status}");
    for (name, before, state, after) in [
        (
            "t.md",
            ticket("status: ready\n"),
            Mark::Passed,
            ticket("status: complete\n"),
        ),
        (
            "t.md",
            ticket("status: To Do\n"),
            Mark::Passed,
            ticket("status: Done\n"),
        ),
        (
            "t.md",
            ticket("status: In Progress\n"),
            Mark::Passed,
            ticket("status: Done\n"),
        ),
        (
            "t.md",
            ticket("status: in_progress\n"),
            Mark::Passed,
            ticket("status: complete\n"),
        ),
        (
            "t.md",
            ticket(""),
            Mark::Passed,
            ticket("status: complete\n"),
        ),
        (
            "t.md",
            ticket("status: complete\n"),
            Mark::Open,
            ticket("status: ready\n"),
        ),
        (
            "t.md",
            ticket("status: Done\n"),
            Mark::Open,
            ticket("status: Ready\n"),
        ),
        (
            "t.yaml",
            graph("    status: ready\n"),
            Mark::Passed,
            graph("    status: complete\n"),
        ),
        (
            "t.yaml",
            graph("    status: pending\nedges: []\n"),
            Mark::Passed,
            graph("    status: complete\nedges: []\n"),
        ),
        (
            "t.yaml",
            graph("    status: complete\n"),
            Mark::Open,
            graph("    status: ready\n"),
        ),
        (
            "t.yaml",
            graph(""),
            Mark::Passed,
            graph("    status: complete\n"),
        ),
    ] {
        let marked = marked(name, &before, "a", state);
        assert_eq!(marked.as_deref(), Ok(after.as_str()), "{before}");
    }
}

/// Backlog.md ticks the criteria along with the state; to other tickets nothing but the state is written.
#[test]
fn the_criteria_of_a_ticket_are_ticked_on_a_board_only() {
    let ticket = |status: &str, tick: &str| {
        format!(
            "---\nid: a\ntitle: T\nstatus: {status}\n---\n\n## Acceptance Criteria\n\n- [{tick}] it is there\n"
        )
    };
    for (before, after) in [
        (ticket("ready", " "), ticket("complete", " ")),
        (ticket("To Do", " "), ticket("Done", "x")),
        (ticket("In Progress", " "), ticket("Done", "x")),
    ] {
        let marked = marked("t.md", &before, "a", Mark::Passed);
        assert_eq!(marked.as_deref(), Ok(after.as_str()), "{before}");
    }
}

#[test]
fn a_tracker_gets_the_words_that_it_knows() {
    let task = |status: &str| {
        format!(
            r#"{{"master":{{"tasks":[{{"id":1,"title":"T","status":"{status}","subtasks":[]}}],"metadata":{{}}}}}}"#
        )
    };
    let issue = |status: &str| {
        format!(
            "{{\"id\":\"b-1\",\"title\":\"T\",\"status\":\"{status}\"}}\n{{\"id\":\"b-2\",\"title\":\"U\"}}\n"
        )
    };
    for (name, text, id, state, expected) in [
        (
            "tasks.json",
            task("pending"),
            "1",
            Mark::Passed,
            task("done"),
        ),
        (
            "tasks.json",
            task("pending"),
            "1",
            Mark::Skipped,
            task("deferred"),
        ),
        (
            "issues.jsonl",
            issue("open"),
            "b-1",
            Mark::Passed,
            issue("closed"),
        ),
        (
            "issues.jsonl",
            issue("open"),
            "b-1",
            Mark::Skipped,
            issue("deferred"),
        ),
    ] {
        let reading = read_text(name, text);
        let marked = mark(&reading, id, state, &Options::default()).expect("marked");
        assert_eq!(marked.text, expected, "{name} {state:?}");
    }
}

#[test]
fn a_state_without_a_place_is_refused() {
    for (name, text, id, state, reason) in [
        (
            "spec.md",
            "### User Story 1 - A\n\ntext\n",
            "US1",
            Mark::Passed,
            "no check box or other place",
        ),
        (
            "issues.json",
            r#"[{"number":3,"title":"T","body":""}]"#,
            "3",
            Mark::Passed,
            "an export of issues",
        ),
        (
            "plan.md",
            "- [ ] a\n- [ ] b\n",
            "a",
            Mark::Skipped,
            "has no mark for skipped",
        ),
        (
            "prd.md",
            "### US-1: a\n- plain\n\n### US-2: b\n- [ ] box\n",
            "US-1",
            Mark::Passed,
            "no check box and no word",
        ),
    ] {
        let reading = read_text(name, text);
        let refused = mark(&reading, id, state, &Options::default()).expect_err(text);
        assert_eq!(refused.code, "PRD021", "{text}");
        assert!(refused.message.contains(reason), "{}", refused.message);
    }
}

/// A table may have empty cells for what has not begun, and a story may be opened again.
#[test]
fn marks_of_plans_go_both_ways() {
    let table = |word: &str| {
        format!(
            "| # | Status | Stage |\n|---|---|---|\n| 0 | **DONE** | Skeleton |\n| 1 |{word}| Paths |\n"
        )
    };
    let heading = |sign: &str, mark: &str| {
        format!("### T001 ✅ one\n\n### T002 {sign}two\n\n- [{mark}] box\n")
    };
    for (text, id, state, expected) in [
        (table(" "), "1", Mark::Passed, table(" **DONE** ")),
        (heading("", " "), "T002", Mark::Passed, heading("✅ ", "x")),
        (heading("✅ ", "x"), "T002", Mark::Open, heading("", " ")),
        (
            "- [~] 1. a\n".repeat(2),
            "1",
            Mark::Passed,
            "- [x] 1. a\n- [~] 1. a\n".to_owned(),
        ),
    ] {
        let reading = read_text("plan.md", text.clone());
        let marked = mark(&reading, id, state, &Options::default());
        let marked = marked.unwrap_or_else(|refused| panic!("{text}\n{}", refused.message));
        assert_eq!(marked.text, expected, "{text}");
    }
}
