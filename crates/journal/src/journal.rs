//! The open journal and how its connection is used. What is read and written is in the modules for
//! it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection;
use crate::error::{During, JournalError};
use crate::schema;

/// An open journal: the file `journal.db` in a state folder, which other processes may have open as
/// well.
///
/// It can be shared between threads; they take turns.
#[derive(Debug)]
pub struct Journal {
    connection: Mutex<Connection>,
}

impl Journal {
    /// Opens the journal in `state_dir`, making the folder (mode 0700) and the files (mode 0600) if
    /// need be.
    ///
    /// An older file is migrated. A file with a newer schema is refused untouched.
    pub fn open(state_dir: &Path) -> Result<Self, JournalError> {
        connection::open(state_dir).map(|connection| Self {
            connection: Mutex::new(connection),
        })
    }

    /// Lets the file grow to `pages` pages at most through this connection, for tests of full
    /// disks.
    ///
    /// `u32::MAX` lifts the limit. A limit below the present size means the present size.
    pub fn limit_pages(&self, pages: u32) -> Result<(), JournalError> {
        self.lock()
            .pragma_update(None, "max_page_count", pages)
            .during("limit the pages")
    }

    /// Runs `work` in one write transaction: all of it is stored and synced, or nothing.
    ///
    /// The write lock is taken at the start. A transaction that reads first and then wants to write
    /// would fail at once if another process wrote in between, however long it is willing to wait.
    pub(crate) fn write<T, E: From<JournalError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction(TransactionBehavior::Immediate, doing, work)
    }

    /// Runs `work` on one unchanging view of the journal.
    pub(crate) fn view<T, E: From<JournalError>>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction(TransactionBehavior::Deferred, doing, work)
    }

    /// The version is asked for every time: a newer program may migrate the file while this one has
    /// it open.
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
        schema::refuse_newer(&transaction)?;
        let value = work(&transaction)?;
        transaction.commit().during(doing)?;
        Ok(value)
    }

    /// A thread that panicked with the lock in hand has rolled its transaction back, so the
    /// connection is sound.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
