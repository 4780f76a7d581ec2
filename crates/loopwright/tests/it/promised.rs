//! What `prd show` shows is promised: a loop uses it, or says aloud that it does not.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::scene::Scene;

/// Keeps what it was told, and does its work.
const IMPLEMENT: &str = "cat > \"$HOME/told-implement\"\necho \"$LOOPWRIGHT_MODEL\" > \"$HOME/told-model\"\necho x > \"$LOOPWRIGHT_STORY_ID.txt\"\n";

const JUDGE: &str = concat!(
    "cat > \"$HOME/told-judge\"\n",
    testkit::criteria_of_prompt!(r#""$HOME/told-judge""#),
    r#"echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA]}"
"#
);

/// A PRD that says everything that one can say.
fn everything() -> Value {
    json!({
        "title": "the-title",
        "description": "the-description",
        "notes": ["the-notes"],
        "branchName": "feature/the-branch",
        "outside": ["elsewhere"],
        "context": { "test_command": "sh the-check.sh" },
        "qualityGates": { "lint": "sh the-lint.sh", "always": "Nothing is ever slow" },
        "userStories": [
            { "id": "zero", "title": "Before", "acceptanceCriteria": ["it was"], "passes": true },
            {
                "id": "one", "title": "the-story-title", "description": "the-story-description",
                "notes": "the-story-notes", "priority": 2, "passes": false, "dependsOn": ["zero", "elsewhere"],
                "tool": "builder", "model": "the-model", "files": ["README", "src/the-new-file"],
                "testCommand": "make the-story-command", "group": "the-group",
                "acceptanceCriteria": [{ "text": "the-criterion", "command": "make the-proof" }],
                "estimate": 3
            },
            { "id": "two", "title": "Aside", "acceptanceCriteria": ["no"], "status": "wont-fix" },
            { "id": "three", "title": "Skipped", "acceptanceCriteria": ["no"], "skipped": true }
        ]
    })
}

fn scene_of(prd: &Value) -> Scene {
    let scene = Scene::with_agents(&["one"], IMPLEMENT, JUDGE);
    scene.env.write("project/prd.json", prd.to_string());
    scene
}

fn story(more: Value) -> Value {
    let mut story = json!({ "id": "one", "title": "One", "acceptanceCriteria": ["it is"] });
    if let (Value::Object(story), Value::Object(more)) = (&mut story, more) {
        story.extend(more);
    }
    story
}

/// What would be started: the spec, and what is said.
fn dry_run(scene: &Scene) -> (Value, String) {
    let answer = scene.start(&["--dry-run", "--json", "--no-preflight"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let result = answer.json()["result"].clone();
    let said: Vec<String> = result["remarks"]
        .as_array()
        .expect("remarks")
        .iter()
        .filter_map(|remark| remark.as_str().map(str::to_owned))
        .collect();
    (result["spec"].clone(), said.join("\n"))
}

fn settings(spec: &Value) -> Value {
    spec["settings"].clone()
}

#[test]
fn e08_everything_that_prd_show_shows_is_used_by_the_loop() {
    let scene = scene_of(&everything());
    scene.configure("[checks]\ndetect = false\n");
    for script in ["the-check.sh", "the-lint.sh"] {
        scene.env.write(&format!("project/{script}"), "exit 0\n");
        scene.git(&["add", script]);
    }
    scene.git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "checks",
    ]);
    let shown = scene
        .env
        .run(&["prd", "show", "project/prd.json", "--json"])
        .json();
    let (spec, _) = dry_run(&scene);
    let answer = scene.start(&["--foreground"]);
    // Two stories were set aside by their author.
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    let told = scene.env.read("told-implement");
    let judged = scene.env.read("told-judge");
    let started = {
        let id = scene.status()["loopId"]
            .as_str()
            .expect("a loop")
            .to_owned();
        scene.env.run(&["status", &id, "--json"]).json()
    };
    let in_prompts = |words: &str| {
        assert!(told.contains(words), "{words} in {told}");
        assert!(judged.contains(words), "{words} in {judged}");
    };
    // One row per field that is shown: a field without one fails the comparison below.
    let mut seen = BTreeSet::new();
    let mut used = |field: &str, is_used: bool| {
        assert!(is_used, "{field}: {}", answer.whole());
        seen.insert(field.to_owned());
    };
    for (field, words) in [
        ("prd.title", "the-title"),
        ("prd.description", "the-description"),
        ("prd.notes", "- the-notes"),
        ("story.id", "## Story one: "),
        ("story.title", "the-story-title"),
        ("story.description", "the-story-description"),
        ("story.notes", "the-story-notes"),
        ("story.group", "Part of: the-group"),
        (
            "story.acceptance_criteria",
            "- `make the-proof` (shows: the-criterion)",
        ),
        ("story.files", "- `src/the-new-file`"),
        ("story.checks", "- `make the-story-command` (shows: test)"),
    ] {
        in_prompts(words);
        used(field, true);
    }
    in_prompts("- always: Nothing is ever slow");
    assert!(
        told.contains("### `README`\n\n````\na project\n````"),
        "{told}"
    );
    assert!(
        told.contains("### `src/the-new-file`\n\nIt does not exist yet."),
        "{told}"
    );
    let branches = scene.git(&["branch", "--list", "--format=%(refname:short)"]);
    used(
        "prd.branch",
        branches.contains("feature/the-branch") && !branches.contains("agent-loop"),
    );
    used(
        "prd.checks",
        answer
            .stderr
            .contains("test: `sh the-check.sh` (from the PRD)")
            && answer
                .stderr
                .contains("lint: `sh the-lint.sh` (from the PRD)"),
    );
    in_prompts("- test: `sh the-check.sh`");
    used(
        "story.model",
        scene.env.read("told-model").trim() == "the-model",
    );
    used("story.tool", scene.starts().len() == 2);
    let stories = &started["result"]["stories"];
    let status = |at: usize| {
        stories[at]["status"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    used(
        "prd.stories",
        stories.as_array().is_some_and(|all| all.len() == 4),
    );
    used("story.passes", status(0) == "passed");
    used("story.depends_on", status(1) == "passed");
    let waits = spec["stories"].to_string().contains("elsewhere");
    used("prd.outside", status(1) == "passed" && !waits);
    used("story.status", status(2) == "skipped");
    used("story.skipped", status(3) == "skipped");
    // Stories without a priority come after those that have one.
    used(
        "story.priority",
        spec["stories"][1]["rank"] == 0 && spec["stories"][0]["rank"] == 1,
    );
    let mut promised = BTreeSet::new();
    for of in ["prd", "story"] {
        let table = shown["result"]["uses"][of].as_array().expect("a table");
        let fields = table.iter().filter_map(|row| row["field"].as_str());
        promised.extend(fields.map(|field| format!("{of}.{field}")));
    }
    assert_eq!(seen, promised);
    assert_eq!(shown["result"]["unused"], json!(["context", "estimate"]));
    assert!(
        answer
            .stderr
            .contains("are in their prompts and are not run as checks: one"),
        "{}",
        answer.whole()
    );
}

#[test]
fn the_plan_has_priorities_dependencies_and_files() {
    let scene = scene_of(&json!({ "stories": [
        story(json!({ "id": "late", "priority": 9, "files": ["a", "b"] })),
        story(json!({ "id": "soon", "priority": 1, "depends_on": ["late"], "files": ["b"] })),
    ] }));
    let (spec, _) = dry_run(&scene);
    let planned = |at: usize| {
        let story = &spec["stories"][at];
        json!([story["rank"], story["dependsOn"], story["files"]])
    };
    assert_eq!(planned(0), json!([1, [], ["a", "b"]]));
    assert_eq!(planned(1), json!([0, ["late"], ["b"]]));
    let order = scene.env.run(&["prd", "order", "project/prd.json"]);
    assert!(
        order.stdout.contains("file  b  (named by late, soon)\n"),
        "{}",
        order.whole()
    );
}

#[test]
fn a_branch_name_that_cannot_be_used_is_said_and_the_loop_has_its_own() {
    for (name, why) in [
        ("main", "which is never written to"),
        ("HEAD", "which is never written to"),
        ("agent-loop", "which is never written to"),
        ("bad..name", "which git does not take as a branch's name"),
        ("-rf", "which git does not take as a branch's name"),
        (
            "feature/x.lock",
            "which git does not take as a branch's name",
        ),
        ("two words", "which git does not take as a branch's name"),
        ("taken", "which exists"),
        ("taken/below", "which cannot be beside the branch `taken`"),
        ("deep", "which cannot be beside the branch `deep/one`"),
    ] {
        let scene = scene_of(&json!({ "branchName": name, "stories": [story(json!({}))] }));
        scene.git(&["branch", "taken"]);
        scene.git(&["branch", "deep/one"]);
        let (spec, said) = dry_run(&scene);
        let branch = spec["branch"].as_str().expect("a branch");
        assert!(branch.starts_with("agent-loop/"), "{name}: {branch}");
        assert!(
            said.contains(&format!("the PRD names the branch `{name}`, {why}"))
                && said.contains(&format!("the loop's branch is `{branch}`")),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_dropped_dependency_is_refused_or_said_at_start() {
    let unknown = scene_of(&json!({ "stories": [story(json!({ "depends_on": ["nobody"] }))] }));
    let answer = unknown.start(&[]);
    assert_eq!(answer.exit, 2, "{}", answer.whole());
    assert!(answer.stderr.contains("PRD004"), "{}", answer.whole());
    for (prd, words) in [
        (
            json!({ "stories": [story(json!({ "depends_on": [true] }))] }),
            "it was passed over",
        ),
        (
            json!({ "nodes": [story(json!({}))], "edges": [{ "from": "one" }] }),
            "it was passed over",
        ),
        (
            json!({ "stories": [
                story(json!({ "id": "aside", "skipped": true })),
                story(json!({ "depends_on": ["aside"] })),
                story(json!({ "id": "free" })),
            ] }),
            "story `one` cannot begin: it waits for aside, which will not pass",
        ),
    ] {
        let (_, said) = dry_run(&scene_of(&prd));
        assert!(said.contains(words), "{prd}: {said}");
    }
}

#[test]
fn commands_of_the_prd_are_the_checks_where_the_configuration_is_silent() {
    let prd = json!({
        "qualityGates": ["npm run lint", "cargo test", "Everything is tested"],
        "stories": [story(json!({}))]
    });
    let checks = |config: &str| {
        let scene = scene_of(&prd);
        scene.configure(config);
        let (spec, said) = dry_run(&scene);
        let checks: Vec<String> = settings(&spec)["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .map(|check| format!("{}: {}", check["name"], check["command"]).replace('"', ""))
            .collect();
        (checks.join(", "), said)
    };
    let (silent, said) = checks("[checks]\ndetect = false\n");
    assert_eq!(silent, "lint: npm run lint, test: cargo test");
    assert!(said.contains("test: `cargo test` (from the PRD)"), "{said}");
    let (half, said) = checks("[checks]\ntest = \"sh own.sh\"\n");
    assert_eq!(half, "lint: npm run lint, test: sh own.sh");
    assert!(
        said.contains("the PRD's test `cargo test` is not run, since [checks] says `sh own.sh`"),
        "{said}"
    );
}

#[test]
fn start_says_which_command_of_the_prd_became_which_check() {
    let scene = scene_of(&json!({
        "qualityGates": ["./run-tests.sh", "./verify.sh"],
        "stories": [story(json!({}))]
    }));
    scene.configure("[checks]\ntimeout = 60\n");
    let (spec, said) = dry_run(&scene);
    assert!(!said.contains("no tests were found"), "{said}");
    assert_eq!(
        settings(&spec)["checks"],
        json!([
            { "name": "check", "command": "./verify.sh" },
            { "name": "test", "command": "./run-tests.sh" },
        ])
    );
    for words in [
        "test: `./run-tests.sh` (from the PRD)",
        "check: `./verify.sh` (from the PRD); it passes or fails as a whole",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
}

#[test]
fn a_model_goes_to_an_agent_that_has_it_or_it_is_said_that_none_does() {
    let scene = scene_of(&json!({ "stories": [
        story(json!({ "id": "fits", "model": "gpt-5" })),
        story(json!({ "id": "other", "model": "opus" })),
        story(json!({ "id": "tool", "model": "opus", "tool": "codex" })),
        story(json!({ "id": "none", "model": "gemini-3-pro" })),
    ] }));
    scene.env.write(
        "project/loopwright.toml",
        "[agents.codex]\nkind = \"codex\"\n[agents.claude]\nkind = \"claude\"\n[checks]\ntest = \"sh t.sh\"\n",
    );
    let (spec, said) = dry_run(&scene);
    let given = |at: usize| {
        let story = &spec["stories"][at];
        json!([story["tool"], story["model"]])
    };
    assert_eq!(given(0), json!([null, "gpt-5"]));
    assert_eq!(given(1), json!(["claude", "opus"]));
    assert_eq!(given(2), json!(["codex", null]));
    assert_eq!(given(3), json!([null, null]));
    for words in [
        "story `other` asks for the model `opus`, so `claude` implements it and not `codex`",
        "story `tool` asks for the model `opus`, which `codex` does not have; that agent's own model is used",
        "story `none` asks for the model `gemini-3-pro`, which `codex` does not have",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
}
