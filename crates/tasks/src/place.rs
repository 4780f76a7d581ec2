//! Where a plan lies, and which repository's store belongs to it.

use std::path::{Path, PathBuf};

use crate::error::TaskError;

/// Where a task graph is looked for below the top of a work tree, in this order.
pub const GRAPH_FILES: [&str; 5] = [
    "task-graph.yaml",
    "task-graph.yml",
    "docs/active/task-graph.yaml",
    "docs/task-graph.yaml",
    "task-graph.json",
];

/// Where a folder of tickets is looked for, if there is no graph.
pub const TICKET_FOLDERS: [&str; 3] = ["docs/active/tickets", "docs/tickets", "tickets"];

/// A plan in a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The top of the work tree.
    pub root: PathBuf,
    /// The git folder that all work trees of the repository share.
    pub common: PathBuf,
    /// The plan's file or folder.
    pub graph: PathBuf,
    /// The plan's name in the store: the same in every work tree.
    pub key: String,
}

impl Place {
    /// Finds a plan: the one that is named, or else the one in its usual place.
    pub fn find(folder: &Path, named: Option<&Path>) -> Result<Self, TaskError> {
        let (root, common) = Self::work_tree(folder)?;
        let graph = match named {
            Some(named) => whole(&folder.join(named)),
            None => usual(&root).ok_or_else(|| TaskError::NoGraph { root: root.clone() })?,
        };
        let below = graph.strip_prefix(&root).unwrap_or(&graph);
        Ok(Self {
            key: format!("graph:{}", below.display()),
            graph,
            root,
            common,
        })
    }

    /// The plan of the task that we are part of, if somebody told us one: the checkout that we are in
    /// may be none of its repository's.
    pub fn surrounding(folder: &Path) -> Option<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let graph = PathBuf::from(variable("LOOPWRIGHT_TASK_GRAPH")?);
        let (root, _) = workspace::work_tree(folder).ok()?;
        graph.is_absolute().then_some(Self {
            key: variable("LOOPWRIGHT_TASK_KEY")?.into_string().ok()?,
            common: PathBuf::from(variable("LOOPWRIGHT_TASK_COMMON")?),
            graph,
            root,
        })
    }

    /// The work tree that a folder is in, and the git folder that it shares with others.
    pub fn work_tree(folder: &Path) -> Result<(PathBuf, PathBuf), TaskError> {
        workspace::work_tree(folder).map_err(|source| TaskError::NoRepository {
            folder: folder.to_owned(),
            source,
        })
    }

    /// Whether the plan is found without being named.
    pub fn is_usual(&self) -> bool {
        usual(&self.root).is_some_and(|found| found == self.graph)
    }

    /// The plan's name as people write it in this work tree.
    pub fn name(&self) -> String {
        let below = self.graph.strip_prefix(&self.root).unwrap_or(&self.graph);
        below.display().to_string()
    }
}

fn usual(root: &Path) -> Option<PathBuf> {
    let files = GRAPH_FILES.iter().map(|name| root.join(name));
    let folders = TICKET_FOLDERS.iter().map(|name| root.join(name));
    let mut found = files.filter(|path| path.is_file());
    found
        .next()
        .or_else(|| folders.into_iter().find(|path| path.is_dir()))
}

/// An absolute path without links in its folder. The last part stays as it is: the file may be a link
/// of its author's, or not be there.
fn whole(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return absolute;
    };
    std::fs::canonicalize(parent).map_or(absolute.clone(), |parent| parent.join(name))
}
