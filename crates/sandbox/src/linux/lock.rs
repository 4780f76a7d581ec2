//! The lock that makes one keeper per run folder.
//!
//! The kernel lets it go when the keeper dies, however it dies. The lock file stays; it says
//! nothing by being there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::KeeperError;
use crate::files::RunFolder;
use crate::moments::moment;

const NAME: &str = "keeper.lock";

/// Says who has the lock.
#[derive(Debug)]
pub(super) enum Lock {
    /// We have, until this is dropped; `None` when there is no lock file, which no living keeper
    /// lacks.
    Ours { _held: Option<File> },
    /// A living process has it.
    Theirs,
}

/// Takes the lock of a folder, making its file; does not wait.
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

/// Takes the lock of a folder if there is one, writing nothing; does not wait.
pub(super) fn take_if_present(folder: &RunFolder) -> Result<Lock, KeeperError> {
    let path = folder.file(NAME);
    match File::open(&path) {
        Ok(file) => hold(folder, file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::Ours { _held: None }),
        Err(error) => Err(KeeperError::file("open", path)(error)),
    }
}

fn hold(folder: &RunFolder, file: File) -> Result<Lock, KeeperError> {
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Ours { _held: Some(file) }),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Theirs),
        Err(error) => Err(KeeperError::file("lock", folder.file(NAME))(error.into())),
    }
}
