//! Roots: what installers and compilers made of third-party code, kept for other trees of the project.
//!
//! A root is made aside from the commit that a loop began with, sealed, flushed and renamed. It is used
//! only while its seal holds, for at most a day, and only for trees that have the same of everything
//! that it was made from and that no tool would notice by itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use checks::warm::OwnPackages;
use home::{Home, WarmTrust};
use kernel::Order;
use serde::{Deserialize, Serialize};
use workspace::moment;

use crate::ports::TreeFiles;

/// What was fetched for packages may have been replaced since.
const AGE_MAX: Duration = Duration::from_hours(24);

/// Files that are counted to tell what the roots take.
const ENTRIES_MAX: usize = 2_000_000;

/// The folder in which a root is made.
const NEW: &str = ".new";

/// The length of a root's name.
const NAME_CHARS: usize = 16;

/// Trees of a project that are measured both ways before a warm one is believed.
pub(crate) const TRIALS: u32 = 3;

/// What a root was made of, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RootNote {
    /// Everything that must be the same in a tree that uses it.
    pub(crate) fixed: String,
    /// What it was made from besides, and what may differ.
    pub(crate) noticed: String,
    /// The folders that it has, from the repository's top.
    pub(crate) folders: Vec<String>,
    /// Whether a tree that uses it needs no setup.
    pub(crate) skips_setup: bool,
    /// What it has of the project's own packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<OwnTier>,
}

/// Outputs of the project's own packages, for trees that do not touch them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnTier {
    /// The tree that they were made of.
    pub(crate) tree: String,
    /// The folder in which cargo built, from the repository's top.
    pub(crate) target: String,
    pub(crate) packages: OwnPackages,
}

impl RootNote {
    /// The lock files of cargo that it was made from.
    pub(crate) fn lock_files(&self) -> impl Iterator<Item = String> {
        const NAME: &str = "Cargo.lock";
        let lines = self.noticed.lines();
        lines.filter_map(|line| {
            let (folder, _) = line.split_once(&format!("{NAME} "))?;
            Some(format!("{folder}{NAME}"))
        })
    }

    fn name(&self) -> String {
        format!("{:016x}", hash(&[&self.fixed, &self.noticed]))
    }
}

/// A root that is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    place: PathBuf,
    pub(crate) note: RootNote,
}

impl Root {
    /// The name by which results that were measured with it are known.
    pub(crate) fn name(&self) -> String {
        let name = self.place.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The layer that lies below a commit's files.
    pub(crate) fn tree(&self) -> PathBuf {
        self.place.join("kept/tree")
    }

    /// The layer with outputs of own packages, where it has any. Most of it must not be shown.
    pub(crate) fn own(&self) -> PathBuf {
        self.place.join("kept/own")
    }

    /// What package managers fetched for it.
    pub(crate) fn downloads(&self) -> PathBuf {
        self.place.join("kept/downloads")
    }
}

/// The roots of one project.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    folder: PathBuf,
}

impl Roots {
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Whether nothing was ever made.
    pub(crate) fn is_empty(&self) -> bool {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        !names.any(|name| name.len() == NAME_CHARS)
    }

    /// Finds a root that was made from just this; one that is old or was changed is removed.
    pub(crate) fn find(&self, wanted: &RootNote) -> Option<Root> {
        let root = self.open(&wanted.name())?;
        // What is found there is told by its texts: two may have one name.
        let is_it = root.note.fixed == wanted.fixed && root.note.noticed == wanted.noticed;
        is_it.then_some(root)
    }

    /// A root by its name.
    pub(crate) fn open(&self, name: &str) -> Option<Root> {
        let place = self.folder.join(name);
        if !place.is_dir() {
            return None;
        }
        let read = || -> io::Result<RootNote> {
            let note = fs::read(place.join("sealed"))?;
            let note = serde_json::from_slice(&note).map_err(io::Error::other)?;
            let made = fs::metadata(place.join("sealed"))?.modified()?;
            let is_young = SystemTime::now()
                .duration_since(made)
                .is_ok_and(|age| age < AGE_MAX);
            let is_whole = workspace::is_sealed(&place.join("kept"), &place.join("sealed"))?;
            if is_young && is_whole {
                Ok(note)
            } else {
                Err(io::ErrorKind::InvalidData.into())
            }
        };
        match read() {
            Ok(note) => Some(Root { place, note }),
            Err(_) => {
                self.retire(&place);
                None
            }
        }
    }

