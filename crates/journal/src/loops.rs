//! Lists, quarantines and removes whole loops. No record is read here, so that a damaged one cannot
//! hide the other loops.

use rusqlite::{OptionalExtension as _, Row, params};

use crate::append::number;
use crate::checksum::{Checksum, START};
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

/// A loop with the kind of its last record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopHead {
    /// The loop itself.
    pub row: LoopRow,
    /// What its last record is, which tells whether it is over without reading any.
    pub last_kind: Option<String>,
}

/// Stands for all records of a loop: two loops of one id with the same records have the same, and
/// every further record changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub(crate) Checksum);

impl Journal {
    /// Lists all loops with what stands for their records, sorted by id. No record is read.
    pub fn fingerprints(&self) -> Result<Vec<(LoopRow, Fingerprint)>, JournalError> {
        const DOING: &str = "list the loops";
        self.view(DOING, |transaction| {
            let sql = "SELECT loop_id, last, quarantine, head FROM loops ORDER BY loop_id";
            let mut statement = transaction.prepare(sql).during(DOING)?;
            let rows = statement.query_map([], |row| {
                // Damage to one row must not hide the others; nothing is ever remembered for this.
                let head = row.get(3).unwrap_or(START);
                Ok((loop_row(row)?, Fingerprint(head)))
            });
            let rows = rows.during(DOING)?;
            rows.collect::<rusqlite::Result<_>>().during(DOING)
        })
    }

    /// Lists all loops with the kind of their last record, sorted by id.
    pub fn heads(&self) -> Result<Vec<LoopHead>, JournalError> {
        const DOING: &str = "list the ends of the loops";
        self.view(DOING, |transaction| {
            let sql = "SELECT loops.loop_id, last, quarantine, kind FROM loops
                LEFT JOIN records ON records.loop_id = loops.loop_id AND number = last
                ORDER BY loops.loop_id";
            let mut statement = transaction.prepare(sql).during(DOING)?;
            let rows = statement.query_map([], |row| {
                Ok(LoopHead {
                    row: loop_row(row)?,
                    last_kind: optional_text(row, 3)?,
                })
            });
            let rows = rows.during(DOING)?;
            rows.collect::<rusqlite::Result<_>>().during(DOING)
        })
    }

    /// One loop; none if nobody has heard of it.
    pub fn row(&self, loop_id: &str) -> Result<Option<LoopRow>, JournalError> {
        const DOING: &str = "find the loop";
        self.view(DOING, |transaction| {
            let sql = "SELECT loop_id, last, quarantine FROM loops WHERE loop_id = ?1";
            let found = transaction.query_row(sql, [loop_id], loop_row);
            found.optional().during(DOING)
        })
    }

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
