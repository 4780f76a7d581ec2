//! Puts work onto another commit than the one that it was made on.
//!
//! The rules go path by path and never guess: a path that only the work changed is as the work has it,
//! a text that both sides changed is merged where that is sure, and everything else is a conflict.
//! `git merge-tree` is not used: it follows renames, so an edit could land in a file that the work
//! never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blobs::Blobs;
use crate::changes::Change;
use crate::compose::{Edit, in_the_way};
use crate::entry::{Entries, Entry, above, git_path};
use crate::error::GitError;
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::merge::{FileMerge, merge_files};
use crate::scratch::Scratch;
use crate::walk::as_path;

/// What came of putting work onto another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restacked {
    /// The files with both changes.
    Clean {
        /// The tree.
        tree: TreeId,
        /// Whether both sides changed the same files.
        overlap: Overlap,
    },
    /// Both changed these files in ways that exclude each other.
    Conflict(Vec<PathBuf>),
}

/// Whether two sides changed the same files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// No path was changed by both.
    Disjoint,
    /// Some path was changed by both, and all of them fit together.
    Mixed,
}

impl LoopRepo {
    /// The last commit that two commits have in common. Both must be here.
    pub fn merge_base(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let git = self
            .git()
            .args(["merge-base", one.as_str(), other.as_str()]);
        let command = git.command_line();
        let output = git.outcome()?;
        match output.code {
            Some(0) => {
                let text = String::from_utf8_lossy(&output.stdout);
                CommitId::parse(text.trim()).map(Some)
            }
            // Git's way to say that there is none.
            Some(1) => Ok(None),
            code => Err(GitError::Failed {
                command,
                code,
                stderr: output.stderr,
            }),
        }
    }

    /// The files of `onto` with what `work` changed since `base`, from which both descend.
    ///
    /// Nothing that `onto` has is undone: only paths that `work` changed can differ from `onto`.
    pub fn restack(
        &self,
        base: &CommitId,
        work: &CommitId,
        onto: &CommitId,
    ) -> Result<Restacked, GitError> {
        let changes = self.tree_changes(base, work)?;
        let landed = self.tree_changes(base, onto)?;
        let landed = Landed::of(&landed, self.entries_of(onto)?)?;
        let sides = Sides {
            repo: self,
            blobs: Blobs::of(self),
            scratch: Scratch::inside(self.path())?,
            base_names: names(self.entries_of(base)?.keys()),
            landed,
            gone: gone(&changes)?,
        };
        let (mut edits, mut conflicts) = (Vec::new(), Vec::new());
        for change in &changes {
            match sides.put(change)? {
                Put::Edit(edit) => edits.push(edit),
                Put::AlreadyThere => {}
                Put::Conflict => conflicts.push(change.path.clone()),
            }
        }
        if !conflicts.is_empty() {
            return Ok(Restacked::Conflict(conflicts));
        }
        let onto = self.tree_of(onto)?;
        let tree = self.compose(&onto, &edits)?;
        self.assert_touches_only(&onto, &tree, &changes)?;
        let is_shared = |change: &Change| sides.landed.by_path.contains_key(&change.path);
        let overlap = if changes.iter().any(is_shared) {
            Overlap::Mixed
        } else {
            Overlap::Disjoint
        };
        Ok(Restacked::Clean { tree, overlap })
    }

    /// A tree that differs anywhere else would undo what landed.
    fn assert_touches_only(
        &self,
        onto: &TreeId,
        tree: &TreeId,
        changes: &[Change],
    ) -> Result<(), GitError> {
        let own: BTreeSet<&PathBuf> = changes.iter().map(|change| &change.path).collect();
        let touched = self.tree_changes(onto, tree)?;
        match touched.into_iter().find(|one| !own.contains(&one.path)) {
            Some(other) => Err(GitError::BadEdit {
                path: other.path,
                reason: "the work that is put onto it never changed this file",
            }),
            None => Ok(()),
        }
    }
}

/// What happened since the work began.
struct Landed {
    by_path: BTreeMap<PathBuf, Option<Entry>>,
    entries: Arc<Entries>,
    /// Names of new files and folders in lower case, each with how it is written.
    added: BTreeMap<String, BTreeSet<Vec<u8>>>,
}

