//! Trees of a loop, each written out once, for all runs that need it.
//!
//! The first tree is written out whole. Of every other one only the difference to it is written: the
//! files that differ, and the kernel's mark for each that is gone. The two folders are the lower layers
//! of an overlay, so no run can change them. What is written is made aside and renamed when it is
//! complete, and is used only while its seal holds; so whoever finds a tree here finds it as git has it.
//!
//! Nothing is flushed: after a power cut everything here is made anew.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::changes::Change;
use crate::entry::{Entries, Entry, above, below, git_path, index_lines};
use crate::error::{GitError, failed};
use crate::git::pipe_broke;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;
use crate::memory::Memory;
use crate::moments::moment;
use crate::scratch::{Scratch, absolute};
use crate::seal::{is_unchanged_since, read_seal, seal};

/// A tree that differs in more files is written out whole.
const CHANGES_MAX: usize = 2000;

/// What the note of a tree says that lies over no other.
pub(crate) const WHOLE: &str = "whole";

/// The folder in which a loop's trees are.
#[derive(Debug, Clone)]
pub struct TreeStore {
    folder: PathBuf,
}

/// A tree that is written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTree {
    /// Its own folder in the store.
    pub(crate) place: PathBuf,
    /// The tree that it lies over, unless it is whole.
    pub(crate) over: Option<TreeId>,
    /// The folders that show its files as layers, the uppermost first.
    pub layers: Vec<PathBuf>,
}

impl TreeStore {
    /// The store in this folder, which need not be there yet.
    pub fn at(folder: &Path) -> Result<Self, GitError> {
        let folder = absolute(folder)?;
        Ok(Self { folder })
    }

    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The tree below one that was just found.
    pub(crate) fn below(&self, over: &TreeId) -> WrittenTree {
        let place = self.place(over.as_str());
        WrittenTree {
            layers: vec![place.join("files")],
            place,
            over: None,
        }
    }

    /// One process at a time writes to a store; the others find what it wrote.
    pub(crate) fn lock(&self) -> Result<File, GitError> {
        fs::create_dir_all(&self.folder).map_err(failed("make", &self.folder))?;
        let path = self.folder.join("lock");
        let lock = File::create(&path).map_err(failed("make", &path))?;
        lock.lock().map_err(failed("lock", &path))?;
        Ok(lock)
    }

    /// Takes away the trees that nobody has asked for in this time, but for the one that was written out
    /// whole last and those that have a folder among `used`; says where they are now. They are moved
    /// into `trash`, because removing them may take long.
    pub fn take_unused(
        &self,
        used: &[PathBuf],
        age: Duration,
        trash: &Path,
    ) -> Result<Vec<PathBuf>, GitError> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let whole = self.whole().map(|whole| whole.to_string());
        let mut taken = Vec::new();
        let entries = fs::read_dir(&self.folder).map_err(failed("look into", &self.folder))?;
        for place in entries.flatten().map(|entry| entry.path()) {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            let tree = name.split('.').next().unwrap_or_default();
            let asked = fs::metadata(place.join("boot")).and_then(|note| note.modified());
            let is_young = asked.is_ok_and(|at| at.elapsed().is_ok_and(|since| since < age));
            let is_used = used.iter().any(|folder| folder.starts_with(&place));
            let is_tree = TreeId::parse(tree).is_ok();
            if !is_tree || is_young || is_used || whole.as_deref() == Some(tree) {
                continue;
            }
            let target = trash.join(format!("{name}-{}", std::process::id()));
            fs::create_dir_all(trash)
                .and_then(|()| fs::rename(&place, &target))
                .map_err(failed("take away", &place))?;
            taken.push(target);
        }
        Ok(taken)
    }

    /// The tree that was written out whole last.
    fn whole(&self) -> Option<TreeId> {
        let id = fs::read_to_string(self.folder.join("whole")).ok()?;
        TreeId::parse(id.trim_end()).ok()
    }

    fn set_whole(&self, tree: &TreeId) -> Result<(), GitError> {
        let (path, new) = (self.folder.join("whole"), self.folder.join("whole.new"));
        fs::write(&new, tree.as_str())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(failed("write", &path))
    }

    /// A tree as it was written before. One whose seal is broken is removed.
    fn find(&self, tree: &TreeId, memory: &Memory) -> Result<Option<WrittenTree>, GitError> {
        let place = self.place(tree.as_str());
        if !is_whole(&place, "files", memory)? {
            return remove(&place).map(|()| None);
        }
        mark_used(&place);
        let note = place.join("sealed");
        let note = fs::read_to_string(&note).map_err(failed("read", &note))?;
        let over = match note.as_str() {
            WHOLE => None,
            id => Some(TreeId::parse(id)?),
        };
        let mut layers = vec![place.join("files")];
        if let Some(over) = &over {
            let below = self.place(over.as_str());
            if !is_whole(&below, "files", memory)? {
                remove(&below)?;
                return remove(&place).map(|()| None);
            }
            mark_used(&below);
            layers.push(below.join("files"));
        }
        Ok(Some(WrittenTree {
            place,
            over,
            layers,
        }))
    }
}

