//! Lists, quarantines and removes whole loops. No record is read here, so that a damaged one cannot
//! hide the other loops.

use rusqlite::{Row, params};

use crate::append::number;
use crate::checksum::START;
use crate::error::{During, JournalError};
use crate::journal::Journal;

/// One loop in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRow {
    /// The loop's id.
    pub loop_id: String,
    /// The number of its last record, 0 if it has none.
    pub last: u64,
    /// Why it is quarantined; `None` if it is not.
    pub quarantine: Option<String>,
}

impl Journal {
    /// Lists all loops, sorted by id.
    pub fn loops(&self) -> Result<Vec<LoopRow>, JournalError> {
        const DOING: &str = "list the loops";
        self.view(DOING, |transaction| {
            let sql = "SELECT loop_id, last, quarantine FROM loops ORDER BY loop_id";
            let mut statement = transaction.prepare(sql).during(DOING)?;
            let rows = statement.query_map([], loop_row).during(DOING)?;
            rows.collect::<rusqlite::Result<_>>().during(DOING)
        })
    }

    /// Makes a loop refuse all further records. Its records can still be read.
    ///
    /// The first reason is kept, because later ones are mostly its consequences. Only
    /// [`Journal::remove`] ends a quarantine.
    pub fn quarantine(&self, loop_id: &str, why: &str) -> Result<(), JournalError> {
        const DOING: &str = "quarantine the loop";
        self.write(DOING, |transaction| {
            let sql = "INSERT INTO loops (loop_id, last, head, quarantine) VALUES (?1, 0, ?2, ?3)
                ON CONFLICT (loop_id) DO UPDATE SET quarantine = coalesce(quarantine, excluded.quarantine)";
            transaction.execute(sql, params![loop_id, START, why]).during(DOING)?;
            Ok(())
        })
    }

    /// Removes a loop with all its records. Removing an unknown loop does nothing.
    pub fn remove(&self, loop_id: &str) -> Result<(), JournalError> {
        const DOING: &str = "remove the loop";
        self.write(DOING, |transaction| {
            // Not left to the cascade of the foreign key, so that records are removed even if the
            // row of their loop was lost to damage.
            transaction
                .execute("DELETE FROM records WHERE loop_id = ?1", [loop_id])
                .during(DOING)?;
            transaction
                .execute("DELETE FROM loops WHERE loop_id = ?1", [loop_id])
                .during(DOING)?;
            Ok(())
        })
    }
}

fn loop_row(row: &Row<'_>) -> rusqlite::Result<LoopRow> {
    let loop_id = optional_text(row, 0)?.unwrap_or_default();
    Ok(LoopRow {
        loop_id,
        last: number(row.get(1)?),
        quarantine: optional_text(row, 2)?,
    })
}

/// Reads text even if it is not UTF-8: a flipped bit in one row must not hide the others.
pub(crate) fn optional_text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let bytes = row.get_ref(column)?.as_bytes_or_null()?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
