//! Reads one file of the operator's, and replaces it as a whole if it is still what was read.
//!
//! The new content is written beside the target, flushed, and renamed over it, so that at every
//! instant, also after `kill -9` or a power cut, the name holds either the old or the new content.
//! It follows a symbolic link to its target and keeps mode and owner. Extended attributes and
//! further hard links are not carried over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Gid, Uid, fchown, flock};

use crate::moments::moment;

/// What was read, and from where; the key to replacing it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    target: PathBuf,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// The content as it was.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file itself, links resolved.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

/// What can go wrong with one file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is nothing of that name.
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
    /// The system refused.
    #[error("cannot {attempt} `{path}`")]
    Io {
        /// What was tried.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
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

/// Reads a regular file, at most `bytes_max` and one byte more, so that the reader can tell that it
/// is too large.
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
    // A pipe without a writer would hang us at `open`.
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

/// Replaces the file's content, or refuses when it is not what the snapshot says. Writing the same
/// content again touches nothing.
pub fn replace(snapshot: &Snapshot, new: &[u8]) -> Result<(), FileError> {
    let target = &snapshot.target;
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
        // The lock keeps out our own kind only; an editor may have written in the meantime.
        unchanged(snapshot)?;
        moment("before", "the operator's file");
        let renamed = fs::rename(&scratch, target).map_err(failed("replace", target));
        moment("after", "the operator's file");
        renamed
    });
    if written.is_err() {
        // Best effort: the next write clears it away too.
        let _ = fs::remove_file(&scratch);
    }
    written?;
    sync_folder(target)
}

/// Waits a little for another writer of ours; editors do not hold this lock.
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

fn unchanged(snapshot: &Snapshot) -> Result<(), FileError> {
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

/// A fixed name, so that what a crash left behind is cleared away by the next write instead of
/// piling up.
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
    // `create_new` does not follow a link that somebody planted under this name.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(scratch)
        .map_err(failed("create", scratch))?;
    file.write_all(new).map_err(failed("write", scratch))?;
    let mine = file.metadata().map_err(failed("look at", scratch))?;
    if (mine.uid(), mine.gid()) != (metadata.uid(), metadata.gid()) {
        // Only root may give files away; for everybody else the new file is simply theirs, as with
        // any editor.
        let _ = fchown(
            &file,
            Some(Uid::from_raw(metadata.uid())),
            Some(Gid::from_raw(metadata.gid())),
        );
    }
    let mode = fs::Permissions::from_mode(metadata.mode() & 0o7777);
    file.set_permissions(mode)
        .map_err(failed("set the mode of", scratch))?;
    file.sync_all().map_err(failed("flush", scratch))
}

/// Makes the rename itself survive a power cut.
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
