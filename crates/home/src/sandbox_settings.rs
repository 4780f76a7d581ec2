//! How the agents and checks of a loop are confined. It is decided once, at `start`, and travels with
//! the loop: a machine that changes later never loosens a running loop.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How agents and checks are confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSettings {
    /// The kind of jail.
    pub kind: SandboxKind,
    /// What an agent may reach, where its role says nothing.
    pub network: NetworkPolicy,
    /// What an agent may reach, by role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, NetworkPolicy>,
    /// Further hosts that may be reached, as `name` or `name:port`. They may have private addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// The hosts of the package registries that the person's own clients use for this project. They
    /// may have private addresses, as company mirrors do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registries: Vec<String>,
    /// Further files and folders that a jail shows, read-only, at the same path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Further files and folders that a jail may write to, at the same path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// The image of a container's jail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether keys stay with the keeper's proxy where the agent's CLI allows that.
    #[serde(default)]
    pub inject_keys: bool,
    /// What one run may use.
    #[serde(default)]
    pub limits: SandboxLimits,
}

/// The kinds of jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    /// Bubblewrap: namespaces of this machine's kernel.
    Bwrap,
    /// A podman container for each run.
    Podman,
    /// A docker container for each run.
    Docker,
    /// No jail: everything runs with the operator's rights.
    Host,
}

impl SandboxKind {
    /// The word that configuration uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Podman => "podman",
            Self::Docker => "docker",
            Self::Host => "host",
        }
    }

    /// The kind that a word of the configuration names.
    pub fn of_word(word: &str) -> Option<Self> {
        let all = [Self::Bwrap, Self::Podman, Self::Docker, Self::Host];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// What a run may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkPolicy {
    /// A loopback of its own and nothing else.
    None,
    /// The model's hosts, the package registries, and what `allow` names.
    Model,
    /// Everything that the operator can reach.
    Open,
}

impl NetworkPolicy {
    /// The policy that a word of the configuration names.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "model" => Some(Self::Model),
            "open" => Some(Self::Open),
            _ => None,
        }
    }
}

/// What one run may use; no limit where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxLimits {
    /// Memory of all its processes together, in megabytes.
    pub memory_mb: Option<u64>,
    /// Processes and threads at the same time.
    pub processes: Option<u64>,
    /// Processor time of one process, in seconds.
    pub cpu_secs: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// What its checkout may grow to, in megabytes.
    pub disk_mb: Option<u64>,
}

impl SandboxSettings {
    /// No jail at all.
    pub fn host() -> Self {
        Self {
            kind: SandboxKind::Host,
            network: NetworkPolicy::Open,
            roles: BTreeMap::new(),
            allow: Vec::new(),
            registries: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            image: None,
            inject_keys: false,
            limits: SandboxLimits::default(),
        }
    }

    /// What an agent in a role may reach.
    pub fn network_of(&self, role: &str) -> NetworkPolicy {
        self.roles.get(role).copied().unwrap_or(self.network)
    }
}
