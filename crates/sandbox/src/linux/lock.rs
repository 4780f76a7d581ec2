//! The lock that allows only one keeper per run folder.
//!
//! The kernel releases it when the keeper dies, however it dies. The lock file stays; its existence
//! means nothing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::KeeperError;
use crate::files::RunFolder;
use crate::moments::moment;

const NAME: &str = "keeper.lock";

/// Who has the lock.
#[derive(Debug)]
pub(super) enum Lock {
    /// We have it until this is dropped. `None` means that there is no lock file, and hence no
    /// living keeper.
    Ours { _held: Option<File> },
    /// Another living process has it.
    Theirs,
}

/// Takes the lock of a folder, creating its file. Does not wait.
pub(super) fn take(folder: &RunFolder) -> Result<Lock, KeeperError> {
    let path = folder.file(NAME);
    moment("before", NAME);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path);
    let taken = hold(folder, file.map_err(KeeperError::file("open", path))?);
    moment("after", NAME);
    taken
}

/// Takes the lock of a folder if its file exists, and writes nothing. Does not wait.
pub(super) fn take_if_present(folder: &RunFolder) -> Result<Lock, KeeperError> {
    let path = folder.file(NAME);
    match File::open(&path) {
        Ok(file) => hold(folder, file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::Ours { _held: None }),
        Err(error) => Err(KeeperError::file("open", path)(error)),
    }
}

fn hold(folder: &RunFolder, file: File) -> Result<Lock, KeeperError> {
    // Never blocking: a process that finds a living keeper has nothing to do here.
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Ours { _held: Some(file) }),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Theirs),
        Err(error) => Err(KeeperError::file("lock", folder.file(NAME))(error.into())),
    }
}
