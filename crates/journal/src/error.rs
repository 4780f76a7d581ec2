//! The journal's errors, and the only place that classifies the error codes of `SQLite`. What to do
//! about an error is not decided here.

use std::io;
use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

/// An operation failed for a reason that concerns the journal as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file or folder of the journal could not be created, locked or made private.
    #[error("cannot {doing} `{path}`", path = path.display())]
    File {
        /// What was attempted.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file was written by a newer program; using it could damage it.
    #[error(
        "the journal has schema version {found}, this program knows versions up to {known}; \
         use the newer program that wrote it"
    )]
    NewerSchema {
        /// The version in the file.
        found: i64,
        /// The newest version that this program can read.
        known: i64,
    },
    /// The file system does not support a write-ahead log, which the journal needs for sharing the
    /// file between processes.
    #[error(
        "the journal needs a write-ahead log, but its file system gives it journal mode `{mode}`"
    )]
    NoWriteAheadLog {
        /// The mode that `SQLite` fell back to.
        mode: String,
    },
    /// Another process held the journal for too long. Nothing was changed; a later try may succeed.
    #[error("cannot {doing}: the journal is held by somebody else; try again in a moment")]
    Busy {
        /// What was attempted.
        doing: &'static str,
    },
    /// The files of the journal do not hold what was written to them. Once nobody has the journal
    /// open, it can be read up to the last record that is whole, unless the damage is older.
    #[error(
        "cannot {doing}: the journal is damaged ({source}); end every loopwright command that has it \
         open, and the next one reads it up to its last whole record; if that does not help, put \
         the journal's files back from a copy"
    )]
    Damaged {
        /// What was attempted.
        doing: &'static str,
        /// The error of `SQLite`.
        source: rusqlite::Error,
    },
    /// The disk is full. Nothing was changed; a later try succeeds once there is room.
    #[error("cannot {doing}: the disk is full")]
    DiskFull {
        /// What was attempted.
        doing: &'static str,
    },
    /// `SQLite` failed in another way. If it failed while committing, only a new read tells whether
    /// the change was stored.
    #[error("cannot {doing}")]
    Sqlite {
        /// What was attempted.
        doing: &'static str,
        /// The error of `SQLite`.
        source: rusqlite::Error,
    },
}

/// An append failed, and none of its records was stored.
///
/// There is one exception: after [`AppendError::Journal`] with a [`JournalError::Sqlite`] inside,
/// only a new read tells.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else has appended meanwhile. The caller must read and decide again.
    #[error("the loop's last record is number {found}, not {expected}")]
    Conflict {
        /// The last number that the caller knew.
        expected: u64,
        /// The loop's last number.
        found: u64,
    },
    /// The caller's lease was given to somebody else. The caller must stop.
    #[error("the lease was taken over by somebody else")]
    Fenced,
    /// The loop accepts no more records.
    #[error("the loop is quarantined: {why}")]
    Quarantined {
        /// The reason that was given for the quarantine.
        why: String,
    },
    /// The disk is full; the same append succeeds once there is room.
    #[error("the disk is full")]
    DiskFull,
    /// The journal as a whole failed.
    #[error(transparent)]
    Journal(JournalError),
}

/// The records of a loop could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A record of this loop is damaged or missing. Other loops are not affected.
    #[error("record {number} is corrupt: {why}")]
    Corrupt {
        /// The number of the first record that is not what was appended.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The journal as a whole failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl JournalError {
    pub(crate) fn sqlite(doing: &'static str, source: rusqlite::Error) -> Self {
        match source.sqlite_error() {
            Some(error) if is_disk_full(*error) => Self::DiskFull { doing },
            // This is the primary code, so it covers `SQLITE_BUSY_SNAPSHOT` too.
            Some(error) if error.code == ErrorCode::DatabaseBusy => Self::Busy { doing },
            Some(error) if is_damage(*error) => Self::Damaged { doing, source },
            _ => Self::Sqlite { doing, source },
        }
    }
}

impl From<JournalError> for AppendError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::DiskFull { .. } => Self::DiskFull,
            other => Self::Journal(other),
        }
    }
}

/// Adds what was attempted to an error of `SQLite`.
pub(crate) trait During<T> {
    fn during(self, doing: &'static str) -> Result<T, JournalError>;
}

impl<T> During<T> for rusqlite::Result<T> {
    fn during(self, doing: &'static str) -> Result<T, JournalError> {
        self.map_err(|source| JournalError::sqlite(doing, source))
    }
}

/// Whether the error means that there is no room.
///
/// `SQLite` reports `SQLITE_FULL` for `ENOSPC` only. An exhausted quota or a file size limit
/// appears as a failed write, and a full disk under the shared memory file (`-shm`) as a failed
/// resize.
fn is_disk_full(error: ffi::Error) -> bool {
    error.code == ErrorCode::DiskFull
        || matches!(
            error.extended_code,
            ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE
        )
}

/// Whether the error means that the files were changed from outside: a page that makes no sense, or
/// a file that is shorter than it must be.
fn is_damage(error: ffi::Error) -> bool {
    matches!(
        error.code,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase
    ) || error.extended_code == ffi::SQLITE_IOERR_SHORT_READ
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_sqlite_means() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, "cannot append: the disk is full"),
            (ffi::SQLITE_IOERR_WRITE, "cannot append: the disk is full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "cannot append: the disk is full"),
            (
                ffi::SQLITE_BUSY,
                "cannot append: the journal is held by somebody else; try again in a moment",
            ),
            (
                ffi::SQLITE_BUSY_SNAPSHOT,
                "cannot append: the journal is held by somebody else; try again in a moment",
            ),
            (ffi::SQLITE_IOERR_READ, "cannot append"),
        ] {
            let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let seen = Err::<(), _>(failure).during("append").unwrap_err();
            assert_eq!(seen.to_string(), expected, "code {code}");
        }
    }

    #[test]
    fn damage_is_told_with_what_to_do() {
        for code in [
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_IOERR_SHORT_READ,
        ] {
            let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let seen = Err::<(), _>(failure).during("append").unwrap_err();
            assert!(matches!(seen, JournalError::Damaged { .. }), "{seen:?}");
            let said = seen.to_string();
            assert!(said.contains("the journal is damaged"), "{said}");
            assert!(said.contains("end every loopwright command"), "{said}");
        }
    }

    #[test]
    fn an_append_that_finds_no_room_says_so() {
        let full = AppendError::from(JournalError::DiskFull { doing: "append" });
        assert!(matches!(full, AppendError::DiskFull), "{full:?}");
        let busy = AppendError::from(JournalError::Busy { doing: "append" });
        assert!(
            matches!(busy, AppendError::Journal(JournalError::Busy { .. })),
            "{busy:?}"
        );
    }
}
