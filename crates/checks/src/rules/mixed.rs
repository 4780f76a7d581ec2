//! Files that hold check configuration beside other things. What configures checks comes from the
//! base, and everything else, dependencies above all, stays the candidate's.

use serde::{Deserialize, Serialize};

use super::config::CheckConfig;
use super::json::{Object, is_same};
use super::sections::{Section, sections, without_keys};

/// A mixed file for a verdict.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct MixedResult {
    /// What to write.
    pub text: String,
    /// What the candidate had changed and was put back: keys, scripts, sections.
    pub restored: Vec<String>,
    /// The parts could not be told apart, so that the whole file is the base's (or, where the
    /// candidate's cannot be read at all, the candidate's).
    pub is_whole: bool,
}

/// Keys of `package.json` that configure checks.
const PACKAGE_KEYS: [&str; 19] = [
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "c8",
    "nyc",
    "eslintConfig",
    "eslintIgnore",
    "prettier",
    "stylelint",
    "xo",
    "standard",
    "lint-staged",
    "husky",
    "pre-commit",
    "commitlint",
    "biome",
    "tsd",
];
/// Tables of `pyproject.toml` that configure checks.
const PYPROJECT: [&str; 18] = [
    "tool.pytest",
    "tool.ruff",
    "tool.mypy",
    "tool.pyright",
    "tool.basedpyright",
    "tool.tox",
    "tool.coverage",
    "tool.nox",
    "tool.black",
    "tool.isort",
    "tool.flake8",
    "tool.pylint",
    "tool.hatch.envs",
    "tool.poe",
    "tool.taskipy",
    "tool.pdm.scripts",
    "tool.ty",
    "project.entry-points.pytest11",
];
/// Tables of `Cargo.toml` that configure checks.
const CARGO: [&str; 4] = ["lints", "workspace.lints", "test", "profile.test"];
/// Single keys of `Cargo.toml` that switch tests off.
const CARGO_KEYS: [(&str, &[&str]); 2] = [
    ("lib", &["test", "doctest", "harness"]),
    ("package", &["autotests", "autobenches"]),
];
/// Sections of `setup.cfg` that configure checks.
const SETUP_CFG: [&str; 12] = [
    "tool:pytest",
    "pytest",
    "mypy",
    "mypy-",
    "flake8",
    "coverage:",
    "pylint",
    "isort",
    "tox:tox",
    "testenv",
    "aliases",
    "pycodestyle",
];