impl LoopRepo {
    /// Writes a tree out, or finds it written. `None` where files are not as git records them, because
    /// of filters or submodules: such a tree must be checked out.
    pub fn write_out(
        &self,
        tree: &TreeId,
        store: &TreeStore,
    ) -> Result<Option<WrittenTree>, GitError> {
        let _lock = store.lock()?;
        self.written(tree, store)
    }

    /// The same for whoever has the lock.
    pub(crate) fn written(
        &self,
        tree: &TreeId,
        store: &TreeStore,
    ) -> Result<Option<WrittenTree>, GitError> {
        if self.has_filters()? && self.unfold(tree)?.is_some() {
            return Ok(None);
        }
        if let Some(found) = store.find(tree, &self.memory)? {
            return Ok(Some(found));
        }
        let whole = store.whole().filter(|whole| whole != tree);
        let whole = match whole {
            Some(whole) => store.find(&whole, &self.memory)?.map(|_| whole),
            None => None,
        };
        if let Some(whole) = whole {
            let changes = self.tree_changes(&whole, tree)?;
            if changes.len() <= CHANGES_MAX {
                return self.write_difference(tree, &whole, &changes, store);
            }
        }
        self.write_whole(tree, store)
    }

    fn write_whole(
        &self,
        tree: &TreeId,
        store: &TreeStore,
    ) -> Result<Option<WrittenTree>, GitError> {
        if self.entries_of(tree)?.values().any(Entry::is_gitlink) {
            return Ok(None);
        }
        let new = NewTree::begin(store, tree)?;
        let index = new.scratch.path().join("index");
        let git = || self.git().without_fsync().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", tree.as_str()]).run()?;
        // With `-u` the index knows the files as they are, so that an agent's `git status` is quick.
        git()
            .work_tree(&new.files)
            .args(["checkout-index", "--all", "--quiet", "-u"])
            .run()?;
        new.finish(tree, store, WHOLE)?;
        store.set_whole(tree)?;
        store.find(tree, &self.memory)
    }

    fn write_difference(
        &self,
        tree: &TreeId,
        whole: &TreeId,
        changes: &[Change],
        store: &TreeStore,
    ) -> Result<Option<WrittenTree>, GitError> {
        let (before, after) = sides(changes)?;
        if after.values().any(Entry::is_gitlink) {
            return Ok(None);
        }
        let new = NewTree::begin(store, tree)?;
        let index = new.scratch.path().join("new-files");
        self.write_entries(&after, &index, &new.files)?;
        for gone in self.gone(tree, &before, &after)? {
            let path = new.files.join(OsStr::from_bytes(&gone));
            mark_removed(&path).map_err(failed("mark as removed", &path))?;
        }
        new.finish(tree, store, whole.as_str())?;
        store.find(tree, &self.memory)
    }

    /// Writes files into a folder that does not have them yet. `index` is used for this alone.
    pub(crate) fn write_entries(
        &self,
        entries: &Entries,
        index: &Path,
        folder: &Path,
    ) -> Result<(), GitError> {
        let git = || self.git().without_fsync().env("GIT_INDEX_FILE", index);
        let nothing = Entries::new();
        git()
            .args(["update-index", "-z", "--index-info"])
            .run_fed(|pipe| {
                index_lines(&nothing, entries)
                    .try_for_each(|line| pipe.write_all(&line).map_err(pipe_broke))
            })?;
        git()
            .work_tree(folder)
            .args(["checkout-index", "--all", "--quiet"])
            .run()
            .map(drop)
    }

