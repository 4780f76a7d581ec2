//! The configuration as typed values, once all layers are put together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::complaint::failure_of;
use super::layers::{Entry, Flag, Origin, Settled, settle};
use super::places::Places;
use super::value::Value;
use crate::failure::Failure;

/// All of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(rename = "loop")]
    pub(crate) of_loop: LoopConfig,
    pub(crate) roles: RolesConfig,
    pub(crate) retry: RetryConfig,
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    pub(crate) checks: ChecksConfig,
    pub(crate) policy: PolicyConfig,
    pub(crate) sandbox: SandboxConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) prd: PrdConfig,
    pub(crate) commit: CommitConfig,
    pub(crate) budget: BudgetConfig,
    /// Dollars per million tokens, by model; `*` stands for any characters.
    pub(crate) prices: BTreeMap<String, PriceConfig>,
    pub(crate) retention: RetentionConfig,
    pub(crate) worker: WorkerConfig,
    /// Files that the person's own configuration names in the commands of agents.
    #[serde(skip)]
    pub(crate) agent_scripts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LoopConfig {
    pub(crate) flow: Option<String>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) max_iterations: Option<u32>,
    /// Stories at once.
    pub(crate) parallel: Option<u32>,
    /// Whether progress is also written into the project's `progress.txt`.
    pub(crate) write_progress: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RolesConfig {
    pub(crate) implementor: RoleConfig,
    pub(crate) reviewer: RoleConfig,
    pub(crate) judge: RoleConfig,
    pub(crate) prover: RoleConfig,
}

impl RolesConfig {
    /// Every role with its word.
    pub(crate) fn all(&self) -> [(&'static str, &RoleConfig); 4] {
        [
            ("implementor", &self.implementor),
            ("reviewer", &self.reviewer),
            ("judge", &self.judge),
            ("prover", &self.prover),
        ]
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoleConfig {
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    /// Seconds; wins over the agent's own.
    pub(crate) timeout: Option<u64>,
    /// `none`, `model` or `open`; wins over the sandbox's own.
    pub(crate) network: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetryConfig {
    pub(crate) ladder: Vec<String>,
    /// Seconds of the first wait after an infrastructure fault.
    pub(crate) wait: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentConfig {
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// A known CLI, or `command`.
    pub(crate) kind: Option<String>,
    pub(crate) program: Option<String>,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) pass_env: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Seconds.
    pub(crate) timeout: Option<u64>,
    /// Seconds without any output.
    pub(crate) idle: Option<u64>,
    /// Runs of this agent at once, over all stories of a loop.
    pub(crate) at_once: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChecksConfig {
    pub(crate) setup: Option<String>,
    pub(crate) typecheck: Option<String>,
    pub(crate) lint: Option<String>,
    pub(crate) test: Option<String>,
    /// Seconds for each of them, on each tree.
    pub(crate) timeout: Option<u64>,
    /// How many small faults the story's tests are tried against.
    pub(crate) mutants: Option<usize>,
    /// Whether checks that nobody names are looked for.
    pub(crate) detect: Option<bool>,
    /// Runs of them at once, over all stories of a loop.
    pub(crate) at_once: Option<u32>,
    /// `auto` or `off`.
    pub(crate) warm: Option<home::Warm>,
    /// Where test files may be, as globs.
    pub(crate) test_paths: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicyConfig {
    /// `flag` or `ask`.
    pub(crate) check_config: Option<String>,
    /// `flag` or `ask`.
    pub(crate) agent_config: Option<String>,
    /// `wait` or `failover`.
    pub(crate) on_limit: Option<String>,
    /// `go-on` or `stop`.
    pub(crate) on_question: Option<String>,
    /// `when-needed` or `always`.
    pub(crate) rejudge: Option<String>,
    /// Files in which candidates may hold what looks like a secret, as globs.
    pub(crate) secrets_allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SandboxConfig {
    /// `auto`, `bwrap`, `podman`, `docker` or `host`.
    pub(crate) kind: Option<String>,
    /// `none`, `model` or `open`.
    pub(crate) network: Option<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
    pub(crate) image: Option<String>,
    pub(crate) inject_keys: Option<bool>,
    pub(crate) memory_mb: Option<u64>,
    pub(crate) processes: Option<u64>,
    /// Seconds.
    pub(crate) cpu: Option<u64>,
    pub(crate) open_files: Option<u64>,
    pub(crate) disk_mb: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkspaceConfig {
    pub(crate) copy: Vec<String>,
    pub(crate) trees: home::Trees,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PriceConfig {
    pub(crate) input: f64,
    pub(crate) cached: f64,
    pub(crate) output: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PrdConfig {
    pub(crate) write_back: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CommitConfig {
    /// The template of the subject.
    pub(crate) subject: Option<String>,
    /// `operator`, `loopwright` or `Name <mail>`.
    pub(crate) author: Option<String>,
    pub(crate) sign_off: Option<bool>,
    pub(crate) co_author: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BudgetConfig {
    /// Hours that all runs together may take.
    pub(crate) hours: Option<f64>,
    pub(crate) usd: Option<f64>,
    /// The most that one run is expected to cost and use.
    pub(crate) run_usd: Option<f64>,
    pub(crate) run_tokens: Option<u64>,
    pub(crate) tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetentionConfig {
    pub(crate) keep_checkouts: bool,
    pub(crate) days: Option<u32>,
    /// Megabytes for written trees and kept builds.
    pub(crate) trees: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkerConfig {
    pub(crate) max_agents: Option<usize>,
    pub(crate) max_checks: Option<usize>,
}

impl ChecksConfig {
    /// The commands that are there, in the order in which they run.
    pub(crate) fn commands(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("setup", &self.setup),
            ("typecheck", &self.typecheck),
            ("lint", &self.lint),
            ("test", &self.test),
        ];
        all.into_iter()
            .filter_map(|(name, command)| Some((name, command.as_deref()?)))
            .collect()
    }
}

/// Reads what holds for a project.
pub(crate) fn read(project: &Path, flags: &[Flag]) -> Result<Config, Failure> {
    typed(&Places::of_project(project), flags)
}

/// Reads what holds for the worker, which serves all projects: nothing of any one of them.
pub(crate) fn read_of_worker() -> Result<Config, Failure> {
    typed(&Places::of_person(), &[])
}

fn typed(places: &Places, flags: &[Flag]) -> Result<Config, Failure> {
    let settled: Settled = settle(places, flags)?.map_err(|complaints| failure_of(&complaints))?;
    let config: Result<Config, _> = serde_json::from_value(settled.nested());
    let config = config.map_err(|error| {
        Failure::bad_input(format!("the configuration does not fit together: {error}"))
    })?;
    Ok(Config {
        agent_scripts: agent_scripts(&settled, places),
        ..config
    })
}

/// Files that the commands of agents name. What a committed file names does not count: a repository
/// must not choose which files of this machine its agents see.
fn agent_scripts(settled: &Settled, places: &Places) -> Vec<String> {
    let is_persons = |entry: &Entry| {
        !(places.project_is_committed && matches!(entry.origin, Origin::Project { .. }))
    };
    let commands = settled.entries.iter().filter(|(path, entry)| {
        let is_command = matches!(&path[..], [agents, _, key]
            if agents == "agents" && (key == "command" || key == "args"));
        is_command && is_persons(entry)
    });
    let words = commands.filter_map(|(_, entry)| match &entry.value {
        Value::Words(words) => Some(words),
        _ => None,
    });
    let words = words.flatten();
    words
        .filter(|word| Path::new(word).is_absolute() && Path::new(word).is_file())
        .cloned()
        .collect()
}
