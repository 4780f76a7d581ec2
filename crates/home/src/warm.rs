//! What was learned about reusing built outputs of a project. It outlives every loop.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WarmTrust {
    /// Trees that were measured both ways and were the same.
    pub equal: u32,
    /// Those of them that had outputs of the project's own packages.
    pub equal_with_own: u32,
    /// Why nothing is reused any more.
    pub off: Option<String>,
}

impl WarmTrust {
    /// What is known in a project's folder of roots.
    pub fn read(roots: &Path) -> Self {
        let text = fs::read(roots.join("trust.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Keeps it there.
    pub fn write(&self, roots: &Path) -> io::Result<()> {
        fs::create_dir_all(roots)?;
        let new = roots.join(format!("trust.new-{}", std::process::id()));
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, roots.join("trust.json"))
    }
}
