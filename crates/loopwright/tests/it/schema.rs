//! `loopwright schema`: what it prints is what is committed, and what the program really answers fits
//! it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json_schema::complaints;
use crate::scene::Scene;
use crate::support::{Answer, TestEnv, project};

/// What the program prints as a schema.
fn printed(name: &str) -> Value {
    let answer = TestEnv::new().run(&["schema", name]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    serde_json::from_str(&answer.stdout).expect("JSON")
}

/// `LOOPWRIGHT_UPDATE_DOCS=1` writes what the program prints.
#[test]
fn the_committed_schemas_are_what_the_program_prints() {
    for name in ["envelope", "config", "events"] {
        let path = project().join(format!("docs/schema/{name}.json"));
        let printed = TestEnv::new().run(&["schema", name]).stdout;
        if std::env::var_os("LOOPWRIGHT_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &printed).expect("written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, printed, "{} is another", path.display());
        assert!(
            printed.contains("https://json-schema.org/draft/2020-12/schema"),
            "{name}"
        );
    }
    let list = TestEnv::new().run(&["schema", "--json"]).json();
    let names = list["result"]["schemas"].as_array().expect("a list");
    assert_eq!(names.len(), 4, "{list}");
}

/// One call of every verb that people have, and of some in ways that fail.
#[test]
fn every_answer_fits_the_envelope() {
    let schema = printed("envelope");
    let scene = Scene::new(&["one", "never-two"]);
    let mut answered = BTreeSet::new();
    let mut check = |words: &[&str], answer: &Answer| {
        // `watch` has a line for each event before its answer.
        let json = if words.contains(&"watch") {
            answer.last_line()
        } else {
            answer.json()
        };
        let found = complaints(&schema, &json);
        assert!(found.is_empty(), "{words:?}: {found:#?}\n{json:#}");
        assert!(
            !holds_json(&json),
            "{words:?}: JSON inside of a string\n{json:#}"
        );
        answered.insert(json["command"].as_str().expect("a verb").to_owned());
    };
    let start = ["--json", "--flow", "judged", "--max-retries", "0"];
    let dry = scene.start(&[&start[..], &["--dry-run"]].concat());
    check(&["start", "--dry-run"], &dry);
    let started = scene.start(&[&start[..], &["--foreground"]].concat());
    check(&["start"], &started);
    let id = started.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let runs = scene.env.run(&["runs", &id, "--json"]).json();
    let run_id = runs["result"]["runs"][2]["runId"]
        .as_str()
        .expect("a run")
        .to_owned();
    assert_eq!(runs["result"]["runs"][2]["stage"], "check", "{runs}");
    for line in [
        "status ID",
        "status",
        "list",
        "events ID",
        "watch ID",
        "story ID one",
        "report ID",
        "diff ID one",
        "checkout ID one tried",
        "runs ID",
        "run RUN",
        "logs ID",
        "clean --older-than 0 --dry-run",
        "cancel ID",
        "pause ID",
        "resume ID",
        "resume ID --reload",
        "answer ID retry",
        "retry ID one",
        "skip ID never-two",
        "accept ID never-two",
        "take ID never-two taken",
        "send agent/loop.cancel --data {}",
        "init --project project",
        "init --project .",
        "doctor --project project",
        "agents --project project",
        "config show --project project",
        "service status",
        "service install --dry-run",
        "worker status",
        "worker restart",
        "worker stop",
        "explain",
        "explain PRD004",
        "schema",
        "man start",
        "man --folder manual",
        "schema config",
        "schema envelope",
        "completions bash",
        "prd check project/prd.json",
        "prd show project/prd.json",
        "prd fmt project/prd.json",
        "prd fmt --to yaml project/prd.json",
        "prd schema",
        "prd order project/prd.json",
        "prd mark project/prd.json one --dry-run",
        "prd check nowhere.json",
        "task next --project project --prd prd.json",
        "task claim one --project project --prd prd.json",
        "task prompt one --project project --prd prd.json",
        "task release one --project project --prd prd.json",
        "task complete one --project project --prd prd.json",
        "task reset one --project project --prd prd.json",
        "task reset nobody --project project --prd prd.json",
        "task status --project project --prd prd.json",
        "task graph --project project --prd prd.json",
        "task refresh --project project",
        "task next",
        "ralph --dry-run --agent true --project project --prd prd.json",
        "nuke ID",
        "nuke dead",
        // What is refused before any verb is carried out names its verb too.
        "status --nonsense",
        "story",
        "prd fmt --to csv",
        "answer",
        "nonsense",
        "run",
    ] {
        let line = line.replace("ID", &id).replace("RUN", &run_id);
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        check(&words, &scene.env.run(&words));
    }
    let wanted: BTreeSet<String> = verbs().into_iter().collect();
    let left_out: Vec<&String> = wanted.difference(&answered).collect();
    // These run until somebody ends them, or play whole loops and change the machine.
    assert_eq!(left_out, ["demo", "serve", "service uninstall"]);
}

/// Every verb that `--help` shows, with the verbs below it.
fn verbs() -> Vec<String> {
    let env = TestEnv::new();
    let below = |group: &[&str]| -> Vec<String> {
        let help = env.run(&[group, &["--help"]].concat()).stdout;
        let lines = help.lines().filter(|line| {
            line.starts_with("  ")
                && line[2..].starts_with(|first: char| first.is_ascii_lowercase())
        });
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| !["help", "loopwright"].contains(name));
        names.map(str::to_owned).collect()
    };
    let mut all = Vec::new();
    for verb in below(&[]) {
        let more = if ["prd", "task", "config", "service", "worker"].contains(&verb.as_str()) {
            below(&[&verb])
        } else {
            Vec::new()
        };
        if more.is_empty() {
            all.push(verb);
        } else {
            all.extend(more.into_iter().map(|name| format!("{verb} {name}")));
        }
    }
    assert!(all.len() > 30, "{all:?}");
    all
}