    /// Takes a root out of use. Somebody may still have it below a tree, so that its files stay until
    /// they are old.
    fn retire(&self, place: &Path) {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let old = format!(".old-{name}-{}", std::process::id());
        let _ = fs::rename(place, self.folder.join(old));
    }

    /// Whether somebody died who made a root.
    pub(crate) fn is_half_made(&self) -> bool {
        let is_free = || {
            let lock = File::open(self.folder.join("lock"));
            lock.is_ok_and(|lock| lock.try_lock().is_ok())
        };
        self.folder.join(NEW).is_dir() && is_free()
    }

    /// Removes the roots that are too old to be used, or all of them where there is no room, but for those
    /// that are among `used`; and what is left of somebody who died while making one.
    pub(crate) fn remove_old(&self, used: &[PathBuf], is_full: bool) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        if self.is_half_made() {
            let _ = home::remove_folder(&self.folder.join(NEW));
        }
        for place in entries.flatten().map(|entry| entry.path()) {
            if place.ends_with(NEW) {
                continue;
            }
            let made = fs::metadata(place.join("sealed")).and_then(|note| note.modified());
            let made = made.or_else(|_| fs::metadata(&place).and_then(|found| found.modified()));
            let is_old = made.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > AGE_MAX));
            let is_used = used.iter().any(|folder| folder.starts_with(&place));
            if place.is_dir() && (is_old || is_full) && !is_used {
                let _ = home::remove_folder(&place);
            }
        }
    }

    /// Begins a root; none while somebody else makes one.
    pub(crate) fn begin(&self) -> io::Result<Option<NewRoot>> {
        fs::create_dir_all(&self.folder)?;
        let lock = File::create(self.folder.join("lock"))?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let place = self.folder.join(NEW);
        home::remove_folder(&place)?;
        fs::create_dir_all(place.join("kept/tree"))?;
        moment("after", "the folder of a root");
        Ok(Some(NewRoot {
            place,
            roots: self.clone(),
            _lock: lock,
        }))
    }

    /// Removes every root: there is no room for them.
    pub(crate) fn give_up(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.path().is_dir() {
                let _ = home::remove_folder(&entry.path());
            }
        }
    }

    /// What was learned about reuse in this project.
    pub(crate) fn trust(&self) -> WarmTrust {
        WarmTrust::read(&self.folder)
    }

    pub(crate) fn set_trust(&self, trust: &WarmTrust) -> io::Result<()> {
        trust.write(&self.folder)
    }

    /// Whether the roots of all projects take more than this.
    pub(crate) fn are_full(&self, bytes_max: u64) -> bool {
        let all = self.folder.parent().unwrap_or(&self.folder);
        let found = home::disk_use(all, ENTRIES_MAX);
        found.is_more || found.bytes > bytes_max
    }
}

/// A root that is being made.
pub(crate) struct NewRoot {
    place: PathBuf,
    roots: Roots,
    _lock: File,
}

impl NewRoot {
    /// Where what is kept goes.
    pub(crate) fn kept(&self) -> PathBuf {
        self.place.join("kept")
    }

    /// Seals it and puts it in place.
    pub(crate) fn finish(self, note: RootNote) -> io::Result<Root> {
        let sealed = self.place.join("sealed");
        moment("before", "the seal of a root");
        workspace::seal(&self.kept(), &sealed, &serde_json::to_string(&note)?)?;
        // It survives a reboot only if all of it does.
        rustix::fs::syncfs(File::open(&sealed)?)?;
        moment("after", "the seal of a root");
        let place = self.roots.folder.join(note.name());
        if place.exists() {
            self.roots.retire(&place);
        }
        fs::rename(&self.place, &place)?;
        moment("after", "the place of a root");
        Ok(Root { place, note })
    }
}

impl Drop for NewRoot {
    fn drop(&mut self) {
        // Nothing is left there of a root that is finished.
        let _ = home::remove_folder(&self.place);
    }
}

/// What was fetched for the root that has this tree.
pub(crate) fn downloads_beside(tree: &Path) -> Option<PathBuf> {
    Some(tree.parent()?.join("downloads"))
}

