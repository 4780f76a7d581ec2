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
    /// The name of a run of this loop.
    pub fn of(state: &State, run: &RunKey) -> Self {
        let mut stories = state.stories().iter();
        let index = stories.position(|story| story.spec.id == run.story);
        Self::numbered(index.unwrap_or_default() + 1, run)
    }

    /// The same, for the story at this position, starting at 1. Stories go by their position, since
    /// an id may hold anything.
    pub fn numbered(story_number: usize, run: &RunKey) -> Self {
        Self(format!(
            "{story_number:04}-{}-{}-{}",
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

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
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

    /// A second lock of the worker's. Whoever waits for its end blocks here, and not on the lock that
    /// the next worker must get at the first try.
    pub fn alive_lock(&self) -> PathBuf {
        self.root.join("worker.alive")
    }

    /// The lock of the one process that waits beside a worker.
    pub fn waker_lock(&self) -> PathBuf {
        self.root.join("waker.lock")
    }

    /// The pipe that wakes the worker.
    pub fn wake_pipe(&self) -> PathBuf {
        self.root.join("wake")
    }

    /// Folders that nobody needs any more and that are still to be removed.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// What the worker says of itself.
    pub fn worker_log(&self) -> PathBuf {
        self.root.join("worker.log")
    }

    /// What keeps the worker from its work just now; there is no file while nothing does.
    pub fn worker_fault(&self) -> PathBuf {
        self.root.join("worker.fault")
    }

    /// The folders of all loops.
    pub fn loops(&self) -> PathBuf {
        self.root.join("loops")
    }

    /// What is known of the tasks of a repository, by the git folder that all its work trees share.
    pub fn tasks(&self, common_git_dir: &Path) -> PathBuf {
        let hash = hash(common_git_dir.as_os_str().as_encoded_bytes());
        self.root.join("tasks").join(format!("{hash:016x}"))
    }

    /// The beginning of the names of a claim's runs. Claims are numbered per plan, and the runs of all
    /// plans of a repository lie in one folder, so that the plan is part of the name.
    pub fn task_runs(plan_key: &str, claim: u64) -> String {
        format!("{}{claim}-", Self::task_runs_of(plan_key))
    }

    /// The beginning of the names of all runs of a plan.
    pub fn task_runs_of(plan_key: &str) -> String {
        format!("{:016x}-", hash(plan_key.as_bytes()))
    }

    /// Held by whoever renews a login of the person's, by the file that it is.
    pub fn login_lock(&self, login: &Path) -> PathBuf {
        let name = format!("{:016x}.lock", hash(login.as_os_str().as_encoded_bytes()));
        self.root.join("logins").join(name)
    }

    /// Everything of one loop.
    pub fn loop_folder(&self, loop_id: &str) -> PathBuf {
        self.loops().join(loop_id)
    }

    /// The loop's own repository.
    pub fn repository(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("repo.git")
    }

    /// What the loop's agents get of the person's variables; only its owner can read it.
    pub fn keys_file(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("keys.json")
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

    /// The trees of a loop that are written out for all its runs.
    pub fn trees(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("trees")
    }

    /// Used checkouts of a loop, for the next runs.
    pub fn rack(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("rack")
    }

    /// What was built of third-party code for a project, for all its loops.
    pub fn roots(&self, project: &Path) -> PathBuf {
        let name = format!("{:016x}", hash(project.as_os_str().as_encoded_bytes()));
        self.warm().join(name)
    }

    /// The same of all projects.
    pub fn warm(&self) -> PathBuf {
        self.root.join("warm")
    }

    /// What the project's commands said of trees.
    pub fn measured(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("measured")
    }

    /// Where the checks of a loop may have their trees, the best place first: one that says nothing
    /// of what it is for, so that code under test cannot tell by its path that it is being checked.
    /// The last one is our own, for machines that let us write nowhere else.
    ///
    /// They are derived, never drawn: whoever clears up after a crash finds them again.
    pub fn lanes(&self, loop_id: &str) -> Vec<PathBuf> {
        let place = format!("{:016x}", hash(self.root.as_os_str().as_encoded_bytes()));
        let name = format!("{:08x}", hash(loop_id.as_bytes()) & 0xFFFF_FFFF);
        let mut bases = vec![PathBuf::from("/var/tmp"), std::env::temp_dir()];
        bases.push(self.root.join("lanes"));
        bases.dedup();
        bases
            .into_iter()
            .map(|base| base.join(&place).join(&name))
            .collect()
    }

    /// The folders for temporary files of a loop's agents. The path is short, since programs make
    /// sockets there, whose paths must be.
    pub fn scratch(&self, loop_id: &str) -> PathBuf {
        let name = format!("{:08x}", hash(loop_id.as_bytes()) & 0xFFFF_FFFF);
        self.root.join("tmp").join(name)
    }

    /// The config homes of a loop's agents, a folder for each story.
    pub fn agent_homes(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("agents")
    }

    /// All checkouts of a loop.
    pub fn checkouts(&self, loop_id: &str) -> PathBuf {
        self.loop_folder(loop_id).join("checkouts")
    }
}
