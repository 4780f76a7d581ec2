//! Reads the records of a loop and verifies that they are what was appended. What to do with a
//! damaged loop is not decided here.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::append::{Head, number};
use crate::checksum::{Checksum, START, checksum};
use crate::error::{During, JournalError, ReadError};
use crate::journal::Journal;
use crate::record::{NewRecord, Record};

const DOING: &str = "read records";
const MISSING: &str = "it is missing";

impl Journal {
    /// Reads the records of a loop with numbers greater than `after`, in order.
    ///
    /// All of them are verified: there is no gap up to the last number, and every checksum fits its
    /// record and the one before. Record `after` itself is trusted, because an earlier read has
    /// verified it. The result is empty if the loop is unknown or has no record after `after`.
    pub fn read(&self, loop_id: &str, after: u64) -> Result<Vec<Record>, ReadError> {
        self.view(DOING, |transaction| {
            let head = Head::find(transaction, loop_id)?;
            if after > head.last {
                return Ok(Vec::new());
            }
            let mut chain = Chain {
                loop_id,
                last: after,
                checksum: checksum_of(transaction, loop_id, after)?,
                records: Vec::new(),
            };
            chain.read_rest(transaction)?;
            chain.finish(&head)
        })
    }
}

/// The records that have been verified so far.
struct Chain<'a> {
    loop_id: &'a str,
    last: u64,
    checksum: Checksum,
    records: Vec<Record>,
}

impl Chain<'_> {
    fn read_rest(&mut self, transaction: &Transaction<'_>) -> Result<(), ReadError> {
        let sql = "SELECT number, at_ms, kind, body, checksum FROM records
            WHERE loop_id = ?1 AND number > ?2 ORDER BY number";
        let mut statement = transaction.prepare(sql).during(DOING)?;
        let mut rows = statement
            .query(params![self.loop_id, self.last.cast_signed()])
            .during(DOING)?;
        loop {
            match rows.next() {
                Ok(Some(row)) => self.push(row)?,
                Ok(None) => return Ok(()),
                // A page that `SQLite` cannot read is damage to the record that should come next,
                // and hence to this loop only. It must not stop the other loops.
                Err(error)
                    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) =>
                {
                    return Err(corrupt(
                        self.last + 1,
                        "the file is damaged where it stands",
                    ));
                }
                Err(error) => return Err(JournalError::sqlite(DOING, error).into()),
            }
        }
    }

    /// Verifies the next record and adds it.
    fn push(&mut self, row: &Row<'_>) -> Result<(), ReadError> {
        let expected = self.last + 1;
        let Ok((record, stored)) = parse_row(row) else {
            return Err(corrupt(expected, "its content is not of the right type"));
        };
        if record.number != expected {
            return Err(corrupt(expected, MISSING));
        }
        let content = NewRecord {
            at_ms: record.at_ms,
            kind: &record.kind,
            body: &record.body,
        };
        if checksum(self.loop_id, expected, &content, &self.checksum) != stored {
            return Err(corrupt(
                expected,
                "its checksum fits neither its content nor the record before it",
            ));
        }
        self.last = expected;
        self.checksum = stored;
        self.records.push(record);
        Ok(())
    }

    /// Compares the last record with the loop's head. A record that is missing at the end leaves no
    /// gap, so only the head can tell.
    fn finish(self, head: &Head) -> Result<Vec<Record>, ReadError> {
        if self.last < head.last {
            return Err(corrupt(self.last + 1, MISSING));
        }
        if self.last > head.last {
            return Err(corrupt(
                head.last + 1,
                "it stands after the loop's last record",
            ));
        }
        if self.checksum != head.checksum {
            return Err(corrupt(
                self.last,
                "it is not the record that was appended last",
            ));
        }
        Ok(self.records)
    }
}

/// Reads one row. It also fails on text that is not UTF-8, which a flipped bit can cause.
fn parse_row(row: &Row<'_>) -> rusqlite::Result<(Record, Checksum)> {
    let number = number(row.get(0)?);
    Ok((
        Record {
            number,
            at_ms: row.get(1)?,
            kind: row.get(2)?,
            body: row.get(3)?,
        },
        row.get(4)?,
    ))
}

/// The checksum of a record, on which the next one builds; [`START`] for number 0.
fn checksum_of(
    transaction: &Transaction<'_>,
    loop_id: &str,
    number: u64,
) -> Result<Checksum, ReadError> {
    if number == 0 {
        return Ok(START);
    }
    let sql = "SELECT checksum FROM records WHERE loop_id = ?1 AND number = ?2";
    let found = transaction.query_row(sql, params![loop_id, number.cast_signed()], |row| {
        row.get(0)
    });
    found
        .optional()
        .during(DOING)?
        .ok_or_else(|| corrupt(number, MISSING))
}

fn corrupt(number: u64, why: &str) -> ReadError {
    ReadError::Corrupt {
        number,
        why: why.to_owned(),
    }
}
