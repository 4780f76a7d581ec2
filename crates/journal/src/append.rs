//! Appending: the only way a record comes into being. Nothing here changes or deletes one.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::checksum::{Checksum, START, checksum};
use crate::error::{AppendError, During, JournalError};
use crate::journal::Journal;
use crate::lease::{self, Fence};
use crate::loops;
use crate::record::NewRecord;

const DOING: &str = "append";

impl Journal {
    /// Appends all of `records` or none of them, and returns the number of the loop's last record
    /// afterwards.
    ///
    /// `expected` is the number of the last record that the caller knows (0: none); if the loop has
    /// moved on the answer is [`AppendError::Conflict`]. With a fence the append also needs the
    /// lease to be still the caller's. When several things stand in the way the fence is named
    /// first and the conflict last.
    ///
    /// Once this returns `Ok` the records survive a crash and a power cut.
    pub fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: Option<&Fence>,
        records: &[NewRecord<'_>],
    ) -> Result<u64, AppendError> {
        self.write(DOING, |transaction| {
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

    /// Says the number of the loop's last record, 0 if it has none.
    pub fn last(&self, loop_id: &str) -> Result<u64, JournalError> {
        self.view("read the last number", |transaction| {
            Ok(Head::find(transaction, loop_id)?.last)
        })
    }
}

/// Where a loop ends, and whether it may go on.
pub(crate) struct Head {
    pub(crate) last: u64,
    pub(crate) checksum: Checksum,
    quarantine: Option<String>,
}

impl Head {
    /// A loop that nobody has heard of ends before its first record.
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
        let unheard_of = Self {
            last: 0,
            checksum: START,
            quarantine: None,
        };
        Ok(found
            .optional()
            .during("find the end of the loop")?
            .unwrap_or(unheard_of))
    }
}

/// Turns a number of `SQLite` into ours; the schema lets no negative one in, so one that is there
/// is damage.
pub(crate) fn number(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// Moves the head before it adds the records: they refer to the row of their loop.
fn insert(
    transaction: &Transaction<'_>,
    loop_id: &str,
    (mut last, mut sum): (u64, Checksum),
    records: &[NewRecord<'_>],
) -> rusqlite::Result<u64> {
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
