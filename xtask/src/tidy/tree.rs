//! The files that belong to the project, with their text: what git tracks, and what it would if
//! asked.
//!
//! Ignored files are not here, and neither are links: what they point to is either here too or not
//! ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::invocation::Invocation;
use crate::talk::say;

/// Passed over where git cannot tell what is ignored.
const IGNORED_FOLDERS: [&str; 3] = [".git", "target", "node_modules"];

/// The files by path, relative to the workspace and with forward slashes; `None` is a file that is
/// no text.
pub(super) struct Tree(BTreeMap<String, Option<String>>);

impl Tree {
    pub(super) fn load(root: &Path) -> Result<Self> {
        let paths = list(root)?;
        let files = paths
            .into_iter()
            .map(|path| Ok((read(&root.join(&path))?, path)));
        let files: Result<Vec<_>> = files.collect();
        Ok(Self(
            files?
                .into_iter()
                .map(|(text, path)| (path, text))
                .collect(),
        ))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Every text file as (path, text).
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text of one file, empty when there is no such file.
    pub(super) fn text(&self, path: &str) -> &str {
        self.0
            .get(path)
            .and_then(Option::as_deref)
            .unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self(
            files
                .iter()
                .map(|(path, text)| (path.to_string(), Some(text.to_string())))
                .collect(),
        )
    }
}

/// Tells whether a path has this extension; ours are all in lower case.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

/// An answer without the root manifest is no answer: the checkout lies in a folder that an outer
/// repository ignores.
fn list(root: &Path) -> Result<Vec<String>> {
    let git = Invocation::program(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    );
    let mut paths: Vec<String> = match git.read(root) {
        Ok(text) => text.split_terminator('\0').map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    };
    if !paths.iter().any(|path| path == "Cargo.toml") {
        say("git does not tell the files of the project: walking the folders");
        paths.clear();
        walk(root, "", &mut paths)?;
    }
    // A file that was removed but not yet committed is still listed.
    paths.retain(|path| is_plain_file(&root.join(path)));
    Ok(paths)
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    let place = root.join(folder);
    for entry in
        fs::read_dir(&place).with_context(|| format!("cannot list `{}`", place.display()))?
    {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if !entry.file_type()?.is_dir() {
            paths.push(path);
        } else if !IGNORED_FOLDERS.contains(&name.as_str()) {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}

fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn read(path: &Path) -> Result<Option<String>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_passes_over_what_git_would_ignore() {
        let root = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        for folder in ["src/deep", "target/debug", ".git"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "Cargo.toml",
            "src/deep/a.rs",
            "target/debug/b.rs",
            ".git/config",
        ] {
            fs::write(root.join(file), "text").unwrap();
        }
        let mut paths = Vec::new();
        walk(&root, "", &mut paths).unwrap();
        paths.sort();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(paths, ["Cargo.toml", "src/deep/a.rs"]);
    }
}
