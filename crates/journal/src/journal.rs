//! The open journal, and the transactions that all other modules run in.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior, ffi};

use crate::connection;
use crate::error::{During, JournalError};
use crate::files::WAIT_MAX;
use crate::log_guard::LogGuard;
use crate::schema;

/// An open journal: the file `journal.db` in a state folder. Other processes may have it open too.
///
/// It can be shared between threads, which then take turns.
#[derive(Debug)]
pub struct Journal {
    connection: Mutex<Connection>,
    /// Missing for a journal in memory.
    log: Option<LogGuard>,
}

impl Journal {
    /// Opens the journal in `state_dir`. Creates the folder (mode 0700) and the files (mode 0600)
    /// if they do not exist.
    ///
    /// A file with an older schema is migrated. One with a newer schema is refused and not touched.
    pub fn open(state_dir: &Path) -> Result<Self, JournalError> {
        Self::open_within(state_dir, WAIT_MAX)
    }

    /// The same, for whoever wants to know sooner that somebody else holds the journal: no call waits
    /// longer than this for it.
    pub fn open_within(state_dir: &Path, wait_max: Duration) -> Result<Self, JournalError> {
        connection::open(state_dir, wait_max).map(|connection| Self {
            connection: Mutex::new(connection),
            log: Some(LogGuard::of(state_dir)),
        })
    }

    /// A journal that lives in this process alone, for tests of what is built on it.
    pub fn in_memory() -> Result<Self, JournalError> {
        connection::in_memory().map(|connection| Self {
            connection: Mutex::new(connection),
            log: None,
        })
    }

    /// A number that changes whenever another connection has changed the file. Asking costs next to
    /// nothing, so that whoever waits need not read the tables to see that nothing is new.
    pub fn change_mark(&self) -> Result<i64, JournalError> {
        self.whole("look for changes")?
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .during("look for changes")
    }

    /// Looks whether the files hold together. It reads all of them.
    pub fn check(&self) -> Result<(), JournalError> {
        const DOING: &str = "check the journal";
        let found: String = self
            .whole(DOING)?
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .during(DOING)?;
        if found == "ok" {
            return Ok(());
        }
        let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
        let source = rusqlite::Error::SqliteFailure(corrupt, Some(found));
        Err(JournalError::sqlite(DOING, source))
    }

    /// Holds the journal while `work` is done, so that nobody else can write, to test what they do.
    pub fn hold<T>(&self, work: impl FnOnce() -> T) -> Result<T, JournalError> {
        self.write("hold the journal", |_| Ok(work()))
    }

    /// Limits the size of the file to `pages` pages for this connection, to test full disks.
    ///
    /// `u32::MAX` lifts the limit. A limit below the current size means the current size.
    pub fn limit_pages(&self, pages: u32) -> Result<(), JournalError> {
        self.lock()
            .pragma_update(None, "max_page_count", pages)
            .during("limit the pages")
    }

    /// Runs `work` in one write transaction: either all of it is stored and synced, or nothing.
    ///
    /// The write lock is taken at the start. A transaction that reads before it writes would fail
    /// with `SQLITE_BUSY` if another process wrote in between, whatever the busy timeout is.
    pub(crate) fn write<T, E: From<JournalError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction(TransactionBehavior::Immediate, doing, work)
    }

    /// Runs `work` on one consistent snapshot of the journal.
    pub(crate) fn view<T, E: From<JournalError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction(TransactionBehavior::Deferred, doing, work)
    }

    fn transaction<T, E: From<JournalError>>(
        &self,
        behavior: TransactionBehavior,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.whole(doing)?;
        let transaction = connection
            .transaction_with_behavior(behavior)
            .during(doing)?;
        // Checked in every transaction, because a newer program may migrate the file while this one
        // has it open.
        schema::refuse_newer(&transaction)?;
        // On an error the transaction is dropped, which rolls it back.
        let value = work(&transaction)?;
        transaction.commit().during(doing)?;
        if let Some(log) = &self.log {
            log.note();
        }
        Ok(value)
    }

    /// The connection, unless the write-ahead log was cut under us.
    fn whole(&self, doing: &'static str) -> Result<MutexGuard<'_, Connection>, JournalError> {
        let connection = self.lock();
        if self.log.as_ref().is_none_or(LogGuard::is_whole) {
            return Ok(connection);
        }
        // Closing must not copy pages from a log that has holes into the database.
        let off = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(off, true).during(doing)?;
        let cut = ffi::Error::new(ffi::SQLITE_IOERR_SHORT_READ);
        let why = "its write-ahead log is shorter than it was".to_owned();
        let source = rusqlite::Error::SqliteFailure(cut, Some(why));
        Err(JournalError::sqlite(doing, source))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // If a thread panicked while it held the lock, its transaction was rolled back, so the
        // connection is still usable.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
