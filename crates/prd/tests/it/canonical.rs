//! The canonical form: reading it gives the same PRD, writing it again the same bytes, and the
//! schema accepts it.

use std::sync::OnceLock;

use prd::{Extra, Prd, SCHEMA, Syntax, canonical};

use crate::support::{drawn, read_text};

fn schema() -> &'static jsonschema::Validator {
    static SCHEMA_READ: OnceLock<jsonschema::Validator> = OnceLock::new();
    SCHEMA_READ.get_or_init(|| {
        let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        jsonschema::validator_for(&schema).expect("the schema is a schema")
    })
}

/// Reading does not understand `groups` and keeps it as an unknown key, so that is compared.
fn without_groups(prd: &Prd) -> Prd {
    let mut prd = prd.clone();
    prd.groups.clear();
    prd.extra.retain(|(key, _)| key != "groups");
    prd
}

/// Writes the PRD in both syntaxes and reads it back.
pub(crate) fn assert_says_the_same(name: &str, prd: &Prd) {
    let json = canonical(prd, Syntax::Json);
    match serde_json::from_str::<serde_json::Value>(&json) {
        Ok(value) => {
            if let Err(error) = schema().validate(&value) {
                panic!("{name}: {error} at {}", error.instance_path());
            }
        }
        // 1e999 is valid JSON, but the schema validator cannot represent it.
        Err(error) => assert!(
            error.to_string().contains("number out of range"),
            "{name}: {error}\n{json}"
        ),
    }
    for (syntax, file) in [(Syntax::Json, "again.json"), (Syntax::Yaml, "again.yaml")] {
        let text = canonical(prd, syntax);
        let again = read_text(file, text.clone());
        assert!(!again.has_errors(), "{name} {file}:\n{}", drawn(&again));
        let read_back = again.prd.expect("stories");
        assert_eq!(
            without_groups(&comparable(&read_back)),
            without_groups(&comparable(prd)),
            "{name} {file}"
        );
        assert_eq!(
            canonical(&read_back, syntax),
            text,
            "{name}: writing {file} again"
        );
    }
}

/// Two differences are allowed: numbers that JSON does not have (`007`) come back as text, and an
/// unknown key with the name of one of ours comes back with the prefix `x-`.
fn comparable(prd: &Prd) -> Prd {
    fn flat(value: &mut Extra) {
        match value {
            Extra::Number(number) => *value = Extra::Text(number.clone()),
            Extra::List(items) => items.iter_mut().for_each(flat),
            Extra::Map(entries) => entries.iter_mut().for_each(|(_, item)| flat(item)),
            Extra::Null | Extra::Bool(_) | Extra::Text(_) => {}
        }
    }
    let mut prd = prd.clone();
    let extras = prd
        .stories
        .iter_mut()
        .flat_map(|story| &mut story.extra)
        .chain(&mut prd.extra);
    for (key, value) in extras {
        flat(value);
        *key = key.trim_start_matches("x-").to_owned();
    }
    prd
}

#[test]
fn a_canonical_file_is_left_as_it_is() {
    let text = r#"{
  "title": "Shelf",
  "stories": [
    {
      "id": "a",
      "title": "Add",
      "description": "",
      "acceptance_criteria": [
        "It adds",
        {
          "text": "Tests pass",
          "command": "make test"
        }
      ],
      "priority": 1.5,
      "passes": false,
      "depends_on": [],
      "status": "stuck",
      "model": "large",
      "remarks": [
        1e999,
        "\u001b[31m"
      ]
    }
  ]
}
"#;
    let reading = read_text("prd.json", text);
    assert!(reading.diagnostics.is_empty(), "{}", drawn(&reading));
    assert_eq!(
        canonical(&reading.prd.expect("stories"), Syntax::Json),
        text
    );
}

