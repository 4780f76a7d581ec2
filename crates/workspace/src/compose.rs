//! Makes a new tree from another by edits, all by object: no file is checked out.
//!
//! Where an edit needs a folder and the tree has a file, or the other way round, the edit wins. Git
//! itself refuses what no tree may hold; the names that we know of are refused here, so that the
//! error says which.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::entry::{Entries, Entry, Mode, above, below, plain};
use crate::error::GitError;
use crate::git::pipe_broke;
use crate::id::{ObjectId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::reserved::is_reserved;
use crate::scratch::Scratch;
use crate::store::store_blobs;
use crate::walk::Kind;

/// One edit of a tree; of two edits of the same path the later counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Makes a path stand for something that the repository has.
    Put {
        /// Where.
        path: PathBuf,
        /// What it is.
        mode: Mode,
        /// Its blob, or the commit of a submodule, which the repository need not have.
        id: ObjectId,
    },
    /// Writes a file, or a link that points where the bytes say.
    Write {
        /// Where.
        path: PathBuf,
        /// What it is; not a submodule.
        mode: Mode,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// Removes a file, or a folder with everything in it. Nothing there is fine.
    Remove {
        /// Where.
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
    /// Writes the tree that `base` becomes by these edits, in their order. The same edits give the
    /// same id.
    pub fn compose(&self, base: &TreeId, edits: &[Edit]) -> Result<TreeId, GitError> {
        let scratch = Scratch::inside(self.path())?;
        let mut entries = self.entries_of(base)?;
        self.check_blobs(edits)?;
        let mut written = store_blobs(self, &scratch, &contents(edits)?)?.into_iter();
        for edit in edits {
            let path = place(edit)?;
            let entry = match edit {
                Edit::Put { mode, id, .. } => Some(Entry {
                    mode: *mode,
                    id: id.clone(),
                }),
                Edit::Write { mode, .. } => written.next().map(|id| Entry { mode: *mode, id }),
                Edit::Remove { .. } => None,
            };
            clear_room(&mut entries, &path, edit);
            entries.extend(entry.map(|entry| (path, entry)));
        }
        self.write_tree(&entries, &scratch)
    }

    /// Git would write a tree in which a file is in truth a tree or a commit.
    fn check_blobs(&self, edits: &[Edit]) -> Result<(), GitError> {
        let wanted: Vec<_> = edits.iter().filter_map(blob).collect();
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
        let text = String::from_utf8_lossy(&output);
        let blobs: BTreeSet<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("blob "))
            .collect();
        match wanted
            .into_iter()
            .find(|(_, id)| !blobs.contains(id.as_str()))
        {
            Some((path, _)) => Err(bad(path, "the repository has no such blob")),
            None => Ok(()),
        }
    }
}

/// Removes what is at a path, and what a new thing there would need out of its way; says which
/// paths those were.
pub(crate) fn make_room(entries: &mut Entries, path: &[u8]) -> Vec<Vec<u8>> {
    let blocked = in_the_way(entries, path);
    for gone in &blocked {
        entries.remove(gone);
    }
    entries.remove(path);
    blocked
}

/// Files where a path needs folders, and what is below the path.
pub(crate) fn in_the_way(entries: &Entries, path: &[u8]) -> Vec<Vec<u8>> {
    let files = above(path)
        .filter(|above| entries.contains_key(*above))
        .map(<[u8]>::to_vec);
    files
        .chain(below(entries, path).map(|(path, _)| path.clone()))
        .collect()
}

fn clear_room(entries: &mut Entries, path: &[u8], edit: &Edit) {
    match edit {
        Edit::Put { .. } | Edit::Write { .. } => drop(make_room(entries, path)),
        Edit::Remove { .. } => {
            let inside: Vec<_> = below(entries, path).map(|(path, _)| path.clone()).collect();
            inside
                .iter()
                .map(Vec::as_slice)
                .chain([path])
                .for_each(|gone| drop(entries.remove(gone)));
        }
    }
}

/// The path of an edit as git writes it, if a tree may have it.
fn place(edit: &Edit) -> Result<Vec<u8>, GitError> {
    let path = plain(edit.path())?;
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
    let kind = if is_link { Kind::Link } else { Kind::File };
    let reserved = path
        .split(|byte| *byte == b'/')
        .any(|name| is_reserved(name, kind));
    if reserved && !matches!(edit, Edit::Remove { .. }) {
        return Err(GitError::ReservedPath {
            path: edit.path().to_owned(),
        });
    }
    Ok(path)
}

fn contents(edits: &[Edit]) -> Result<Vec<&[u8]>, GitError> {
    let mut contents = Vec::new();
    for edit in edits {
        match edit {
            Edit::Write {
                path,
                mode: Mode::Submodule,
                ..
            } => {
                return Err(bad(path, "a submodule has no content"));
            }
            Edit::Write {
                path,
                mode: Mode::Link,
                bytes,
            } if bytes.is_empty() || bytes.contains(&0) => {
                return Err(bad(path, "no link can point there"));
            }
            Edit::Write { bytes, .. } => contents.push(bytes.as_slice()),
            Edit::Put { .. } | Edit::Remove { .. } => {}
        }
    }
    Ok(contents)
}

fn blob(edit: &Edit) -> Option<(&Path, &ObjectId)> {
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

fn bad(path: &Path, reason: &'static str) -> GitError {
    GitError::BadEdit {
        path: path.to_owned(),
        reason,
    }
}
