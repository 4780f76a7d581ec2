//! Lays the tests of one agent (the writer) over the code of another (the implementor). Neither saw
//! the other's work.
//!
//! The writer decides about tests and nothing else: it cannot change code or add a link. What became
//! of the tests in a file that it removed is measured and judged like any other. A forbidden change is dropped and reported. It is not an error, because an
//! untrusted agent must not be able to make us fail. The caller says which paths are tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blobs::Blobs;
use crate::changes::Change;
use crate::compose::{in_the_way, make_room};
use crate::entry::{Entries, Entry, Mode, git_path};
use crate::error::GitError;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;
use crate::merge::{FileMerge, merge_files};
use crate::scratch::Scratch;
use crate::store::store_blobs;
use crate::walk::as_path;

/// How much of an implementor's change is reported if the writer's version won.
const HUNK_BYTES_MAX: usize = 16 * 1024;

/// A tree with the implementor's code and the writer's tests, and what was decided on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The combined tree.
    pub tree: TreeId,
    /// Test files that the writer added or changed and that are in the tree.
    pub writer_files: Vec<PathBuf>,
    /// Existing test files that the writer removed, and that are not in the tree.
    pub removed: Vec<PathBuf>,
    /// The writer's forbidden changes: other files, links, submodules, and paths that existing files
    /// block.
    pub dropped: Vec<PathBuf>,
    /// Existing test files that both changed and that could not be merged. The tree has the
    /// writer's version.
    pub conflicts: Vec<Conflict>,
    /// Existing test files that the implementor changed or removed.
    pub implementor_tests: Vec<PathBuf>,
    /// Files that the implementor added and that one of the writer's test files replaced.
    pub overridden: Vec<PathBuf>,
}

impl Overlay {
    /// All files that are as the writer wants them, also those that it removed.
    pub fn written(&self) -> Vec<PathBuf> {
        let files = self.writer_files.iter().chain(&self.removed);
        files.cloned().collect()
    }
}

/// An existing test file where the writer's version won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file's path in the tree.
    pub path: PathBuf,
    /// The implementor's change as a patch; a long one is cut and ends in a note.
    pub implementor_hunk: String,
}

impl LoopRepo {
    /// Lays the test files of the `tests` tree over the `code` tree; both started from `base`.
    ///
    /// A new test file of the writer's wins over whatever the implementor put there. An existing
    /// one is merged; if that fails, the writer's version wins and the implementor's change is
    /// reported. Everything else comes from the implementor.
    pub fn overlay(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        is_test: &dyn Fn(&Path) -> bool,
    ) -> Result<Overlay, GitError> {
        let scratch = Scratch::inside(self.path())?;
        let sides = Sides {
            repo: self,
            base,
            code,
            blobs: Blobs::of(self),
            scratch: &scratch,
        };
        let before = self.entries_of(code)?;
        let mut builder = Builder::new(sides, self.entries_of(base)?, Entries::clone(&before));
        for change in self.tree_changes(base, tests)? {
            builder.apply(change, is_test)?;
        }
        builder.store_merged()?;
        let implementor_tests = self
            .tree_changes(base, code)?
            .into_iter()
            .filter(|change| change.before.is_some() && is_test(&change.path))
            .map(|change| change.path)
            .collect();
        Ok(Overlay {
            tree: self.write_tree_over((code, &before), &builder.entries)?,
            writer_files: builder.writer_files,
            removed: builder.removed,
            dropped: builder.dropped,
            conflicts: builder.conflicts,
            implementor_tests,
            overridden: builder.overridden,
        })
    }
}

/// What the builder reads from.
struct Sides<'a> {
    repo: &'a LoopRepo,
    base: &'a TreeId,
    code: &'a TreeId,
    blobs: Blobs,
    scratch: &'a Scratch,
}

/// An overlay under construction.
struct Builder<'a> {
    sides: Sides<'a>,
    in_base: Arc<Entries>,
    /// The implementor's files at first; the writer's are laid over them one by one.
    entries: Entries,
    /// Files with a newly merged text, which is not stored yet.
    merged: Vec<(Vec<u8>, Mode, Vec<u8>)>,
    writer_files: Vec<PathBuf>,
    removed: Vec<PathBuf>,
    dropped: Vec<PathBuf>,
    conflicts: Vec<Conflict>,
    overridden: Vec<PathBuf>,
}

