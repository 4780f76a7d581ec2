//! Reads single files and folders of a tree, without a checkout.
//!
//! What it gives is what was recorded: links are not followed and submodules are not entered.
//! [`TreeReader`] is for many reads of one tree; the two functions of [`LoopRepo`] are for a single
//! one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::blobs::{Blob, Blobs};
use crate::entry::{Entries, Entry, Line, TreeLike, below, listed, plain};
use crate::error::GitError;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;
use crate::walk::{as_path, split};

/// What a name in a folder of a tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A folder; git has no empty ones.
    Folder,
    /// Anything else.
    Entry(Entry),
}

/// A tree whose paths are in memory and whose contents are read when they are asked for, through
/// one process.
#[derive(Debug)]
pub struct TreeReader {
    entries: Entries,
    blobs: Blobs,
}

impl TreeReader {
    /// The whole content of a file; none when there is no file at this path, be it a folder, a link
    /// or a submodule.
    ///
    /// A file of more than `bytes_max` is an error: half a file may mean something else than the
    /// whole.
    pub fn read(&self, path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, GitError> {
        let Some(entry) = self.entry(path)? else {
            return Ok(None);
        };
        read(&self.blobs, entry, path, bytes_max)
    }

    /// What a path stands for; none for a folder and for nothing.
    pub fn entry(&self, path: &Path) -> Result<Option<&Entry>, GitError> {
        Ok(self.entries.get(&plain(path)?))
    }

    /// The names in a folder (the empty path is the top), sorted as bytes; empty when there is no
    /// such folder.
    pub fn list(&self, folder: &Path) -> Result<Vec<(OsString, Listed)>, GitError> {
        let folder = plain(folder)?;
        if folder.is_empty() {
            return Ok(names(&folder, self.entries.iter()));
        }
        Ok(names(&folder, below(&self.entries, &folder)))
    }

    /// All paths that are no folders, in git's order.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (as_path(path), entry))
    }
}

impl LoopRepo {
    /// Lists a tree, for reading in it.
    pub fn reader(&self, tree: &dyn TreeLike) -> Result<TreeReader, GitError> {
        Ok(TreeReader {
            entries: self.entries_of(tree)?,
            blobs: Blobs::of(self),
        })
    }

    /// Reads one file of a tree, as [`TreeReader::read`] does.
    pub fn read_blob(
        &self,
        tree: &TreeId,
        path: &Path,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let wanted = plain(path)?;
        let found = self.ls_tree(tree, &wanted)?;
        let entry = found
            .into_iter()
            .find(|(path, _)| *path == wanted)
            .and_then(|(_, entry)| entry);
        entry.map_or(Ok(None), |entry| {
            read(&Blobs::of(self), &entry, path, bytes_max)
        })
    }

    /// Lists one folder of a tree, as [`TreeReader::list`] does.
    pub fn list_folder(
        &self,
        tree: &TreeId,
        folder: &Path,
    ) -> Result<Vec<(OsString, Listed)>, GitError> {
        let folder = plain(folder)?;
        let wanted = if folder.is_empty() {
            Vec::new()
        } else {
            [&folder[..], b"/"].concat()
        };
        let found = self.ls_tree(tree, &wanted)?;
        let inside = found
            .into_iter()
            .filter(|(path, _)| split(path).0 == folder);
        let mut names: Vec<_> = inside
            .map(|(path, entry)| {
                (
                    name_of(split(&path).1),
                    entry.map_or(Listed::Folder, Listed::Entry),
                )
            })
            .collect();
        // Git sorts a folder as if its name ended in a slash.
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// One level of a tree, or one path of it; a folder has no entry.
    fn ls_tree(&self, tree: &TreeId, path: &[u8]) -> Result<Vec<Line>, GitError> {
        let git = self
            .git()
            .args(["ls-tree", "-z", "--full-tree", tree.as_str(), "--"]);
        let git = if path.is_empty() {
            git
        } else {
            git.literal_path(path)
        };
        let command = git.command_line();
        let output = git.run()?;
        let lines = output
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty());
        lines
            .map(|line| {
                listed(line).ok_or_else(|| GitError::Garbled {
                    command: command.clone(),
                })
            })
            .collect()
    }
}

fn read(
    blobs: &Blobs,
    entry: &Entry,
    path: &Path,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, GitError> {
    if !entry.mode.is_regular() {
        return Ok(None);
    }
    match blobs.read(&entry.id, bytes_max)? {
        Blob::Whole(content) => Ok(Some(content)),
        Blob::TooLarge { bytes } => Err(GitError::FileTooLarge {
            path: PathBuf::from(path),
            bytes,
            bytes_max,
        }),
    }
}

/// What is directly in a folder, of all that is below it.
fn names<'a>(
    folder: &[u8],
    inside: impl Iterator<Item = (&'a Vec<u8>, &'a Entry)>,
) -> Vec<(OsString, Listed)> {
    let start = if folder.is_empty() {
        0
    } else {
        folder.len() + 1
    };
    let mut found = BTreeMap::new();
    for (path, entry) in inside {
        let rest = &path[start..];
        match rest.iter().position(|byte| *byte == b'/') {
            Some(end) => found.insert(name_of(&rest[..end]), Listed::Folder),
            None => found.insert(name_of(rest), Listed::Entry(entry.clone())),
        };
    }
    found.into_iter().collect()
}

fn name_of(name: &[u8]) -> OsString {
    OsStr::from_bytes(name).to_owned()
}
