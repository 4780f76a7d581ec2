//! What a `ralph` is told, and what it tells.

use std::path::PathBuf;
use std::time::Duration;

use home::{AgentSettings, CheckSettings, Home, SandboxSettings};
use tasks::Place;

/// Everything that a `ralph` needs to know.
#[derive(Debug, Clone)]
pub struct RalphPlan {
    /// The state folder.
    pub home: Home,
    /// Where the plan lies.
    pub place: Place,
    /// Our own program.
    pub program: PathBuf,
    /// The agent's name.
    pub agent_name: String,
    /// The agent.
    pub agent: AgentSettings,
    /// The jail; none where agents run with the person's rights.
    pub sandbox: Option<SandboxSettings>,
    /// The project's commands; empty if nothing is verified.
    pub checks: Vec<CheckSettings>,
    /// How long each of them may take.
    pub check_timeout_secs: u64,
    /// Only this task, or the tasks of this story or milestone.
    pub story: Option<String>,
    /// After how many iterations it ends.
    pub max_iterations: Option<u64>,
    /// How long an agent may take.
    pub task_timeout_secs: Option<u64>,
    /// How long it waits between two tasks.
    pub pause: Duration,
    /// How many work at once, each in a work tree of its own.
    pub parallel: u32,
    /// The command that writes prompts.
    pub prompt_command: Option<String>,
    /// What becomes of a task whose agent failed.
    pub on_failure: OnFailure,
    /// Whether it waits while others work on tasks that could make more ready.
    pub waits: bool,
    /// How often the heart beats.
    pub heartbeat: Duration,
    /// The folder of the log and the heartbeat.
    pub logs: PathBuf,
    /// This ralph's own name, in branches.
    pub id: String,
}

/// What becomes of a task whose agent failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It stays in progress, for a person.
    Keep,
    /// Others may take it at once; this ralph leaves it alone.
    Reset,
    /// It is tried again so many times, then kept.
    Retry(u32),
}

/// What happens meanwhile, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A task begins.
    Started {
        /// The iteration, starting at 1.
        iteration: u64,
        /// The task.
        task: String,
        /// Its title.
        title: String,
    },
    /// What the agent does right now.
    Doing {
        /// The task.
        task: String,
        /// In a few words.
        what: String,
    },
    /// A task ended well.
    Completed {
        /// The task.
        task: String,
        /// How long it took.
        secs: u64,
    },
    /// Something went wrong that a person should see.
    Trouble {
        /// What.
        what: String,
    },
    /// Something to know.
    Said {
        /// What.
        what: String,
    },
}

/// Why a `ralph` ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Everything is complete.
    AllComplete,
    /// Nothing is left that could begin.
    AllBlocked,
    /// It did as many iterations as it may.
    Limit,
    /// The command that writes prompts has no more.
    NoPrompt,
    /// A signal ended it.
    Interrupted {
        /// The signal.
        signal: i32,
    },
}

/// What a `ralph` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Why it ended.
    pub end: End,
    /// How many tasks it began.
    pub iterations: u64,
    /// How many of them it completed.
    pub completed: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How often a prompt could not be had.
    pub errors: u64,
    /// How long it took.
    pub secs: u64,
    /// The tokens that agents reported.
    pub tokens: Option<u64>,
    /// The branch that holds the work of several worktrees.
    pub branch: Option<String>,
}
