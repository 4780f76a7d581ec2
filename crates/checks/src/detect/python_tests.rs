//! Which runner a Python project's tests are written for, told from the tests themselves.

use crate::text::extension;
use crate::tree::Tree;

/// Folders that are looked into, and how deep they lie. A big project shows its runner early.
const FOLDERS_MAX: usize = 200;
const DEPTH_MAX: usize = 4;
/// Test files that are read.
const FILES_MAX: usize = 20;

/// Whose tests they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Plain functions, fixtures: only pytest runs them.
    ForPytest,
    /// Classes of the standard library.
    ForUnittest,
    /// A script that is simply run.
    AsScript,
}

/// A test file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tests {
    pub(super) file: String,
    pub(super) written: Written,
}

/// The tests of a project, with one file as their example. Where any of them needs pytest, all are
/// pytest's, which also runs those of the standard library.
pub(super) fn tests(tree: &dyn Tree) -> Option<Tests> {
    let mut files = files(tree);
    files.truncate(FILES_MAX);
    let seen: Vec<Tests> = files
        .into_iter()
        .filter_map(|file| {
            let written = written(&tree.read(&file)?);
            Some(Tests { file, written })
        })
        .collect();
    let first = |wanted: Written| seen.iter().find(|tests| tests.written == wanted).cloned();
    first(Written::ForPytest)
        .or_else(|| first(Written::ForUnittest))
        .or_else(|| root_script(tree))
        .or_else(|| seen.into_iter().next())
}

/// `test.py` or `tests.py` beside the code, for small projects.
pub(super) fn root_script(tree: &dyn Tree) -> Option<Tests> {
    ["test.py", "tests.py"].into_iter().find_map(|file| {
        Some(Tests {
            written: written(&tree.read(file)?),
            file: file.to_owned(),
        })
    })
}

fn written(text: &str) -> Written {
    let starts = |word: &str| text.lines().any(|line| line.starts_with(word));
    let is_pytest = starts("import pytest")
        || starts("from pytest")
        || starts("def test")
        || starts("async def test")
        || text.contains("pytest.");
    if is_pytest {
        Written::ForPytest
    } else if text.contains("TestCase") || text.contains("unittest") {
        Written::ForUnittest
    } else if starts("class Test") {
        Written::ForPytest
    } else {
        Written::AsScript
    }
}

/// Files that both runners would take for tests.
fn files(tree: &dyn Tree) -> Vec<String> {
    let mut folders = vec![(String::new(), 0)];
    let mut found = Vec::new();
    let mut at = 0;
    while at < folders.len() && at < FOLDERS_MAX {
        let (folder, depth) = folders[at].clone();
        at += 1;
        for name in tree.list(&folder) {
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            match name.strip_suffix('/') {
                Some(name) if depth < DEPTH_MAX && !is_foreign(name) => {
                    folders.push((path.trim_end_matches('/').to_owned(), depth + 1));
                }
                None if is_test_name(&name) => found.push(path),
                Some(_) | None => {}
            }
        }
    }
    found
}

fn is_foreign(folder: &str) -> bool {
    folder.starts_with('.') || ["node_modules", "venv", "build", "dist"].contains(&folder)
}

pub(super) fn is_test_name(name: &str) -> bool {
    extension(name) == "py" && (name.starts_with("test_") || name.ends_with("_test.py"))
}
