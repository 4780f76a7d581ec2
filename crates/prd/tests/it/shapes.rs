//! The many shapes of real files, each in one line with what it is read as.

use prd::Story;

use crate::support::{codes, drawn, read_text};

/// `id state priority [dependencies] title | criteria`
fn brief(story: &Story) -> String {
    let priority = story
        .priority
        .map_or("-".to_owned(), |priority| priority.to_string());
    let on: Vec<&str> = story.depends_on.iter().map(prd::StoryId::as_str).collect();
    let criteria: Vec<&str> = story
        .criteria
        .iter()
        .map(|criterion| criterion.text.as_str())
        .collect();
    format!(
        "{} {} {priority} [{}] {} | {}",
        story.id,
        story.state.word(),
        on.join(","),
        story.title,
        criteria.join(" + ")
    )
}

fn stories(text: &str) -> Vec<String> {
    let reading = read_text("prd.json", text);
    assert!(!reading.has_errors(), "{text}\n{}", drawn(&reading));
    reading
        .prd
        .expect("stories")
        .stories
        .iter()
        .map(brief)
        .collect()
}

#[test]
fn stories_are_found_under_every_known_key() {
    let story = r#"{"id":"a","title":"T","acceptance":["c"]}"#;
    for container in [
        "userStories",
        "user_stories",
        "stories",
        "tasks",
        "items",
        "features",
        "requirements",
        "milestones",
        "units",
        "epics",
        "phases",
        "User Stories",
        "tickets",
    ] {
        assert_eq!(
            stories(&format!(r#"{{"{container}":[{story}]}}"#)),
            ["a open - [] T | c"],
            "{container}"
        );
    }
    for wrapper in ["prd", "data"] {
        assert_eq!(
            stories(&format!(r#"{{"{wrapper}":{{"tasks":[{story}]}}}}"#)),
            ["a open - [] T | c"],
            "{wrapper}"
        );
        assert_eq!(
            stories(&format!(r#"{{"{wrapper}":[{story}]}}"#)),
            ["a open - [] T | c"],
            "{wrapper}"
        );
    }
    for inner in ["tasks", "stories", "userStories"] {
        assert_eq!(
            stories(&format!(
                r#"{{"phases":[{{"name":"P","{inner}":[{story}]}}]}}"#
            )),
            ["a open - [] T | c"],
            "{inner}"
        );
    }
    assert_eq!(
        stories(&format!("[{story}]")),
        ["a open - [] T | c"],
        "root list"
    );
    assert_eq!(
        stories(&format!(r#"{{"sprint":{{"userStories":[{story}]}}}}"#)),
        ["a open - [] T | c"],
        "a list that can mean nothing else, under any key"
    );
    let nested =
        format!(r#"{{"milestones":[{{"id":"m","epics":[{{"id":"e","stories":[{story}]}}]}}]}}"#);
    assert_eq!(stories(&nested), ["a open - [] T | c"], "groups in groups");
}

#[test]
fn the_likelier_list_wins() {
    for (text, expected) in [
        (
            r#"{"features":["a"],"user_stories":[{"id":"u","title":"U","steps":["c"]}]}"#,
            "u open - [] U | c",
        ),
        (
            r#"{"milestones":[{"id":"m","tasks":["1"]}],"phases":[{"tasks":[{"id":"1","title":"P","steps":["c"]}]}]}"#,
            "1 open - [] P | c",
        ),
        (
            r#"{"stories":[],"tasks":[{"id":"t","title":"T","steps":["c"]}]}"#,
            "t open - [] T | c",
        ),
        (
            r#"{"features":[{"id":"f","title":"F","acceptance":["c"],"tasks":[{"id":"x","title":"X"}]}]}"#,
            "f open - [] F | c",
        ),
    ] {
        assert_eq!(stories(text), [expected], "{text}");
    }
}

/// Dependencies may stand inside the nodes, and there may be none.
#[test]
fn a_graph_needs_no_edges() {
    for (text, expected) in [
        (
            r#"{"nodes":[{"id":"a","title":"T","status":"ready"}]}"#,
            "a open - [] T | T",
        ),
        (
            r#"{"milestones":[{"id":"M1","title":"M","status":"pending"}],"stories":[],"nodes":[{"id":"a","title":"T","status":"ready"}]}"#,
            "a open - [] T | T",
        ),
        (
            r#"{"stories":[{"id":"S-1","title":"S"}],"nodes":[{"id":"a","title":"T","depends_on":[]}]}"#,
            "a open - [] T | T",
        ),
        (
            r#"{"nodes":{"a":{"title":"T","status":"complete"}}}"#,
            "a passed - [] T | T",
        ),
        (r#"{"nodes":[{"id":"a","title":"T"}]}"#, "a open - [] T | T"),
        // Nodes of something else, beside stories.
        (
            r#"{"nodes":[{"id":"n","title":"N"}],"stories":[{"id":"u","title":"U","steps":["c"]}]}"#,
            "u open - [] U | c",
        ),
    ] {
        assert_eq!(stories(text), [expected], "{text}");
    }
    let chained = r#"{"nodes":[{"id":"a","title":"T","status":"ready"},{"id":"b","title":"U","depends_on":["a"]}]}"#;
    assert_eq!(
        stories(chained),
        ["a open - [] T | T", "b open - [a] U | U"]
    );
    for (text, is_graph) in [
        (chained, true),
        (
            r#"{"stories":[{"id":"u","title":"U","steps":["c"]}]}"#,
            false,
        ),
    ] {
        assert_eq!(read_text("x.json", text).is_task_graph, is_graph, "{text}");
    }
    // Nodes that have no title and no state are no tasks.
    let other = read_text("x.json", r#"{"nodes":[{"id":"n","x":1,"y":2}]}"#);
    assert!(other.prd.is_none(), "{}", drawn(&other));
}

#[test]
fn a_field_is_read_in_every_spelling() {
    for (fields, expected) in [
        // Ids.
        (r#""id":7"#, "7 open - [] T | c"),
        (r#""story_id":"s""#, "s open - [] T | c"),
        (r#""feature_id":"f""#, "f open - [] T | c"),
        (r#""key":"k""#, "k open - [] T | c"),
        (r#""x":0"#, "story-1 open - [] T | c"),
        // Priorities.
        (r#""id":"a","priority":3"#, "a open 3 [] T | c"),
        (r#""id":"a","priority":"3""#, "a open 3 [] T | c"),
        (r#""id":"a","priority":"Critical""#, "a open 0 [] T | c"),
        (r#""id":"a","priority":"low""#, "a open 3 [] T | c"),
        (r#""id":"a","priority":"P1""#, "a open 1 [] T | c"),
        (r#""id":"a","priority":null"#, "a open - [] T | c"),
        // States.
        (r#""id":"a","passes":true"#, "a passed - [] T | c"),
        (r#""id":"a","passed":true"#, "a passed - [] T | c"),
        (r#""id":"a","completed":true"#, "a passed - [] T | c"),
        (r#""id":"a","complete":true"#, "a passed - [] T | c"),
        (r#""id":"a","done":true"#, "a passed - [] T | c"),
        (r#""id":"a","status":"CLOSED""#, "a passed - [] T | c"),
        (r#""id":"a","status":"in_progress""#, "a open - [] T | c"),
        (r#""id":"a","status":"wont-fix""#, "a wont-fix - [] T | c"),
        (r#""id":"a","skipped":true"#, "a skipped - [] T | c"),
        (
            r#""id":"a","passes":false,"status":"failed""#,
            "a failed - [] T | c",
        ),
    ] {
        assert_eq!(
            stories(&format!(r#"[{{{fields},"title":"T","acceptance":["c"]}}]"#)),
            [expected],
            "{fields}"
        );
    }
}

#[test]
fn criteria_are_read_under_every_name() {
    for key in [
        "acceptance_criteria",
        "acceptanceCriteria",
        "acceptance",
        "steps",
        "requirements",
        "verification",
        "validationSteps",
        "testCases",
        "tests",
        "test_cases",
    ] {
        assert_eq!(
            stories(&format!(r#"[{{"id":"a","name":"T","{key}":["c","d"]}}]"#)),
            ["a open - [] T | c + d"],
            "{key}"
        );
    }
    for (criteria, expected) in [
        (r#"{"text":"c","command":"make"}"#, "c"),
        (r#"{"id":"AC-1","description":"c"}"#, "c"),
        (r#"{"command":"make test"}"#, "`make test` succeeds"),
        (r#"{"criterion":"c","met":false}"#, "c"),
        (r#"{"details":""}"#, "details:"),
    ] {
        assert_eq!(
            stories(&format!(
                r#"[{{"id":"a","title":"T","acceptance":[{criteria}]}}]"#
            )),
            [format!("a open - [] T | {expected}")],
            "{criteria}"
        );
    }
}

#[test]
fn dependencies_are_read_under_every_name_and_from_both_sides() {
    let base = r#"{"id":1,"title":"A","steps":["c"]}"#;
    for on in [
        r#""depends_on":["1"]"#,
        r#""dependsOn":[1]"#,
        r#""dependencies":"1""#,
        r#""deps":1"#,
        r#""blockedBy":["1"]"#,
        r#""blocked_by":[{"id":"1"}]"#,
        r#""depends_on":[1,"1"]"#,
        r#""depends_on":[],"deps":["1"]"#,
    ] {
        let text = format!(r#"[{base},{{"id":"b","title":"B","steps":["c"],{on}}}]"#);
        assert_eq!(stories(&text)[1], "b open - [1] B | c", "{on}");
    }
    let blocks = r#"[{"id":"a","title":"A","steps":["c"],"blocks":["b"]},{"id":"b","title":"B","steps":["c"]}]"#;
    assert_eq!(stories(blocks)[1], "b open - [a] B | c");
}

#[test]
fn project_fields_are_read() {
    let text = r#"{"name":"N","goal":"G","branchName":"b","verify_command":"make","testCommand":"t","gates":["g"],"context":{"test_command":"ct"},
        "stories":[{"id":"a","title":"T","steps":["c"]}],"left":1}"#;
    let prd = read_text("prd.json", text).prd.expect("stories");
    let checks: Vec<String> = prd
        .checks
        .iter()
        .map(|check| format!("{}={}", check.name.as_deref().unwrap_or("-"), check.text))
        .collect();
    assert_eq!(
        (
            prd.title.as_deref(),
            prd.description.as_deref(),
            prd.branch.as_deref()
        ),
        (Some("N"), Some("G"), Some("b"))
    );
    assert_eq!(checks, ["-=g", "verify=make", "test=t", "test=ct"]);
    let extra: Vec<&str> = prd.extra.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(extra, ["context", "left"]);
}

#[test]
fn every_normalisation_is_reported_once_with_its_place() {
    let reading = read_text(
        "prd.json",
        r#"{"tasks":[{"id":1,"name":"T","steps":["c"],"status":"done","priority":"high"}]}"#,
    );
    let told: Vec<String> = reading
        .changes
        .iter()
        .map(|change| {
            format!(
                "{} {}",
                reading.sources.place(change.at),
                change.describe(&reading.sources)
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "prd.json:1:2 `tasks` read as `stories`",
            "prd.json:1:17 a number as id read as a word",
            "prd.json:1:19 `name` read as `title`",
            "prd.json:1:30 `steps` read as `acceptance_criteria`",
            "prd.json:1:53 `done` read as passed",
            "prd.json:1:71 priority `high` read as 1",
        ]
    );
    assert!(codes(&reading).is_empty());
}
