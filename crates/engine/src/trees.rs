//! Small questions to trees of the loop's repository.

use std::path::{Path, PathBuf};

use workspace::{Edit, Entry, LoopRepo, TreeId};

use crate::candidate::words;

/// Files that tell what a project is, in the order in which people look for them.
const KNOWN: [&str; 26] = [
    "README.md",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "Makefile",
    "justfile",
    "src/main.rs",
    "src/lib.rs",
    "src/index.ts",
    "src/main.ts",
    "src/index.js",
    "index.js",
    "main.py",
    "main.go",
    "tsconfig.json",
    "vitest.config.ts",
    "jest.config.js",
    "pytest.ini",
    "tests",
    "test",
    "src",
    "docs",
];

/// A tree in which some files are as they are in another one.
pub(crate) fn with_files_of(
    repository: &LoopRepo,
    from: &TreeId,
    tree: &TreeId,
    files: &[PathBuf],
) -> Result<TreeId, String> {
    let reader = repository.reader(from).map_err(words)?;
    let mut edits = Vec::new();
    for path in files {
        edits.push(match reader.entry(path).map_err(words)? {
            Some(Entry { mode, id }) => Edit::Put {
                path: path.clone(),
                mode: *mode,
                id: id.clone(),
            },
            None => Edit::Remove { path: path.clone() },
        });
    }
    repository.compose(tree, &edits).map_err(words)
}

/// Entry points, manifests and test configuration that the project has.
pub(crate) fn inventory(
    repository: &LoopRepo,
    tree: &TreeId,
    subdir: &str,
) -> Result<Vec<String>, String> {
    let reader = repository.reader(tree).map_err(words)?;
    let there = |name: &&&str| {
        let path = Path::new(subdir).join(name);
        let is_file = reader.entry(&path).ok().flatten().is_some();
        is_file || reader.list(&path).is_ok_and(|names| !names.is_empty())
    };
    Ok(KNOWN
        .iter()
        .filter(there)
        .map(|name| (*name).to_owned())
        .collect())
}