/// Whether a string is a whole object or list of JSON. What others printed is theirs.
fn holds_json(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
        }
        Value::Array(items) => items.iter().any(holds_json),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !["stdout", "stderr", "prompt"].contains(&key.as_str()))
            .any(|(_, value)| holds_json(value)),
        _ => false,
    }
}

#[test]
fn a_usage_error_names_its_verb() {
    let env = TestEnv::new();
    for (words, verb) in [
        (&["status", "--nonsense"][..], "status"),
        (&["prd", "fmt", "--to", "csv", "x"], "prd fmt"),
        (&["loop", "pause", "a", "b", "c"], "pause"),
        (&["nonsense"], ""),
    ] {
        let answer = env.run(&[&["--json"], words].concat());
        assert_eq!(answer.exit, 2, "{}", answer.whole());
        let json = answer.json();
        assert_eq!(
            (&json["schema"], &json["command"]),
            (&1.into(), &verb.into()),
            "{words:?}"
        );
    }
}

/// Loops that an older version recorded: every flow, every way to stand still and to end.
#[test]
fn answers_about_old_loops_fit_too() {
    let (envelope, events) = (printed("envelope"), printed("events"));
    let env = TestEnv::new();
    let home = env.path("home");
    std::fs::create_dir_all(&home).expect("a folder");
    let fixture = "crates/loopwright/tests/fixtures/journals/journal.db";
    std::fs::copy(project().join(fixture), home.join("journal.db")).expect("copied");
    let ask = |words: &[&str]| -> Value {
        let mut command = env.command(&[words, &["--json"]].concat());
        // Nobody goes on with these loops: their projects are elsewhere.
        command
            .env("LOOPWRIGHT_HOME", &home)
            .env("LOOPWRIGHT_WAKE", "off");
        let json: Value = serde_json::from_slice(&env.output(&mut command).stdout).expect("JSON");
        let found = complaints(&envelope, &json);
        assert!(found.is_empty(), "{words:?}: {found:#?}");
        json["result"].clone()
    };
    let list = ask(&["list"]);
    let loops = list["loops"].as_array().expect("loops");
    assert!(loops.len() > 10, "{list}");
    let mut names = BTreeSet::new();
    for view in loops {
        let id = view["loopId"].as_str().expect("an id");
        ask(&["runs", id]);
        let told = ask(&["events", id])["events"].clone();
        for event in told.as_array().expect("events") {
            let found = complaints(&events, event);
            assert!(found.is_empty(), "{id}: {found:#?}\n{event:#}");
            names.insert(event["name"].as_str().expect("a name").to_owned());
        }
        for story in view["stories"].as_array().expect("stories") {
            ask(&["story", id, story["id"].as_str().expect("an id")]);
        }
    }
    assert!(names.len() > 12, "most events are told: {names:?}");
}

