//! Reads single files and folders of a tree without checking it out.
//!
//! Links are not followed and submodules are not entered. [`TreeReader`] is for many reads of one
//! tree; [`LoopRepo::read_blob`] and [`LoopRepo::list_folder`] are for a single read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blobs::{Blob, Blobs};
use crate::entry::{Entries, Entry, Line, Mode, TreeLike, children, git_path, parse_ls_tree};
use crate::error::GitError;
use crate::gather::join;
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::project::common_git_dir;
use crate::walk::{Kind, as_path, split};

/// One item in a folder of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A folder, never empty, since git does not record empty folders.
    Folder,
    /// A file, a link or a submodule.
    Entry(Entry),
}

/// A tree with its paths in memory. Contents are read on demand, all through one git process.
#[derive(Debug)]
pub struct TreeReader {
    entries: Arc<Entries>,
    blobs: Blobs,
}

impl TreeReader {
    /// The whole content of a file; `None` if there is no regular file at this path.
    ///
    /// A file of more than `bytes_max` is an error, because half a file may mean something else
    /// than the whole.
    pub fn read(&self, path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, GitError> {
        let Some(entry) = self.entry(path)? else {
            return Ok(None);
        };
        read(&self.blobs, entry, path, bytes_max)
    }

    /// The target of a link; `None` if there is none at this path.
    pub fn link(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        const TARGET_BYTES_MAX: usize = 4096;
        let entry = self.entry(path)?.filter(|entry| entry.mode == Mode::Link);
        let Some(entry) = entry else {
            return Ok(None);
        };
        Ok(match self.blobs.read(&entry.id, TARGET_BYTES_MAX)? {
            Blob::Whole(target) => Some(target),
            Blob::TooLarge { .. } => None,
        })
    }

    /// The entry at a path; `None` if there is a folder or nothing.
    pub fn entry(&self, path: &Path) -> Result<Option<&Entry>, GitError> {
        Ok(self.entries.get(&git_path(path)?))
    }

    /// The items in a folder (the empty path is the top), sorted by bytes; empty if there is no
    /// such folder.
    pub fn list(&self, folder: &Path) -> Result<Vec<(OsString, Listed)>, GitError> {
        let folder = git_path(folder)?;
        let listed = |(name, kind): (&[u8], Kind)| {
            let entry = self.entries.get(&join(&folder, name));
            let listed = match entry {
                Some(entry) if kind != Kind::Folder || entry.is_gitlink() => {
                    Listed::Entry(entry.clone())
                }
                Some(_) | None => Listed::Folder,
            };
            (name_of(name), listed)
        };
        // A set of paths is sorted otherwise than the names in it: `a-b` comes before `a/b`.
        let mut names: Vec<_> = children(&self.entries, &folder).map(listed).collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// All files, links and submodules with their paths, sorted by bytes.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (as_path(path), entry))
    }
}

/// Lists the files of a commit in the repository that a folder is in, so that they can be read. What
/// lies in the folder itself does not matter.
pub fn read_commit(folder: &Path, commit: &CommitId) -> Result<TreeReader, GitError> {
    LoopRepo::only_read(common_git_dir(folder)?).reader(commit)
}

impl LoopRepo {
    /// Lists a tree, so that its files can be read.
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
        let wanted = git_path(path)?;
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
        let folder = git_path(folder)?;
        // With a slash at its end `ls-tree` lists what is in the folder, not the folder itself.
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
        // Git sorts a folder as if its name ended in a slash; callers expect plain byte order.
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// Lists one level of a tree, or one path in it.
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
                parse_ls_tree(line).ok_or_else(|| GitError::Garbled {
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

fn name_of(name: &[u8]) -> OsString {
    OsStr::from_bytes(name).to_owned()
}
