//! What `pip` or `uv` installed into a virtual environment in the tree.
//!
//! The project itself may only be linked into it, and only by a backend whose link depends on nothing
//! but the manifest and the names at the top. A copy of the project would be its own code.

use super::model::{Cold, Files, Recipe, has_end, placed};
use crate::shell::Call;
use crate::tree::Tree;

/// Files that say what is installed, besides those that the command names.
const INPUTS: [&str; 12] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "uv.lock",
    "uv.toml",
    "poetry.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "pip.conf",
    ".python-version",
    ".tool-versions",
];

/// Backends that link a project by its manifest and its names alone.
const BACKENDS: [&str; 6] = [
    "setuptools.build_meta",
    "hatchling.build",
    "flit_core.buildapi",
    "poetry.core.masonry.api",
    "pdm.backend",
    "uv_build",
];

/// Parts of a manifest that run code or compile something while a project is linked.
const RUNS_CODE: [&str; 8] = [
    "dynamic",
    "ext-modules",
    "cmdclass",
    "build.hooks",
    "[tool.poetry.build]",
    "[tool.pdm.build]",
    "metadata.hooks",
    "backend-path",
];

/// What a setup needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The folder of the environment.
    venv: String,
    /// Lists of requirements.
    lists: Vec<String>,
    /// Whether the project itself is linked into it.
    links_project: bool,
}

/// What a setup needs that makes an environment and installs into it; none where it does more.
pub(super) fn needs(calls: &[Call]) -> Option<Needs> {
    let mut needs = Needs::default();
    for call in calls {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        match &words[..] {
            [python, "-m", "venv", venv] if is_python(python) && is_simple(venv) => {
                (*venv).clone_into(&mut needs.venv);
            }
            ["uv", "sync", options @ ..] if calls.len() == 1 => {
                ".venv".clone_into(&mut needs.venv);
                needs.links_project = true;
                let is_known = |option: &&str| {
                    [
                        "--frozen",
                        "--locked",
                        "--all-extras",
                        "--all-groups",
                        "--dev",
                        "-q",
                    ]
                    .contains(option)
                };
                options.iter().all(is_known).then_some(())?;
            }
            [program, words @ ..] => {
                let bin = format!("{}/bin/", needs.venv);
                let tool = program
                    .strip_prefix(&bin)
                    .filter(|_| !needs.venv.is_empty())?;
                let words = match (tool, words) {
                    ("pip" | "pip3", ["install", words @ ..]) => words,
                    (python, ["-m", "pip", "install", words @ ..]) if is_python(python) => words,
                    _ => return None,
                };
                needs.take(words)?;
            }
            [] => return None,
        }
    }
    (!needs.venv.is_empty()).then_some(needs)
}

impl Needs {
    fn take(&mut self, words: &[&str]) -> Option<()> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-q"
                | "--quiet"
                | "--upgrade"
                | "-U"
                | "--no-input"
                | "--no-index"
                | "--disable-pip-version-check"
                | "--no-deps" => {}
                "-r" | "--requirement" | "-c" | "--constraint" => {
                    let list = words.next()?;
                    is_simple_path(list).then(|| self.lists.push((*list).to_owned()))?;
                }
                "-e" | "--editable" => {
                    let what = words.next()?;
                    (*what == "." || what.starts_with(".[")).then_some(())?;
                    self.links_project = true;
                }
                "--group" => drop(words.next()?),
                name if is_requirement(name) => {}
                _ => return None,
            }
        }
        Some(())
    }
}

fn is_python(word: &str) -> bool {
    word.strip_prefix("python").is_some_and(|version| {
        version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

fn is_simple(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '$', '*', '~']) && name != "." && name != ".."
}

fn is_simple_path(path: &str) -> bool {
    !path.starts_with(['/', '~', '-']) && !path.contains("..") && !path.contains(['$', '*', ':'])
}

/// A name with a version perhaps, and no path and no address.
fn is_requirement(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !word.contains(['/', '\\', '@', ':', '$', '*'])
        && !has_end(word, "whl")
        && !has_end(word, "gz")
}

pub(super) fn add(
    tree: &dyn Tree,
    files: &Files,
    subdir: &str,
    needs: &Needs,
    recipe: &mut Recipe,
) -> Result<(), Cold> {
    for list in &needs.lists {
        let path = placed(subdir, list);
        let text = tree.read(&path).unwrap_or_default();
        check_list(&path, &text)?;
        recipe.fixed.push(path);
    }
    if needs.links_project {
        check_project(tree, subdir)?;
        // A link may name what there is to import, so a new name needs a new link.
        recipe.also = names_at_the_top(tree, subdir);
    }
    recipe
        .fixed
        .extend(files.named(|name| INPUTS.contains(&name)));
    recipe.installs.push(needs.venv.clone());
    Ok(())
}

/// A list of requirements that names nothing of the tree.
fn check_list(path: &str, text: &str) -> Result<(), Cold> {
    for line in text.lines().map(str::trim) {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let name = line.split([';', ' ']).next().unwrap_or_default();
        let name = name.split("--hash").next().unwrap_or_default();
        let is_harmless = line.is_empty()
            || line.starts_with('#')
            || line.starts_with("--hash")
            || is_requirement(name.trim_end_matches('\\'));
        if !is_harmless {
            return Err(Cold::Depends(format!("`{line}` in {path}")));
        }
    }
    Ok(())
}

fn check_project(tree: &dyn Tree, subdir: &str) -> Result<(), Cold> {
    let path = placed(subdir, "pyproject.toml");
    if tree.has(&placed(subdir, "setup.py")) {
        return Err(Cold::Depends("setup.py, which is a program".to_owned()));
    }
    let Some(text) = tree.read(&path) else {
        return Err(Cold::Depends(format!("{path}, which cannot be read")));
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().starts_with('#'))
        .collect();
    let text = lines.join("\n");
    if let Some(part) = RUNS_CODE.iter().find(|part| text.contains(**part)) {
        return Err(Cold::Depends(format!("`{part}` in {path}")));
    }
    let config = tree.read(&placed(subdir, "setup.cfg")).unwrap_or_default();
    if ["attr:", "file:", "ext_modules", "cmdclass"]
        .iter()
        .any(|part| config.contains(part))
    {
        return Err(Cold::Depends(
            "setup.cfg, which reads other files".to_owned(),
        ));
    }
    let manifest: toml::Table = toml::from_str(&text)
        .map_err(|_| Cold::Depends(format!("{path}, which cannot be read")))?;
    let backend = manifest
        .get("build-system")
        .and_then(|system| system.get("build-backend"));
    let backend = backend.and_then(toml::Value::as_str).unwrap_or(BACKENDS[0]);
    if !BACKENDS.contains(&backend) {
        return Err(Cold::Depends(format!("the build backend `{backend}`")));
    }
    Ok(())
}

fn names_at_the_top(tree: &dyn Tree, subdir: &str) -> String {
    let mut names = String::new();
    for folder in [subdir.trim_matches('/').to_owned(), placed(subdir, "src")] {
        let mut found = tree.list(&folder);
        found.retain(|name| name.ends_with('/') || has_end(name, "py"));
        found.sort();
        names += &format!("{folder}: {}\n", found.join(" "));
    }
    names
}