/// A tracker keeps its descriptions in fields of its own; what stands beside them is not lost, and not read
/// differently the second time.
#[test]
fn a_goal_describes_a_story_of_a_tracker_that_says_nothing_else() {
    let task_master = |fields: &str| {
        format!(r#"{{"master":{{"tasks":[{{"id":1,"title":"T","status":"pending",{fields}}}]}}}}"#)
    };
    let github = |fields: &str| format!(r#"[{{"number":1,"title":"T","state":"OPEN",{fields}}}]"#);
    for (text, expected) in [
        (task_master(r#""goal":"Reach it""#), "Reach it"),
        (task_master(r#""details":"","goal":"Reach it""#), "Reach it"),
        (task_master(r#""details":"How","goal":"Reach it""#), "How"),
        (github(r#""goal":"Reach it""#), "Reach it"),
        (github(r#""body":"","goal":"Reach it""#), "Reach it"),
        (github(r#""body":"What","goal":"Reach it""#), "What"),
    ] {
        let prd = read_text("tracker.json", text.clone())
            .prd
            .expect("a story");
        assert_eq!(prd.stories[0].description, expected, "{text}");
        assert_says_the_same(&text, &prd);
    }
}

/// What was kept without being understood is not understood the second time either.
#[test]
fn further_words_for_a_state_are_kept() {
    for fields in [
        r#""status":"done","state":"CLOSED""#,
        r#""status":"done","state":{"by":"ann"}"#,
        r#""skipped":false,"skip":true"#,
        r#""skipped":true,"skip":{"why":"late"}"#,
    ] {
        let text = format!(r#"{{"stories":[{{"id":"a","title":"T",{fields}}}]}}"#);
        let prd = read_text("prd.json", text).prd.expect("a story");
        assert_eq!(prd.stories[0].extra.len(), 1, "{fields}");
        assert_says_the_same(fields, &prd);
    }
}

#[test]
fn what_a_tracker_does_not_call_a_dependency_becomes_none() {
    let beads = r#"{"id":"a-1","title":"One","status":"open","issue_type":"task"}
{"id":"a-2","title":"Two","status":"open","issue_type":"task","deps":"open","dependencies":[{"issue_id":"a-2","depends_on_id":"a-1","type":"blocks"}]}
"#;
    let github = r#"[{"number":1,"title":"One","state":"OPEN","body":"b","blockedBy":["legal"]}]"#;
    for (name, text) in [("issues.jsonl", beads), ("issues.json", github)] {
        let prd = read_text(name, text.to_owned()).prd.expect("stories");
        assert_says_the_same(name, &prd);
    }
}

/// The words of a box may begin in the line below it.
#[test]
fn a_criterion_has_no_blank_before_it() {
    let body = "## Acceptance Criteria\n- [ ]\nIt works\n- [ ] It is\n  quick\n";
    let ticket = format!("---\nid: T-1\ntitle: T\n---\n{body}");
    let issue = serde_json::json!([{"number": 1, "title": "T", "state": "OPEN", "body": body}]);
    for (name, text) in [("ticket.md", ticket), ("issues.json", issue.to_string())] {
        let prd = read_text(name, text).prd.expect("a story");
        let criteria: Vec<&str> = prd.stories[0]
            .criteria
            .iter()
            .map(|criterion| criterion.text.as_str())
            .collect();
        assert_eq!(criteria, ["It works", "It is quick"], "{name}");
        assert_says_the_same(name, &prd);
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let story = |id: &str| serde_json::json!({"stories": [{"id": id, "title": "t", "description": "", "acceptance_criteria": ["c"], "passes": false, "depends_on": []}]});
    for (id, good) in [
        ("a", true),
        ("US-001", true),
        ("../../x", false),
        ("-rf", false),
        ("", false),
        (".", false),
        ("a\nb", false),
        (" a", false),
    ] {
        assert_eq!(schema().is_valid(&story(id)), good, "{id:?}");
        assert_eq!(prd::StoryId::new(id).is_ok(), good, "{id:?}");
    }
    assert!(
        !schema().is_valid(&serde_json::json!({"stories": []})),
        "a PRD without stories"
    );
}
