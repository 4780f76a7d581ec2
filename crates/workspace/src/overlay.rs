//! Lays the tests of one agent over the code of another, neither of whom saw the other's work.
//!
//! The writer gets to say what the tests are and nothing else: it cannot change code, take away a
//! test that was there, or plant a link. What it may not do is dropped and reported, never an
//! error, since both sides are untrusted. Which paths are tests is the caller's to say.

use std::path::{Path, PathBuf};

use crate::blobs::Blobs;
use crate::changes::Change;
use crate::compose::{in_the_way, make_room};
use crate::entry::{Entries, Entry, Mode, plain};
use crate::error::GitError;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;
use crate::merge::{Merged, merge};
use crate::scratch::Scratch;
use crate::store::store_blobs;
use crate::walk::as_path;

/// So much of an implementor's change is shown where the writer's won.
const HUNK_BYTES_MAX: usize = 16 * 1024;

/// A tree with the code of one and the tests of another, and what had to be decided on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// All files.
    pub tree: TreeId,
    /// Test files that the writer added or changed, and that are in the tree.
    pub writer_files: Vec<PathBuf>,
    /// What the writer did and may not do: other files, removals, links, submodules, a path that
    /// existing files block.
    pub dropped: Vec<PathBuf>,
    /// Existing test files that both changed, and not so that both changes could be had: the
    /// writer's is in the tree.
    pub conflicts: Vec<Conflict>,
    /// Existing test files that the implementor changed or removed.
    pub implementor_tests: Vec<PathBuf>,
    /// Files that the implementor added and that gave way to a test file of the writer's.
    pub overridden: Vec<PathBuf>,
}

/// An existing test file of which the writer's version was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where.
    pub path: PathBuf,
    /// What the implementor had done to it, as a patch; cut with a note when it is long.
    pub implementor_hunk: String,
}

impl LoopRepo {
    /// Lays the test files of the `tests` tree over the `code` tree; both came from `base`.
    ///
    /// A new test file of the writer's is taken whatever the implementor put there. An existing one
    /// is merged; where that fails the writer's version is taken and the implementor's change
    /// reported. All else is the implementor's.
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
        let mut laying = Laying::new(sides, self.entries_of(base)?, self.entries_of(code)?);
        for change in self.tree_changes(base, tests)? {
            laying.lay(change, is_test)?;
        }
        laying.store_merged()?;
        let changed = self.tree_changes(base, code)?.into_iter();
        let existing = changed.filter(|change| change.before.is_some() && is_test(&change.path));
        let implementor_tests = existing.map(|change| change.path).collect();
        let tree = self.write_tree(&laying.entries, &scratch)?;
        let Laying {
            writer_files,
            dropped,
            conflicts,
            overridden,
            ..
        } = laying;
        Ok(Overlay {
            tree,
            writer_files,
            dropped,
            conflicts,
            implementor_tests,
            overridden,
        })
    }
}

struct Sides<'a> {
    repo: &'a LoopRepo,
    base: &'a TreeId,
    code: &'a TreeId,
    blobs: Blobs,
    scratch: &'a Scratch,
}

/// The work, as far as it has got.
struct Laying<'a> {
    sides: Sides<'a>,
    in_base: Entries,
    /// The implementor's files, over which the writer's are laid.
    entries: Entries,
    merged: Vec<(Vec<u8>, Mode, Vec<u8>)>,
    writer_files: Vec<PathBuf>,
    dropped: Vec<PathBuf>,
    conflicts: Vec<Conflict>,
    overridden: Vec<PathBuf>,
}

impl<'a> Laying<'a> {
    fn new(sides: Sides<'a>, in_base: Entries, entries: Entries) -> Self {
        let (merged, writer_files, dropped) = (Vec::new(), Vec::new(), Vec::new());
        let (conflicts, overridden) = (Vec::new(), Vec::new());
        Self {
            sides,
            in_base,
            entries,
            merged,
            writer_files,
            dropped,
            conflicts,
            overridden,
        }
    }

