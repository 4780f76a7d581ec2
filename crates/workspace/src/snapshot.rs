//! Turns the files of a checkout into a tree of ours, as `git add -A` would, without trusting
//! anything in it.
//!
//! We read the files and hand git their bytes: git itself is never pointed at the checkout, so
//! hooks, configuration, filters and attributes in it mean nothing. What the base tracks is read
//! whatever any `.gitignore` says. Of the rest, what the rules of the base ignore stays out even if
//! the agent changed them, or it could plant a `node_modules` that no install replaces; what only
//! the agent's rules ignore stays out too, since a story may rightly bring a new build folder, but
//! is named, or it could hide a file from its judge. Stopping the agent first is the caller's.

use std::path::{Path, PathBuf};

use crate::entry::{Entries, above, below, plain};
use crate::error::GitError;
use crate::gather::gather;
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::scratch::{Scratch, absolute};
use crate::store::store;
use crate::walk::{Tree, as_path};

/// So many left-out paths are named; all are counted.
const LEFT_OUT_MAX: usize = 1000;

/// The files of a checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// All files that were taken.
    pub tree: TreeId,
    /// Whether that is another tree than the base's.
    pub changed: bool,
    /// What is not in the tree although no rule of the checkout ignores it; the first thousand, in
    /// the order of paths.
    pub left_out: Vec<LeftOut>,
    /// How many there were.
    pub n_left_out: usize,
    /// What is not in the tree because of rules that the base does not have; the first thousand, in
    /// the order of paths. A folder stands for all that is in it.
    pub newly_ignored: Vec<PathBuf>,
    /// How many there were.
    pub n_newly_ignored: usize,
}

/// Something that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Where, relative to the checkout.
    pub path: PathBuf,
    /// Why.
    pub reason: Reason,
}

/// Why something was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A pipe, a socket or a device.
    Special,
    /// A file of more than 100 MB.
    TooLarge,
    /// A name that some git, on some system, would take for its own metadata.
    ReservedName,
    /// Files in the folder of a submodule, which stays at its recorded commit.
    InSubmodule,
    /// We have no right to read it, or its path is too long for the system.
    Unreadable,
    /// It takes the place of a folder above a path that is kept from the base.
    InTheWay,
    /// The rules of the base ignore it; those of the checkout no longer do.
    IgnoredByBase,
    /// No rule ignores it, but its name says that a tool filled it (`node_modules`, `.venv`,
    /// `target`, `__pycache__`), and the base has nothing in it.
    BuildFolder,
}

impl LeftOut {
    pub(crate) fn new(path: &[u8], reason: Reason) -> Self {
        Self {
            path: as_path(path).to_owned(),
            reason,
        }
    }
}

impl LoopRepo {
    /// Reads the files under `dir` into a tree; paths in `keep_from_base` are as in the base,
    /// whatever was done there.
    ///
    /// Links are stored as links. A repository that the agent made inside is taken as plain files,
    /// without its `.git`.
    pub fn snapshot(
        &self,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
    ) -> Result<Snapshot, GitError> {
        let dir = absolute(dir)?;
        let scratch = Scratch::beside(&dir, "snapshot")?;
        let base_tree = self.tree_of(base)?;
        let (tree, base_entries) = (Tree::open(&dir)?, self.entries_of(&base_tree)?);
        let mut gathered = gather(self, &tree, &base_entries, &scratch)?;
        store(self, &tree, &base_entries, &scratch, &mut gathered)?;
        for path in keep_from_base {
            let in_the_way = keep(&plain(path)?, &base_entries, &mut gathered.entries);
            gathered.left_out.extend(in_the_way);
        }
        let tree = self.write_tree(&gathered.entries, &scratch)?;
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
        })
    }
}

/// The first of many, and how many there are.
fn first<T: Ord>(mut all: Vec<T>) -> (Vec<T>, usize) {
    all.sort();
    let n_all = all.len();
    all.truncate(LEFT_OUT_MAX);
    (all, n_all)
}

/// Makes a path as it is in the base, and returns what had to give way.
fn keep(path: &[u8], base: &Entries, entries: &mut Entries) -> Vec<LeftOut> {
    let there: Vec<Vec<u8>> = below(entries, path).map(|(path, _)| path.clone()).collect();
    for gone in there.iter().map(Vec::as_slice).chain([path]) {
        entries.remove(gone);
    }
    let kept = below(base, path).chain(base.get_key_value(path));
    let kept: Vec<_> = kept
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect();
    let mut in_the_way = Vec::new();
    if !kept.is_empty() {
        // A file or a link may stand where the path needs a folder.
        in_the_way.extend(above(path).filter(|above| entries.remove(*above).is_some()));
    }
    entries.extend(kept);
    in_the_way
        .into_iter()
        .map(|path| LeftOut::new(path, Reason::InTheWay))
        .collect()
}
