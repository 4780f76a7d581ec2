//! The journal's files: creates them, keeps them private, and lets only one process at a time open
//! the journal.
//!
//! An existing database file is never opened here. With POSIX locks, closing any descriptor of a
//! file releases all locks that the process holds on it, including those of `SQLite`. Modes are
//! therefore changed by path.

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

/// How long to wait for another process that is opening the journal, or writing to it.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(10);

/// The lock file for opening. The database file itself must not be opened for that, see above.
const OPEN_LOCK: &str = "journal.lock";
const PAUSE: Duration = Duration::from_millis(5);
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const MODE_MASK: u32 = 0o777;

/// The right to open the journal, held until it is dropped or the process ends.
///
/// `SQLite` does not wait for its lock when it switches a new file to a write-ahead log. Without
/// our lock, two processes that open a new journal at once could fail. The lock also makes it safe
/// for [`create`] to open the new database file: no other thread can open it with `SQLite` before
/// our descriptor is closed.
#[derive(Debug)]
pub(crate) struct OpenLock {
    _locked: File,
}

/// Creates the folder with a private mode. The mode of an existing folder is not changed: somebody
/// chose it.
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
pub(crate) fn lock_for_open(folder: &Path, wait_max: Duration) -> Result<OpenLock, JournalError> {
    let path = folder.join(OPEN_LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(FILE_MODE)
        .open(&path)
        .on("open", &path)?;
    let give_up = Instant::now() + wait_max;
    loop {
        // A blocking `flock` has no timeout, so we poll.
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(OpenLock { _locked: file }),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < give_up => {
                thread::sleep(PAUSE);
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

/// Creates an empty database file if there is none, and makes all files private.
///
/// We create the file, and not `SQLite`, so that it never exists with another mode. `SQLite` copies
/// its mode to the files beside it.
pub(crate) fn create(folder: &Path, _lock: &OpenLock) -> Result<PathBuf, JournalError> {
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
    // Files that were copied back from a backup may have any mode.
    for suffix in ["", "-wal", "-shm"] {
        make_private(&folder.join(format!("{DATABASE}{suffix}")), FILE_MODE)?;
    }
    make_private(&folder.join(OPEN_LOCK), FILE_MODE)?;
    Ok(path)
}

fn make_private(path: &Path, mode: u32) -> Result<(), JournalError> {
    match set_mode(path, mode) {
        // `-wal` and `-shm` vanish whenever the last process that uses them closes the journal.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.on("make private", path),
    }
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(path)?.permissions().mode() & MODE_MASK == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Syncs a folder. Only then do new names in it survive a power cut.
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

/// Adds what was attempted, and on which path, to an error.
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
    fn the_journal_is_opened_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock_for_open(folder.path(), WAIT_MAX).unwrap();
        let second = File::open(folder.path().join(OPEN_LOCK)).unwrap();
        let try_lock = || flock(&second, FlockOperation::NonBlockingLockExclusive);
        assert_eq!(try_lock(), Err(Errno::WOULDBLOCK));
        drop(lock);
        assert_eq!(try_lock(), Ok(()));
    }
}
