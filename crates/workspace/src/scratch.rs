//! Scratch folders: things are built beside their final place and renamed when they are complete.
//!
//! A scratch folder beside a target has a fixed name, so that the next try removes what a crash
//! left behind. The loop's lease keeps two processes from building the same thing at once; nothing
//! here does. Work without a final place, of which several pieces may run at once, gets a new name
//! each time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{GitError, failed};

/// No work in such a folder takes this long, so an older one was left by a process that died.
const AGE_MAX: Duration = Duration::from_hours(24);
/// Makes folder names unique within this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder of ours that is removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes an empty folder beside `target` and removes what an earlier try left. Beside it,
    /// because a rename works only within one file system.
    pub(crate) fn beside(target: &Path, purpose: &str) -> Result<Self, GitError> {
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(".");
        name.push(purpose);
        let path = target.with_file_name(name);
        clear_away(&path)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed("make", parent))?;
        }
        fs::create_dir(&path).map_err(failed("make", &path))?;
        Ok(Self { path })
    }

    /// Makes an empty folder inside a repository of ours and removes what crashes left there long
    /// ago.
    pub(crate) fn inside(git_dir: &Path) -> Result<Self, GitError> {
        let folder = git_dir.join("loopwright-scratch");
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        clear_old(&folder);
        let path = folder.join(format!(
            "{}-{}",
            process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        // A folder of this name was left by an earlier process with the same id.
        clear_away(&path)?;
        fs::create_dir(&path).map_err(failed("make", &path))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the finished folder to `target`, which must not exist or be an empty folder.
    pub(crate) fn put_at(self, target: &Path) -> Result<(), GitError> {
        fs::rename(&self.path, target).map_err(failed("put in place", target))?;
        // Without this, a power cut could undo the rename after the caller has recorded it.
        let parent = target.parent().unwrap_or(Path::new("/"));
        File::open(parent)
            .and_then(|folder| folder.sync_all())
            .map_err(failed("flush", parent))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: the next try removes it too, and after `put_at` nothing is left to remove.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes old scratch folders. Best effort: one that cannot be removed does no harm.
fn clear_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let since = fs::symlink_metadata(&path)
            .and_then(|found| found.modified())
            .ok();
        if since
            .and_then(|since| since.elapsed().ok())
            .is_some_and(|age| age > AGE_MAX)
        {
            let _ = clear_away(&path);
        }
    }
}

fn clear_away(path: &Path) -> Result<(), GitError> {
    // Not `metadata`: a link planted under this name is removed, not followed.
    let cleared = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    cleared.map_err(failed("clear away", path))
}

/// Whether the path does not exist or is an empty folder.
pub(crate) fn is_free(path: &Path) -> Result<bool, GitError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(failed("look into", path)(error)),
    }
}

/// Makes a path absolute, since `git` runs in other folders than we do.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, GitError> {
    std::path::absolute(path).map_err(failed("find", path))
}
