//! What a Python project's tests need, besides what its package needs: files of requirements, extras,
//! dependency groups, and the lists of other tools.

use toml::{Table, Value};

use crate::shell::quote;
use crate::tree::Tree;

/// What people call the requirements of tests and of development.
const WORDS: [&str; 6] = ["test", "tests", "testing", "dev", "develop", "development"];

/// Plugins of pytest that a configuration uses without naming the package.
const PLUGINS: [(&str, &str); 5] = [
    ("--cov", "pytest-cov"),
    ("asyncio_mode", "pytest-asyncio"),
    ("--numprocesses", "pytest-xdist"),
    ("--timeout", "pytest-timeout"),
    ("--benchmark", "pytest-benchmark"),
];

/// Variables that stand for the version of a package that takes it from git. A checkout has neither
/// tags nor history.
const VERSIONS: [(&[&str], &str); 3] = [
    (
        &["setuptools_scm", "setuptools-scm", "hatch-vcs", "flit_scm"],
        "SETUPTOOLS_SCM_PRETEND_VERSION",
    ),
    (&["pbr"], "PBR_VERSION"),
    (
        &["poetry-dynamic-versioning"],
        "POETRY_DYNAMIC_VERSIONING_BYPASS",
    ),
];

/// The files that say what a project needs.
pub(super) struct Manifests {
    pub(super) pyproject: String,
    pub(super) setup_cfg: String,
    pub(super) setup_py: String,
    pub(super) tox_ini: String,
    pub(super) pipfile: String,
    table: Table,
}

impl Manifests {
    pub(super) fn of(tree: &dyn Tree) -> Self {
        let read = |path: &str| tree.read(path).unwrap_or_default();
        let pyproject = read("pyproject.toml");
        Self {
            table: pyproject.parse().unwrap_or_default(),
            pyproject,
            setup_cfg: read("setup.cfg"),
            setup_py: read("setup.py"),
            tox_ini: read("tox.ini"),
            pipfile: read("Pipfile"),
        }
    }

    /// A value of `pyproject.toml`.
    pub(super) fn value(&self, keys: &[&str]) -> Option<&Value> {
        let (first, rest) = keys.split_first()?;
        let start = self.table.get(*first)?;
        rest.iter().try_fold(start, |value, key| value.get(*key))
    }

    fn table(&self, keys: &[&str]) -> impl Iterator<Item = (&String, &Value)> {
        let table = self.value(keys).and_then(Value::as_table);
        table.into_iter().flatten()
    }

    /// Whether `pip install -e .` can install it.
    pub(super) fn is_package(&self) -> bool {
        !self.setup_py.is_empty()
            || self.value(&["build-system"]).is_some()
            || (self.pyproject.is_empty() && self.setup_cfg.contains("[options]"))
    }

    /// What stands before an installation, where the version comes from git.
    pub(super) fn version_variables(&self) -> Vec<&'static str> {
        let texts = [&self.pyproject, &self.setup_cfg, &self.setup_py];
        let named = |words: &[&str]| {
            texts
                .iter()
                .any(|text| words.iter().any(|word| names(text, word)))
        };
        let found = VERSIONS.iter().filter(|(words, _)| named(words));
        found.map(|(_, variable)| *variable).collect()
    }
}

/// Whether a text names a package.
pub(super) fn names(text: &str, package: &str) -> bool {
    let is_edge = |c: Option<char>| {
        c.is_none_or(|c| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '.'))
    };
    text.match_indices(package).any(|(at, _)| {
        is_edge(text[..at].chars().next_back())
            && is_edge(text[at + package.len()..].chars().next())
    })
}

/// What has to be installed for the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Files of requirements.
    pub(super) files: Vec<String>,
    /// Extras of the package.
    pub(super) extras: Vec<String>,
    /// Dependency groups of `pyproject.toml`.
    pub(super) groups: Vec<String>,
    /// Single packages, each as a word for the shell.
    pub(super) packages: Vec<String>,
}

