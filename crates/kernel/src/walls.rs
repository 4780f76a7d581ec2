//! What a run met at the walls of its jail. Nothing is decided by it: it is for people, and for the
//! next attempt.

use serde::{Deserialize, Serialize};

/// What a run met at the walls of its jail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Walls {
    /// The limit that it hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<JailLimit>,
    /// The hosts that it was not let through to, bounded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedHost>,
}

impl Walls {
    /// Whether it met none.
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// A limit of a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JailLimit {
    /// Memory of all processes together.
    Memory,
    /// Processes and threads.
    Processes,
    /// Processor time.
    Cpu,
    /// Open files of a process.
    OpenFiles,
    /// Bytes or files in the checkout.
    Disk,
    /// Requests to the model.
    Requests,
}

impl JailLimit {
    /// What it is called where people read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Cpu => "processor time",
            Self::OpenFiles => "open files",
            Self::Disk => "disk space",
            Self::Requests => "requests to the model",
        }
    }
}

/// A host that a run was not let through to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedHost {
    /// The host as it was asked for.
    pub host: String,
    /// The port; 0 if none could be read.
    pub port: u16,
    /// Why it was refused, in a word.
    pub why: String,
}
