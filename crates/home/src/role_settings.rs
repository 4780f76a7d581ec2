//! What the configuration says of a role beside its agent: model, effort, and a limit of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One role's part of the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSettings {
    /// The model that its agent should use.
    #[serde(default)]
    pub model: Option<String>,
    /// Reasoning effort to ask the model for, such as `low` or `high`.
    #[serde(default)]
    pub effort: Option<String>,
    /// How long a run in this role may take; wins over the agent's own limit.
    #[serde(default)]
    pub timeout_secs: Option<u64>,
}

/// The roles by their words.
pub type Roles = BTreeMap<String, RoleSettings>;
