//! A cache of what faces show of loops that are over: the file `cache.db` beside the journal.
//!
//! A loop that is over never changes, so replaying thousands of them for every list is waste. The
//! journal stays the only truth: the file may be deleted at any time, is not synced, and whatever
//! goes wrong with it means that there is no cache. Every entry has a checksum over all that it
//! depends on, so that a damaged, foreign or outdated entry is not found rather than shown.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};

use crate::checksum::{Checksum, update_text};
use crate::loops::{Fingerprint, LoopRow};

const FILE: &str = "cache.db";
const FILE_MODE: u32 = 0o600;

/// How long to wait for somebody who fills the cache. Reading the journal takes hardly longer.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// The short texts are in a table of their own, since they are often read all at once.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS briefs (
        loop_id TEXT NOT NULL PRIMARY KEY,
        fingerprint BLOB NOT NULL,
        at_ms INTEGER NOT NULL,
        brief TEXT NOT NULL,
        checksum BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS wholes (
        loop_id TEXT NOT NULL PRIMARY KEY,
        whole TEXT NOT NULL,
        checksum BLOB NOT NULL
    ) STRICT;
";

/// The open cache.
#[derive(Debug)]
pub struct Cache {
    connection: Connection,
    path: PathBuf,
    form: String,
}

/// What is remembered of one loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The loop's id.
    pub loop_id: String,
    /// The records that it was made from.
    pub fingerprint: Fingerprint,
    /// When the loop ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// What a line about the loop needs.
    pub brief: String,
    /// Everything that is shown of it.
    pub whole: String,
}

/// The short part of what is remembered of one loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// When the loop ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// What a line about the loop needs.
    pub brief: String,
}

/// What is remembered of all loops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recalled {
    /// One for each loop that was asked for; none for those that must be read.
    pub briefs: Vec<Option<Brief>>,
    /// Loops that are remembered and that nobody asked for: they are gone.
    pub gone: Vec<String>,
}

impl Cache {
    /// Opens the cache in a state folder, or makes it; none if that is not possible.
    ///
    /// `form` names the form of the texts. Whatever was remembered in another form is not found.
    pub fn open(state_dir: &Path, form: &str) -> Option<Self> {
        let path = state_dir.join(FILE);
        let connection = connect(&path).or_else(|error| {
            if is_busy(&error) {
                return Err(error);
            }
            // Not a database, or one with other tables: it holds nothing that is worth keeping.
            remove(&path);
            connect(&path)
        });
        Some(Self {
            connection: connection.ok()?,
            path,
            form: form.to_owned(),
        })
    }

    /// The short texts about all loops of the journal, which come sorted by id as
    /// [`Journal::fingerprints`](crate::Journal::fingerprints) gives them.
    pub fn recall(&self, loops: &[(LoopRow, Fingerprint)]) -> Recalled {
        let nothing = Recalled {
            briefs: vec![None; loops.len()],
            gone: Vec::new(),
        };
        let mut recalled = nothing.clone();
        match self.try_recall(loops, &mut recalled) {
            Ok(()) => recalled,
            Err(_) => nothing,
        }
    }

