//! `loopwright.toml` of the project, as typed values. Unknown keys are errors, because a misspelt limit is no limit.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::failure::Failure;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(rename = "loop")]
    pub(crate) of_loop: LoopConfig,
    pub(crate) roles: RolesConfig,
    pub(crate) retry: RetryConfig,
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    pub(crate) checks: ChecksConfig,
    pub(crate) workspace: WorkspaceConfig,
    pub(crate) prd: PrdConfig,
    pub(crate) budget: BudgetConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LoopConfig {
    pub(crate) max_retries: Option<u32>,
    pub(crate) max_iterations: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RolesConfig {
    pub(crate) implementor: RoleConfig,
    pub(crate) judge: RoleConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoleConfig {
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetryConfig {
    pub(crate) ladder: Vec<String>,
    /// Seconds of the first wait after an infrastructure fault.
    pub(crate) wait: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentConfig {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) pass_env: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Seconds.
    pub(crate) timeout: Option<u64>,
    /// Seconds without any output.
    pub(crate) idle: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChecksConfig {
    pub(crate) setup: Option<String>,
    pub(crate) typecheck: Option<String>,
    pub(crate) lint: Option<String>,
    pub(crate) test: Option<String>,
    /// Seconds for all of them together.
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkspaceConfig {
    pub(crate) copy: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PrdConfig {
    pub(crate) write_back: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BudgetConfig {
    /// Hours that all runs together may take.
    pub(crate) hours: Option<f64>,
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: Option<u64>,
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
        all.into_iter().filter_map(|(name, command)| Some((name, command.as_deref()?))).collect()
    }
}

/// Reads the project's file; a project without one has the defaults.
pub(crate) fn read(project: &Path) -> Result<Config, Failure> {
    let path = project.join("loopwright.toml");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(Failure::environment(&format!("cannot read `{}`", path.display()), &error)),
    };
    toml::from_str(&text).map_err(|error| {
        Failure::bad_input(format!("{}: {}", path.display(), error.to_string().trim_end()))
            .hint("docs/config.md lists every table and key")
    })
}