impl Landed {
    fn of(changes: &[Change], entries: Arc<Entries>) -> Result<Self, GitError> {
        let mut added: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for change in changes.iter().filter(|change| change.before.is_none()) {
            for name in with_folders(&git_path(&change.path)?) {
                added.entry(folded(&name)).or_default().insert(name);
            }
        }
        let by_path = changes.iter();
        let by_path = by_path.map(|change| (change.path.clone(), change.after.clone()));
        Ok(Self {
            by_path: by_path.collect(),
            entries,
            added,
        })
    }
}

/// What becomes of one path.
enum Put {
    Edit(Edit),
    AlreadyThere,
    Conflict,
}

/// Everything that one change of the work is compared with.
struct Sides<'a> {
    repo: &'a LoopRepo,
    blobs: Blobs,
    scratch: Scratch,
    /// The files and folders of the common commit.
    base_names: BTreeSet<Vec<u8>>,
    landed: Landed,
    /// The paths that the work removes.
    gone: BTreeSet<Vec<u8>>,
}

impl Sides<'_> {
    fn put(&self, change: &Change) -> Result<Put, GitError> {
        let Some(there) = self.landed.by_path.get(&change.path) else {
            return self.put_untouched(change);
        };
        match (&change.before, there, &change.after) {
            (_, there, wanted) if there == wanted => Ok(Put::AlreadyThere),
            (Some(before), Some(there), Some(wanted)) => {
                let files = [there, before, wanted];
                let merged = merge_files(self.repo, &self.blobs, &self.scratch, files)?;
                let path = change.path.clone();
                Ok(match merged {
                    FileMerge::Entry(entry) => Put::Edit(put(&path, &entry)),
                    FileMerge::Text(mode, bytes) => Put::Edit(Edit::Write { path, mode, bytes }),
                    FileMerge::Conflict => Put::Conflict,
                })
            }
            // Two files of one name, or an edit of what the other side removed.
            _ => Ok(Put::Conflict),
        }
    }

    /// A path that nobody else changed. It may still have no place: a file where the other side needs
    /// a folder, or a name that some file systems take for another one.
    fn put_untouched(&self, change: &Change) -> Result<Put, GitError> {
        let Some(wanted) = &change.after else {
            let path = change.path.clone();
            return Ok(Put::Edit(Edit::Remove { path }));
        };
        let path = git_path(&change.path)?;
        let in_the_way = in_the_way(&self.landed.entries, &path);
        let is_blocked = in_the_way.iter().any(|other| !self.gone.contains(other));
        if is_blocked || self.has_twin(&path) {
            return Ok(Put::Conflict);
        }
        Ok(Put::Edit(put(&change.path, wanted)))
    }

    /// Whether the other side added a file or folder whose name differs by case alone.
    fn has_twin(&self, path: &[u8]) -> bool {
        let new = with_folders(path).filter(|name| !self.base_names.contains(name));
        new.into_iter().any(|name| {
            let twins = self.landed.added.get(&folded(&name));
            twins.is_some_and(|twins| twins.iter().any(|twin| *twin != name))
        })
    }
}

fn put(path: &Path, entry: &Entry) -> Edit {
    Edit::Put {
        path: path.to_owned(),
        mode: entry.mode,
        id: entry.id.clone(),
    }
}

fn gone(changes: &[Change]) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let gone = changes.iter().filter(|change| change.after.is_none());
    gone.map(|change| git_path(&change.path)).collect()
}

/// All files and folders of some paths.
fn names<'a>(paths: impl Iterator<Item = &'a Vec<u8>>) -> BTreeSet<Vec<u8>> {
    paths.flat_map(|path| with_folders(path)).collect()
}

/// A path and the folders that it is in.
fn with_folders(path: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let folders: Vec<Vec<u8>> = above(path).map(<[u8]>::to_vec).collect();
    folders.into_iter().chain([path.to_vec()])
}

/// A name as file systems compare it that do not tell upper from lower case.
fn folded(name: &[u8]) -> String {
    as_path(name).to_string_lossy().to_lowercase()
}
