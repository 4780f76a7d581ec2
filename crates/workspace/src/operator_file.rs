//! Reads one of the operator's files, and replaces it as a whole if it has not changed since.
//!
//! The new content is written beside the target, flushed, and renamed over it. So at every instant,
//! even after `kill -9` or a power cut, the name holds either the old content or the new. A
//! symbolic link is followed to its target; mode and owner are kept. Extended attributes and
//! further hard links are lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Gid, Uid, fchown, flock};

use crate::moments::moment;

/// The content of a file when it was read. [`replace`] needs it to notice a change.
#[derive(Debug, Clone)]
pub struct Snapshot {
    target: PathBuf,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// The content when it was read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The path of the file, with links resolved.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

/// Why a file could not be read or replaced.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is no file of that name.
    #[error("there is no such file")]
    Missing,
    /// It is a folder.
    #[error("it is a folder")]
    Folder,
    /// It is a device, a pipe or a socket.
    #[error("it is not a regular file")]
    NotRegular,
    /// Somebody changed it after it was read.
    #[error("it changed after it was read")]
    Changed,
    /// Another process holds its lock.
    #[error("another process is writing it")]
    Busy,
    /// A system call failed.
    #[error("cannot {attempt} `{path}`")]
    Io {
        /// The verb of the operation, such as `read`.
        attempt: &'static str,
        /// The path that it was tried on.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

fn failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError::Io {
        attempt,
        path,
        source,
    }
}

/// Reads a regular file. Of a file longer than `bytes_max` it returns one byte more than that, so
/// that the caller can tell.
pub fn read(path: &Path, bytes_max: usize) -> Result<Snapshot, FileError> {
    let target = fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing,
        _ => failed("find", path)(error),
    })?;
    let kind = fs::metadata(&target)
        .map_err(failed("look at", path))?
        .file_type();
    if kind.is_dir() {
        return Err(FileError::Folder);
    }
    // Opening a pipe that has no writer would block.
    if !kind.is_file() {
        return Err(FileError::NotRegular);
    }
    let bytes = read_bounded(&target, bytes_max)?;
    Ok(Snapshot { target, bytes })
}

fn read_bounded(path: &Path, bytes_max: usize) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(failed("open", path))?;
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    Ok(bytes)
}

/// Replaces the file's content, unless the file has changed since the snapshot. Writing the same
/// content again does nothing.
pub fn replace(snapshot: &Snapshot, new: &[u8]) -> Result<(), FileError> {
    let target = &snapshot.target;
    // The lock is on the old file and not on the scratch file: the target is what two of our
    // processes have in common.
    let old = File::open(target).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Changed,
        _ => failed("open", target)(error),
    })?;
    lock(&old, target)?;
    unchanged(snapshot)?;
    if snapshot.bytes == new {
        return Ok(());
    }
    let scratch = scratch_beside(target);
    let written = write_scratch(&scratch, &old, new).and_then(|()| {
        // Compared again, because editors do not take our lock. One could still write between here
        // and the rename; closing that gap would need an atomic exchange of the two names.
        unchanged(snapshot)?;
        moment("before", "the operator's file");
        let renamed = fs::rename(&scratch, target).map_err(failed("replace", target));
        moment("after", "the operator's file");
        renamed
    });
    if written.is_err() {
        // Best effort: the next write removes it too.
        let _ = fs::remove_file(&scratch);
    }
    written?;
    sync_folder(target)
}

/// Takes an advisory lock, waiting up to two seconds for another process of ours.
fn lock(file: &File, path: &Path) -> Result<(), FileError> {
    const TRIES: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(20);
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => thread::sleep(PAUSE),
            Err(error) => return Err(failed("lock", path)(error.into())),
        }
    }
    Err(FileError::Busy)
}

/// Fails with [`FileError::Changed`] if the file is not what the snapshot says.
fn unchanged(snapshot: &Snapshot) -> Result<(), FileError> {
    // `read_bounded` reads one byte more than the limit, so a file that has grown is noticed.
    let now = match read_bounded(&snapshot.target, snapshot.bytes.len()) {
        Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Err(FileError::Changed);
        }
        now => now?,
    };
    if now == snapshot.bytes {
        Ok(())
    } else {
        Err(FileError::Changed)
    }
}

/// The scratch file's path. The name is fixed, so that the next write removes what a crash left
/// behind.
fn scratch_beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.loopwright-new"))
}

