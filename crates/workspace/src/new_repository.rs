//! Makes a repository out of a folder of files, for projects that begin with us, as the demo's
//! does.

use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;

/// Makes `folder` a repository with all its files in one commit on `main`.
pub fn init_repository(folder: &Path, message: &str) -> Result<CommitId, GitError> {
    let in_folder = || Git::found_from(folder);
    in_folder()
        .args(["init", "--quiet", "--initial-branch=main", "."])
        .run()?;
    in_folder().args(["add", "--all"]).run()?;
    let identity = [
        "-c",
        "user.name=Loopwright",
        "-c",
        "user.email=loopwright@localhost",
    ];
    in_folder()
        .args(identity)
        .args(["commit", "--quiet", "-m", message])
        .run()?;
    CommitId::parse(&in_folder().args(["rev-parse", "HEAD"]).line()?)
}