    /// The paths that a tree no longer has, each as high up as everything below it is gone: git leaves
    /// no empty folder behind.
    fn gone(
        &self,
        tree: &TreeId,
        before: &Entries,
        after: &Entries,
    ) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let removed = before.keys().filter(|path| !after.contains_key(*path));
        let removed: Vec<&Vec<u8>> = removed.collect();
        if removed.is_empty() {
            return Ok(BTreeSet::new());
        }
        let now = self.entries_of(tree)?;
        let is_folder = |path: &[u8]| below(&now, path).next().is_some();
        let mut gone = BTreeSet::new();
        for path in removed {
            let mut folders = above(path);
            let highest = folders.find(|folder| !is_folder(folder));
            let highest = highest.unwrap_or(path);
            // What took its place hides it.
            let is_replaced = after.contains_key(highest) || is_folder(highest);
            if !is_replaced {
                gone.insert(highest.to_vec());
            }
        }
        Ok(gone)
    }
}

/// The entries of both sides of changes.
pub(crate) fn sides(changes: &[Change]) -> Result<(Entries, Entries), GitError> {
    let (mut before, mut after) = (Entries::new(), Entries::new());
    for change in changes {
        let path = git_path(&change.path)?;
        if let Some(entry) = &change.before {
            before.insert(path.clone(), entry.clone());
        }
        if let Some(entry) = &change.after {
            after.insert(path, entry.clone());
        }
    }
    Ok((before, after))
}

/// A tree that is being written, beside its final place.
struct NewTree {
    scratch: Scratch,
    files: PathBuf,
    name: String,
}

impl NewTree {
    fn begin(store: &TreeStore, tree: &TreeId) -> Result<Self, GitError> {
        let scratch = Scratch::beside(&store.place(tree.as_str()), "new")?;
        let files = scratch.path().join("files");
        fs::create_dir(&files).map_err(failed("make", &files))?;
        let name = format!("tree {tree}");
        moment("before", &name);
        Ok(Self {
            scratch,
            files,
            name,
        })
    }

    fn finish(self, tree: &TreeId, store: &TreeStore, over: &str) -> Result<(), GitError> {
        finish(&self.scratch, "files", over, &store.place(tree.as_str()))?;
        moment("after", &self.name);
        Ok(())
    }
}

/// Seals what was made aside and puts it in place; `over` says what lies below it.
pub(crate) fn finish(
    scratch: &Scratch,
    inner: &str,
    over: &str,
    place: &Path,
) -> Result<(), GitError> {
    let note = scratch.path().join("sealed");
    let boot = scratch.path().join("boot");
    fs::write(&boot, boot_id())
        .and_then(|()| seal(&scratch.path().join(inner), &note, over))
        .map_err(failed("seal", place))?;
    fs::rename(scratch.path(), place).map_err(failed("put in place", place))
}

/// Whether a place of the store is there, of this boot, and as it was when it was finished.
pub(crate) fn is_whole(place: &Path, inner: &str, memory: &Memory) -> Result<bool, GitError> {
    let boot = fs::read(place.join("boot")).unwrap_or_default();
    if !place.is_dir() || boot != boot_id() {
        return Ok(false);
    }
    let seal = read_seal(&place.join("sealed")).map_err(failed("look at", place))?;
    let Some(seal) = seal else {
        return Ok(false);
    };
    if memory.was_whole(place, seal) {
        return Ok(true);
    }
    let is_whole =
        is_unchanged_since(seal, &place.join(inner)).map_err(failed("look at", place))?;
    if is_whole {
        memory.note_whole(place, seal);
    }
    Ok(is_whole)
}

/// Notes that somebody asked for a place. Whether it succeeds only decides how long the place stays.
pub(crate) fn mark_used(place: &Path) {
    let note = File::options().append(true).open(place.join("boot"));
    let _ = note.and_then(|note| note.set_modified(SystemTime::now()));
}

pub(crate) fn remove(place: &Path) -> Result<(), GitError> {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", place)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What is not flushed may be lost by a power cut, also after a rename that was not.
fn boot_id() -> Vec<u8> {
    fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Makes the mark by which an overlay knows that something below is gone.
fn mark_removed(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).map_err(io::Error::from)
}