    /// The whole texts about some loops, each as it was made from exactly these records. What is not
    /// remembered is missing.
    pub fn wholes<'l>(
        &self,
        loops: impl IntoIterator<Item = (&'l str, Fingerprint)>,
    ) -> BTreeMap<String, String> {
        let sql = "SELECT whole, checksum FROM wholes WHERE loop_id = ?1";
        let Ok(mut statement) = self.connection.prepare(sql) else {
            return BTreeMap::new();
        };
        let find = |(loop_id, fingerprint): (&str, Fingerprint)| {
            let found = statement.query_row([loop_id], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Checksum>(1)?))
            });
            let (whole, stored) = found.ok()?;
            let expected = self.checksum(loop_id, &fingerprint, 0, &whole);
            (expected == stored).then(|| (loop_id.to_owned(), whole))
        };
        loops.into_iter().filter_map(find).collect()
    }

    /// Remembers some loops and forgets others. A cache that cannot be written is removed, so that
    /// the next one who wants it begins anew.
    pub fn update(&mut self, remembered: &[Remembered], forgotten: &[String]) {
        if remembered.is_empty() && forgotten.is_empty() {
            return;
        }
        if let Err(error) = self.try_update(remembered, forgotten)
            && !is_busy(&error)
        {
            remove(&self.path);
        }
    }

    /// Goes through both lists side by side: thousands of loops are looked up in one pass.
    fn try_recall(
        &self,
        loops: &[(LoopRow, Fingerprint)],
        recalled: &mut Recalled,
    ) -> rusqlite::Result<()> {
        let sql =
            "SELECT loop_id, fingerprint, at_ms, brief, checksum FROM briefs ORDER BY loop_id";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            // A row of other types is damage like any other.
            let Ok(loop_id) = row.get_ref(0)?.as_str() else {
                continue;
            };
            while loops
                .get(at)
                .is_some_and(|(row, _)| row.loop_id.as_str() < loop_id)
            {
                at += 1;
            }
            match loops.get(at).filter(|(row, _)| row.loop_id == loop_id) {
                Some((_, fingerprint)) => {
                    recalled.briefs[at] = self.brief_of(row, loop_id, fingerprint);
                }
                None => recalled.gone.push(loop_id.to_owned()),
            }
        }
        Ok(())
    }

    /// What a row says, if it is sound and about exactly these records.
    fn brief_of(&self, row: &Row<'_>, loop_id: &str, of: &Fingerprint) -> Option<Brief> {
        let stored = row.get_ref(1).ok()?.as_blob().ok()?;
        let at_ms = row.get(2).ok()?;
        let brief = row.get_ref(3).ok()?.as_str().ok()?;
        let checksum = row.get_ref(4).ok()?.as_blob().ok()?;
        let is_sound = stored == of.0 && checksum == self.checksum(loop_id, of, at_ms, brief);
        is_sound.then(|| Brief {
            at_ms,
            brief: brief.to_owned(),
        })
    }

    fn try_update(
        &mut self,
        remembered: &[Remembered],
        forgotten: &[String],
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        for loop_id in forgotten {
            transaction.execute("DELETE FROM briefs WHERE loop_id = ?1", [loop_id])?;
            transaction.execute("DELETE FROM wholes WHERE loop_id = ?1", [loop_id])?;
        }
        let mut put_brief =
            transaction.prepare("INSERT OR REPLACE INTO briefs VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let mut put_whole =
            transaction.prepare("INSERT OR REPLACE INTO wholes VALUES (?1, ?2, ?3)")?;
        for one in remembered {
            let Remembered {
                loop_id,
                fingerprint,
                at_ms,
                brief,
                whole,
            } = one;
            let of_brief = self.checksum(loop_id, fingerprint, *at_ms, brief);
            let of_whole = self.checksum(loop_id, fingerprint, 0, whole);
            put_brief.execute(params![loop_id, fingerprint.0, at_ms, brief, of_brief])?;
            put_whole.execute(params![loop_id, whole, of_whole])?;
        }
        drop((put_brief, put_whole));
        transaction.commit()
    }

    fn checksum(&self, loop_id: &str, of: &Fingerprint, at_ms: i64, text: &str) -> Checksum {
        let mut hasher = blake3::Hasher::new();
        update_text(&mut hasher, &self.form);
        update_text(&mut hasher, loop_id);
        hasher.update(&of.0);
        hasher.update(&at_ms.to_le_bytes());
        update_text(&mut hasher, text);
        *hasher.finalize().as_bytes()
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // We create the file, and not `SQLite`, so that it never exists with another mode. What cannot
    // be created cannot be opened either, and that is told below.
    let _ = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(FILE_MODE)
        .open(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(WAIT_MAX)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(TABLES)?;
    Ok(connection)
}

/// Whether somebody else is writing, which is no fault of the file.
fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Removes the files; whoever has them open goes on with what nobody else sees.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push("-journal");
    let _ = fs::remove_file(unfinished);
}
