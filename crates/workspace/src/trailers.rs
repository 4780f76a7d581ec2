//! Finds what commits of the operator's repository say in their trailers, such as `Story-Id:
//! login-1`.
//!
//! It only reads, and it does not know what a trailer means. Values are compared as they are, never
//! as patterns.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;

/// A branch, and the values that its commits have for a trailer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchTrailers {
    /// Its name without `refs/heads/`.
    pub branch: String,
    /// What its commits say.
    pub values: BTreeSet<String>,
}

/// Branches that are looked at, the newest first.
const BRANCHES_MAX: usize = 200;

/// What the history of a commit says for a trailer.
pub fn trailers_of(
    project: &Path,
    commit: &CommitId,
    key: &str,
) -> Result<BTreeSet<String>, GitError> {
    values(project, key, &[commit.as_str()])
}

/// Branches below `prefix` (`agent-loop/`) that a commit does not have, with what they say beyond
/// it.
pub fn trailers_beyond(
    project: &Path,
    commit: &CommitId,
    prefix: &str,
    key: &str,
) -> Result<Vec<BranchTrailers>, GitError> {
    let words = [
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(refname)",
    ];
    let git = Git::found_from(project)
        .args(words)
        .arg(format!("--count={BRANCHES_MAX}"))
        .arg(format!("--no-merged={commit}"))
        .arg(format!("refs/heads/{prefix}"));
    let refs = String::from_utf8_lossy(&git.run()?).into_owned();
    let mut found = Vec::new();
    for name in refs.lines() {
        let values = values(project, key, &[name, &format!("^{commit}")])?;
        let branch = name.trim_start_matches("refs/heads/").to_owned();
        found.push(BranchTrailers { branch, values });
    }
    Ok(found)
}

/// Only commits that have the word at all are looked into; plumbing, so that no configuration has a
/// say.
fn values(project: &Path, key: &str, revisions: &[&str]) -> Result<BTreeSet<String>, GitError> {
    let format = format!("--format=%(trailers:key={key},valueonly,unfold)");
    let git = Git::found_from(project)
        .args(["rev-list", "--no-commit-header", "--fixed-strings"])
        .arg(format!("--grep={key}: "))
        .arg(format)
        .arg("--end-of-options")
        .args(revisions)
        .arg("--");
    let text = String::from_utf8_lossy(&git.run()?).into_owned();
    Ok(text
        .lines()
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .collect())
}
