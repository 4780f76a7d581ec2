//! The tables, as a list of migrations. A released migration must never be edited, because existing
//! files were made with it.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{During, JournalError};

/// The migration at index `n` leads from schema version `n` to `n + 1`.
///
/// `loops.last` and `loops.head` (number and checksum of the last record) look redundant, but
/// without them nobody could tell that the last record is missing. Loops and leases are small rows
/// that are looked up by name, so they need no row id. Records may be large, and `SQLite` handles
/// large rows badly in a table without row ids.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE loops (
        loop_id TEXT NOT NULL PRIMARY KEY,
        last INTEGER NOT NULL CHECK (last >= 0),
        head BLOB NOT NULL CHECK (length(head) = 32),
        quarantine TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE records (
        loop_id TEXT NOT NULL REFERENCES loops (loop_id) ON DELETE CASCADE,
        number INTEGER NOT NULL CHECK (number > 0),
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        checksum BLOB NOT NULL CHECK (length(checksum) = 32),
        PRIMARY KEY (loop_id, number)
    ) STRICT;
    CREATE TABLE leases (
        name TEXT NOT NULL PRIMARY KEY,
        token INTEGER NOT NULL CHECK (token > 0),
        owner TEXT,
        expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
"];

/// The newest schema version that this program can read and write.
#[expect(clippy::cast_possible_wrap, reason = "the list is short")]
const KNOWN: i64 = MIGRATIONS.len() as i64;

/// Migrates the file to the newest version, one migration per transaction.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), JournalError> {
    while version(connection)? < KNOWN {
        step(connection)?;
    }
    Ok(())
}

/// Fails if a newer program has written the file.
pub(crate) fn refuse_newer(connection: &Connection) -> Result<(), JournalError> {
    match version(connection)? {
        found if found > KNOWN => Err(JournalError::NewerSchema {
            found,
            known: KNOWN,
        }),
        _ => Ok(()),
    }
}

/// Applies one migration.
fn step(connection: &mut Connection) -> Result<(), JournalError> {
    const DOING: &str = "migrate the journal";
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .during(DOING)?;
    // Read again inside the transaction, because another process may have migrated meanwhile.
    let from = version(&transaction)?;
    if let Some(migration) = usize::try_from(from)
        .ok()
        .and_then(|index| MIGRATIONS.get(index))
    {
        transaction.execute_batch(migration).during(DOING)?;
        transaction
            .pragma_update(None, "user_version", from + 1)
            .during(DOING)?;
    }
    transaction.commit().during(DOING)
}

fn version(connection: &Connection) -> Result<i64, JournalError> {
    let found = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .during("read the schema version")?;
    // We never write a negative version. It counts as newer than all, so that the file is refused
    // and not migrated.
    Ok(if found < 0 { i64::MAX } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_accepted_or_refused() {
        for (found, accepted) in [
            (0, true),
            (1, true),
            (KNOWN, true),
            (KNOWN + 1, false),
            (900, false),
            (-1, false),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection
                .pragma_update(None, "user_version", found)
                .unwrap();
            assert_eq!(
                refuse_newer(&connection).is_ok(),
                accepted,
                "version {found}"
            );
        }
    }

    #[test]
    fn migrating_twice_is_migrating_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(version(&connection).unwrap(), KNOWN);
    }
}
