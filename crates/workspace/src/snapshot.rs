//! Turns the files of a checkout into a tree, as `git add -A` would, without trusting anything in
//! it.
//!
//! We read the files and send their bytes to git. Git itself never works in the checkout, so hooks,
//! configuration, filters and attributes there have no effect.
//!
//! What the base tracks is read, whatever any `.gitignore` says. For all other files the rules of
//! the checkout decide, since a story may rightly change them:
//!
//! - What they ignore stays out. If the base's rules do not ignore it, it is reported, or an agent
//!   could hide a file from its judge.
//! - What they no longer ignore is taken.
//! - A folder that a tool fills (`node_modules`, `.venv`, cargo's `target`) stays out whatever the
//!   rules say. Otherwise an agent could commit a `node_modules` that no install replaces.
//!
//! The caller must have stopped the agent.

use std::path::{Path, PathBuf};

use crate::entry::{Entries, above, below, git_path};
use crate::error::GitError;
use crate::gather::gather;
use crate::id::{CommitId, TreeId};
use crate::left_out::{LeftOut, Oddity, Reason};
use crate::limits::Limits;
use crate::links::BadLink;
use crate::loop_repo::LoopRepo;
use crate::scratch::{Scratch, absolute};
use crate::store::store;
use crate::untouched::Untouched;
use crate::walk::{Tree, as_path};

/// How many left-out paths are listed; all of them are counted.
const LEFT_OUT_MAX: usize = 1000;

/// The files of a checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree with all files that were taken.
    pub tree: TreeId,
    /// Whether the tree differs from the base's.
    pub changed: bool,
    /// Paths that are not in the tree although no rule of the checkout ignores them: the first
    /// thousand, sorted.
    pub left_out: Vec<LeftOut>,
    /// The number of all such paths.
    pub n_left_out: usize,
    /// Paths that are not in the tree because of rules that the base does not have: the first
    /// thousand, sorted. A folder stands for everything in it.
    pub newly_ignored: Vec<PathBuf>,
    /// The number of all such paths.
    pub n_newly_ignored: usize,
    /// The links among the left-out paths, with their targets: the first thousand, sorted.
    pub bad_links: Vec<BadLink>,
    /// What the tree does not show of the files in it: the first thousand, sorted.
    pub odd: Vec<(PathBuf, Oddity)>,
}

impl LoopRepo {
    /// Reads the files under `dir` into a tree. The paths in `keep_from_base` are taken from the
    /// base, whatever the agent did to them.
    ///
    /// Links are stored as links. A repository that the agent made inside the checkout is taken as
    /// plain files, without its `.git`.
    pub fn snapshot(
        &self,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
    ) -> Result<Snapshot, GitError> {
        self.snapshot_within(dir, base, keep_from_base, &Limits::default())
    }

    /// Reads the files under `dir` into a tree, as far as these limits let it.
    pub fn snapshot_within(
        &self,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
        limits: &Limits,
    ) -> Result<Snapshot, GitError> {
        let dir = absolute(dir)?;
        let tree = Tree::open(&dir)?;
        self.snapshot_of(&tree, None, &dir, base, keep_from_base, limits)
    }

    /// The same for a checkout of which it is known what nobody has touched.
    pub(crate) fn snapshot_knowing(
        &self,
        untouched: Option<&Untouched>,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
    ) -> Result<Snapshot, GitError> {
        let dir = absolute(dir)?;
        let tree = Tree::open(&dir)?;
        let limits = &Limits::default();
        self.snapshot_of(&tree, untouched, &dir, base, keep_from_base, limits)
    }

    /// The same for a checkout that is layers, of which `upper` has the changes and the others are the
    /// files of `base` as git records them. What was not changed is not looked at.
    pub fn snapshot_of_changes(
        &self,
        upper: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
    ) -> Result<Snapshot, GitError> {
        let upper = absolute(upper)?;
        let tree = Tree::open_upper(&upper)?;
        let limits = &Limits::default();
        self.snapshot_of(&tree, None, &upper, base, keep_from_base, limits)
    }

    fn snapshot_of(
        &self,
        tree: &Tree,
        untouched: Option<&Untouched>,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
        limits: &Limits,
    ) -> Result<Snapshot, GitError> {
        // Beside the checkout: inside it, our own files would become part of the snapshot.
        let scratch = Scratch::beside(dir, "snapshot")?;
        let base_tree = self.tree_of(base)?;
        let base_entries = self.entries_of(&base_tree)?;
        let unfolded = self.unfold(&base_tree)?;
        // The checkout is compared with what was put into it.
        let given = unfolded
            .as_ref()
            .map_or(&*base_entries, |unfolded| &unfolded.entries);
        let mut gathered = gather(self, tree, given, &scratch, limits)?;
        if let (Some(untouched), None) = (untouched, &unfolded) {
            untouched.recognise(tree, &mut gathered);
        }
        store(self, tree, given, &scratch, limits, &mut gathered)?;
        self.fold(tree, unfolded.as_ref(), &mut gathered, &scratch)?;
        // Last, so that nothing from the checkout can replace what the base has there.
        for path in keep_from_base {
            let in_the_way = restore(&git_path(path)?, &base_entries, &mut gathered.entries);
            gathered.left_out.extend(in_the_way);
        }
        let bad_links = self.remove_bad_links(&base_entries, &mut gathered)?;
        let tree = self.write_tree_over((&base_tree, &base_entries), &gathered.entries)?;
        let (left_out, n_left_out) = first(gathered.left_out);
        let newly_ignored = gathered
            .newly_ignored
            .iter()
            .map(|path| as_path(path).to_owned());
        let (newly_ignored, n_newly_ignored) = first(newly_ignored.collect());
        let changed = tree != base_tree;
        Ok(Snapshot {
            tree,
            changed,
            left_out,
            n_left_out,
            newly_ignored,
            n_newly_ignored,
            bad_links: first(bad_links).0,
            odd: first(gathered.odd).0,
        })
    }
}

/// The first [`LEFT_OUT_MAX`] of all, sorted, and the number of all.
fn first<T: Ord>(mut all: Vec<T>) -> (Vec<T>, usize) {
    all.sort();
    let n_all = all.len();
    all.truncate(LEFT_OUT_MAX);
    (all, n_all)
}

/// Restores a path, and everything below it, to what it is in the base. Returns the files that had
/// to be removed for that.
fn restore(path: &[u8], base: &Entries, entries: &mut Entries) -> Vec<LeftOut> {
    let there: Vec<Vec<u8>> = below(entries, path).map(|(path, _)| path.clone()).collect();
    for gone in &there {
        entries.remove(gone);
    }
    entries.remove(path);
    let kept: Vec<_> = below(base, path)
        .chain(base.get_key_value(path))
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect();
    let mut in_the_way = Vec::new();
    if !kept.is_empty() {
        // The agent may have put a file or a link where the path needs a folder.
        in_the_way.extend(above(path).filter(|above| entries.remove(*above).is_some()));
    }
    entries.extend(kept);
    in_the_way
        .into_iter()
        .map(|path| LeftOut::new(path, Reason::InTheWay))
        .collect()
}
