//! Scratch repositories with a plan, without git: a place says what belongs together.

use std::fs;
use std::path::{Path, PathBuf};

use home::Home;
use sandbox::ProcessMark;
use tasks::{Lease, OwnerKind, Place, TaskError, Tasks};
use tempfile::TempDir;

/// A chain of three tasks, and one that stands alone with an output.
pub(crate) const CHAIN: &str = "nodes:
  - {id: A, title: First, status: ready, priority: 2}
  - {id: B, title: Second, status: pending, priority: 1}
  - {id: C, title: Third, status: pending, milestone: M1}
  - {id: D, title: Alone, status: ready, priority: 3, output: out.md}
edges:
  - {from: A, to: B}
  - {from: B, to: C}
";

/// A repository in a scratch folder.
pub(crate) struct Scene {
    folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.folder.path().join("state"))
    }

    /// A work tree with a plan of its own.
    pub(crate) fn tree(&self, name: &str, plan: &str) -> Tasks {
        let place = self.place(name);
        fs::create_dir_all(&place.root).expect("a work tree");
        fs::write(&place.graph, plan).expect("a plan");
        Tasks::open(&self.home(), place).expect("a store")
    }

    pub(crate) fn place(&self, name: &str) -> Place {
        let root = self.root(name);
        Place {
            graph: root.join("task-graph.yaml"),
            root,
            common: self.folder.path().join("common.git"),
            key: "graph:task-graph.yaml".to_owned(),
        }
    }

    pub(crate) fn root(&self, name: &str) -> PathBuf {
        let folder = self.folder.path();
        fs::canonicalize(folder).expect("a folder").join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root(name).join("task-graph.yaml")).expect("a plan")
    }
}

/// Claims by hand; the refusal in words.
pub(crate) fn claim(tasks: &Tasks, id: &str) -> Result<u64, String> {
    let lease = tasks.lease(OwnerKind::Person).expect("a lease");
    let claimed = tasks.claim(id, &lease).map_err(|error| words(&error))?;
    Ok(claimed.lease.number)
}

pub(crate) fn words(error: &TaskError) -> String {
    error.to_string()
}

/// Every task with its status.
pub(crate) fn states(tasks: &Tasks) -> String {
    let board = tasks.look().expect("a view").board;
    let word = |task: &tasks::Task| format!("{} {}", task.id, task.status.word());
    let words: Vec<String> = board.tasks.iter().map(word).collect();
    words.join(", ")
}

pub(crate) fn next(tasks: &Tasks) -> String {
    let board = tasks.look().expect("a view").board;
    match board.next(&|_| true) {
        Ok(task) => task.id.clone(),
        Err(none) => none.word().to_owned(),
    }
}

/// A lease of a process that is dead: the process id is ours, so that only its start time tells it from
/// a living one.
pub(crate) fn dead_lease(tasks: &Tasks) -> Lease {
    let mut lease = tasks.lease(OwnerKind::Ralph).expect("a lease");
    let process = lease.owner.process.take().expect("a process");
    lease.owner.process = Some(ProcessMark {
        start_time: process.start_time - 1,
        ..process
    });
    lease
}

pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}
