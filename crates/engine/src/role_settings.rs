//! What the configuration says of a role beside its agent: model, effort, and a limit of its own.

use std::collections::BTreeMap;

use kernel::{LoopSpec, Role};
use sandbox::RunSpec;
use serde::{Deserialize, Serialize};

use crate::hands::kind_of;
use crate::settings::{AgentSettings, Settings};

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
        of_role
            .or_else(|| Some(self.agents.get(agent)?.timeout_secs))
            .unwrap_or_default()
    }
}

impl Settings {
    /// An agent's settings with what its role says of model and effort. Those are words of the
    /// role's own agent: whoever takes its place, on the ladder or at its limit, may be another CLI
    /// and would not know them.
    pub(crate) fn agent_in_role(
        &self,
        spec: &LoopSpec,
        role: Role,
        name: &str,
    ) -> Option<AgentSettings> {
        let mut agent = self.agents.get(name)?.clone();
        let own = spec
            .agent_of_role(role)
            .and_then(|own| self.agents.get(own));
        let knows = own.is_some_and(|own| kind_of(own) == kind_of(&agent));
        if let Some(role) = self.roles.get(role.word()).filter(|_| knows) {
            agent.model = role.model.clone().or(agent.model);
            agent.effort = role.effort.clone().or(agent.effort);
        }
        Some(agent)
    }
}

/// Gives a run what its role says. An agent's own `env` wins over model and effort: it knows its
/// program.
pub(crate) fn apply(settings: &Settings, role: &str, spec: &mut RunSpec) {
    let Some(role) = settings.roles.get(role) else {
        return;
    };
    if let Some(timeout_secs) = role.timeout_secs {
        spec.wall_secs = timeout_secs;
    }
    for (name, value) in [
        ("LOOPWRIGHT_MODEL", &role.model),
        ("LOOPWRIGHT_EFFORT", &role.effort),
    ] {
        if let Some(value) = value {
            spec.env
                .entry(name.to_owned())
                .or_insert_with(|| value.clone());
        }
    }
}
