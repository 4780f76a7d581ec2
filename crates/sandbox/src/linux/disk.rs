//! Watches how much is in the writable mounts of a jail.
//!
//! It counts, in a thread of its own, and rests for longer than it counts. It never follows a link
//! and never opens a file: the tree belongs to the jailed program, which changes it meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};

use super::processes;

/// How long to rest at least before each count. Most commands have ended before the first.
const PAUSE: Duration = Duration::from_secs(1);

/// A rest takes so many times as long as the count before it.
const REST: u32 = 5;

/// Folders in folders that are counted. Nobody nests deeper who does not want to hide something.
const DEPTH_MAX: usize = 256;

/// Bounds on what the mounts may hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Counts again and again, until it is dropped.
#[derive(Debug)]
pub(super) struct DiskWatch {
    is_over: Arc<AtomicBool>,
    is_done: Arc<AtomicBool>,
    /// The first process of the jail, or 0 while it is not known.
    shim: Arc<AtomicI32>,
}

impl DiskWatch {
    pub(super) fn start(roots: Vec<PathBuf>, bounds: Bounds) -> io::Result<Self> {
        let watch = Self {
            is_over: Arc::default(),
            is_done: Arc::default(),
            shim: Arc::default(),
        };
        let (is_over, is_done) = (Arc::clone(&watch.is_over), Arc::clone(&watch.is_done));
        let shim = Arc::clone(&watch.shim);
        thread::Builder::new().spawn(move || {
            thread::sleep(PAUSE);
            while !is_done.load(Ordering::Acquire) {
                let started = Instant::now();
                if is_beyond(&roots, bounds, shim.load(Ordering::Acquire)) {
                    is_over.store(true, Ordering::Release);
                    return;
                }
                thread::sleep(PAUSE.max(started.elapsed() * REST));
            }
        })?;
        Ok(watch)
    }

    /// Whether the mounts hold too much. `shim` is the first process of the jail: what it and its
    /// descendants have deleted and still hold open counts too.
    pub(super) fn is_over(&self, shim: Option<i32>) -> bool {
        self.shim.store(shim.unwrap_or_default(), Ordering::Release);
        self.is_over.load(Ordering::Acquire)
    }
}

impl Drop for DiskWatch {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Release);
    }
}

/// Whether the roots hold more than the bounds together.
fn is_beyond(roots: &[PathBuf], bounds: Bounds, shim: i32) -> bool {
    let mut left = bounds;
    roots.iter().any(|root| count(root, &mut left)) || count_deleted(roots, shim, &mut left)
}

/// Subtracts files that have no name any more and are still open: they take space until they are
/// closed. A program that hides its descriptors from us by being undumpable is not seen, unless we
/// are root.
fn count_deleted(roots: &[PathBuf], shim: i32, left: &mut Bounds) -> bool {
    if shim == 0 {
        return false;
    }
    let devices: BTreeSet<u64> = roots
        .iter()
        .filter_map(|root| fs::symlink_metadata(root).ok())
        .map(|data| data.dev())
        .collect();
    let table = processes::all().unwrap_or_default();
    let jailed = processes::descendants(&table, &BTreeSet::from([shim]));
    let mut seen = BTreeSet::new();
    for process in jailed {
        let open = fs::read_dir(format!("/proc/{}/fd", process.id.pid));
        for descriptor in open.into_iter().flatten().flatten() {
            // It asks about the open file itself, whatever its name was.
            let Ok(data) = fs::metadata(descriptor.path()) else {
                continue;
            };
            let is_deleted = data.is_file() && data.nlink() == 0 && devices.contains(&data.dev());
            if is_deleted && seen.insert((data.dev(), data.ino())) && subtract(left, data.blocks())
            {
                return true;
            }
        }
    }
    false
}

/// Subtracts what is below a root, and returns whether more is there than was left.
fn count(root: &Path, left: &mut Bounds) -> bool {
    let Ok(data) = fs::symlink_metadata(root) else {
        return false;
    };
    if !data.is_dir() {
        return subtract(left, data.blocks());
    }
    let opened = rustix::fs::open(root, FOLDER, Mode::empty());
    let mut folders: Vec<Dir> = opened.and_then(Dir::new).into_iter().collect();
    while let Some(folder) = folders.last_mut() {
        let Some(entry) = folder.next() else {
            folders.pop();
            continue;
        };
        let Ok(entry) = entry else {
            folders.pop();
            continue;
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let Ok(at) = folder.fd() else {
            folders.pop();
            continue;
        };
        // What has just gone is not there.
        let Ok(data) = statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        if subtract(left, u64::try_from(data.st_blocks).unwrap_or_default()) {
            return true;
        }
        if FileType::from_raw_mode(data.st_mode) == FileType::Directory {
            let below: Result<OwnedFd, _> = openat(at, name, FOLDER, Mode::empty());
            let Ok(below) = below.and_then(Dir::new) else {
                continue;
            };
            if folders.len() == DEPTH_MAX {
                return true;
            }
            folders.push(below);
        }
    }
    false
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn subtract(left: &mut Bounds, blocks: u64) -> bool {
    let bytes = blocks.saturating_mul(512);
    if bytes > left.bytes || left.files == 0 {
        return true;
    }
    left.bytes -= bytes;
    left.files -= 1;
    false
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const FREE: Bounds = Bounds {
        bytes: 1 << 40,
        files: 1 << 40,
    };

    #[test]
    fn bytes_files_and_depth_are_bounded_and_links_are_not_followed() {
        let big = tempfile::tempdir().unwrap();
        fs::write(big.path().join("big"), vec![1; 3 << 20]).unwrap();
        let small = tempfile::tempdir().unwrap();
        fs::create_dir(small.path().join("folder")).unwrap();
        fs::write(small.path().join("folder/file"), "few").unwrap();
        symlink(big.path(), small.path().join("link")).unwrap();
        let deep = tempfile::tempdir().unwrap();
        let nested: PathBuf = (0..=DEPTH_MAX).map(|_| "d").collect();
        fs::create_dir_all(deep.path().join(nested)).unwrap();
        let million = Bounds {
            bytes: 1 << 20,
            ..FREE
        };
        let three = Bounds { files: 3, ..FREE };
        let two = Bounds { files: 2, ..FREE };
        for (name, root, bounds, expected) in [
            ("big in much", big.path(), FREE, false),
            ("big in little", big.path(), million, true),
            ("a link to big", small.path(), million, false),
            ("three files in three", small.path(), three, false),
            ("three files in two", small.path(), two, true),
            (
                "one file as a root",
                &small.path().join("folder/file"),
                two,
                false,
            ),
            ("nothing there", Path::new("/no/such/root"), two, false),
            ("deep", deep.path(), FREE, true),
        ] {
            assert_eq!(is_beyond(&[root.to_owned()], bounds, 0), expected, "{name}");
        }
        let both = [big.path().to_owned(), small.path().to_owned()];
        assert!(is_beyond(&both, three, 0));
    }
}
