//! Notices that the write-ahead log was cut or removed while the journal is open.
//!
//! `SQLite` knows from shared memory how long the log is, and does not look at the file. It would
//! write behind the cut, which leaves a hole of zeros, and later copy that into the database. While
//! anybody has the journal open the log never becomes shorter: it is written anew from its beginning.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::DATABASE;

/// Watches over the log of one open journal.
#[derive(Debug)]
pub(crate) struct LogGuard {
    path: PathBuf,
    longest: AtomicU64,
}

impl LogGuard {
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            path: folder.join(format!("{DATABASE}-wal")),
            longest: AtomicU64::new(0),
        }
    }

    /// Takes in how long the log is now.
    pub(crate) fn note(&self) {
        self.is_whole();
    }

    /// Whether the log is at least as long as it ever was.
    pub(crate) fn is_whole(&self) -> bool {
        let length = fs::metadata(&self.path).map_or(0, |file| file.len());
        self.longest.fetch_max(length, Ordering::AcqRel) <= length
    }
}
