//! Used checkouts that are kept, to be put right for the next run.
//!
//! Making twenty thousand files takes seconds, and removing as many makes the next ones dearer still. So
//! a checkout that nobody needs any more goes onto a rack, and whoever needs one takes it from there.
//! What the last user left in it is taken out ([`take_out`]) and what is missing is written, and the
//! result is compared with the wanted tree name by name. If anything is odd, a fresh checkout is made.
//!
//! A place on the rack is a folder with `files` and `list`, and is taken by renaming it, so that no two
//! processes get the same one. Nothing is flushed: a list says of exact files what they are, and after a
//! power cut the files have other numbers or times, or are not there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::FileType;

use crate::entry::{Entries, Entry, Mode, TreeLike};
use crate::error::{GitError, failed};
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::mend::take_out;
use crate::moments::moment;
use crate::scratch::{Scratch, absolute};
use crate::snapshot::Snapshot;
use crate::stamps::Stamps;
use crate::untouched::Untouched;

/// A smaller tree is written anew: that is quicker than looking at what is there.
const FILES_MIN: usize = 500;

/// How many checkouts lie on a rack at most. As many are taken at once as there are runs.
const PLACES_MAX: usize = 12;

/// Makes names of places unique within this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where used checkouts lie. It must be on the same file system as the checkouts themselves.
#[derive(Debug, Clone)]
pub struct Rack {
    folder: PathBuf,
    files_min: usize,
}

/// What is to be removed, which may take long.
pub type Leftovers = Vec<PathBuf>;

impl Rack {
    /// The rack in this folder, which need not be there yet.
    pub fn at(folder: &Path) -> Result<Self, GitError> {
        let folder = absolute(folder)?;
        Ok(Self {
            folder,
            files_min: FILES_MIN,
        })
    }

    /// The same for trees of any size.
    #[must_use]
    pub fn of_any_size(mut self) -> Self {
        self.files_min = 0;
        self
    }

    /// Where the list of a checkout lies while it is in use. No agent's checkout is below it.
    fn list_of(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.list"))
    }

    /// Puts away a checkout that was made under this name, without what its last user left in it. Says
    /// what is to be removed: that, or the checkout itself where it is not kept.
    pub fn put_away(&self, repo: &LoopRepo, name: &str, checkout: &Path) -> Leftovers {
        let list = self.list_of(name);
        let kept = self.keep(repo, &list, checkout);
        // Best effort: the next checkout of that name writes it anew.
        let _ = fs::remove_file(&list);
        match kept {
            Some(leftovers) => leftovers,
            None if fs::symlink_metadata(checkout).is_ok() => vec![checkout.to_owned()],
            None => Vec::new(),
        }
    }

    fn keep(&self, repo: &LoopRepo, list: &Path, checkout: &Path) -> Option<Leftovers> {
        let (tree, stamps) = Stamps::read(list)?;
        let written = repo.entries_of(&TreeId::parse(&tree).ok()?).ok()?;
        if self.places().len() >= PLACES_MAX {
            return None;
        }
        let place = self.new_place().ok()?;
        let (files, aside) = (place.join("files"), place.join("aside"));
        let kept = fs::rename(checkout, &files)
            .and_then(|()| fs::create_dir(&aside))
            .and_then(|()| Ok(take_out(&files, &stamps, &written, &written, &aside)?))
            .and_then(|_| fs::rename(list, place.join("list")));
        if kept.is_err() {
            // Where nothing was moved, it is the caller's still.
            let _ = fs::remove_dir(&place);
            return files.exists().then(|| vec![place]);
        }
        let leftovers = self.folder.join(format!("{}.aside", next_name()));
        fs::rename(&aside, &leftovers).ok()?;
        moment("after", "a checkout is kept");
        Some(vec![leftovers])
    }

    /// Checkouts that are whole and that nobody has taken.
    fn places(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let places = entries.map(|entry| entry.path());
        let is_free = |place: &PathBuf| place.extension().is_none() && place.join("list").exists();
        places.filter(is_free).collect()
    }

    fn new_place(&self) -> io::Result<PathBuf> {
        let place = self.folder.join(next_name());
        fs::create_dir_all(&self.folder)?;
        fs::create_dir(&place)?;
        Ok(place)
    }

    /// What processes that died so long ago left half done.
    pub fn abandoned(&self, age: Duration) -> Leftovers {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_old = |entry: &fs::DirEntry| {
            let since = entry.metadata().and_then(|found| found.modified()).ok();
            let since = since.and_then(|at| at.elapsed().ok());
            since.is_some_and(|since| since >= age)
        };
        let paths = entries.filter(is_old).map(|entry| entry.path());
        let is_half_done = |path: &PathBuf| path.is_dir() && !self.places().contains(path);
        paths.filter(is_half_done).collect()
    }

    /// Takes a checkout off the rack: one of the wanted tree where there is one, else any. It is now
    /// at `target`.
    fn take(&self, wanted: &str, target: &Path) -> Option<(String, Stamps)> {
        let mut places = self.places();
        let is_other = |place: &PathBuf| {
            let mut start = vec![0; wanted.len()];
            let read = fs::File::open(place.join("list"))
                .and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
            read.is_err() || start != wanted.as_bytes()
        };
        places.sort_by_cached_key(is_other);
        let place = places.iter().find(|place| {
            let _ = fs::remove_dir(target);
            fs::rename(place, target).is_ok()
        });
        place.and_then(|_| Stamps::read(&target.join("list")))
    }
}

