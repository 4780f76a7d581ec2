//! Which files are tests, so that a test writer may touch them and nothing else.

use std::sync::LazyLock;

use globset::GlobSet;

use super::glob::{Pattern, set};
use crate::detect::Ecosystem;
use crate::text::extension;

/// The files that count as tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPaths {
    ecosystems: Vec<Ecosystem>,
    configured: Vec<Pattern>,
    /// Whether the project says itself where its tests are, also with words that mean nothing.
    is_configured: bool,
    /// Where its runners and check scripts look for tests, beside the usual places.
    declared: Vec<Pattern>,
}

/// Folders in which nothing is the project's own.
const FOREIGN: [&str; 6] = [
    "node_modules",
    ".venv",
    "venv",
    ".git",
    "__pycache__",
    ".tox",
];

impl TestPaths {
    /// The rules of these ecosystems; patterns that the project configures replace them. The
    /// configuration refuses patterns that cannot be read, but a journal may still hold one: it
    /// matches nothing, as it did when it was written.
    pub fn of(ecosystems: &[Ecosystem], configured: &[String]) -> Self {
        Self {
            ecosystems: ecosystems.to_vec(),
            configured: configured
                .iter()
                .filter_map(|pattern| Pattern::parse(pattern).ok())
                .collect(),
            is_configured: !configured.is_empty(),
            declared: Vec::new(),
        }
    }

    /// The same with places that the project declares to its own runners.
    #[must_use]
    pub fn with_declared(mut self, patterns: &[String]) -> Self {
        let parsed = patterns.iter().map(|pattern| Pattern::parse(pattern));
        self.declared.extend(parsed.flatten());
        self
    }

    /// Says whether a file is a test, or belongs to tests.
    pub fn is_test(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        if path.starts_with('/')
            || parts
                .iter()
                .any(|part| *part == ".." || FOREIGN.contains(part))
        {
            return false;
        }
        if self.is_configured {
            return self.configured.iter().any(|pattern| pattern.matches(path));
        }
        // A Rust source is a test by Rust's rule alone, whatever else the project is.
        if self.ecosystems.contains(&Ecosystem::Cargo) && extension(path) == "rs" {
            return is_rust_test(&parts);
        }
        let is_declared = self.declared.iter().any(|pattern| pattern.matches(path));
        if is_declared || is_common_test(&parts) {
            return true;
        }
        let languages = self
            .ecosystems
            .iter()
            .filter(|ecosystem| !is_task_runner(**ecosystem));
        if languages.clone().next().is_none() {
            return is_plain_test(&parts);
        }
        languages.into_iter().any(|ecosystem| match ecosystem {
            Ecosystem::Cargo => is_rust_test(&parts),
            Ecosystem::Node => is_node_test(&parts),
            Ecosystem::Python => is_python_test(&parts),
            Ecosystem::Go => is_go_test(&parts),
            Ecosystem::Jvm => {
                has_pair(&parts, "src", "test") || has_pair(&parts, "src", "integrationTest")
            }
            Ecosystem::Make | Ecosystem::Just => false,
        })
    }
}

/// Says whether a file among the tests is none by its name, so that others may stand on it:
/// `conftest.py`, a helper, data.
pub fn is_test_support(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let is_test = ["test_", "test-", "tests_"]
        .iter()
        .any(|start| stem.starts_with(start))
        || ["test", "tests", "spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || name.contains(".test.")
        || name.contains(".spec.");
    !is_test || stem == "conftest"
}

/// What is a test in any ecosystem: `t/*.t`, `*.bats`, snapshots, and data of tests.
fn is_common_test(parts: &[&str]) -> bool {
    const FOLDERS: [&str; 5] = [
        "__snapshots__",
        "__fixtures__",
        "__mocks__",
        "testdata",
        "specs",
    ];
    let (name, folders) = split(parts);
    ["t", "bats", "snap"].contains(&extension(name))
        || folders.iter().any(|folder| FOLDERS.contains(folder))
        || ["fixtures", "spec", "t"].contains(folders.first().unwrap_or(&""))
}

fn is_task_runner(ecosystem: Ecosystem) -> bool {
    matches!(ecosystem, Ecosystem::Make | Ecosystem::Just)
}

fn split<'a>(parts: &'a [&'a str]) -> (&'a str, &'a [&'a str]) {
    parts
        .split_last()
        .map_or(("", &[]), |(name, folders)| (*name, folders))
}

/// `tests/` of any crate, and modules of tests below `src/`. Where tests and code stand in one file
/// it is code.
fn is_rust_test(parts: &[&str]) -> bool {
    let (name, folders) = split(parts);
    let stem = name.split('.').next().unwrap_or(name);
    let is_module = ["tests", "test"].contains(&stem)
        || stem.ends_with("_tests")
        || stem.ends_with("_test")
        || stem.starts_with("test_");
    folders.contains(&"tests") || (is_module && folders.contains(&"src"))
}

fn is_node_test(parts: &[&str]) -> bool {
    let (name, folders) = split(parts);
    name.contains(".test.")
        || name.contains(".spec.")
        || (folders.is_empty() && is_called_test(name))
        || folders
            .iter()
            .any(|folder| ["__tests__", "test", "tests", "e2e"].contains(folder))
}

fn is_python_test(parts: &[&str]) -> bool {
    let (name, folders) = split(parts);
    let is_python = extension(name) == "py";
    (is_python
        && (name.starts_with("test_")
            || name.ends_with("_test.py")
            || (folders.is_empty() && is_called_test(name))))
        || name == "conftest.py"
        || folders
            .iter()
            .any(|folder| ["test", "tests"].contains(folder))
}

fn is_go_test(parts: &[&str]) -> bool {
    let (name, folders) = split(parts);
    name.ends_with("_test.go") || folders.contains(&"testdata")
}

/// Names of tests where nothing else tells.
const PLAIN: [&str; 6] = [
    "*_test.*", "test_*.*", "*-test.*", "test-*.*", "*.test.*", "*.bats",
];

static PLAIN_SET: LazyLock<GlobSet> = LazyLock::new(|| set(&PLAIN));

fn is_plain_test(parts: &[&str]) -> bool {
    let (name, folders) = split(parts);
    folders
        .iter()
        .any(|folder| ["test", "tests", "spec"].contains(folder))
        || is_called_test(name)
        || PLAIN_SET.is_match(name)
}

/// `test.js`, `tests.py`, `spec.rb`: a whole suite in one file.
fn is_called_test(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    ["test", "tests", "spec"].contains(&stem) && name.contains('.')
}

fn has_pair(parts: &[&str], first: &str, second: &str) -> bool {
    parts.windows(2).any(|pair| pair == [first, second])
}
