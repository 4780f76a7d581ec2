//! Opens the `SQLite` database with the settings that the journal needs. It knows no tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{During, JournalError};
use crate::files;
use crate::schema;

const DOING: &str = "open the journal";

/// Opens the journal in a folder; creates or migrates it if needed. Nothing waits longer than
/// `wait_max` for other processes.
pub(crate) fn open(folder: &Path, wait_max: Duration) -> Result<Connection, JournalError> {
    files::prepare_folder(folder)?;
    // Held until this function returns, which covers the switch to WAL and the migration.
    let lock = files::lock_for_open(folder, wait_max)?;
    let path = files::create(folder, &lock)?;
    // Without `CREATE`, so that `SQLite` does not recreate a vanished file with the mode of the
    // umask. Without the mutex of `SQLite`, since the connection is behind ours.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).during(DOING)?;
    connection.busy_timeout(wait_max).during(DOING)?;
    // This comes before any change, so that the file of a newer program is not touched.
    schema::refuse_newer(&connection)?;
    configure(&connection)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

/// Opens a journal without a file.
pub(crate) fn in_memory() -> Result<Connection, JournalError> {
    let mut connection = Connection::open_in_memory().during(DOING)?;
    connection
        .pragma_update(None, "foreign_keys", "ON")
        .during(DOING)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<(), JournalError> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .during(DOING)?;
    // `SQLite` reports a failed switch by answering with the old mode, not with an error.
    if mode != "wal" {
        return Err(JournalError::NoWriteAheadLog { mode });
    }
    for (name, value) in [
        // Syncs the log at every commit. `NORMAL` could lose acknowledged records in a power cut.
        ("synchronous", "FULL"),
        // On macOS, makes a sync reach the disk and not only its cache; elsewhere no effect.
        ("fullfsync", "ON"),
        // Off by default, per connection.
        ("foreign_keys", "ON"),
    ] {
        connection.pragma_update(None, name, value).during(DOING)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads every setting back, because `SQLite` silently accepts a misspelt value.
    #[test]
    fn the_settings_are_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path(), files::WAIT_MAX).unwrap();
        for (name, expected) in [
            ("synchronous", 2),
            ("fullfsync", 1),
            ("foreign_keys", 1),
            ("busy_timeout", 10_000),
            ("user_version", 1),
        ] {
            let found: i64 = connection
                .pragma_query_value(None, name, |row| row.get(0))
                .unwrap();
            assert_eq!(found, expected, "{name}");
        }
        let mode: String = connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
    }
}
