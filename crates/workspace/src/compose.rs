//! Makes a new tree by applying edits to another one, without checking out any file.
//!
//! Where an edit needs a folder and the tree has a file, or the other way round, the edit wins. Git
//! refuses names that no tree may contain; we check for those that we know of first, so that the
//! error names the path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::entry::{Entries, Entry, Mode, above, below, git_path};
use crate::error::GitError;
use crate::git::pipe_broke;
use crate::id::{ObjectId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::reserved::is_reserved;
use crate::scratch::Scratch;
use crate::store::store_blobs;
use crate::walk::Kind;

/// One edit of a tree. If two edits have the same path, the later one wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Puts an object that the repository already has at a path.
    Put {
        /// The path to set.
        path: PathBuf,
        /// The kind of entry.
        mode: Mode,
        /// The id of its blob, or of a submodule's commit, which the repository need not have.
        id: ObjectId,
    },
    /// Writes a file, or a link whose target is `bytes`.
    Write {
        /// The path to set.
        path: PathBuf,
        /// The kind of entry; not a submodule.
        mode: Mode,
        /// The content of the file, or the target of the link.
        bytes: Vec<u8>,
    },
    /// Removes a file, or a folder with everything in it. It is fine if nothing is there.
    Remove {
        /// The path to remove.
        path: PathBuf,
    },
}

impl Edit {
    fn path(&self) -> &Path {
        match self {
            Self::Put { path, .. } | Self::Write { path, .. } | Self::Remove { path } => path,
        }
    }
}

impl LoopRepo {
    /// Applies the edits to `base` in order and writes the resulting tree. The same edits give the
    /// same id.
    pub fn compose(&self, base: &TreeId, edits: &[Edit]) -> Result<TreeId, GitError> {
        let scratch = Scratch::inside(self.path())?;
        let before = self.entries_of(base)?;
        let mut entries = Entries::clone(&before);
        self.check_blobs(edits)?;
        // All contents are stored by one process; their ids come back in the order of the edits.
        let mut written = store_blobs(self, &scratch, &contents(edits)?)?.into_iter();
        for edit in edits {
            let path = checked_path(edit)?;
            let entry = match edit {
                Edit::Put { mode, id, .. } => Some(Entry {
                    mode: *mode,
                    id: id.clone(),
                }),
                Edit::Write { mode, .. } => written.next().map(|id| Entry { mode: *mode, id }),
                Edit::Remove { .. } => None,
            };
            clear(&mut entries, &path, edit);
            if let Some(entry) = entry {
                entries.insert(path, entry);
            }
        }
        self.write_tree_over((base, &before), &entries)
    }

    /// Checks that every file and link put into the tree is a blob. Git does not check: it would
    /// write a tree in which a file is in fact a tree or a commit.
    fn check_blobs(&self, edits: &[Edit]) -> Result<(), GitError> {
        let wanted: Vec<_> = edits.iter().filter_map(blob_of_put).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let git = self
            .git()
            .args(["cat-file", "--batch-check=%(objecttype) %(objectname)"]);
        let output = git.run_fed(|pipe| {
            wanted
                .iter()
                .try_for_each(|(_, id)| writeln!(pipe, "{id}"))
                .map_err(pipe_broke)
        })?;
        // An object that does not exist gives a line with `missing`, which no prefix matches.
        let text = String::from_utf8_lossy(&output);
        let blobs: BTreeSet<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("blob "))
            .collect();
        match wanted
            .into_iter()
            .find(|(_, id)| !blobs.contains(id.as_str()))
        {
            Some((path, _)) => Err(bad_edit(path, "the repository has no such blob")),
            None => Ok(()),
        }
    }
}

/// Makes room for a new entry at `path`: removes the entry there and every entry that blocks the
/// path. Returns the paths that blocked it.
pub(crate) fn make_room(entries: &mut Entries, path: &[u8]) -> Vec<Vec<u8>> {
    let blocked = in_the_way(entries, path);
    for gone in &blocked {
        entries.remove(gone);
    }
    entries.remove(path);
    blocked
}

/// The entries that block a path: files where it needs folders, and everything below it.
pub(crate) fn in_the_way(entries: &Entries, path: &[u8]) -> Vec<Vec<u8>> {
    let files = above(path)
        .filter(|above| entries.contains_key(*above))
        .map(<[u8]>::to_vec);
    files
        .chain(below(entries, path).map(|(path, _)| path.clone()))
        .collect()
}

fn clear(entries: &mut Entries, path: &[u8], edit: &Edit) {
    match edit {
        Edit::Put { .. } | Edit::Write { .. } => drop(make_room(entries, path)),
        // Unlike the others, a removal leaves a file above the path alone: below a file there is
        // nothing to remove.
        Edit::Remove { .. } => {
            let inside: Vec<_> = below(entries, path).map(|(path, _)| path.clone()).collect();
            for gone in &inside {
                entries.remove(gone);
            }
            entries.remove(path);
        }
    }
}

/// The path of an edit as git writes it, if a tree may contain it.
fn checked_path(edit: &Edit) -> Result<Vec<u8>, GitError> {
    let path = git_path(edit.path())?;
    if path.is_empty() {
        return Err(GitError::OutsidePath {
            path: edit.path().to_owned(),
        });
    }
    let is_link = matches!(
        edit,
        Edit::Put {
            mode: Mode::Link,
            ..
        } | Edit::Write {
            mode: Mode::Link,
            ..
        }
    );
    // The kind matters for `.gitmodules` only, which is reserved as a link and fine as a file.
    let kind = if is_link { Kind::Link } else { Kind::File };
    let reserved = path
        .split(|byte| *byte == b'/')
        .any(|name| is_reserved(name, kind));
    // Removing is always allowed, so that a tree from elsewhere can be rid of such a name.
    if reserved && !matches!(edit, Edit::Remove { .. }) {
        return Err(GitError::ReservedPath {
            path: edit.path().to_owned(),
        });
    }
    Ok(path)
}

/// The contents that the edits write, in order.
fn contents(edits: &[Edit]) -> Result<Vec<&[u8]>, GitError> {
    let mut contents = Vec::new();
    for edit in edits {
        match edit {
            Edit::Write {
                path,
                mode: Mode::Submodule,
                ..
            } => {
                return Err(bad_edit(path, "a submodule has no content"));
            }
            Edit::Write {
                path,
                mode: Mode::Link,
                bytes,
            } if bytes.is_empty() || bytes.contains(&0) => {
                return Err(bad_edit(path, "no link can point there"));
            }
            Edit::Write { bytes, .. } => contents.push(bytes.as_slice()),
            Edit::Put { .. } | Edit::Remove { .. } => {}
        }
    }
    Ok(contents)
}

fn blob_of_put(edit: &Edit) -> Option<(&Path, &ObjectId)> {
    match edit {
        Edit::Put {
            mode: Mode::Submodule,
            ..
        }
        | Edit::Write { .. }
        | Edit::Remove { .. } => None,
        Edit::Put { path, id, .. } => Some((path, id)),
    }
}

fn bad_edit(path: &Path, reason: &'static str) -> GitError {
    GitError::BadEdit {
        path: path.to_owned(),
        reason,
    }
}