fn write_scratch(scratch: &Path, old: &File, new: &[u8]) -> Result<(), FileError> {
    match fs::remove_file(scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("clear away", scratch)(error));
        }
        _ => {}
    }
    let metadata = old.metadata().map_err(failed("look at", scratch))?;
    // `create_new` does not follow a link that somebody planted under this name. The file is
    // private until it gets the mode of the old one: its content may be.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(scratch)
        .map_err(failed("create", scratch))?;
    file.write_all(new).map_err(failed("write", scratch))?;
    let mine = file.metadata().map_err(failed("look at", scratch))?;
    if (mine.uid(), mine.gid()) != (metadata.uid(), metadata.gid()) {
        // Only root may give files away. For everybody else the new file is their own, as with any
        // editor.
        let _ = fchown(
            &file,
            Some(Uid::from_raw(metadata.uid())),
            Some(Gid::from_raw(metadata.gid())),
        );
    }
    // After `fchown`, which clears the set-user-id bit.
    let mode = fs::Permissions::from_mode(metadata.mode() & 0o7777);
    file.set_permissions(mode)
        .map_err(failed("set the mode of", scratch))?;
    file.sync_all().map_err(failed("flush", scratch))
}

/// Flushes the target's folder, so that the rename itself survives a power cut.
fn sync_folder(target: &Path) -> Result<(), FileError> {
    let folder = target.parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed("flush", folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const MAX: usize = 1000;

    fn folder_with(content: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("prd.json");
        fs::write(&path, content).expect("written");
        (folder, path)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it() {
        let (folder, path) = folder_with("old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("mode set");
        fs::write(
            folder.path().join(".prd.json.loopwright-new"),
            "left by a crash",
        )
        .expect("written");
        let snapshot = read(&path, MAX).expect("read");
        replace(&snapshot, b"new").expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
        assert_eq!(
            fs::metadata(&path).expect("metadata").mode() & 0o7777,
            0o640
        );
        assert_eq!(names(folder.path()), ["prd.json"]);
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let (folder, path) = folder_with("old");
        let link = folder.path().join("link.json");
        symlink("prd.json", &link).expect("linked");
        replace(&read(&link, MAX).expect("read"), b"new").expect("replaced");
        assert_eq!(
            fs::read_link(&link).expect("still a link"),
            Path::new("prd.json")
        );
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
    }

    #[test]
    fn a_file_that_changed_or_went_away_is_left_alone() {
        let (_folder, path) = folder_with("old");
        let snapshot = read(&path, MAX).expect("read");
        fs::write(&path, "edited").expect("written");
        assert!(matches!(
            replace(&snapshot, b"new"),
            Err(FileError::Changed)
        ));
        assert_eq!(fs::read_to_string(&path).expect("read"), "edited");
        fs::write(&path, "old and more").expect("written");
        assert!(matches!(
            replace(&snapshot, b"new"),
            Err(FileError::Changed)
        ));
        fs::remove_file(&path).expect("removed");
        assert!(matches!(
            replace(&snapshot, b"new"),
            Err(FileError::Changed)
        ));
        assert!(!path.exists());
    }

    #[test]
    fn a_link_planted_under_the_scratch_name_is_not_followed() {
        let (folder, path) = folder_with("old");
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").expect("written");
        symlink(&victim, folder.path().join(".prd.json.loopwright-new")).expect("linked");
        replace(&read(&path, MAX).expect("read"), b"new").expect("replaced");
        assert_eq!(fs::read_to_string(&victim).expect("read"), "precious");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
    }

    #[test]
    fn the_same_content_is_not_written_again() {
        let (_folder, path) = folder_with("old");
        let before = fs::metadata(&path).expect("metadata").ino();
        replace(&read(&path, MAX).expect("read"), b"old").expect("nothing to do");
        assert_eq!(fs::metadata(&path).expect("metadata").ino(), before);
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_before_it_is_opened() {
        let (folder, path) = folder_with("old");
        assert!(matches!(read(folder.path(), MAX), Err(FileError::Folder)));
        assert!(matches!(
            read(Path::new("/dev/null"), MAX),
            Err(FileError::NotRegular)
        ));
        assert!(matches!(
            read(&folder.path().join("none"), MAX),
            Err(FileError::Missing)
        ));
        assert_eq!(
            read(&path, 2).expect("read").bytes().len(),
            3,
            "one byte more than allowed tells that it is too large"
        );
    }
}
