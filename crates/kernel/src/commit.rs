//! A commit's id.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A commit's id: 40 or 64 lower-case hexadecimal digits. Copies share them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(Arc<str>);

/// A word that is not a commit's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotACommit(pub String);

impl fmt::Display for NotACommit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` is not a commit id", self.0)
    }
}

impl std::error::Error for NotACommit {}

impl Commit {
    /// Checks an id.
    pub fn new(id: &str) -> Result<Self, NotACommit> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if matches!(id.len(), 40 | 64) && id.bytes().all(is_hex) {
            Ok(Self(id.into()))
        } else {
            Err(NotACommit(id.to_owned()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Commit {
    type Error = NotACommit;

    fn try_from(id: String) -> Result<Self, NotACommit> {
        Self::new(&id)
    }
}

impl From<Commit> for String {
    fn from(commit: Commit) -> Self {
        commit.0.as_ref().to_owned()
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