impl Needs {
    pub(super) fn of(tree: &dyn Tree, manifests: &Manifests) -> Self {
        let mut needs = Self {
            files: requirement_files(tree),
            extras: extras(manifests),
            groups: wanted(
                manifests
                    .table(&["dependency-groups"])
                    .map(|(name, _)| name),
            ),
            packages: of_tools(manifests),
        };
        let says_tests = needs.files.iter().any(|file| file != "requirements.txt");
        let is_silent = !says_tests
            && needs.extras.is_empty()
            && needs.groups.is_empty()
            && needs.packages.is_empty();
        // Lists that repeat what the others say, often with other bounds, so they count only alone.
        if is_silent {
            needs.packages = of_tox(manifests, &mut needs.files);
        }
        if is_silent && needs.packages.is_empty() {
            needs.packages = tests_require(manifests);
        }
        needs.add_plugins(tree, manifests);
        needs.packages.sort();
        needs.packages.dedup();
        needs
    }

    /// Plugins that the configuration of pytest uses, where nothing names them.
    fn add_plugins(&mut self, tree: &dyn Tree, manifests: &Manifests) {
        if !(self.extras.is_empty() && self.groups.is_empty()) {
            return;
        }
        let read = |path: &str| tree.read(path).unwrap_or_default();
        let own: String = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"]
            .into_iter()
            .map(read)
            .collect();
        let shared = [
            &manifests.pyproject,
            &manifests.setup_cfg,
            &manifests.tox_ini,
        ];
        let addopts: String = shared
            .iter()
            .flat_map(|text| text.lines())
            .skip_while(|line| !line.contains("pytest"))
            .filter(|line| !line.trim_start().starts_with('#'))
            .take_while(|line| !line.starts_with("[testenv"))
            .collect();
        let files: String = self.files.iter().map(|path| read(path)).collect();
        for (word, package) in PLUGINS {
            let is_used = own.contains(word) || addopts.contains(word);
            let is_named =
                names(&files, package) || self.packages.iter().any(|p| names(p, package));
            if is_used && !is_named {
                self.packages.push(package.to_owned());
            }
        }
    }
}

fn wanted<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    all.filter(|name| is_wanted(name)).cloned().collect()
}

fn is_wanted(name: &str) -> bool {
    WORDS.contains(&name.to_lowercase().as_str())
}

/// `requirements.txt` and its kin for tests and development, in the usual folders.
fn requirement_files(tree: &dyn Tree) -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["", "requirements", "tests", "test"] {
        let mut names = tree.list(folder);
        names.sort();
        for name in names {
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            if is_requirements(folder, &name) && tree.read(&path).is_some() {
                files.push(path);
            }
        }
    }
    // What is needed to run comes before what is needed to test.
    files.sort_by_key(|path| path != "requirements.txt");
    files
}

fn is_requirements(folder: &str, name: &str) -> bool {
    let Some(stem) = name.to_lowercase().strip_suffix(".txt").map(str::to_owned) else {
        return false;
    };
    let mut parts = stem.split(['-', '_', '.']);
    let all_known = parts
        .clone()
        .all(|part| part == "requirements" || is_wanted(part));
    let is_named = parts.any(|part| part == "requirements");
    all_known && (is_named || folder == "requirements")
}

fn extras(manifests: &Manifests) -> Vec<String> {
    let project = manifests.table(&["project", "optional-dependencies"]);
    let flit = manifests.table(&["tool", "flit", "metadata", "requires-extra"]);
    let poetry = manifests.table(&["tool", "poetry", "extras"]);
    let mut found = wanted(project.chain(flit).chain(poetry).map(|(name, _)| name));
    let of_cfg = section(&manifests.setup_cfg, "options.extras_require");
    found.extend(
        of_cfg
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| is_wanted(key)),
    );
    found.extend(keys_of_setup_py(&manifests.setup_py));
    found.sort();
    found.dedup();
    found
}

