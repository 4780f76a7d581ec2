//! Appends records. This is the only way to create one; nothing here changes or deletes any.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::checksum::{Checksum, START, checksum};
use crate::error::{AppendError, During, JournalError};
use crate::journal::Journal;
use crate::lease::{self, Fence};
use crate::loops;
use crate::record::NewRecord;

const DOING: &str = "append";

impl Journal {
    /// Appends either all of `records` or none, and returns the number of the loop's last record
    /// afterwards.
    ///
    /// `expected` is the number of the last record that the caller knows (0 if none). If the loop
    /// has more records by now, the result is [`AppendError::Conflict`]. With a fence, the caller
    /// must also still have the lease. If several errors apply, the fence is reported first and the
    /// conflict last.
    ///
    /// Once this returns `Ok`, the records survive a crash and a power cut.
    pub fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: Option<&Fence>,
        records: &[NewRecord<'_>],
    ) -> Result<u64, AppendError> {
        self.write(DOING, |transaction| {
            // Checked in the transaction that writes, or the lease could change hands in between.
            if let Some(fence) = fence
                && !lease::is_newest(transaction, fence)?
            {
                return Err(AppendError::Fenced);
            }
            let head = Head::find(transaction, loop_id)?;
            if let Some(why) = head.quarantine {
                return Err(AppendError::Quarantined { why });
            }
            if head.last != expected {
                return Err(AppendError::Conflict {
                    expected,
                    found: head.last,
                });
            }
            Ok(insert(transaction, loop_id, (head.last, head.checksum), records).during(DOING)?)
        })
    }

    /// Returns the number of the loop's last record, 0 if it has none.
    pub fn last(&self, loop_id: &str) -> Result<u64, JournalError> {
        self.view("read the last number", |transaction| {
            Ok(Head::find(transaction, loop_id)?.last)
        })
    }
}

/// The end of a loop, and whether it accepts more records.
pub(crate) struct Head {
    pub(crate) last: u64,
    pub(crate) checksum: Checksum,
    quarantine: Option<String>,
}

impl Head {
    /// Reads the head of a loop. An unknown loop has one too, before its first record.
    pub(crate) fn find(transaction: &Transaction<'_>, loop_id: &str) -> Result<Self, JournalError> {
        let sql = "SELECT last, head, quarantine FROM loops WHERE loop_id = ?1";
        let found = transaction.query_row(sql, [loop_id], |row| {
            let last = number(row.get(0)?);
            Ok(Self {
                last,
                checksum: row.get(1)?,
                quarantine: loops::optional_text(row, 2)?,
            })
        });
        let unknown = Self {
            last: 0,
            checksum: START,
            quarantine: None,
        };
        Ok(found
            .optional()
            .during("find the end of the loop")?
            .unwrap_or(unknown))
    }
}

/// Converts a number from `SQLite`, which has signed integers only. The schema forbids negative
/// numbers, so one that is there is damage. It becomes 0, which no record has as its number.
pub(crate) fn number(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// Inserts records after `last`, whose checksum is `sum`.
fn insert(
    transaction: &Transaction<'_>,
    loop_id: &str,
    (mut last, mut sum): (u64, Checksum),
    records: &[NewRecord<'_>],
) -> rusqlite::Result<u64> {
    // All checksums are computed before anything is written, because the head holds the last one.
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        last += 1;
        sum = checksum(loop_id, last, record, &sum);
        rows.push((last.cast_signed(), record, sum));
    }
    let Some((signed_last, _, _)) = rows.last() else {
        return Ok(last);
    };
    let move_head = "INSERT INTO loops (loop_id, last, head) VALUES (?1, ?2, ?3)
        ON CONFLICT (loop_id) DO UPDATE SET last = excluded.last, head = excluded.head";
    // The head comes first: the foreign key of a record needs the row of its loop.
    transaction.execute(move_head, params![loop_id, signed_last, sum])?;
    let mut add = transaction.prepare(
        "INSERT INTO records (loop_id, number, at_ms, kind, body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (number, record, sum) in rows {
        add.execute(params![
            loop_id,
            number,
            record.at_ms,
            record.kind,
            record.body,
            sum
        ])?;
    }
    Ok(last)
}
