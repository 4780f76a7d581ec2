//! Where everything of ours lies: one state folder, never inside the operator's project.

use std::path::{Path, PathBuf};

use kernel::{RunKey, State};

/// The state folder.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

/// A run's name: the same for the same run, for ever, and safe as a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName(String);

impl RunName {
    /// The name of a run of this loop; the story goes by its position, since its id may hold
    /// anything.
    pub fn of(state: &State, run: &RunKey) -> Self {
        let index = state
            .stories()
            .iter()
            .position(|story| story.spec.id == run.story)
            .unwrap_or_default();
        Self(format!(
            "{:04}-{}-{}-{}",
            index + 1,
            run.attempt,
            run.stage.word(),
            run.try_number
        ))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that is unique over all loops.
    pub fn full(&self, loop_id: &str) -> String {
        format!("run_{loop_id}_{}", self.0)
    }
}

impl Home {
    /// A state folder at this place; nothing is made yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The lock that the one worker holds.
    pub fn worker_lock(&self) -> PathBuf {
        self.root.join("worker.lock")
    }

    /// What the worker says of itself.
    pub fn worker_log(&self) -> PathBuf {
        self.root.join("worker.log")
    }

    /// Everything of one loop.
    pub fn loop_folder(&self, loop_id: &str) -> PathBuf {
        self.root.join("loops").join(loop_id)
    }

    /// The loop's own repository.
    pub fn repository(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("repo.git")
    }

    /// The files of one run.
    pub fn run_folder(&self, loop_id: &str, name: &RunName) -> PathBuf {
        self.loop_folder(loop_id).join("runs").join(name.as_str())
    }

    /// The checkout that a run works in.
    pub fn checkout(&self, loop_id: &str, name: &RunName) -> PathBuf {
        self.loop_folder(loop_id)
            .join("checkouts")
            .join(name.as_str())
    }

    /// What the project's commands said of trees.
    pub fn measured(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("measured")
    }

    /// The config homes of a loop's agents.
    pub fn agent_homes(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("agents")
    }

    /// All checkouts of a loop.
    pub fn checkouts(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("checkouts")
    }
}
