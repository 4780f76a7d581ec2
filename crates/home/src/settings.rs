//! What carrying out orders needs beside the loop's spec. It is written into the loop's first
//! record, so that later edits of the configuration do not reach a running loop. It holds no
//! secret: those are named, not copied.

use std::collections::BTreeMap;

use kernel::{AgentName, Role, StorySpec};
use serde::{Deserialize, Serialize};

use crate::commit_subject::CommitSettings;
use crate::role_settings::Roles;
use crate::sandbox_settings::{SandboxKind, SandboxSettings};

/// Everything that carrying out orders needs beside the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The agents by name.
    pub agents: BTreeMap<String, AgentSettings>,
    /// The project's commands, in order.
    pub checks: Vec<CheckSettings>,
    /// How long all checks together may take.
    pub check_timeout_secs: u64,
    /// How many small faults the story's tests are tried against.
    // Added later: an older loop has none.
    #[serde(default)]
    pub mutants: usize,
    /// Files that the project needs and does not track, relative to the project.
    pub copy: Vec<String>,
    /// Whether states are written into the PRD.
    pub write_back: bool,
    /// The project's folder inside its repository.
    pub subdir: String,
    /// The repository's root.
    pub root: String,
    /// The PRD inside the repository, where it is inside: an agent's change to it is dropped.
    pub prd_in_repository: Option<String>,
    /// The `## Codebase Patterns` of the project, where it has any.
    pub patterns: Option<String>,
    /// Title and description of the whole PRD.
    #[serde(default)]
    pub about: Option<String>,
    /// Where test files may be, as globs; the ecosystem's rules where there are none.
    #[serde(default)]
    pub test_paths: Vec<String>,
    /// The project's own prompts by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// What tokens cost, for CLIs that do not tell.
    #[serde(default)]
    pub prices: Vec<agents::Price>,
    /// What a person must agree to.
    #[serde(default)]
    pub policy: Policies,
    /// Files in which candidates may hold what looks like a secret, as globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets_allow: Vec<String>,
    /// Model, effort and limit by role.
    #[serde(default)]
    pub roles: Roles,
    /// How the files of runs are made.
    #[serde(default, skip_serializing_if = "Trees::is_auto")]
    pub trees: Trees,
    /// Whether built outputs of third-party code are reused. Loops of before do not.
    #[serde(default, skip_serializing_if = "Warm::is_off")]
    pub warm: Warm,
    /// Megabytes that written trees and kept builds may take.
    #[serde(default = "trees_mb_default")]
    pub trees_mb: u64,
    /// Whether checkouts stay when their run is over.
    #[serde(default)]
    pub keep_checkouts: bool,
    /// Days after the loop's end in which its repository and logs are kept.
    #[serde(default = "retention_days_default")]
    pub retention_days: u32,
    /// Whether progress is appended to the project's `progress.txt`.
    #[serde(default)]
    pub write_progress: bool,
    /// How commits look. An older loop has none, and its commits go on looking as they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSettings>,
    /// What was given on the command line or in an event: the last layer of the configuration, also
    /// when the files below it are read again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<FlagSettings>,
    /// A mark of the configuration files' text, by which an edit is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_mark: Option<String>,
    /// How agents and checks are confined. A loop that was started before there were jails has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxSettings>,
}

/// Megabytes that written trees and kept builds may take where nobody says so.
pub const TREES_MB: u64 = 20 * 1024;

/// Whether built outputs are reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warm {
    /// Where that is known to be sound and saves time.
    Auto,
    /// Never: every measured tree is built from nothing.
    #[default]
    Off,
}

impl Warm {
    // Serde hands a reference to whatever decides on skipping.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the form that serde asks for"
    )]
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// How the files of a run are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trees {
    /// In layers where a trial shows that they work, else copied.
    #[default]
    Auto,
    /// The same, said by a person.
    Overlay,
    /// Copied for every run.
    Copy,
}

impl Trees {
    /// Whether nobody chose; then it is not written down.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// A key of the configuration that was given with `start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagSettings {
    /// What the person typed.
    pub name: String,
    /// The key, dots between its parts.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// What a person must agree to before it lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policies {
    /// Candidates that change how checks, CI or linting are configured.
    pub check_config: Policy,
    /// Candidates that change how agents are configured.
    pub agent_config: Policy,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            check_config: Policy::Flag,
            agent_config: Policy::Ask,
        }
    }
}