/// The wanted keys of `extras_require={…}` in a `setup.py`.
fn keys_of_setup_py(text: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once("extras_require") else {
        return Vec::new();
    };
    let Some((_, inside)) = rest.split_once('{') else {
        return Vec::new();
    };
    let inside = inside.split('}').next().unwrap_or(inside);
    let is_key = |word: &&String| {
        let quoted = [format!("'{word}'"), format!("\"{word}\"")];
        quoted.iter().any(|quoted| {
            inside
                .match_indices(quoted.as_str())
                .any(|(at, _)| inside[at + quoted.len()..].trim_start().starts_with(':'))
        })
    };
    WORDS
        .map(str::to_owned)
        .iter()
        .filter(is_key)
        .cloned()
        .collect()
}

/// What poetry, pdm, hatch and pipenv are told beside the package's own lists.
fn of_tools(manifests: &Manifests) -> Vec<String> {
    let mut found = Vec::new();
    let groups = manifests.table(&["tool", "poetry", "group"]);
    for (_, group) in groups.filter(|(name, _)| is_wanted(name)) {
        let named = group.get("dependencies").and_then(Value::as_table);
        found.extend(named.into_iter().flatten().map(|(name, _)| name.clone()));
    }
    let old = manifests.table(&["tool", "poetry", "dev-dependencies"]);
    found.extend(old.map(|(name, _)| name.clone()));
    let pdm = manifests.table(&["tool", "pdm", "dev-dependencies"]);
    for (_, list) in pdm.filter(|(name, _)| is_wanted(name)) {
        found.extend(strings(Some(list)));
    }
    let hatch = manifests.table(&["tool", "hatch", "envs"]);
    for (_, env) in hatch
        .filter(|(name, _)| is_wanted(name) || ["default", "hatch-test"].contains(&name.as_str()))
    {
        found.extend(strings(env.get("dependencies")));
        found.extend(strings(env.get("extra-dependencies")));
    }
    let pipfile: Table = manifests.pipfile.parse().unwrap_or_default();
    for key in ["packages", "dev-packages"] {
        let named = pipfile.get(key).and_then(Value::as_table);
        found.extend(named.into_iter().flatten().map(|(name, _)| name.clone()));
    }
    found.retain(|name| name != "python" && !name.contains('{'));
    found.into_iter().map(|word| quote(&word)).collect()
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

/// The dependencies of tox's plain environment. Lines for other environments only, or with values
/// that tox fills in, are left out.
fn of_tox(manifests: &Manifests, files: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in section(&manifests.tox_ini, "testenv") {
        if key != "deps" {
            continue;
        }
        for line in value.lines().map(str::trim) {
            let is_conditional = line
                .split_once(':')
                .is_some_and(|(head, rest)| rest.starts_with([' ', '\t']) && !head.contains(' '));
            if line.is_empty() || line.contains('{') || is_conditional {
                continue;
            }
            match line.strip_prefix("-r") {
                Some(path) => files.push(path.trim().to_owned()),
                None if line.starts_with('-') => {}
                None => found.push(quote(line)),
            }
        }
    }
    files.dedup();
    found
}

/// `tests_require` of a `setup.py` or a `setup.cfg`.
fn tests_require(manifests: &Manifests) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in section(&manifests.setup_cfg, "options") {
        if key == "tests_require" {
            found.extend(value.split(['\n', ';']).map(str::trim).map(str::to_owned));
        }
    }
    if let Some((_, rest)) = manifests.setup_py.split_once("tests_require")
        && let Some(list) = rest.trim_start().strip_prefix('=')
        && let Some(list) = list.trim_start().strip_prefix('[')
        && let Some((inside, _)) = list.split_once(']')
    {
        let word = |word: &str| word.trim().trim_matches(['\'', '"']).to_owned();
        found.extend(inside.split(',').map(word));
    }
    found.retain(|word| !word.is_empty() && !word.contains(['{', '#', '%']));
    found.into_iter().map(|word| quote(&word)).collect()
}

/// The keys and values of one section of an INI file; a value goes on while its lines are indented.
pub(super) fn section(text: &str, name: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_in = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            is_in = header.trim_end().strip_suffix(']') == Some(name);
        } else if !is_in {
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = found.last_mut() {
                value.push('\n');
                value.push_str(trimmed);
            }
        } else if let Some((key, value)) = line.split_once(['=', ':']) {
            found.push((key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found
}
