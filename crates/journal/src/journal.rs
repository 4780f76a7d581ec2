//! The open journal, and the transactions that all other modules run in.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection;
use crate::error::{During, JournalError};
use crate::schema;

/// An open journal: the file `journal.db` in a state folder. Other processes may have it open too.
///
/// It can be shared between threads, which then take turns.
#[derive(Debug)]
pub struct Journal {
    connection: Mutex<Connection>,
}

impl Journal {
    /// Opens the journal in `state_dir`. Creates the folder (mode 0700) and the files (mode 0600)
    /// if they do not exist.
    ///
    /// A file with an older schema is migrated. One with a newer schema is refused and not touched.
    pub fn open(state_dir: &Path) -> Result<Self, JournalError> {
        connection::open(state_dir).map(|connection| Self {
            connection: Mutex::new(connection),
        })
    }

    /// A journal that lives in this process alone, for tests of what is built on it.
    pub fn in_memory() -> Result<Self, JournalError> {
        connection::in_memory().map(|connection| Self {
            connection: Mutex::new(connection),
        })
    }

    /// A number that changes whenever another connection has changed the file. Asking costs next to
    /// nothing, so that whoever waits need not read the tables to see that nothing is new.
    pub fn change_mark(&self) -> Result<i64, JournalError> {
        self.lock()
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .during("look for changes")
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
        let mut connection = self.lock();
        let transaction = connection
            .transaction_with_behavior(behavior)
            .during(doing)?;
        // Checked in every transaction, because a newer program may migrate the file while this one
        // has it open.
        schema::refuse_newer(&transaction)?;
        // On an error the transaction is dropped, which rolls it back.
        let value = work(&transaction)?;
        transaction.commit().during(doing)?;
        Ok(value)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // If a thread panicked while it held the lock, its transaction was rolled back, so the
        // connection is still usable.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