#[test]
fn the_schema_of_events_and_the_page_about_them_say_the_same() {
    let schema = printed("events");
    let rules = schema["allOf"].as_array().expect("rules");
    let of_schema: Vec<(String, Vec<String>)> = rules
        .iter()
        .map(|rule| {
            let name = rule.pointer("/if/properties/name/const").expect("a name");
            let keys = rule
                .pointer("/then/properties/data/required")
                .expect("keys");
            let keys = keys.as_array().expect("keys").iter();
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            (text(name), keys.map(text).collect())
        })
        .collect();
    let page = std::fs::read_to_string(project().join("docs/events.md")).expect("a page");
    let of_page: Vec<(String, Vec<String>)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `agent/"))
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let name = format!("agent/{}", cells[0].trim_end_matches('`'));
            (name, cells[2].split(", ").map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(of_schema, of_page);
}

#[test]
fn real_configurations_fit_their_schema_and_bad_ones_do_not() {
    let schema = printed("config");
    let read = |text: &str| -> Value {
        let table: toml::Table = text.parse().expect("TOML");
        serde_json::to_value(table).expect("JSON")
    };
    let scene = Scene::new(&["one"]);
    scene.env.run(&["init", "--project", "."]);
    for path in [
        scene.env.path("project/loopwright.toml"),
        scene.env.path("loopwright.toml"),
        project().join("crates/cli/src/config/defaults.toml"),
    ] {
        let text = std::fs::read_to_string(&path).expect("a file");
        let found = complaints(&schema, &read(&text));
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
    // What the schema refuses the program refuses too, and the other way round.
    for (text, is_well) in [
        ("[loop]\nmax_retries = 3\nflow = \"tdd\"", true),
        ("[loop]\nmax_retry = 3", false),
        ("[loop]\nmax_iterations = 0", false),
        ("[loop]\nflow = \"fast\"", false),
        ("[loop]\nparallel = 2", true),
        ("[loop]\nparallel = 0", false),
        (
            "[agents.a]\ncommand = [\"x\"]\nenv = { ANY = \"y\" }\ntimeout = \"15m\"",
            true,
        ),
        ("[agents.a]\ncommand = \"x\"", false),
        ("[agents.a.env]\nANY = 1", false),
        ("[retry]\nwait = \"soon\"", false),
        ("[budget]\nusd = 2.5\nhours = 1", true),
        ("[budget]\nusd = -1", false),
        ("[prices.\"gpt-*\"]\ninput = 1.0", true),
        ("[prices.x]\ncost = 1.0", false),
        ("[checks]\ndetect = \"yes\"", false),
    ] {
        let found = complaints(&schema, &read(text));
        assert_eq!(found.is_empty(), is_well, "{text}: {found:?}");
        let env = TestEnv::new();
        env.write("loopwright.toml", text);
        let answer = env.run(&["config", "show"]);
        assert_eq!(answer.exit == 0, is_well, "{text}: {}", answer.whole());
    }
}
