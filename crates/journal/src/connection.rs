//! Opens `SQLite` in the one way the journal wants it. It knows settings, not tables.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::error::{During, JournalError};
use crate::files::{self, PATIENCE};
use crate::schema;

const DOING: &str = "open the journal";

/// Opens the journal in a folder, making or migrating what is there.
pub(crate) fn open(folder: &Path) -> Result<Connection, JournalError> {
    files::prepare_folder(folder)?;
    let turn = files::take_turn(folder)?;
    let path = files::create(folder, &turn)?;
    // Without `CREATE`, so that a file that vanished is not made anew with the mode of the umask.
    // Without SQLite's own mutex, since ours is around the connection.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).during(DOING)?;
    connection.busy_timeout(PATIENCE).during(DOING)?;
    // Before anything is changed: a newer program's file stays as it is.
    schema::refuse_newer(&connection)?;
    configure(&connection)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

/// `FULL` syncs the log at every commit, `NORMAL` would lose acknowledged records in a power cut.
/// `fullfsync` makes a sync on macOS reach the disk and not only its cache; elsewhere it does
/// nothing.
fn configure(connection: &Connection) -> Result<(), JournalError> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .during(DOING)?;
    if mode != "wal" {
        return Err(JournalError::NoWriteAheadLog { mode });
    }
    for (name, value) in [
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),
        ("foreign_keys", "ON"),
    ] {
        connection.pragma_update(None, name, value).during(DOING)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads every setting back, since `SQLite` takes a misspelt value without a word.
    #[test]
    fn the_settings_are_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(folder.path()).unwrap();
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
