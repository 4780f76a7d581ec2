//! Whether a command changed files that the tree has.
//!
//! A change is told by a file's size, kind, permissions and time of change, which nobody can set
//! back; then its bytes decide.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::ports::TreeFiles;

/// Files that are watched, and names of changed ones that are kept.
const FILES_MAX: usize = 200_000;
const CHANGED_MAX: usize = 200;

/// Bytes of a file that are compared.
const FILE_BYTES_MAX: usize = 16 << 20;

/// The files of a fresh checkout.
pub(super) struct Tracked {
    root: PathBuf,
    files: BTreeMap<PathBuf, Mark>,
}

#[derive(PartialEq, Eq, Clone, Copy)]
struct Mark {
    size: u64,
    mode: u32,
    changed: (i64, i64),
}

impl Tracked {
    /// Everything that lies in a folder now.
    pub(super) fn of(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(root.join(&folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = folder.join(entry.file_name());
                match entry.metadata() {
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) if files.len() < FILES_MAX => {
                        files.insert(path, mark(&found));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        Self {
            root: root.to_owned(),
            files,
        }
    }

    /// What became of the files since. What the tree does not have, such as a copied file, nobody
    /// watches.
    pub(super) fn touched(&self, tree: &dyn TreeFiles) -> Touched {
        let mut touched = Touched::default();
        for (path, before) in &self.files {
            let whole = self.root.join(path);
            let found = fs::symlink_metadata(&whole);
            if found.as_ref().is_ok_and(|found| mark(found) == *before)
                || tree.entry(path).is_none()
            {
                continue;
            }
            let is_same = found.is_ok_and(|found| {
                let has_mode = (found.mode() & 0o100) == (before.mode & 0o100);
                has_mode && has_same_content(&whole, path, &found, tree)
            });
            let list = if is_same {
                &mut touched.rewritten
            } else {
                &mut touched.changed
            };
            if list.len() < CHANGED_MAX {
                list.push(path.to_string_lossy().into_owned());
            }
        }
        touched
    }
}

/// Files that a command wrote to.
#[derive(Default)]
pub(super) struct Touched {
    /// Those that are not what they were.
    pub(super) changed: Vec<String>,
    /// Those that are, though somebody wrote to them.
    pub(super) rewritten: Vec<String>,
}

fn has_same_content(whole: &Path, path: &Path, found: &fs::Metadata, tree: &dyn TreeFiles) -> bool {
    if found.is_symlink() {
        let target = fs::read_link(whole).ok();
        let target = target.map(|to| to.into_os_string().into_encoded_bytes());
        return target.is_some() && target == tree.link(path);
    }
    let was = tree.read(path, FILE_BYTES_MAX);
    was.is_some() && fs::read(whole).ok() == was
}

fn mark(found: &fs::Metadata) -> Mark {
    Mark {
        size: found.size(),
        mode: found.mode(),
        changed: (found.ctime(), found.ctime_nsec()),
    }
}
