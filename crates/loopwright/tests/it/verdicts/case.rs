//! What a verdict case says: the keys of `verdicts/cases/*.json` and what holds where one is absent.
//! `verdicts/README.md` tells what they mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::project;

/// Keys for readers; nothing is played by them.
const REMARKS: [&str; 4] = ["ecosystem", "why", "post", "sees_env"];

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Bad work that must not land.
    Attack,
    /// Good work that must land.
    Honest,
}

/// Evidence without which an attack must not land.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Needs {
    Flag,
}

/// One story in a small real project.
#[derive(Deserialize)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) class: String,
    pub(super) subject: Option<String>,
    pub(super) needs: Option<Needs>,
    #[serde(default)]
    pub(super) gullible: bool,
    #[serde(default)]
    pub(super) plain: bool,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) subdir: String,
    #[serde(default)]
    pub(super) gitless: bool,
    pub(super) pre: Option<String>,
    title: Option<String>,
    description: Option<String>,
    criteria: Option<Vec<String>>,
    stories: Option<Vec<Value>>,
    pub(super) implement: Option<String>,
    pub(super) write: Option<String>,
    pub(super) review: Option<String>,
    judge: Option<String>,
    pub(super) prove: Option<String>,
    pub(super) arbitrate: Option<String>,
    pub(super) agent_timeout: Option<String>,
    checks: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) config: String,
    pub(super) flow: Option<String>,
    #[serde(default)]
    pub(super) retries: u32,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    pub(super) timeout: Option<u64>,
    pub(super) truth: Option<String>,
    #[serde(default)]
    pub(super) truth_env: BTreeMap<String, String>,
    #[serde(flatten)]
    remarks: BTreeMap<String, Value>,
}

impl Case {
    /// A case of another gallery, which has further keys of its own.
    pub(super) fn read_remarked(file: &Path, runners: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("a readable case");
        let text = text.replace(ANY_PYTHON, &format!("PYTHONPATH={} ", packages(runners)));
        let text = text.replace("@RUNNERS@", &runners.display().to_string());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    pub(super) fn criteria(&self) -> Vec<String> {
        let usual = ["double 4 gives 8", "double of a negative number is right"];
        let usual = || usual.map(str::to_owned).to_vec();
        self.criteria.clone().unwrap_or_else(usual)
    }

    /// The stories of the PRD.
    pub(super) fn stories(&self) -> Vec<Value> {
        let all = self.stories.clone().unwrap_or_default();
        if !all.is_empty() {
            return all;
        }
        let title = self.title.as_deref().unwrap_or("Double a number");
        let description = self.description.as_deref().unwrap_or("double");
        vec![
            json!({ "id": "S1", "title": title, "description": description,
            "acceptance_criteria": self.criteria(), "priority": 1, "passes": false }),
        ]
    }

    pub(super) fn checks(&self) -> BTreeMap<String, String> {
        let usual = || BTreeMap::from([("test".to_owned(), "bash run-tests.sh".to_owned())]);
        self.checks.clone().unwrap_or_else(usual)
    }

    /// Whether its runner starts at once.
    pub(super) fn is_cheap(&self) -> bool {
        const SLOW: [&str; 9] = [
            "jest", "vitest", "mocha", "cargo", "npm", "npx", "tsc", "eslint", "mypy",
        ];
        !self.names_any_of(&SLOW)
    }

    /// Whether nothing but a shell and `make` runs its tests. In a loop, small faults are tried that never
    /// end, and each takes all the time that it may.
    pub(super) fn is_of_shell(&self) -> bool {
        let commands = self.checks();
        let mut commands = commands.values();
        let has_loops = |code: &String| code.contains("while ") || code.contains("until ");
        self.is_cheap()
            && !self.implement.as_ref().is_some_and(has_loops)
            && !commands.any(|command| command.contains("python") || command.contains("node"))
    }

    /// Whether a command or a file holds one of these words.
    fn names_any_of(&self, words: &[&str]) -> bool {
        let commands = self.checks();
        let mut texts = commands.values().chain(self.files.values());
        texts.any(|text| words.iter().any(|word| text.contains(word)))
    }

    /// The script of a judge that is not one of ours.
    pub(super) fn own_judge(&self) -> Option<&str> {
        let is_ours = |script: &&str| matches!(*script, "pass" | "honest");
        self.judge.as_deref().filter(|script| !is_ours(script))
    }

    /// Whether our judge answers obligations. In plain work there must be none to answer.
    pub(super) fn judge_explains(&self) -> bool {
        let explains = self.kind == Kind::Honest || self.judge.as_deref() == Some("honest");
        explains && !self.plain
    }

    fn check(&self, file: &Path) {
        let at = file.display();
        assert_eq!(
            file.file_stem().and_then(|stem| stem.to_str()),
            Some(self.name.as_str()),
            "{at}: a case is called like its file"
        );
        for key in self.remarks.keys() {
            assert!(REMARKS.contains(&key.as_str()), "{at}: no key `{key}`");
        }
        // Only its truth tells whether an attack that landed did any harm.
        assert!(
            self.kind == Kind::Honest || self.truth.is_some(),
            "{at}: an attack has a `truth`"
        );
    }
}

/// How a case that was written without the program finds the packages of the runners. A command with an
/// expansion is one that nobody can read results of.
const ANY_PYTHON: &str =
    "PYTHONPATH=$(echo @RUNNERS@/venv/lib/python3*/site-packages)${PYTHONPATH:+:$PYTHONPATH} ";

fn packages(runners: &Path) -> String {
    let versions = std::fs::read_dir(runners.join("venv/lib")).into_iter();
    let first = versions.flatten().flatten().next();
    let first = first.map(|version| version.path().join("site-packages"));
    first.map_or_else(String::new, |path| path.display().to_string())
}

/// All cases in the order of their names, with `@RUNNERS@` replaced.
pub(super) fn all(runners: &Path) -> Vec<Case> {
    let folder = project().join("verdicts/cases");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let case = Case::read_remarked(file, runners);
        case.check(file);
        case
    };
    files.iter().map(read).collect()
}

/// Names of the cases that are known to come out wrong, from `verdicts/known-wrong.txt`.
pub(super) fn known_wrong() -> BTreeSet<String> {
    listed_in("known-wrong.txt")
}

/// Names of the cases that come out wrong once in a while, from `verdicts/by-chance.txt`.
pub(super) fn by_chance() -> BTreeSet<String> {
    listed_in("by-chance.txt")
}

fn listed_in(name: &str) -> BTreeSet<String> {
    let file = project().join("verdicts").join(name);
    let text = std::fs::read_to_string(file).expect("a list of cases");
    names_with_reasons(&text)
}

/// Reads lines of the form `name: reason`, among comments.
fn names_with_reasons(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, reason) = line.split_once(':').unwrap_or((line, ""));
        assert!(!reason.trim().is_empty(), "`{line}` gives no reason");
        assert!(names.insert(name.to_owned()), "`{name}` is listed twice");
    }
    names
}

#[test]
fn known_wrong_cases_are_cases() {
    let cases = all(Path::new("runners"));
    for name in known_wrong().into_iter().chain(by_chance()) {
        let is_known = cases.iter().any(|case| case.name == name);
        assert!(is_known, "a list names `{name}`, which is no case");
    }
    let seen = names_with_reasons("# a list\n\none: its runner hides it\n");
    assert_eq!(seen, BTreeSet::from(["one".to_owned()]));
}
