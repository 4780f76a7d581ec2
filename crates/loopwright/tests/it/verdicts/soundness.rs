//! Changes for which a build that reuses too much tells something else than a build from nothing
//! (`verdicts/soundness/`), played with reuse on, in jails. The cases were written by somebody who had
//! not seen the program, but for those about own packages of a workspace.
//!
//! Each must end as it does cold, and no measurement over a root may have differed from a cold one: a
//! confirmation alone would hide that. CI plays a seeded sample, one case of
//! each test; the soak (`LOOPWRIGHT_SOAK=1`) plays all. `LOOPWRIGHT_VERDICTS=name,name` plays these only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use super::case::Case;
use super::outcome::result_of;
use super::scene::Scene;
use crate::ecosystems::toolbox;
use crate::sample::{is_soak, thrifty_sample};
use crate::support::project;

#[derive(Deserialize)]
struct Sound {
    name: String,
    ecosystem: String,
    expect: BTreeMap<String, String>,
    #[serde(default)]
    needs_program: Option<String>,
    #[serde(default)]
    differs: bool,
    #[serde(default)]
    checks: BTreeMap<String, String>,
    #[serde(skip)]
    file: PathBuf,
}

impl Sound {
    /// Whether its setup installs packages from the registries, which takes a minute in CI.
    fn installs(&self) -> bool {
        let setup = self.checks.get("setup");
        setup.is_some_and(|setup| setup.contains("npm ci") && !setup.contains("--offline"))
    }

    /// Whether it costs less than those that it stands together with.
    fn is_cheap(&self) -> bool {
        ["cargo", "npm", "make"].contains(&self.ecosystem.as_str())
    }
}

/// A test for some tools, and the list of all.
macro_rules! tools {
    ($($test:ident: $($tool:literal),+;)+) => {
        $(#[test]
        fn $test() {
            show(&[$($tool),+]);
        })+

        const TOOLS: &[&str] = &[$($($tool,)+)+];
    };
}

// CI plays one case of each test. Tools that make nothing which is reused stand together, and so do those of
// which the same outputs are.
tools! {
    cargo_reuses_what_nothing_touched: "cargo", "workspace";
    npm_reuses_what_the_lock_file_names: "npm", "vitest", "jest";
    what_other_tools_make_is_made_anew: "pytest", "tsc", "make", "cmake";
    a_tree_has_what_its_commit_has: "tree";
}

/// Cases in which something must be reused, and what is then said.
const KNOWN_WARM: [(&str, &str); 2] = [
    ("cargo-bin-exe-honest", "warm: target"),
    ("workspace-side-changed-honest", "with 3 of 4 own packages"),
];

fn known_warm(sound: &Sound) -> Option<&'static str> {
    let known = KNOWN_WARM.iter().find(|(name, _)| *name == sound.name);
    known.map(|(_, words)| *words)
}

#[expect(clippy::print_stdout, reason = "a table that people read")]
fn show(tools: &[&str]) {
    let runners = toolbox::verdict_runners();
    let all = all();
    let mut wrong = Vec::new();
    let chosen = chosen(tools, &all);
    for sound in &chosen {
        let start = Instant::now();
        let (fault, built) = play(sound, &runners);
        let fault = fault.or_else(|| {
            let words = known_warm(sound)?;
            let is_warm = built.iter().any(|built| built.contains(words));
            (!is_warm).then(|| format!("too little was reused: {built:?}"))
        });
        let word = if fault.is_none() { "right" } else { "WRONG" };
        let secs = start.elapsed().as_secs_f32();
        println!(
            "{word} {:<46} {secs:.1} s  {}",
            sound.name,
            built.join(" | ")
        );
        wrong.extend(fault.map(|fault| format!("{}: {fault}", sound.name)));
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases are wrong; LOOPWRIGHT_VERDICTS=name plays one alone\n{}",
        wrong.len(),
        chosen.len(),
        wrong.join("\n")
    );
}

fn chosen<'a>(tools: &[&str], all: &'a [Sound]) -> Vec<&'a Sound> {
    let has_program = |sound: &&Sound| {
        let needs = sound.needs_program.as_deref();
        needs.is_none_or(is_there)
    };
    let fitting = all
        .iter()
        .filter(|sound| tools.contains(&sound.ecosystem.as_str()));
    let fitting = fitting.filter(has_program);
    if let Ok(names) = std::env::var("LOOPWRIGHT_VERDICTS") {
        let is_asked = |sound: &&Sound| names.split(',').any(|name| name == sound.name);
        return fitting.filter(is_asked).collect();
    }
    let fitting: Vec<&Sound> = fitting
        .filter(|sound| is_soak() || !sound.installs())
        .collect();
    let known: Vec<&Sound> = fitting
        .iter()
        .copied()
        .filter(|sound| known_warm(sound).is_some())
        .collect();
    // Of these it is also seen that something is reused at all.
    if !known.is_empty() && !is_soak() {
        return thrifty_sample("soundness, reused", &known, |sound| sound.is_cheap());
    }
    let class = format!("soundness {}", tools.join(" "));
    thrifty_sample(&class, &fitting, |sound| sound.is_cheap())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn all() -> Vec<Sound> {
    let folder = project().join("verdicts/soundness/cases");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("a readable case");
        let sound: Sound = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Sound { file, ..sound }
    };
    files.into_iter().map(read).collect()
}

