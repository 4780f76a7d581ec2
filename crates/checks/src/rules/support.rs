//! Files that only tests stand on, though they lie outside the tests' folders: helpers, fixtures,
//! crates and packages for testing. Whoever weakens one weakens every test that uses it.
//!
//! What the base's product code uses too is product code. In a small library nothing but tests use
//! the product either, so that alone says nothing: a file must also look like support, by its name,
//! by an assertion library that it uses, by how the tests reach it, or by judging for them.

use std::collections::BTreeSet;

use super::judging::judging_modules;
use super::kinds::is_source;
use super::test_paths::TestPaths;
use crate::text::{extension, head};
use crate::tree::Tree;

/// Names of folders and files that hold what tests stand on.
const NAMES: [&str; 36] = [
    "support",
    "testing",
    "testkit",
    "testlib",
    "testutil",
    "testutils",
    "test-util",
    "test-utils",
    "test-utilities",
    "testhelper",
    "testhelpers",
    "test-helper",
    "test-helpers",
    "testsupport",
    "test-support",
    "testdata",
    "test-data",
    "test-tools",
    "test-lib",
    "test-kit",
    "test-fixtures",
    "fixture",
    "fixtures",
    "mock",
    "mocks",
    "fake",
    "fakes",
    "stub",
    "stubs",
    "asserts",
    "assertions",
    "matchers",
    "expectations",
    "spec-support",
    "spec-helper",
    "spec-helpers",
];

/// What a file that judges others uses.
const JUDGES: [&str; 16] = [
    "node:assert",
    "'assert'",
    "\"assert\"",
    "'assert/strict'",
    "\"assert/strict\"",
    "'chai'",
    "\"chai\"",
    "'vitest'",
    "\"vitest\"",
    "@jest/globals",
    "node:test",
    "import pytest",
    "from pytest",
    "import unittest",
    "from unittest",
    "pytest.fail",
];

/// Most bytes of one file, and of all product source, that are looked at.
const FILE_BYTES_MAX: usize = 256 * 1024;
const ALL_BYTES_MAX: usize = 32 << 20;

/// The names by which the base's product code and its tests use other files.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    by_product: BTreeSet<String>,
    by_tests: BTreeSet<String>,
    /// What pytest loads before the tests.
    by_conftest: BTreeSet<String>,
    /// Modules that judge for tests which assert nothing themselves.
    judging: BTreeSet<String>,
    /// Files that tests reach by a name of the manifest, such as `#eq`.
    mapped: BTreeSet<String>,
    /// Whether tests use any product file by its own name, and not only what is handed to them.
    tests_reach_product: bool,
}

impl Uses {
    pub(super) fn of(files: &[String], base: &dyn Tree, tests: &TestPaths) -> Self {
        let mut uses = Self::default();
        let mut n_bytes = 0;
        for path in files.iter().filter(|path| is_source(path)) {
            // Support that uses support makes no product of it.
            let is_test = tests.is_test(path);
            if n_bytes > ALL_BYTES_MAX || (!is_test && (name_of_support(path).is_some())) {
                continue;
            }
            let Some(text) = base.read(path) else {
                continue;
            };
            let text = head(&text, FILE_BYTES_MAX);
            n_bytes += text.len();
            if is_test {
                uses.judging.extend(judging_modules(path, text));
            }
            let words = if path.ends_with("conftest.py") {
                &mut uses.by_conftest
            } else if is_test {
                &mut uses.by_tests
            } else {
                &mut uses.by_product
            };
            words.extend(names_used(text));
        }
        uses.mapped = mapped(base, &uses);
        let is_product = |path: &&String| is_source(path) && !tests.is_test(path);
        uses.tests_reach_product = files.iter().filter(is_product).any(|path| {
            let names = names_of(path);
            names.iter().any(|name| uses.by_tests.contains(name))
        });
        uses
    }

