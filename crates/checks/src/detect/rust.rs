//! Rust with Cargo.

use toml::{Table, Value};

use super::ecosystem::Ecosystem;
use super::propose::{Machine, Proposal, Proposed};
use crate::tree::Tree;

/// Packages of a workspace that are looked at.
const MEMBERS_MAX: usize = 100;

pub(super) fn propose(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    let manifest: Table = tree.read("Cargo.toml")?.parse().unwrap_or_default();
    let workspace = manifest.get("workspace");
    let all = if workspace.is_some() {
        " --workspace"
    } else {
        ""
    };
    let mut proposal = Proposal::of(Ecosystem::Cargo);
    if tree.has("Cargo.lock") {
        proposal.setup = Some(Proposed::new("cargo fetch --locked", "Cargo.lock"));
    }
    let nightly = Nightly::of(tree, &manifest);
    let targets = nightly.targets();
    proposal.notes.extend(nightly.notes());
    proposal.typecheck = Some(Proposed::new(
        format!("cargo check{all} {targets}"),
        "Cargo.toml",
    ));
    let has_lints = manifest.contains_key("lints")
        || workspace.is_some_and(|workspace| workspace.get("lints").is_some());
    if has_lints || tree.has("clippy.toml") || tree.has(".clippy.toml") {
        let why = if has_lints {
            "lints in Cargo.toml"
        } else {
            "clippy.toml"
        };
        if machine("cargo-clippy") {
            proposal.lint = Some(Proposed::new(
                format!("cargo clippy{all} {targets} -- -D warnings"),
                why,
            ));
        } else {
            proposal
                .notes
                .push("clippy is not installed here, so there is no lint".to_owned());
        }
    }
    // Examples are built with the tests.
    let tests = if nightly.examples.is_some() {
        " --tests"
    } else {
        ""
    };
    let nextest = ".config/nextest.toml";
    let test = if tree.has(nextest) && machine("cargo-nextest") {
        Proposed::new(format!("cargo nextest run{all}"), nextest)
    } else {
        if tree.has(nextest) {
            proposal.notes.push(format!(
                "cargo-nextest is not installed here, so {nextest} is not used"
            ));
        }
        Proposed::new(format!("cargo test{all}{tests}"), "Cargo.toml")
    };
    proposal.test = Some(test);
    Some(proposal)
}

/// Targets that only a nightly compiler builds, each with a file as its example. `--all-targets`
/// would be red on every other one.
#[derive(Default)]
struct Nightly {
    benches: Option<String>,
    examples: Option<String>,
}

impl Nightly {
    fn of(tree: &dyn Tree, manifest: &Table) -> Self {
        let toolchain = ["rust-toolchain", "rust-toolchain.toml"]
            .into_iter()
            .find_map(|path| tree.read(path));
        if toolchain.is_some_and(|text| text.contains("nightly")) {
            return Self::default();
        }
        let packages = packages(tree, manifest);
        Self {
            benches: first(tree, &packages, "benches", "bench"),
            examples: first(tree, &packages, "examples", "example"),
        }
    }

    fn targets(&self) -> &'static str {
        match (&self.benches, &self.examples) {
            (None, None) => "--all-targets",
            (Some(_), None) => "--bins --tests --examples",
            (None, Some(_)) => "--bins --tests --benches",
            (Some(_), Some(_)) => "--bins --tests",
        }
    }

    fn notes(&self) -> Vec<String> {
        let note = |file: &Option<String>, what: &str| {
            let file = file.as_ref()?;
            Some(format!(
                "`{file}` needs a nightly compiler, so the {what} are left out of the checks"
            ))
        };
        [
            note(&self.benches, "benches"),
            note(&self.examples, "examples"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The folders of all packages, each empty or with a slash at its end.
fn packages(tree: &dyn Tree, manifest: &Table) -> Vec<String> {
    let mut found = vec![String::new()];
    let members = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("members"))
        .and_then(Value::as_array);
    for member in members.into_iter().flatten().filter_map(Value::as_str) {
        match member.strip_suffix("/*") {
            Some(folder) => {
                let inside = tree.list(folder).into_iter();
                let folders = inside.filter(|name| name.ends_with('/'));
                found.extend(folders.map(|name| format!("{folder}/{name}")));
            }
            None => found.push(format!("{}/", member.trim_end_matches('/'))),
        }
    }
    found.truncate(MEMBERS_MAX);
    found
}

/// The first target of a kind that unlocks a feature of the compiler.
fn first(tree: &dyn Tree, packages: &[String], folder: &str, key: &str) -> Option<String> {
    for package in packages {
        let manifest: Table = tree
            .read(&format!("{package}Cargo.toml"))
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let named = manifest.get(key).and_then(Value::as_array);
        let mut files: Vec<String> = named
            .into_iter()
            .flatten()
            .filter_map(|target| target.get("path")?.as_str().map(str::to_owned))
            .collect();
        for name in tree.list(&format!("{package}{folder}")) {
            files.push(match name.strip_suffix('/') {
                Some(name) => format!("{folder}/{name}/main.rs"),
                None => format!("{folder}/{name}"),
            });
        }
        let is_nightly = |path: &String| {
            tree.read(path)
                .is_some_and(|text| text.lines().any(|line| line.starts_with("#![feature(")))
        };
        let mut files = files.into_iter().map(|file| format!("{package}{file}"));
        if let Some(file) = files.find(is_nightly) {
            return Some(file);
        }
    }
    None
}
