//! What is said of reuse, and the names of a repository's files.

use std::fmt;

use crate::tree::Tree;

/// Files that are looked at; a project with more is built from nothing.
const FILES_MAX: usize = 400_000;

/// How a root is made, and what it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Commands that compile and run nothing, for after the setup.
    pub builds: Vec<String>,
    /// The folder in which cargo builds, from the repository's top; empty where cargo has no part.
    pub cargo_target: Option<String>,
    /// Whether outputs of the project's own packages can be kept too, for trees that do not touch them.
    pub keeps_own: bool,
    /// Names of folders in which the setup installs packages.
    pub installs: Vec<String>,
    /// Whether a tree that has what the setup installed needs no setup of its own.
    pub skips_setup: bool,
    /// Files that must be the same in every tree that uses the root, from the repository's top.
    pub fixed: Vec<String>,
    /// Files that the root was made from and that may differ, because the tool itself notices.
    pub noticed: Vec<String>,
    /// What else must be the same.
    pub also: String,
}

/// Why a project is built from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cold {
    /// Nothing is built that could be reused.
    NothingToReuse,
    /// A command of which nobody knows what it reuses.
    UnknownTool(String),
    /// Something that makes outputs depend on more than can be seen.
    Depends(String),
}

impl fmt::Display for Cold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToReuse => f.write_str("nothing is built that could be reused"),
            Self::UnknownTool(tool) => write!(f, "nobody knows what `{tool}` reuses"),
            Self::Depends(on) => write!(f, "what is built depends on {on}"),
        }
    }
}

/// One check of a project.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// `setup`, `typecheck`, `lint`, `test`.
    pub name: &'a str,
    /// Its command.
    pub command: &'a str,
}

/// The names of all files of a repository.
pub(super) struct Files {
    pub(super) paths: Vec<String>,
}

impl Files {
    pub(super) fn of(tree: &dyn Tree) -> Result<Self, Cold> {
        let mut paths = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for name in tree.list(folder.trim_end_matches('/')) {
                let path = format!("{folder}{name}");
                if name.ends_with('/') {
                    folders.push(path);
                } else {
                    paths.push(path);
                }
            }
            if paths.len() > FILES_MAX {
                return Err(Cold::Depends("more files than are looked at".to_owned()));
            }
        }
        paths.sort();
        Ok(Self { paths })
    }

    /// The files whose name is one of these, anywhere.
    pub(super) fn named(&self, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let found = self.paths.iter().filter(|path| is_it(&name(path)));
        found.cloned().collect()
    }
}

/// Whether a name ends so.
pub(super) fn has_end(name: &str, end: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found == end)
}

/// A path below the folder in which commands run.
pub(super) fn placed(subdir: &str, path: &str) -> String {
    match subdir.trim_matches('/') {
        "" => path.to_owned(),
        subdir => format!("{subdir}/{path}"),
    }
}