/// The file that names the root which a loop's measurements use.
fn pointer(measured: &Path) -> PathBuf {
    measured.join("root")
}

/// Notes which root a loop uses, for its agents. Without the note they build everything themselves.
pub(crate) fn name_root(measured: &Path, root: &Root) {
    let _ = fs::write(pointer(measured), root.name());
}

/// The root that a loop uses.
pub(crate) fn loop_root(home: &Home, order: &Order) -> Option<Root> {
    let name = fs::read_to_string(pointer(&home.measured(&order.loop_id))).ok()?;
    Roots::at(&home.roots(Path::new(&order.project))).open(&name)
}

/// Whether git passes over a folder of packages or outputs, as far as its name tells. An agent's `git
/// status` would otherwise show all of it.
pub(crate) fn is_ignored(tree: &dyn TreeFiles, folder: &Path) -> bool {
    const TEXT_BYTES_MAX: usize = 64 * 1024;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.ancestors().skip(1).any(|above| {
        let text = tree.read(&above.join(".gitignore"), TEXT_BYTES_MAX);
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        text.lines()
            .any(|line| line.trim().trim_matches('/') == name)
    })
}

/// A short name for texts. Whoever uses it compares the texts too.
pub(crate) fn hash(texts: &[&str]) -> u64 {
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    for text in texts {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(fixed: &str) -> RootNote {
        RootNote {
            fixed: fixed.to_owned(),
            noticed: String::new(),
            folders: vec!["target".to_owned()],
            skips_setup: false,
            own: None,
        }
    }

    fn made(roots: &Roots, fixed: &str) -> Root {
        let new = roots.begin().expect("a folder").expect("nobody else");
        fs::write(new.kept().join("tree/a"), "1").expect("written");
        new.finish(note(fixed)).expect("a root")
    }

    #[test]
    fn a_root_is_used_only_while_it_is_what_it_was() {
        let scratch = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(&scratch.path().join("p"));
        assert!(roots.is_empty());
        let root = made(&roots, "x");
        assert!(!roots.is_empty());
        assert_eq!(roots.find(&note("x")), Some(root.clone()));
        assert_eq!(roots.find(&note("y")), None, "of something else");
        let other = made(&roots, "other");
        fs::rename(&other.place, roots.folder.join(note("y").name())).expect("moved");
        assert_eq!(roots.find(&note("y")), None, "of the same name only");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(root.tree().join("a"), "2").expect("written");
        assert_eq!(roots.find(&note("x")), None, "somebody wrote to it");
        // A removal that was broken off leaves the seal, or nothing that it is about.
        let half = made(&roots, "z");
        fs::remove_file(half.tree().join("a")).expect("removed");
        assert_eq!(roots.find(&note("z")), None, "half of it is gone");
        // Whoever has it below a tree still sees it; it only goes when it is old.
        let left = fs::read_dir(scratch.path().join("p")).expect("a folder");
        let left: Vec<String> = left
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        assert!(
            left.iter().any(|name| name.starts_with(".old-")),
            "{left:?}"
        );
    }

    #[test]
    fn a_root_is_used_for_a_day() {
        let scratch = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(&scratch.path().join("p"));
        let root = made(&roots, "x");
        let sealed = root.place.join("sealed");
        let earlier = SystemTime::now() - AGE_MAX - Duration::from_secs(1);
        File::options()
            .append(true)
            .open(&sealed)
            .and_then(|file| file.set_modified(earlier))
            .expect("set");
        let used = [root.tree()];
        roots.remove_old(&used, true);
        assert!(root.place.is_dir(), "a run has it below its tree");
        assert_eq!(roots.find(&note("x")), None);
        roots.remove_old(&[], false);
        assert!(!root.place.exists());
    }

    #[test]
    fn one_process_makes_a_root_and_a_crash_leaves_none() {
        let scratch = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(scratch.path());
        let new = roots.begin().expect("a folder").expect("nobody else");
        assert!(roots.begin().expect("a folder").is_none(), "somebody else");
        // As a process does that is killed: its lock goes, and what it made stays.
        let half = roots.folder.join(".new");
        drop(new);
        fs::create_dir_all(half.join("kept/tree/target")).expect("made");
        assert!(roots.is_empty(), "half a root is none");
        made(&roots, "x");
        assert!(!half.exists(), "the next one clears it away");
    }
}
