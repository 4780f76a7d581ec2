//! Reads commit trailers, such as `Story-Id: login-1`, in the operator's repository.
//!
//! It changes nothing and does not know what a trailer means. Keys are matched as fixed strings,
//! never as patterns: an id in brackets is a character class to `git log --grep`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;

/// A branch, and the values of one trailer in its commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchTrailers {
    /// The branch name without `refs/heads/`.
    pub branch: String,
    /// The trailer's values in its commits.
    pub values: BTreeSet<String>,
}

/// How many branches are searched, newest first. Each one costs a git process.
const BRANCHES_MAX: usize = 200;

/// The values of a trailer in the history of a commit.
pub fn trailers_of(
    project: &Path,
    commit: &CommitId,
    key: &str,
) -> Result<BTreeSet<String>, GitError> {
    values(project, key, &[commit.as_str()])
}

/// The branches below `prefix` (such as `agent-loop/`) that are not merged into `commit`, with the
/// trailer's values in their commits beyond it.
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
        // Without the commit's own history, which every branch shares.
        let values = values(project, key, &[name, &format!("^{commit}")])?;
        let branch = name.trim_start_matches("refs/heads/").to_owned();
        found.push(BranchTrailers { branch, values });
    }
    Ok(found)
}

/// The values of a trailer in these revisions. `--grep` skips the commits that do not contain the
/// key at all. It is `rev-list` and not `log`, because the operator's configuration has no effect
/// on plumbing.
fn values(project: &Path, key: &str, revisions: &[&str]) -> Result<BTreeSet<String>, GitError> {
    // A value may be folded over several lines; unfolded, each line is one value.
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