/// Plays a case; says what is wrong, if anything is, and what was reused.
fn play(sound: &Sound, runners: &Path) -> (Option<String>, Vec<String>) {
    let case = Case::read_remarked(&sound.file, runners);
    let scene = Scene::jailed(&case, runners);
    (fault(sound, &scene), scene.built())
}

fn fault(sound: &Sound, scene: &Scene<'_>) -> Option<String> {
    let Some(answer) = scene.start() else {
        return Some("the loop did not end in time".to_owned());
    };
    let Some(result) = result_of(&answer.stdout) else {
        return Some(answer.whole());
    };
    let of_loop = match &result["loops"][0] {
        Value::Null => &result,
        first => first,
    };
    for story in of_loop["stories"].as_array().into_iter().flatten() {
        let id = story["id"].as_str().unwrap_or_default();
        let has_landed = story["status"] == "passed";
        let shall_land = sound.expect.get(id).is_some_and(|word| word == "lands");
        if has_landed != shall_land {
            let loop_id = of_loop["loopId"].as_str().unwrap_or_default();
            let told = scene.ask(&["story", loop_id, id, "--all"]);
            let told = told.map(|told| told.whole()).unwrap_or_default();
            return Some(format!("{id} landed: {has_landed}\n{told}"));
        }
    }
    if known_warm(sound).is_some() {
        let loop_id = of_loop["loopId"].as_str().unwrap_or_default();
        let events = scene.ask(&["events", loop_id]).map(|told| told.stdout);
        if !events.is_some_and(|events| events.contains("agent/loop.story.confirmed")) {
            return Some("what landed over a root was not confirmed".to_owned());
        }
    }
    match scene.difference() {
        None if sound.differs => Some("nobody noticed what differs over a root".to_owned()),
        Some(_) if sound.differs => None,
        difference => difference,
    }
}

/// A crate whose test sees whether its build folder was there before: green from nothing, red over a root.
const LYING: &str = r##"{
  "name": "lying", "kind": "honest", "class": "warm-cargo", "criteria": ["double works"],
  "files": {
    "Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\ntest = false\n[profile.dev]\ndebug = false\n",
    "Cargo.lock": "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    ".gitignore": "target\n",
    "src/lib.rs": "",
    "tests/fresh.rs": "#[test]\nfn the_build_folder_is_new() {\n    let made = std::fs::metadata(\"target/debug/build\").and_then(|it| it.modified()).unwrap();\n    assert!(made.elapsed().unwrap().as_secs() < 86_400);\n}\n"
  },
  "implement": "echo 'pub fn double(n: u32) -> u32 { n * 2 }' >> src/lib.rs",
  "write": "printf '#[test]\\nfn doubles() {\\n    assert_eq!(shop::double(2), 4);\\n}\\n' > tests/doubles.rs\necho '{\"summary\": \"s\", \"criteria\": [{\"criterion\": \"double works\", \"tests\": [\"doubles\"]}], \"findings\": []}'",
  "checks": { "test": "cargo test --offline" }, "truth": "true"
}"##;

#[test]
fn what_differs_over_a_root_turns_reuse_off_and_costs_no_story() {
    let runners = toolbox::verdict_runners();
    let case: Case = serde_json::from_str(LYING).expect("a case");
    let scene = Scene::jailed(&case, &runners);
    let answer = scene.start().expect("an end");
    let result = result_of(&answer.stdout).unwrap_or_else(|| panic!("{}", answer.whole()));
    let of_loop = match &result["loops"][0] {
        Value::Null => &result,
        first => first,
    };
    assert_eq!(
        of_loop["stories"][0]["status"],
        "passed",
        "{}",
        answer.whole()
    );
    let why = scene.difference().expect("reuse is off");
    assert!(why.contains("the_build_folder_is_new"), "{why}");
    let loop_id = of_loop["loopId"].as_str().expect("a loop");
    let status = scene.ask(&["status", loop_id]).expect("an answer").stdout;
    assert!(
        status.contains("builds  nothing is reused any more: "),
        "{status}"
    );
    let built = scene.built();
    assert!(
        built.iter().all(|built| built.starts_with("cold: ")),
        "{built:?}"
    );
}

#[test]
fn every_tool_is_played_by_one_test() {
    let all = all();
    let mut of_cases: Vec<&str> = all.iter().map(|sound| sound.ecosystem.as_str()).collect();
    of_cases.sort_unstable();
    of_cases.dedup();
    let mut played = TOOLS.to_vec();
    played.sort_unstable();
    assert_eq!(played, of_cases, "a tool without a test, or one in two");
}
