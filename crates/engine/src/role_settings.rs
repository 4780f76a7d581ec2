//! What the configuration says of a role beside its agent: model, effort, and a limit of its own.

use std::collections::BTreeMap;

use sandbox::RunSpec;
use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// One role's part of the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSettings {
    /// The model that its agent should use.
    #[serde(default)]
    pub model: Option<String>,
    /// How hard it should try.
    #[serde(default)]
    pub effort: Option<String>,
    /// How long a run in this role may take; wins over the agent's own limit.
    #[serde(default)]
    pub timeout_secs: Option<u64>,
}

/// The roles by their words.
pub type Roles = BTreeMap<String, RoleSettings>;

impl Settings {
    /// How long a run in a role may take with this agent.
    pub fn timeout_secs(&self, role: &str, agent: &str) -> u64 {
        let of_role = self.roles.get(role).and_then(|role| role.timeout_secs);
        of_role.or_else(|| Some(self.agents.get(agent)?.timeout_secs)).unwrap_or_default()
    }
}

/// Gives a run what its role says. An agent's own `env` wins over model and effort: it knows its program.
pub(crate) fn apply(settings: &Settings, role: &str, spec: &mut RunSpec) {
    let Some(role) = settings.roles.get(role) else { return };
    if let Some(timeout_secs) = role.timeout_secs {
        spec.wall_secs = timeout_secs;
    }
    for (name, value) in [("LOOPWRIGHT_MODEL", &role.model), ("LOOPWRIGHT_EFFORT", &role.effort)] {
        if let Some(value) = value {
            spec.env.entry(name.to_owned()).or_insert_with(|| value.clone());
        }
    }
}
