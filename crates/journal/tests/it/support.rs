//! A journal in its own scratch folder, and helpers to write and read it. Nothing here asserts what
//! a test is about.

use std::path::{Path, PathBuf};

use journal::{AppendError, Journal, NewRecord, Record};
use rusqlite::Connection;
use tempfile::TempDir;

/// A scratch folder that is removed when the test ends, with the state folder inside.
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.state_dir().join("journal.db")
    }

    pub(crate) fn open(&self) -> Journal {
        Journal::open(&self.state_dir()).unwrap()
    }

    /// Opens the database behind the journal's back, to damage it.
    pub(crate) fn damage(&self, sql: &str) {
        let connection = Connection::open(self.database()).unwrap();
        connection.execute_batch(sql).unwrap();
    }
}

pub(crate) fn open(state_dir: &Path) -> Journal {
    Journal::open(state_dir).unwrap()
}

/// Appends one record per body at the end of the loop.
pub(crate) fn append(
    journal: &Journal,
    loop_id: &str,
    bodies: &[&str],
) -> Result<u64, AppendError> {
    append_at(journal, loop_id, journal.last(loop_id).unwrap(), bodies)
}

pub(crate) fn append_at(
    journal: &Journal,
    loop_id: &str,
    expected: u64,
    bodies: &[&str],
) -> Result<u64, AppendError> {
    let records: Vec<_> = bodies
        .iter()
        .map(|body| NewRecord {
            at_ms: 7,
            kind: "Noted",
            body,
        })
        .collect();
    journal.append(loop_id, expected, None, &records)
}

pub(crate) fn bodies(journal: &Journal, loop_id: &str) -> Vec<String> {
    journal
        .read(loop_id, 0)
        .unwrap()
        .into_iter()
        .map(|record| record.body)
        .collect()
}

pub(crate) fn noted(number: u64, body: &str) -> Record {
    Record {
        number,
        at_ms: 7,
        kind: "Noted".to_owned(),
        body: body.to_owned(),
    }
}

/// Formats a result as one line, for tables of cases.
pub(crate) fn shown<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}
