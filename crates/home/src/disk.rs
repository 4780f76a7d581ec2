//! How much room a folder takes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Entries that are looked at before we say "more than": somebody waits for the answer.
pub const ENTRIES_MAX: usize = 50_000;

/// The room that a folder takes on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Bytes, as far as they were counted.
    pub bytes: u64,
    /// Files and folders, as far as they were counted.
    pub entries: usize,
    /// Whether there is more that was not counted.
    pub is_more: bool,
}

/// Counts a folder and all below it; links are not followed, and what is not there takes no room.
pub fn disk_use(folder: &Path, entries_max: usize) -> DiskUse {
    let mut found = DiskUse::default();
    let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        if found.entries == entries_max {
            return DiskUse {
                is_more: true,
                ..found
            };
        }
        found.entries += 1;
        found.bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            waiting.extend(
                fs::read_dir(&path)
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path()),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_with_all_below_it_and_nothing_behind_links() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (folder, elsewhere) = (
            scratch.path().join("folder"),
            scratch.path().join("elsewhere"),
        );
        fs::create_dir_all(folder.join("sub")).expect("made");
        fs::create_dir(&elsewhere).expect("made");
        fs::write(elsewhere.join("large"), vec![1; 1 << 20]).expect("written");
        fs::write(folder.join("sub/small"), vec![1; 100_000]).expect("written");
        std::os::unix::fs::symlink(&elsewhere, folder.join("link")).expect("linked");
        let found = disk_use(&folder, ENTRIES_MAX);
        assert!(
            (100_000..1 << 20).contains(&found.bytes) && found.entries == 4 && !found.is_more,
            "{found:?}"
        );
        let some = disk_use(&folder, 2);
        assert!(some.is_more && some.bytes < found.bytes, "{some:?}");
        assert_eq!(
            disk_use(&folder.join("gone"), ENTRIES_MAX),
            DiskUse::default()
        );
    }
}
