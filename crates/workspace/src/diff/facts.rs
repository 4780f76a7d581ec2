//! What is known of each file that differs, besides its patch.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;

use super::patch::Patch;
use crate::blobs::{Blob, Blobs};
use crate::changes::Change;
use crate::entry::{Entry, Mode};
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;
use crate::renames::pairs;

/// The part of a link's target that is shown.
const TARGET_BYTES_MAX: usize = 4096;

/// One file that differs.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) path: Vec<u8>,
    /// The path that it had before, if it only moved.
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) before: Option<Side>,
    pub(crate) after: Option<Side>,
    pub(crate) content: Content,
}

/// One side of a change.
#[derive(Debug)]
pub(crate) enum Side {
    File { mode: Mode, bytes: u64 },
    Link { target: Vec<u8> },
    Submodule { commit: ObjectId },
}

/// How the content differs.
#[derive(Debug)]
pub(crate) enum Content {
    /// It does not, or the sides say everything.
    Same,
    /// It still has to be compared.
    Differs,
    Text(Patch),
    Binary,
    TooLarge,
}

impl Changed {
    /// The size of both sides.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        let sides = [&self.before, &self.after].into_iter().flatten();
        sides.map(|side| match side {
            Side::File { bytes, .. } => *bytes,
            Side::Link { target } => target.len() as u64,
            Side::Submodule { .. } => 0,
        })
    }
}

impl LoopRepo {
    /// Turns changes into facts. A file that moved is one of them, at its new path.
    pub(crate) fn facts(&self, changes: &[Change]) -> Result<Vec<Changed>, GitError> {
        let sizes = self.sizes(changes)?;
        let blobs = Blobs::of(self);
        let pairs = pairs(changes);
        let moved: BTreeSet<_> = pairs.values().collect();
        let mut facts = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            if moved.contains(&index) {
                continue;
            }
            let old = pairs.get(&index).map(|old| &changes[*old]);
            let entry_before = old.map_or(&change.before, |old| &old.before);
            let side = |entry: &Option<Entry>| {
                let side = entry.as_ref().map(|entry| side(entry, &sizes, &blobs));
                side.transpose()
            };
            facts.push(Changed {
                path: change.path.as_os_str().as_bytes().to_vec(),
                old_path: old.map(|old| old.path.as_os_str().as_bytes().to_vec()),
                before: side(entry_before)?,
                after: side(&change.after)?,
                content: content(entry_before.as_ref(), change.after.as_ref()),
            });
        }
        Ok(facts)
    }

    /// The sizes of all files that differ.
    fn sizes(&self, changes: &[Change]) -> Result<BTreeMap<ObjectId, u64>, GitError> {
        let entries = changes
            .iter()
            .flat_map(|change| [&change.before, &change.after])
            .flatten();
        let ids: Vec<_> = entries
            .filter(|entry| entry.mode.is_regular())
            .map(|entry| entry.id.as_str())
            .collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let git = self
            .git()
            .args(["cat-file", "--batch-check=%(objectname) %(objectsize)"]);
        let command = git.command_line();
        let output = git.run_with((ids.join("\n") + "\n").as_bytes())?;
        let parse = |line: &str| {
            let (id, bytes) = line.split_once(' ')?;
            Some((ObjectId::parse(id).ok()?, bytes.parse().ok()?))
        };
        String::from_utf8_lossy(&output)
            .lines()
            .map(|line| {
                parse(line).ok_or_else(|| GitError::Garbled {
                    command: command.clone(),
                })
            })
            .collect()
    }
}

fn side(entry: &Entry, sizes: &BTreeMap<ObjectId, u64>, blobs: &Blobs) -> Result<Side, GitError> {
    Ok(match entry.mode {
        mode @ (Mode::File | Mode::Executable) => Side::File {
            mode,
            bytes: sizes.get(&entry.id).copied().unwrap_or_default(),
        },
        Mode::Link => Side::Link {
            target: match blobs.read(&entry.id, TARGET_BYTES_MAX)? {
                Blob::Whole(target) => target,
                Blob::TooLarge { .. } => b"something that is too long".to_vec(),
            },
        },
        Mode::Submodule => Side::Submodule {
            commit: entry.id.clone(),
        },
    })
}

/// Links and submodules need no comparison: their sides say everything.
fn content(before: Option<&Entry>, after: Option<&Entry>) -> Content {
    let is_file = |entry: &&Entry| entry.mode.is_regular();
    let ids = |entry: Option<&Entry>| entry.map(|entry| entry.id.clone());
    let has_file = before.iter().chain(after.iter()).any(is_file);
    if has_file && ids(before) != ids(after) {
        Content::Differs
    } else {
        Content::Same
    }
}
