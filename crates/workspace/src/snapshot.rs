//! Turns the files of a checkout into a tree of ours, as `git add -A` would, without trusting anything in it.
//!
//! We read the files and hand git their bytes: git itself is never pointed at the checkout, so hooks, configuration,
//! filters and attributes in it mean nothing. `.gitignore` files count as they stand in the checkout, since an agent
//! may rightly change them; what the base tracks is read whatever they say. Stopping the agent first is the caller's.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::error::GitError;
use crate::gather::gather;
use crate::git::pipe_broke;
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
    /// What is not in the tree although no rule ignores it; the first thousand, in the order of paths.
    pub left_out: Vec<LeftOut>,
    /// How many there were.
    pub n_left_out: usize,
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
}

impl LeftOut {
    pub(crate) fn new(path: &[u8], reason: Reason) -> Self {
        Self { path: as_path(path).to_owned(), reason }
    }
}

/// One line of an index: what a path stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: String,
    pub(crate) id: String,
}

impl Entry {
    /// A submodule at a commit.
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode == "160000"
    }
}

/// All files of a tree by their path.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// What lies below a folder.
pub(crate) fn below<'a>(
    entries: &'a Entries,
    folder: &[u8],
) -> impl Iterator<Item = (&'a Vec<u8>, &'a Entry)> {
    let start = [folder, b"/"].concat();
    let from = (Bound::Included(start.clone()), Bound::Unbounded);
    entries.range(from).take_while(move |(path, _)| path.starts_with(&start))
}

impl LoopRepo {
    /// Reads the files under `dir` into a tree; paths in `keep_from_base` are as in the base, whatever was done there.
    ///
    /// Links are stored as links. A repository that the agent made inside is taken as plain files, without its `.git`.
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
        let mut left_out = gathered.left_out;
        left_out.sort();
        let n_left_out = left_out.len();
        left_out.truncate(LEFT_OUT_MAX);
        Ok(Snapshot { changed: tree != base_tree, tree, left_out, n_left_out })
    }

    fn entries_of(&self, tree: &TreeId) -> Result<Entries, GitError> {
        let git = self.git().args(["ls-tree", "-r", "-z", "--full-tree", tree.as_str()]);
        let command = git.command_line();
        let output = git.run()?;
        let lines = output.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        lines.map(|line| listed(line).ok_or_else(|| GitError::Garbled { command: command.clone() })).collect()
    }

    fn write_tree(&self, entries: &Entries, scratch: &Scratch) -> Result<TreeId, GitError> {
        let index = scratch.path().join("index");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        git().unflushed().args(["update-index", "-z", "--index-info"]).run_fed(|pipe| {
            entries.iter().try_for_each(|(path, Entry { mode, id })| {
                write!(pipe, "{mode} {id}\t")
                    .and_then(|()| pipe.write_all(path))
                    .and_then(|()| pipe.write_all(b"\0"))
                    .map_err(pipe_broke)
            })
        })?;
        TreeId::parse(&git().args(["write-tree"]).line()?)
    }
}

/// Reads `mode kind id<TAB>path`.
fn listed(line: &[u8]) -> Option<(Vec<u8>, Entry)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let words = std::str::from_utf8(&line[..tab]).ok()?;
    let (mode, rest) = words.split_once(' ')?;
    let (_kind, id) = rest.split_once(' ')?;
    Some((line[tab + 1..].to_vec(), Entry { mode: mode.to_owned(), id: id.to_owned() }))
}

/// The path as git writes it.
fn plain(path: &Path) -> Result<Vec<u8>, GitError> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.as_bytes()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(GitError::OutsidePath { path: path.to_owned() });
            }
        }
    }
    Ok(names.join(&b'/'))
}

/// Makes a path as it is in the base, and returns what had to give way.
fn keep(path: &[u8], base: &Entries, entries: &mut Entries) -> Vec<LeftOut> {
    let there: Vec<Vec<u8>> = below(entries, path).map(|(path, _)| path.clone()).collect();
    for gone in there.iter().map(Vec::as_slice).chain([path]) {
        entries.remove(gone);
    }
    let kept = below(base, path).chain(base.get_key_value(path));
    let kept: Vec<_> = kept.map(|(path, entry)| (path.clone(), entry.clone())).collect();
    let mut in_the_way = Vec::new();
    if !kept.is_empty() {
        // A file or a link may stand where the path needs a folder.
        let above = (0..path.len()).filter(|end| path[*end] == b'/').map(|end| &path[..end]);
        in_the_way.extend(above.filter(|above| entries.remove(*above).is_some()));
    }
    entries.extend(kept);
    in_the_way.into_iter().map(|path| LeftOut::new(path, Reason::InTheWay)).collect()
}
