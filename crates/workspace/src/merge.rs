//! Merges two versions of one text with the one that both came from.
//!
//! The three texts go into files of ours with fixed names, so that no attribute and no merge driver
//! has a say. A file that is no text, or a very long one, is not merged: that counts as a conflict.

use std::fs;
use std::path::PathBuf;

use crate::blobs::{Blob, Blobs};
use crate::error::{GitError, failed};
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;

/// No test file that people read is longer; merging takes several times as much memory.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What came of a merge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// Both changes are in it.
    Clean(Vec<u8>),
    /// They cannot both be had.
    Conflict,
}

/// Merges `ours` and `theirs`, which both came from `base`.
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
        if text.contains(&0) {
            return Ok(Merged::Conflict);
        }
        files.push(written(scratch, name, &text)?);
    }
    let git = repo
        .git()
        .args(["merge-file", "-p", "--quiet", "--"])
        .args(&files);
    let command = git.command_line();
    let output = git.outcome()?;
    match output.code {
        Some(0) if !output.cut => Ok(Merged::Clean(output.stdout)),
        // The number of conflicts, as far as an exit code can count.
        Some(1..=127) => Ok(Merged::Conflict),
        code => Err(GitError::Failed {
            command,
            code,
            stderr: output.stderr,
        }),
    }
}

fn written(scratch: &Scratch, name: &str, text: &[u8]) -> Result<PathBuf, GitError> {
    let file = scratch.path().join(name);
    fs::write(&file, text).map_err(failed("write", &file))?;
    Ok(file)
}