/// Says whether a file holds check configuration beside other things.
pub fn is_mixed(path: &str) -> bool {
    ["package.json", "pyproject.toml", "Cargo.toml", "setup.cfg"].contains(&name_of(path))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The candidate's file with the base's check configuration. `base_text` is `None` where the base
/// has no such file: then it has no such configuration either.
pub fn with_base_config(
    config: &CheckConfig,
    path: &str,
    base_text: Option<&str>,
    candidate_text: &str,
) -> MixedResult {
    if base_text == Some(candidate_text) {
        return MixedResult {
            text: candidate_text.to_owned(),
            restored: Vec::new(),
            is_whole: false,
        };
    }
    match name_of(path) {
        "package.json" => package(config, base_text, candidate_text),
        "pyproject.toml" => toml_file(&PYPROJECT, &[], base_text, candidate_text),
        "Cargo.toml" => toml_file(&CARGO, &CARGO_KEYS, base_text, candidate_text),
        "setup.cfg" => ini_file(base_text.unwrap_or(""), candidate_text),
        _ => MixedResult {
            text: candidate_text.to_owned(),
            restored: Vec::new(),
            is_whole: false,
        },
    }
}

fn package(config: &CheckConfig, base_text: Option<&str>, candidate_text: &str) -> MixedResult {
    let base = Object::read(base_text.unwrap_or("{}"));
    let (Some(base), Some(mut candidate)) = (base, Object::read(candidate_text)) else {
        return MixedResult {
            text: candidate_text.to_owned(),
            restored: Vec::new(),
            is_whole: true,
        };
    };
    let mut restored = Vec::new();
    for key in PACKAGE_KEYS {
        if !is_same(base.get(key), candidate.get(key)) {
            candidate.set(key, base.get(key));
            restored.push(key.to_owned());
        }
    }
    let scripts = |object: &Object| {
        object
            .get("scripts")
            .and_then(Object::read)
            .unwrap_or_default()
    };
    let (base_scripts, mut new_scripts) = (scripts(&base), scripts(&candidate));
    let mut names: Vec<String> = base_scripts
        .names()
        .chain(new_scripts.names())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    let n_keys = restored.len();
    for name in names.iter().filter(|name| config.guards_script(name)) {
        if !is_same(base_scripts.get(name), new_scripts.get(name)) {
            new_scripts.set(name, base_scripts.get(name));
            restored.push(format!("scripts.{name}"));
        }
    }
    if restored.len() > n_keys {
        candidate.set("scripts", Some(&new_scripts.text()));
    }
    let text = if restored.is_empty() {
        candidate_text.to_owned()
    } else {
        candidate.text() + "\n"
    };
    MixedResult {
        text,
        restored,
        is_whole: false,
    }
}

/// Says whether a table is one of these or stands within one of them.
fn is_within(name: &str, tables: &[&str]) -> bool {
    tables.iter().any(|table| {
        name == *table
            || name
                .strip_prefix(table)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

fn toml_file(
    tables: &[&str],
    keys: &[(&str, &[&str])],
    base_text: Option<&str>,
    candidate_text: &str,
) -> MixedResult {
    let base_text = base_text.unwrap_or("");
    let read = |text: &str| text.parse::<toml::Table>().ok();
    let (Some(base), Some(candidate)) = (read(base_text), read(candidate_text)) else {
        return MixedResult {
            text: candidate_text.to_owned(),
            restored: Vec::new(),
            is_whole: true,
        };
    };
    let mut paths: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
    paths.extend(
        keys.iter()
            .flat_map(|(table, names)| names.iter().map(move |name| format!("{table}.{name}"))),
    );
    let restored: Vec<String> = paths
        .iter()
        .filter(|path| at(&base, path) != at(&candidate, path))
        .cloned()
        .collect();
    if restored.is_empty() {
        return MixedResult {
            text: candidate_text.to_owned(),
            restored,
            is_whole: false,
        };
    }
    let text = spliced(
        base_text,
        candidate_text,
        |name| is_within(name, tables),
        keys,
    );
    // Tables can be written in ways that sections do not show. Then the whole file is the base's.
    let is_right = read(&text)
        .is_some_and(|table| paths.iter().all(|path| at(&table, path) == at(&base, path)));
    if is_right {
        MixedResult {
            text,
            restored,
            is_whole: false,
        }
    } else {
        MixedResult {
            text: base_text.to_owned(),
            restored,
            is_whole: true,
        }
    }
}

fn at<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
    let mut parts = path.split('.');
    let mut value = table.get(parts.next()?)?;
    for part in parts {
        value = value.get(part)?;
    }
    Some(value)
}

/// The candidate's sections without the guarded ones, then the base's guarded ones.
fn spliced(
    base_text: &str,
    candidate_text: &str,
    is_guarded: impl Fn(&str) -> bool,
    keys: &[(&str, &[&str])],
) -> String {
    let base = sections(base_text);
    let keys_of = |name: &str| {
        keys.iter()
            .find(|(table, _)| *table == name)
            .map_or(&[][..], |(_, names)| *names)
    };
    let mut text = String::new();
    let mut add = |part: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(part);
    };
    for section in sections(candidate_text)
        .iter()
        .filter(|section| !is_guarded(&section.name))
    {
        let names = keys_of(&section.name);
        if names.is_empty() {
            add(&section.text);
            continue;
        }
        let (kept, _) = without_keys(&section.text, names);
        add(&kept);
        let old = base.iter().find(|old| old.name == section.name);
        add(&old.map_or(String::new(), |old| without_keys(&old.text, names).1));
    }
    for section in base.iter().filter(|section| is_guarded(&section.name)) {
        add(&section.text);
    }
    text
}

fn ini_file(base_text: &str, candidate_text: &str) -> MixedResult {
    let is_guarded = |name: &str| {
        SETUP_CFG
            .iter()
            .any(|known| name == *known || (known.ends_with([':', '-']) && name.starts_with(known)))
            || name.starts_with("testenv:")
            || name.starts_with("pylint")
    };
    let guarded = |text: &str| -> Vec<Section> {
        let all = sections(text)
            .into_iter()
            .filter(|section| is_guarded(&section.name));
        all.map(|section| Section {
            text: section.text.trim_end().to_owned(),
            ..section
        })
        .collect()
    };
    let (old, new) = (guarded(base_text), guarded(candidate_text));
    if old == new {
        return MixedResult {
            text: candidate_text.to_owned(),
            restored: Vec::new(),
            is_whole: false,
        };
    }
    let differing = old
        .iter()
        .filter(|section| !new.contains(section))
        .chain(new.iter().filter(|section| !old.contains(section)));
    let mut restored: Vec<String> = differing.map(|section| section.name.clone()).collect();
    restored.sort();
    restored.dedup();
    MixedResult {
        text: spliced(base_text, candidate_text, is_guarded, &[]),
        restored,
        is_whole: false,
    }
}
