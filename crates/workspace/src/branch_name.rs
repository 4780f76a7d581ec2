//! Whether a branch that somebody names could be the branch of a loop.

use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::project::common_git_dir;
use crate::refs::{check_ref, read_ref, read_their_ref};
use crate::scratch::absolute;

/// Branches that are somebody's trunk in nearly every repository. They are never written, whether
/// they exist or not.
const TRUNKS: [&str; 2] = ["main", "master"];

/// The folder of our own branches; a branch of that very name would be in the way of all of them.
const OURS: &str = "agent-loop";

/// Names that are longer are no file names once git puts `.lock` behind them.
const NAME_BYTES_MAX: usize = 200;

/// Why a name cannot be that of a loop's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchTrouble {
    /// Git does not take it as a branch's name.
    BadName,
    /// It is the trunk, or a name that is kept for something else.
    Protected,
    /// There is such a branch.
    Exists,
    /// Git keeps branches as paths, and this one is above or below it.
    InTheWay {
        /// The other branch.
        other: String,
    },
}

/// Says why a name cannot be that of a new branch in a repository; `None` if it can.
pub fn branch_trouble(project: &Path, name: &str) -> Result<Option<BranchTrouble>, GitError> {
    if is_kept(name) {
        return Ok(Some(BranchTrouble::Protected));
    }
    let full = format!("refs/heads/{name}");
    let is_bad = name.is_empty() || name.starts_with('-') || name.len() > NAME_BYTES_MAX;
    match check_ref(&full) {
        Err(GitError::BadRef { .. }) => return Ok(Some(BranchTrouble::BadName)),
        Err(error) => return Err(error),
        Ok(()) if is_bad => return Ok(Some(BranchTrouble::BadName)),
        Ok(()) => {}
    }
    let theirs = common_git_dir(&absolute(project)?)?;
    if is_default(&theirs, name)? {
        return Ok(Some(BranchTrouble::Protected));
    }
    let git = || Git::of_operator(&theirs);
    if read_their_ref(&theirs, &full, None)?.is_some() {
        return Ok(Some(BranchTrouble::Exists));
    }
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    for other in above {
        if read_ref(git(), &format!("refs/heads/{other}"))?.is_some() {
            return Ok(Some(BranchTrouble::InTheWay {
                other: other.to_owned(),
            }));
        }
    }
    let below = git()
        .args(["for-each-ref", "--count=1", "--format=%(refname:lstrip=2)"])
        .arg(format!("{full}/"))
        .run()?;
    let below = String::from_utf8_lossy(&below).trim().to_owned();
    Ok((!below.is_empty()).then_some(BranchTrouble::InTheWay { other: below }))
}

/// Whether a name is never that of a branch that we write.
pub(crate) fn is_kept(name: &str) -> bool {
    TRUNKS.contains(&name) || name == OURS || name == "HEAD" || name.starts_with("refs/")
}

/// Whether the repository that this one was cloned from calls this its default.
fn is_default(theirs: &Path, name: &str) -> Result<bool, GitError> {
    let output = Git::of_operator(theirs)
        .args(["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"])
        .outcome()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.trim().strip_prefix("refs/remotes/origin/") == Some(name))
}
