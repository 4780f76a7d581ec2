//! What a claim writes into a plan's file: the file's own word for work in progress, in the place of the
//! word that stood there. The store is the truth; the word is for people and other programs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A word of a plan's file that a claim replaced, as it is written, quotes included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWord {
    /// The plan's file or folder, in the work tree that the task was claimed in.
    pub file: PathBuf,
    /// What stood there.
    pub before: String,
    /// What stands there while the claim holds.
    pub claimed: String,
}