impl<'a> Builder<'a> {
    fn new(sides: Sides<'a>, in_base: Arc<Entries>, entries: Entries) -> Self {
        Self {
            sides,
            in_base,
            entries,
            merged: Vec::new(),
            writer_files: Vec::new(),
            removed: Vec::new(),
            dropped: Vec::new(),
            conflicts: Vec::new(),
            overridden: Vec::new(),
        }
    }

    /// Applies one change of the writer's, or drops it.
    fn apply(&mut self, change: Change, is_test: &dyn Fn(&Path) -> bool) -> Result<(), GitError> {
        let path = git_path(&change.path)?;
        if change.after.is_none() && is_test(&change.path) {
            return self.remove(&path, change);
        }
        let wanted = change
            .after
            .filter(|entry| entry.mode.is_regular() && is_test(&change.path));
        let Some(wanted) = wanted.filter(|_| !self.is_blocked(&path)) else {
            self.dropped.push(change.path);
            return Ok(());
        };
        match change.before {
            Some(before) => self.apply_to_existing(&path, &before, wanted)?,
            None => self.add(&path, wanted),
        }
        self.writer_files.push(change.path);
        Ok(())
    }

    /// Whether a file of the base is above or below the path. The path could only exist if that
    /// file were removed, and the writer may not remove files.
    fn is_blocked(&self, path: &[u8]) -> bool {
        in_the_way(&self.entries, path)
            .iter()
            .any(|blocking| self.in_base.contains_key(blocking))
    }

    /// Removes a test file. What the implementor made of it is reported.
    fn remove(&mut self, path: &[u8], change: Change) -> Result<(), GitError> {
        let there = self.entries.remove(path);
        if there.is_some() && there != change.before {
            self.report_conflict(path)?;
        }
        self.removed.push(change.path);
        Ok(())
    }

    fn add(&mut self, path: &[u8], wanted: Entry) {
        // If both wrote the same file, nobody's work was replaced.
        if self.entries.get(path).is_some_and(|there| *there != wanted) {
            self.overridden.push(as_path(path).to_owned());
        }
        self.put(path, wanted);
    }

    fn apply_to_existing(
        &mut self,
        path: &[u8],
        before: &Entry,
        wanted: Entry,
    ) -> Result<(), GitError> {
        let there = self.entries.get(path).cloned();
        match there {
            Some(there) if there == *before || there == wanted => self.put(path, wanted),
            Some(there) => match self.merge(before, &there, &wanted)? {
                FileMerge::Entry(entry) => self.put(path, entry),
                FileMerge::Text(mode, text) => self.merged.push((path.to_vec(), mode, text)),
                FileMerge::Conflict => self.apply_conflicting(path, wanted)?,
            },
            // The implementor removed the file, or put something else above or below its path.
            None => self.apply_conflicting(path, wanted)?,
        }
        Ok(())
    }

    /// Takes the writer's version and reports the implementor's change.
    fn apply_conflicting(&mut self, path: &[u8], wanted: Entry) -> Result<(), GitError> {
        self.report_conflict(path)?;
        self.put(path, wanted);
        Ok(())
    }

    fn report_conflict(&mut self, path: &[u8]) -> Result<(), GitError> {
        let Sides {
            repo, base, code, ..
        } = self.sides;
        let implementor_hunk = repo.patch(base, code, path, HUNK_BYTES_MAX)?;
        self.conflicts.push(Conflict {
            path: as_path(path).to_owned(),
            implementor_hunk,
        });
        Ok(())
    }

    fn merge(&self, before: &Entry, there: &Entry, wanted: &Entry) -> Result<FileMerge, GitError> {
        let Sides {
            repo,
            blobs,
            scratch,
            ..
        } = &self.sides;
        merge_files(repo, blobs, scratch, [there, before, wanted])
    }

    fn put(&mut self, path: &[u8], entry: Entry) {
        let gave_way = make_room(&mut self.entries, path);
        self.overridden
            .extend(gave_way.iter().map(|path| as_path(path).to_owned()));
        self.entries.insert(path.to_vec(), entry);
    }

    /// Stores the merged texts, all at once because each call starts a process.
    fn store_merged(&mut self) -> Result<(), GitError> {
        let texts: Vec<&[u8]> = self
            .merged
            .iter()
            .map(|(_, _, text)| text.as_slice())
            .collect();
        let ids = store_blobs(self.sides.repo, self.sides.scratch, &texts)?;
        for ((path, mode, _), id) in std::mem::take(&mut self.merged).into_iter().zip(ids) {
            self.put(&path, Entry { mode, id });
        }
        Ok(())
    }
}