/// What is done about something that needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The judge is told.
    Flag,
    /// A person is asked.
    Ask,
}

fn trees_mb_default() -> u64 {
    TREES_MB
}

fn retention_days_default() -> u32 {
    30
}

/// One agent: any program that reads its task from standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSettings {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Names of environment variables that it gets from the person's shell.
    pub pass_env: Vec<String>,
    /// Environment variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// How long it may take.
    pub timeout_secs: u64,
    /// How long it may say nothing.
    pub idle_secs: Option<u64>,
    /// The known CLI that it is; any program where there is none.
    #[serde(default)]
    pub kind: Option<String>,
    /// The CLI's program, where it is not to be looked up by its usual name.
    #[serde(default)]
    pub program: Option<String>,
    /// Arguments that are added to the CLI's.
    #[serde(default)]
    pub args: Vec<String>,
    /// The model, in the CLI's own words.
    #[serde(default)]
    pub model: Option<String>,
    /// Reasoning effort to ask the model for, in the CLI's own words.
    #[serde(default)]
    pub effort: Option<String>,
    /// Files of its config home, and the paths that they are taken from.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl AgentSettings {
    /// The known CLI that it is; any program unless its settings say otherwise.
    pub fn cli(&self) -> agents::Kind {
        let known = self.kind.as_deref().and_then(agents::Kind::of_word);
        known.unwrap_or(agents::Kind::Command)
    }
}

/// One command of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSettings {
    /// `setup`, `typecheck`, `lint` or `test`.
    pub name: String,
    /// What the shell is given.
    pub command: String,
}

impl Settings {
    /// The jail that runs are put into; none where they run on the host.
    pub fn jail(&self) -> Option<&SandboxSettings> {
        let sandbox = self.sandbox.as_ref();
        sandbox.filter(|sandbox| sandbox.kind != SandboxKind::Host)
    }

    /// How long a run in a role may take with this agent.
    pub fn timeout_secs(&self, role: &str, agent: &str) -> u64 {
        let of_role = self.roles.get(role).and_then(|role| role.timeout_secs);
        of_role
            .or_else(|| Some(self.agents.get(agent)?.timeout_secs))
            .unwrap_or_default()
    }

    /// The model that a story's author wants in this run: the implementor's, while it is the agent
    /// that the author had in mind or another one of the same CLI.
    pub fn story_model<'s>(
        &self,
        role: Role,
        role_agent: Option<&AgentName>,
        name: &AgentName,
        story: &'s StorySpec,
    ) -> Option<&'s str> {
        let model = story.model.as_deref()?;
        let meant = story.asked_implementor().or(role_agent)?;
        let cli = |name: &AgentName| Some(self.agents.get(name.as_str())?.cli());
        let is_same_cli = cli(meant) == cli(name) && cli(name) != Some(agents::Kind::Command);
        let knows_it = meant == name || is_same_cli;
        (role == Role::Implementor && knows_it).then_some(model)
    }

    /// An agent's settings with what its role and its story say of model and effort. Those are words
    /// of the role's own agent: whoever takes its place, on the ladder or at its limit, may be
    /// another CLI and would not know them.
    pub fn agent_in_role(
        &self,
        role: Role,
        role_agent: Option<&AgentName>,
        name: &AgentName,
        story: &StorySpec,
    ) -> Option<AgentSettings> {
        let of_story = self.story_model(role, role_agent, name, story);
        let mut agent = self.agents.get(name.as_str())?.clone();
        let own = role_agent.and_then(|own| self.agents.get(own.as_str()));
        let knows_words = own.is_some_and(|own| own.cli() == agent.cli());
        if let Some(role) = self.roles.get(role.word()).filter(|_| knows_words) {
            agent.model = role.model.clone().or(agent.model);
            agent.effort = role.effort.clone().or(agent.effort);
        }
        agent.model = of_story.map(str::to_owned).or(agent.model);
        Some(agent)
    }
}