impl LoopRepo {
    /// Reads the files of a checkout into a tree, as [`LoopRepo::snapshot`] does. Of a checkout that
    /// [`LoopRepo::checkout_with`] made under this name, only what was touched is read.
    pub fn snapshot_with(
        &self,
        rack: &Rack,
        name: &str,
        dir: &Path,
        base: &CommitId,
        keep_from_base: &[PathBuf],
    ) -> Result<Snapshot, GitError> {
        let untouched = Stamps::read(&rack.list_of(name)).and_then(|(tree, stamps)| {
            let written = self.entries_of(&TreeId::parse(&tree).ok()?).ok()?;
            Some(Untouched::new(stamps, written))
        });
        self.snapshot_knowing(untouched.as_ref(), dir, base, keep_from_base)
    }

    /// Writes the files of a commit or tree into a new folder, as [`LoopRepo::checkout`] does, with a
    /// used checkout of the rack where that is possible. [`Rack::put_away`] needs the same `name`.
    pub fn checkout_with(
        &self,
        files: &dyn TreeLike,
        rack: &Rack,
        name: &str,
        dir: &Path,
    ) -> Result<Leftovers, GitError> {
        let list = rack.list_of(name);
        let _ = fs::remove_file(&list);
        let tree = self.tree_id(files)?;
        let entries = self.entries_of(&tree)?;
        let is_plain = entries.len() >= rack.files_min
            && !entries.values().any(Entry::is_gitlink)
            && !(self.has_filters()? && self.unfold(files)?.is_some());
        if !is_plain {
            return self.check_out(files, dir).map(|()| Vec::new());
        }
        let mut leftovers = Vec::new();
        let dir = absolute(dir)?;
        let stamps = match self.put_right(&tree, &entries, rack, &dir, &mut leftovers) {
            Ok(Some(stamps)) => stamps,
            Err(aborted @ GitError::Aborted { .. }) => return Err(aborted),
            // Whatever is wrong with a used one, a fresh one may be had.
            Ok(None) | Err(_) => {
                self.check_out(files, &dir)?;
                Stamps::take(&dir).map_err(failed("look at", &dir))?
            }
        };
        // Without its list a checkout is as good as any, and is only not kept.
        let written =
            fs::create_dir_all(&rack.folder).and_then(|()| stamps.write(tree.as_str(), &list));
        if written.is_err() {
            let _ = fs::remove_file(&list);
        }
        Ok(leftovers)
    }

    /// Takes a checkout from the rack and makes it one of this tree; none where there is none, or where
    /// it cannot be made so.
    fn put_right(
        &self,
        tree: &TreeId,
        wanted: &Entries,
        rack: &Rack,
        dir: &Path,
        leftovers: &mut Leftovers,
    ) -> Result<Option<Stamps>, GitError> {
        if rack.places().is_empty() {
            return Ok(None);
        }
        let taken = rack.folder.join(format!("{}.taken", next_name()));
        let Some((written, stamps)) = rack.take(tree.as_str(), &taken) else {
            leftovers.extend(taken.exists().then_some(taken));
            return Ok(None);
        };
        leftovers.push(taken.clone());
        moment("before", "a used checkout is put right");
        let written = self.entries_of(&TreeId::parse(&written)?)?;
        let (files, aside) = (taken.join("files"), taken.join("gone"));
        fs::create_dir(&aside).map_err(failed("make", &aside))?;
        let Ok(there) = take_out(&files, &stamps, &written, wanted, &aside) else {
            return Ok(None);
        };
        self.write_missing(wanted, &there, &files)?;
        let stamps = match Stamps::take(&files) {
            Ok(stamps) if is_exactly(&stamps, wanted) => stamps,
            Ok(_) | Err(_) => return Ok(None),
        };
        fs::rename(&files, dir).map_err(failed("put in place", dir))?;
        moment("after", "a used checkout is put right");
        Ok(Some(stamps))
    }

    fn write_missing(
        &self,
        wanted: &Entries,
        there: &BTreeSet<Vec<u8>>,
        folder: &Path,
    ) -> Result<(), GitError> {
        let missing = wanted.iter().filter(|(path, _)| !there.contains(*path));
        let missing: Entries = missing
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let private = Scratch::beside(folder, "index")?;
        self.write_entries(&missing, &private.path().join("index"), folder)
    }
}

/// Whether a folder has the files of a tree and no others, by name, kind and right to execute.
fn is_exactly(stamps: &Stamps, wanted: &Entries) -> bool {
    let is_it = |kind: FileType, is_executable: bool, mode: Mode| match mode {
        Mode::File => kind == FileType::RegularFile && !is_executable,
        Mode::Executable => kind == FileType::RegularFile && is_executable,
        Mode::Link => kind == FileType::Symlink,
        Mode::Submodule => false,
    };
    let mut wanted = wanted.iter();
    let all_are = stamps.files().all(|(path, stamp)| {
        wanted.next().is_some_and(|(name, entry)| {
            name == path && is_it(stamp.kind(), stamp.is_executable(), entry.mode)
        })
    });
    all_are && wanted.next().is_none()
}

/// A name that nobody else uses.
fn next_name() -> String {
    format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
