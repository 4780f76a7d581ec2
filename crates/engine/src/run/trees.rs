//! Small questions to trees of the loop's repository.

use std::path::{Path, PathBuf};

use workspace::{Edit, Entry, Listed, TreeId};

use crate::fault::Fault;
use crate::ports::{Repository, TreeFiles};

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
    repository: &dyn Repository,
    from: &TreeId,
    tree: &TreeId,
    files: &[PathBuf],
) -> Result<TreeId, Fault> {
    let before = repository.reader(from)?;
    let mut edits = Vec::new();
    for path in files {
        edits.push(match before.entry(path) {
            Some(Entry { mode, id }) => Edit::Put {
                path: path.clone(),
                mode,
                id,
            },
            None => Edit::Remove { path: path.clone() },
        });
    }
    repository.compose(tree, &edits)
}

/// The paths of all files of a tree, within bounds.
pub(crate) fn all_files(files: &dyn TreeFiles) -> Vec<PathBuf> {
    const FILES_MAX: usize = 200_000;
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for (name, listed) in files.list(&folder) {
            let path = folder.join(name);
            match listed {
                Listed::Folder => folders.push(path),
                Listed::Entry(_) if found.len() < FILES_MAX => found.push(path),
                Listed::Entry(_) => {}
            }
        }
    }
    found.sort();
    found
}

/// Entry points, manifests and test configuration that the project has.
pub(crate) fn inventory(
    repository: &dyn Repository,
    tree: &TreeId,
    subdir: &str,
) -> Result<Vec<String>, Fault> {
    let files = repository.reader(tree)?;
    let is_there = |name: &&&str| {
        let path = Path::new(subdir).join(name);
        files.entry(&path).is_some() || !files.list(&path).is_empty()
    };
    let known = KNOWN.iter().filter(is_there);
    Ok(known.map(|name| (*name).to_owned()).collect())
}

/// A ref of the loop's repository for something of a story.
pub(crate) fn reference(kind: &str, story: &str, name: &str) -> String {
    format!(
        "refs/loopwright/{kind}/{}/{name}",
        workspace::ref_component(story)
    )
}

/// A commit of the journal as git knows it.
pub(crate) fn commit_id(commit: &kernel::Commit) -> Result<workspace::CommitId, Fault> {
    Ok(workspace::CommitId::parse(commit.as_str())?)
}

/// A commit of git's as the journal knows it.
pub(crate) fn commit_of(id: &workspace::CommitId) -> Result<kernel::Commit, Fault> {
    kernel::Commit::new(id.as_str())
        .map_err(|error| Fault::transient("record a commit's id", error))
}
