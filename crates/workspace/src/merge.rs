//! Merges two versions of a text file, given the version that both started from.
//!
//! The three texts go into files of ours with fixed names, so no attribute and no merge driver
//! applies to them. A binary file or a very long one is not merged; it counts as a conflict.
//!
//! A merge that is unsure is a conflict too. Where one side moves a function and the other edits it,
//! git's default algorithm may put the edit into another function and call that clean. So two
//! algorithms that line texts up by their rare lines merge independently, and only what both agree on
//! is clean.

use std::fs;
use std::path::PathBuf;

use crate::blobs::{Blob, Blobs};
use crate::entry::{Entry, Mode};
use crate::error::{GitError, failed};
use crate::git::Output;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;

/// No test file that people read is longer, and merging takes several times as much memory.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The algorithms that must agree. Each alone was seen to merge an edit into the wrong one of two
/// functions that were swapped; never both in the same way.
const ALGORITHMS: [&str; 2] = ["--diff-algorithm=histogram", "--diff-algorithm=patience"];

/// How git ends when it does not know an option. `merge-file` can choose its algorithm since 2.44; an
/// older one knows only the default, which guesses.
const UNKNOWN_OPTION: i32 = 129;

/// The result of a merge.
#[derive(Debug, PartialEq, Eq)]
enum Merged {
    /// A text with both changes.
    Clean(Vec<u8>),
    /// The changes cannot be combined.
    Conflict,
}

/// The result of merging two changes of one file.
pub(crate) enum FileMerge {
    /// One side's content includes both changes.
    Entry(Entry),
    /// A new text with both changes.
    Text(Mode, Vec<u8>),
    /// The changes cannot be combined.
    Conflict,
}

/// Merges what two sides made of one file, which both changed.
pub(crate) fn merge_files(
    repo: &LoopRepo,
    blobs: &Blobs,
    scratch: &Scratch,
    [there, before, wanted]: [&Entry; 3],
) -> Result<FileMerge, GitError> {
    let files = [before, there, wanted];
    if !files.iter().all(|entry| entry.mode.is_regular()) {
        return Ok(FileMerge::Conflict);
    }
    // Mode and content are merged on their own: one side may set the executable bit while the other
    // edits.
    let mode = if wanted.mode == before.mode {
        there.mode
    } else {
        wanted.mode
    };
    // No text to merge if one side changed only the mode, or if both wrote the same.
    let id = match (&there.id, &wanted.id) {
        (there, wanted) if *there == before.id || there == wanted => Some(wanted),
        (there, wanted) if *wanted == before.id => Some(there),
        (_, _) => None,
    };
    if let Some(id) = id {
        let id = id.clone();
        return Ok(FileMerge::Entry(Entry { mode, id }));
    }
    let ids = [&there.id, &before.id, &wanted.id];
    Ok(match merge(repo, blobs, scratch, ids)? {
        Merged::Clean(text) => FileMerge::Text(mode, text),
        Merged::Conflict => FileMerge::Conflict,
    })
}

/// Merges `ours` and `theirs`, which both started from `base`.
fn merge(
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
    let mut agreed = None;
    for algorithm in ALGORITHMS {
        let git = repo
            .git()
            .args(["merge-file", "-p", "--quiet", algorithm, "--"])
            .args(&files);
        let command = git.command_line();
        let Merged::Clean(text) = result_of(git.outcome()?, command)? else {
            return Ok(Merged::Conflict);
        };
        if agreed.as_ref().is_some_and(|agreed| *agreed != text) {
            return Ok(Merged::Conflict);
        }
        agreed = Some(text);
    }
    Ok(agreed.map_or(Merged::Conflict, Merged::Clean))
}

/// What the end of one `merge-file` means.
fn result_of(output: Output, command: String) -> Result<Merged, GitError> {
    match output.code {
        Some(0) if !output.cut => Ok(Merged::Clean(output.stdout)),
        // The exit code is the number of conflicts, at most 127.
        Some(1..=127 | UNKNOWN_OPTION) => Ok(Merged::Conflict),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn result(code: Option<i32>, cut: bool) -> Option<Merged> {
        let output = Output {
            code,
            stdout: b"text".to_vec(),
            stderr: String::new(),
            cut,
        };
        result_of(output, "merge-file".to_owned()).ok()
    }

    #[test]
    fn the_end_of_a_merge_means() {
        for (what, code, cut, expected) in [
            (
                "clean",
                Some(0),
                false,
                Some(Merged::Clean(b"text".to_vec())),
            ),
            ("clean and too long", Some(0), true, None),
            ("two conflicts", Some(2), false, Some(Merged::Conflict)),
            (
                "a git that cannot choose its algorithm",
                Some(129),
                false,
                Some(Merged::Conflict),
            ),
            ("a fault of git's own", Some(128), false, None),
            ("killed", None, false, None),
        ] {
            assert_eq!(result(code, cut), expected, "{what}");
        }
    }
}
