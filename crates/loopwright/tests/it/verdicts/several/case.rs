//! What a case of several stories says: the keys of `verdicts/several/*.json`.
//! `verdicts/README.md` tells what they mean.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::support::project;

/// Keys for readers, and for those who check the cases without the program.
const REMARKS: [&str; 7] = [
    "kind",
    "why",
    "together",
    "git_together",
    "pairs",
    "alone",
    "loses",
];

/// The project's commands, in the order in which they run.
const COMMANDS: [&str; 6] = ["setup", "build", "typecheck", "lint", "format", "test"];

/// Several stories in a small real project.
#[derive(Deserialize)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) situation: String,
    pub(super) ecosystem: String,
    pub(super) flow: String,
    pub(super) parallel: u32,
    pub(super) retries: u32,
    #[serde(default)]
    pub(super) ends_order: Vec<String>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    pub(super) pre: Option<String>,
    pub(super) checks: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) config: String,
    pub(super) needs: Option<Needs>,
    /// Whether it rests on a flaky test: then a second play counts.
    #[serde(default)]
    pub(super) by_chance: bool,
    pub(super) stories: Vec<Story>,
    pub(super) expect: Expect,
    #[serde(flatten)]
    remarks: BTreeMap<String, Value>,
}

/// What a case needs of the machine.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Needs {
    /// A network of its own for every run.
    Jail,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) criteria: Vec<String>,
    #[serde(default)]
    pub(super) depends_on: Vec<String>,
    #[serde(default)]
    pub(super) files: Vec<String>,
    pub(super) implement: String,
    pub(super) implement_again: Option<String>,
    pub(super) write: Option<String>,
    pub(super) judge: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) passed: Vec<String>,
    pub(super) not_passed: Vec<String>,
    pub(super) head_green: bool,
    pub(super) head_tries: Option<u32>,
    pub(super) truth: String,
    pub(super) sent_back: Option<Vec<String>>,
    #[serde(default)]
    pub(super) returns: BTreeMap<String, u32>,
    pub(super) order: Option<Vec<String>>,
    #[serde(default)]
    pub(super) before: Vec<(String, String)>,
    #[serde(default)]
    pub(super) asks: usize,
}

impl Case {
    /// The commands of the project.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        let named = COMMANDS.iter().filter_map(|name| self.checks.get(*name));
        named.filter_map(Value::as_str)
    }

    fn check(&self, file: &Path) {
        let at = file.display();
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let name = Some(self.name.as_str());
        assert_eq!(stem, name, "{at}: a case is called like its file");
        for key in self.remarks.keys() {
            assert!(REMARKS.contains(&key.as_str()), "{at}: no key `{key}`");
        }
        assert!(self.expect.head_green, "{at}: a red head is never right");
    }
}

/// All cases in the order of their names, with `@RUNNERS@` replaced.
pub(super) fn all(runners: &Path) -> Vec<Case> {
    let folder = project().join("verdicts/several");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let files = entries.map(|entry| entry.expect("a file").path());
    let is_case = |file: &std::path::PathBuf| file.extension().is_some_and(|end| end == "json");
    let mut files: Vec<_> = files.filter(is_case).collect();
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).expect("a readable case");
        let text = text.replace("@RUNNERS@", &runners.display().to_string());
        let case: Case = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        case.check(file);
        case
    };
    files.iter().map(read).collect()
}
