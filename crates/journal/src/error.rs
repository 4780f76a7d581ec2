//! What can go wrong, and the one place where the codes of `SQLite` are told apart. What to do
//! about it is not decided here.

use std::io;
use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

/// The journal as a whole could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file or folder of the journal could not be made, locked or made private.
    #[error("cannot {doing} `{path}`", path = path.display())]
    File {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The file was written by a newer program; going on could damage it.
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
    /// The file system cannot hold a write-ahead log, without which several processes cannot share
    /// the journal.
    #[error(
        "the journal needs a write-ahead log, but its file system gives it journal mode `{mode}`"
    )]
    NoWriteAheadLog {
        /// The mode that `SQLite` fell back to.
        mode: String,
    },
    /// Somebody else has held the journal for too long. Nothing was changed; a later try may
    /// succeed.
    #[error("cannot {doing}: the journal is held by somebody else")]
    Busy {
        /// What was attempted.
        doing: &'static str,
    },
    /// There is no room. Nothing was changed; a later try succeeds once there is.
    #[error("cannot {doing}: the disk is full")]
    DiskFull {
        /// What was attempted.
        doing: &'static str,
    },
    /// `SQLite` failed otherwise. If that was while committing, only a new read tells whether the
    /// change is stored.
    #[error("cannot {doing}")]
    Sqlite {
        /// What was attempted.
        doing: &'static str,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
}

/// An append did not happen; none of its records is stored.
///
/// The one exception is [`AppendError::Journal`] with [`JournalError::Sqlite`] inside: see there.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended meanwhile: read, and decide again.
    #[error("the loop's last record is number {found}, not {expected}")]
    Conflict {
        /// What the caller took for the last record.
        expected: u64,
        /// What is the last record.
        found: u64,
    },
    /// The lease of the caller was given to somebody else: stop.
    #[error("the lease was taken over by somebody else")]
    Fenced,
    /// The loop takes no more records.
    #[error("the loop is quarantined: {why}")]
    Quarantined {
        /// The reason that was given for the quarantine.
        why: String,
    },
    /// There is no room; the same append succeeds once there is.
    #[error("the disk is full")]
    DiskFull,
    /// The journal as a whole failed.
    #[error(transparent)]
    Journal(JournalError),
}

/// The records of a loop could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A record of this loop is damaged or missing. Other loops are not concerned.
    #[error("record {number} is corrupt: {why}")]
    Corrupt {
        /// The first record that is not what was appended.
        number: u64,
        /// How that shows.
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
            Some(error) if error.code == ErrorCode::DatabaseBusy => Self::Busy { doing },
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

/// Says what was attempted when `SQLite` fails.
pub(crate) trait During<T> {
    fn during(self, doing: &'static str) -> Result<T, JournalError>;
}

impl<T> During<T> for rusqlite::Result<T> {
    fn during(self, doing: &'static str) -> Result<T, JournalError> {
        self.map_err(|source| JournalError::sqlite(doing, source))
    }
}

/// `SQLite` says `FULL` for `ENOSPC` only: a spent quota or a file size limit shows as a failed
/// write, and a full disk under the shared index of the write-ahead log as a failed resize.
fn is_disk_full(error: ffi::Error) -> bool {
    let as_failed_write = [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE];
    error.code == ErrorCode::DiskFull || as_failed_write.contains(&error.extended_code)
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
                "cannot append: the journal is held by somebody else",
            ),
            (
                ffi::SQLITE_BUSY_SNAPSHOT,
                "cannot append: the journal is held by somebody else",
            ),
            (ffi::SQLITE_IOERR_READ, "cannot append"),
            (ffi::SQLITE_CORRUPT, "cannot append"),
        ] {
            let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let seen = Err::<(), _>(failure).during("append").unwrap_err();
            assert_eq!(seen.to_string(), expected, "code {code}");
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