    /// Takes one change of the writer's, or drops it.
    fn lay(&mut self, change: Change, is_test: &dyn Fn(&Path) -> bool) -> Result<(), GitError> {
        let path = plain(&change.path)?;
        let wanted = change
            .after
            .filter(|entry| entry.mode.is_regular() && is_test(&change.path));
        let Some(wanted) = wanted.filter(|_| !self.is_blocked(&path)) else {
            self.dropped.push(change.path);
            return Ok(());
        };
        match change.before {
            Some(before) => self.lay_existing(&path, &before, wanted)?,
            None => self.lay_new(&path, wanted),
        }
        self.writer_files.push(change.path);
        Ok(())
    }

    /// A path below a file that was there, or above one, could only be had by taking that file
    /// away.
    fn is_blocked(&self, path: &[u8]) -> bool {
        in_the_way(&self.entries, path)
            .iter()
            .any(|blocking| self.in_base.contains_key(blocking))
    }

    fn lay_new(&mut self, path: &[u8], wanted: Entry) {
        if self.entries.get(path).is_some_and(|there| *there != wanted) {
            self.overridden.push(as_path(path).to_owned());
        }
        self.put(path, wanted);
    }

    fn lay_existing(&mut self, path: &[u8], before: &Entry, wanted: Entry) -> Result<(), GitError> {
        let there = self.entries.get(path).cloned();
        match there {
            Some(there) if there == *before || there == wanted => self.put(path, wanted),
            Some(there) => match self.merge(before, &there, &wanted)? {
                Both::Entry(both) => self.put(path, both),
                Both::Text(mode, text) => self.merged.push((path.to_vec(), mode, text)),
                Both::Neither => self.lay_conflicting(path, wanted)?,
            },
            None => self.lay_conflicting(path, wanted)?,
        }
        Ok(())
    }

    fn lay_conflicting(&mut self, path: &[u8], wanted: Entry) -> Result<(), GitError> {
        let Sides {
            repo, base, code, ..
        } = self.sides;
        let implementor_hunk = repo.patch(base, code, path, HUNK_BYTES_MAX)?;
        self.conflicts.push(Conflict {
            path: as_path(path).to_owned(),
            implementor_hunk,
        });
        self.put(path, wanted);
        Ok(())
    }

    fn merge(&self, before: &Entry, there: &Entry, wanted: &Entry) -> Result<Both, GitError> {
        if ![before, there, wanted]
            .iter()
            .all(|entry| entry.mode.is_regular())
        {
            return Ok(Both::Neither);
        }
        let mode = if wanted.mode == before.mode {
            there.mode
        } else {
            wanted.mode
        };
        // One of them changed nothing but the mode, or both wrote the same.
        let id = match (&there.id, &wanted.id) {
            (there, wanted) if *there == before.id || there == wanted => Some(wanted),
            (there, wanted) if *wanted == before.id => Some(there),
            (_, _) => None,
        };
        if let Some(id) = id {
            return Ok(Both::Entry(Entry {
                mode,
                id: id.clone(),
            }));
        }
        let Sides {
            repo,
            blobs,
            scratch,
            ..
        } = &self.sides;
        Ok(
            match merge(repo, blobs, scratch, [&there.id, &before.id, &wanted.id])? {
                Merged::Clean(text) => Both::Text(mode, text),
                Merged::Conflict => Both::Neither,
            },
        )
    }

    fn put(&mut self, path: &[u8], entry: Entry) {
        let gave_way = make_room(&mut self.entries, path);
        self.overridden
            .extend(gave_way.iter().map(|path| as_path(path).to_owned()));
        self.entries.insert(path.to_vec(), entry);
    }

    /// All at once, since each store is a process.
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

/// What two changes of one file come to.
enum Both {
    /// One side's content has both.
    Entry(Entry),
    /// A new content.
    Text(Mode, Vec<u8>),
    /// They cannot both be had.
    Neither,
}