    /// Says whether a file is there for tests alone.
    pub(super) fn is_support(&self, path: &str, text: Option<&str>) -> bool {
        let names = names_of(path);
        if names.iter().any(|name| self.by_product.contains(name)) {
            return false;
        }
        let judges = text.is_some() && names.iter().any(|name| self.judging.contains(name));
        if judges || self.mapped.contains(path) {
            return true;
        }
        if let Some(name) = name_of_support(path) {
            // A crate, a package or a folder that is there on the base, or a file in one.
            return text.is_some() || self.by_tests.contains(&name);
        }
        // Tests reach the product themselves, and this only through what pytest loads for them.
        let is_used = |by: &BTreeSet<String>| names.iter().any(|name| by.contains(name));
        if text.is_some() && is_used(&self.by_conftest) && !is_used(&self.by_tests) {
            return self.tests_reach_product;
        }
        let judges = text.is_some_and(|text| JUDGES.iter().any(|judge| text.contains(judge)));
        judges && is_used(&self.by_tests)
    }
}

/// The folder or file of a path whose name says that tests stand on it.
fn name_of_support(path: &str) -> Option<String> {
    path.split('/').find_map(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        let plain = stem.to_ascii_lowercase().replace('_', "-");
        NAMES.contains(&plain.as_str()).then(|| stem.to_owned())
    })
}

/// The names by which others would use a file: its own, or its folder's where it stands for that.
fn names_of(path: &str) -> Vec<String> {
    const STAND_FOR_FOLDER: [&str; 6] = ["index", "lib", "mod", "main", "__init__", "src"];
    let parts = path
        .rsplit('/')
        .map(|part| part.split('.').next().unwrap_or(part));
    let mut names = Vec::new();
    for part in parts {
        names.push(part.to_owned());
        if !STAND_FOR_FOLDER.contains(&part) {
            break;
        }
    }
    names.extend(name_of_support(path));
    names.retain(|name| !STAND_FOR_FOLDER.contains(&name.as_str()));
    names
}

