//! Merges two versions of a text file, given the version that both started from.
//!
//! The three texts go into files of ours with fixed names, so no attribute and no merge driver
//! applies to them. A binary file or a very long one is not merged; it counts as a conflict.

use std::fs;
use std::path::PathBuf;

use crate::blobs::{Blob, Blobs};
use crate::error::{GitError, failed};
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;

/// No test file that people read is longer, and merging takes several times as much memory.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The result of a merge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// A text with both changes.
    Clean(Vec<u8>),
    /// The changes cannot be combined.
    Conflict,
}

/// Merges `ours` and `theirs`, which both started from `base`.
pub(crate) fn merge(
    repo: &LoopRepo,
    blobs: &Blobs,
    scratch: &Scratch,
    [ours, base, theirs]: [&ObjectId; 3],
) -> Result<Merged, GitError> {
    let mut files = Vec::new();
    for (name, id) in [("ours", ours), ("base", base), ("theirs", theirs)] {
        let Blob::Whole(text) = blobs.read(id, TEXT_BYTES_MAX)? else {
            return Ok(Merged::Conflict);
        };
        // A zero byte is git's own sign of a binary file.
        if text.contains(&0) {
            return Ok(Merged::Conflict);
        }
        files.push(write_file(scratch, name, &text)?);
    }
    let git = repo
        .git()
        .args(["merge-file", "-p", "--quiet", "--"])
        .args(&files);
    let command = git.command_line();
    let output = git.outcome()?;
    match output.code {
        Some(0) if !output.cut => Ok(Merged::Clean(output.stdout)),
        // The exit code is the number of conflicts, at most 127.
        Some(1..=127) => Ok(Merged::Conflict),
        code => Err(GitError::Failed {
            command,
            code,
            stderr: output.stderr,
        }),
    }
}

fn write_file(scratch: &Scratch, name: &str, text: &[u8]) -> Result<PathBuf, GitError> {
    let file = scratch.path().join(name);
    fs::write(&file, text).map_err(failed("write", &file))?;
    Ok(file)
}
