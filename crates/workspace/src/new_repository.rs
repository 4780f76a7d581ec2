//! Turns a folder of files into a git repository, for projects that we create, such as the demo's.

use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;

/// Makes `folder` a repository with one commit on `main` that has all its files.
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