/// All words of the lines in which a source text uses something else.
fn names_used(text: &str) -> Vec<String> {
    const MARKS: [&str; 11] = [
        "import", "from ", "require", "use ", "mod ", "extern ", "include", "source ", ". ", "::",
        "mock(",
    ];
    let is_part =
        |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-' || letter == '#';
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        if MARKS.iter().any(|mark| line.contains(mark)) {
            let words = line.split(|letter| !is_part(letter));
            names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
    names
}

/// Files behind names of `imports` in the manifest that tests use and product code does not.
fn mapped(base: &dyn Tree, uses: &Uses) -> BTreeSet<String> {
    let text = base.read("package.json").unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let imports = manifest
        .get("imports")
        .and_then(serde_json::Value::as_object);
    let is_for_tests = |name: &str| {
        let first = name.split('/').next().unwrap_or(name);
        uses.by_tests.contains(first) && !uses.by_product.contains(first)
    };
    let own = imports
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_for_tests(name));
    own.filter_map(|(_, target)| target.as_str())
        .filter(|target| !extension(target).is_empty())
        .map(|target| target.trim_start_matches("./").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    fn uses(files: &[(&str, &str)]) -> (Uses, MapTree) {
        let tree: MapTree = files.iter().map(|(path, text)| (*path, *text)).collect();
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let tests = TestPaths::of(&[], &["tests/**".to_owned()]);
        (Uses::of(&paths, &tree, &tests), tree)
    }

    #[test]
    fn what_only_tests_stand_on_is_known() {
        let (uses, tree) = uses(&[
            (
                "package.json",
                r##"{"imports": {"#eq": "./tools/eq.js", "#db": "./lib/db.js"}}"##,
            ),
            ("tools/eq.js", "export const eq = 1;"),
            ("lib/db.js", "export const db = 1;"),
            (
                "lib/app.js",
                "import { db } from '#db';\nimport { mock } from './mocks/one.js';",
            ),
            ("lib/mocks/one.js", "export const mock = 1;"),
            ("support/asserts.py", "def same(a, b):\n    assert a == b\n"),
            ("src/fixtures/sample.ts", "export const sample = 'x';"),
            ("crates/testing/src/lib.rs", "pub fn same() {}"),
            (
                "calc/_check.py",
                "import unittest\n\ndef check(a):\n    unittest.TestCase().assertTrue(a)\n",
            ),
            ("calc/core.py", "def add(a, b):\n    return a + b\n"),
            (
                "tests/a.test.js",
                "import { eq } from '#eq';\nimport { db } from '#db';",
            ),
            (
                "tests/test_a.py",
                "from support.asserts import same\nfrom calc._check import check\nfrom calc.core import add\n",
            ),
        ]);
        for (path, expected) in [
            ("tools/eq.js", true),
            ("lib/db.js", false),
            ("lib/app.js", false),
            ("lib/mocks/one.js", false),
            ("support/asserts.py", true),
            ("src/fixtures/sample.ts", true),
            ("crates/testing/src/lib.rs", true),
            ("calc/_check.py", true),
            ("calc/core.py", false),
        ] {
            let text = tree.read(path);
            assert_eq!(uses.is_support(path, text.as_deref()), expected, "{path}");
        }
        let (uses, tree) = uses_of_compat("from calc import add\n");
        let compat = tree.read("calc/_compat.py");
        assert!(uses.is_support("calc/_compat.py", compat.as_deref()));
        // Where fixtures hand everything to the tests, what they load is what is tested.
        let (uses, tree) = uses_of_compat("def test_add(check): pass\n");
        let compat = tree.read("calc/_compat.py");
        assert!(!uses.is_support("calc/_compat.py", compat.as_deref()));
    }

    fn uses_of_compat(test: &str) -> (Uses, MapTree) {
        uses(&[
            ("calc/__init__.py", "def add(a, b):\n    return a + b\n"),
            ("calc/_compat.py", "def same(a, b):\n    return a == b\n"),
            ("conftest.py", "from calc._compat import same\n"),
            ("tests/test_add.py", test),
        ])
    }

    #[test]
    fn new_files_are_support_where_tests_use_their_folder() {
        let (uses, _) = uses(&[
            ("support/asserts.py", "def same(a, b):\n    assert a == b\n"),
            ("tests/test_a.py", "from support.asserts import same\n"),
        ]);
        assert!(
            uses.is_support("support/more.py", None),
            "a new file in a folder that tests use"
        );
        assert!(
            !uses.is_support("lib/fakes/new.py", None),
            "a new folder that nobody uses yet"
        );
    }

    /// A test that asserts nothing itself.
    const JUDGED_BY_COMPARE: &str =
        "from calc import add\nfrom compare import same\ndef test_add():\n    same(add(1, 2), 3)\n";

    #[test]
    fn i08_a_module_that_judges_for_tests_is_support_wherever_it_lies() {
        let files = [
            ("calc.py", "def add(a, b):\n    return a + b\n"),
            (
                "compare.py",
                "def same(a, b):\n    if a != b:\n        raise ValueError(a)\n",
            ),
            ("tests/test_a.py", JUDGED_BY_COMPARE),
        ];
        let (uses, tree) = uses(&files);
        for (path, expected) in [("compare.py", true), ("calc.py", false)] {
            let text = tree.read(path);
            assert_eq!(uses.is_support(path, text.as_deref()), expected, "{path}");
        }
        assert!(
            !uses.is_support("compare.py", None),
            "a new file judged nothing yet"
        );
    }

    #[test]
    fn what_the_product_uses_as_well_is_no_support_though_it_judges() {
        let (uses, tree) = uses(&[
            (
                "calc.py",
                "from compare import same\ndef add(a, b):\n    return a + b\n",
            ),
            ("compare.py", "def same(a, b):\n    return a == b\n"),
            ("tests/test_a.py", JUDGED_BY_COMPARE),
        ]);
        let text = tree.read("compare.py");
        assert!(!uses.is_support("compare.py", text.as_deref()));
    }
}
