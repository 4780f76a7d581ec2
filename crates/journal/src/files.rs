//! The files on disk: makes them, keeps them private, and lets one process at a time open the
//! journal.
//!
//! It never opens the database file once it exists: closing any descriptor of a file drops all
//! locks that `SQLite` holds on it in this process. Modes are therefore changed by path.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::JournalError;

/// The name of the database within the state folder.
pub(crate) const DATABASE: &str = "journal.db";

/// How long opening waits for another process that is opening, and a write for another writer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

const TURN: &str = "journal.lock";
const PAUSE: Duration = Duration::from_millis(5);
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const MODE_MASK: u32 = 0o777;

/// The right to open the journal, held until it is dropped or the process ends.
///
/// `SQLite` does not wait for its lock when it switches a new file to a write-ahead log, so two
/// first openers at once would see a failure. It is also what makes [`create`] safe against the
/// rule in the head of this file.
#[derive(Debug)]
pub(crate) struct Turn {
    _locked: File,
}

/// Makes the folder if need be, and private then. One that was there is somebody's own, and its
/// mode their business.
pub(crate) fn prepare_folder(folder: &Path) -> Result<(), JournalError> {
    let existed = folder.is_dir();
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder)
        .on("make the folder", folder)?;
    if existed {
        return Ok(());
    }
    sync_folder(parent(folder))?;
    make_private(folder, FOLDER_MODE)
}

/// Waits until nobody else is opening the journal in this folder.
pub(crate) fn take_turn(folder: &Path) -> Result<Turn, JournalError> {
    let path = folder.join(TURN);
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .mode(FILE_MODE)
        .open(&path);
    let file = file.on("open", &path)?;
    let give_up = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Turn { _locked: file }),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < give_up => {
                thread::sleep(PAUSE)
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(JournalError::Busy {
                    doing: "open the journal",
                });
            }
            Err(errno) => return Err(errno).on("lock", &path),
        }
    }
}

/// Makes an empty database file if there is none, and everything private. `SQLite` gives its side
/// files the same mode.
pub(crate) fn create(folder: &Path, _turn: &Turn) -> Result<PathBuf, JournalError> {
    let path = folder.join(DATABASE);
    match OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(FILE_MODE)
        .open(&path)
    {
        Ok(_) => sync_folder(folder)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).on("make", &path),
    }
    for suffix in ["", "-wal", "-shm"] {
        make_private(&folder.join(format!("{DATABASE}{suffix}")), FILE_MODE)?;
    }
    make_private(&folder.join(TURN), FILE_MODE)?;
    Ok(path)
}

/// A side file may be missing, or vanish at any time because its last user closes the journal.
fn make_private(path: &Path, mode: u32) -> Result<(), JournalError> {
    let narrow = || {
        if fs::metadata(path)?.permissions().mode() & MODE_MASK == mode {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    };
    match narrow() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.on("make private", path),
    }
}

/// A new name is only safe from a power cut once its folder is synced.
fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    File::open(folder)
        .and_then(|opened| opened.sync_all())
        .on("sync the folder", folder)
}

fn parent(folder: &Path) -> &Path {
    folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Says what was attempted on which path.
trait On<T> {
    fn on(self, doing: &'static str, path: &Path) -> Result<T, JournalError>;
}

impl<T, E: Into<io::Error>> On<T> for Result<T, E> {
    fn on(self, doing: &'static str, path: &Path) -> Result<T, JournalError> {
        self.map_err(|error| match error.into() {
            full if matches!(
                full.kind(),
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded
            ) =>
            {
                JournalError::DiskFull {
                    doing: "make the files of the journal",
                }
            }
            source => JournalError::File {
                doing,
                path: path.to_owned(),
                source,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_parent_to_sync() {
        for (folder, expected) in [("/a/b", "/a"), ("a/b", "a"), ("a", "."), ("/", ".")] {
            assert_eq!(parent(Path::new(folder)), Path::new(expected), "{folder}");
        }
    }

    #[test]
    fn a_turn_is_for_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let turn = take_turn(folder.path()).unwrap();
        let second = File::open(folder.path().join(TURN)).unwrap();
        let try_lock = || flock(&second, FlockOperation::NonBlockingLockExclusive);
        assert_eq!(try_lock(), Err(Errno::WOULDBLOCK));
        drop(turn);
        assert_eq!(try_lock(), Ok(()));
    }
}
