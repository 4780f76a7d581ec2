//! New files of a candidate that would be run instead of what a check command means.

use serde::{Deserialize, Serialize};

use super::commands::{Named, named};
use crate::text::extension;
use crate::tree::Tree;

/// A file that must not be there when a verdict is made.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// Where it is.
    pub path: String,
    /// What it would stand in for.
    pub why: String,
}

/// Folders that tools fill. What a candidate puts there was made to be found before the real thing.
const FILLED: [&str; 7] = [
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".pytest_cache",
    ".mypy_cache",
];
/// Modules that Python's runners and linters import, and that a file in the working folder would
/// hide.
const MODULES: [&str; 14] = [
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "py",
    "unittest",
    "doctest",
    "coverage",
    "hypothesis",
    "tox",
    "nox",
    "ruff",
    "mypy",
    "pyright",
];
const PYTHONS: [&str; 13] = [
    "python", "python3", "pytest", "py.test", "tox", "nox", "uv", "poetry", "pipenv", "hatch",
    "pdm", "mypy", "pyright",
];

/// Finds the new files among `changed_paths` that would be run instead of a runner, a module or a
/// configuration.
pub fn shadows(commands: &[&str], base: &dyn Tree, changed_paths: &[String]) -> Vec<Shadow> {
    let named = named(commands, base);
    let new = changed_paths.iter().filter(|path| !base.has(path));
    new.filter_map(|path| {
        Some(Shadow {
            path: path.clone(),
            why: why(&named, base, path)?,
        })
    })
    .collect()
}

fn why(named: &Named, base: &dyn Tree, path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    filled_folder(base, &parts)
        .or_else(|| startup_file(named, path, &parts))
        .or_else(|| python_module(named, base, &parts))
        .or_else(|| program(named, &parts))
        .or_else(|| other_makefile(named, base, path))
        .or_else(|| {
            named
                .files
                .contains(path)
                .then(|| "a check command runs it".to_owned())
        })
}

fn filled_folder(base: &dyn Tree, parts: &[&str]) -> Option<String> {
    let (at, folder) = parts
        .iter()
        .enumerate()
        .take(parts.len() - 1)
        .find(|(at, part)| {
            let is_target = **part == "target"
                && base.has(&[&parts[..*at], &["Cargo.toml"]].concat().join("/"));
            FILLED.contains(part) || is_target
        })?;
    (!base.has(&parts[..=at].join("/")))
        .then(|| format!("`{folder}/` is filled by tools and not by a change"))
}

/// Files that Python loads by itself.
fn startup_file(named: &Named, path: &str, parts: &[&str]) -> Option<String> {
    let name = parts.last()?;
    if ["sitecustomize.py", "usercustomize.py"].contains(name) || extension(path) == "pth" {
        return Some("Python loads it before anything else".to_owned());
    }
    let is_root_conftest = path == "conftest.py" && named.calls(&PYTHONS);
    is_root_conftest.then(|| "pytest loads it before every test".to_owned())
}

/// `pytest.py` or `pytest/` where the real module is meant.
fn python_module(named: &Named, base: &dyn Tree, parts: &[&str]) -> Option<String> {
    if !named.calls(&PYTHONS) {
        return None;
    }
    let parts = if parts.first() == Some(&"src") {
        &parts[1..]
    } else {
        parts
    };
    let first = parts.first()?;
    let module = if parts.len() == 1 {
        first.strip_suffix(".py")?
    } else {
        first
    };
    let is_called = MODULES.contains(&module) || named.modules.contains(module);
    let is_own =
        base.has(module) || base.has(&format!("src/{module}")) || base.has(&format!("{module}.py"));
    (is_called && !is_own).then(|| format!("it hides the module `{module}` that a check runs"))
}

/// A file named like a program that a check calls, at the top or in a `bin` folder. A folder of such a
/// name is found by nobody.
fn program(named: &Named, parts: &[&str]) -> Option<String> {
    let (name, folders) = parts.split_last()?;
    let stem = name.split('.').next().unwrap_or(name);
    let is_named_like = |word: &str| named.programs.contains(word) && !word.is_empty();
    let is_at_top = folders.is_empty() && is_named_like(name);
    let is_in_bin = folders
        .last()
        .is_some_and(|folder| *folder == "bin" || *folder == ".bin")
        && (is_named_like(name) || is_named_like(stem));
    (is_at_top || is_in_bin)
        .then(|| format!("it is named like the program `{stem}` that a check calls"))
}

/// A makefile of a name that is looked for first.
fn other_makefile(named: &Named, base: &dyn Tree, path: &str) -> Option<String> {
    let (folder, name) = path
        .rsplit_once('/')
        .map_or(("", path), |(folder, name)| (folder, name));
    let has = |name: &str| base.list(folder).iter().any(|found| found == name);
    let is_make = named.calls(&["make", "gmake"])
        && ["GNUmakefile", "makefile"].contains(&name)
        && has("Makefile");
    let is_just = named.calls(&["just"]) && ["justfile", ".justfile", "Justfile"].contains(&name);
    (is_make || is_just).then(|| "it is read instead of the project's own".to_owned())
}
