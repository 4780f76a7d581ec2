//! Reads a loop from the journal: its records, and the state that follows from them.

use journal::{Journal, ReadError, Record};
use kernel::{Event, IllegalMove, Stamped, State};

/// A loop as the journal has it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What follows from its records.
    pub state: State,
    /// The number of its last record.
    pub last: u64,
    /// The records themselves.
    pub records: Vec<Stamped>,
}

/// Why a loop cannot be read. It concerns this loop alone.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A record is damaged.
    #[error("record {number} is damaged: {why}")]
    Damaged {
        /// Which.
        number: u64,
        /// How.
        why: String,
    },
    /// A record cannot follow the one before it.
    #[error("record {number} cannot be replayed: {source}")]
    Illegal {
        /// Which.
        number: u64,
        /// Why.
        #[source]
        source: IllegalMove,
    },
    /// There is no such loop.
    #[error("there is no such loop")]
    Missing,
    /// The journal itself cannot be read.
    #[error("cannot read the journal")]
    Journal(#[source] journal::JournalError),
}

/// Reads a whole loop.
pub fn load(journal: &Journal, loop_id: &str) -> Result<Loaded, LoadError> {
    let records = read_after(journal, loop_id, 0)?;
    let mut stamped = Vec::with_capacity(records.len());
    let mut state: Option<State> = None;
    for record in &records {
        let event = parse(record)?;
        let next = match state.take() {
            None => State::begin(&event),
            Some(state) => state.after(&event),
        };
        state = Some(next.map_err(|source| LoadError::Illegal {
            number: record.number,
            source,
        })?);
        stamped.push(event);
    }
    let state = state.ok_or(LoadError::Missing)?;
    let last = records.last().map_or(0, |record| record.number);
    Ok(Loaded {
        state,
        last,
        records: stamped,
    })
}

impl Loaded {
    /// Takes in what was recorded since; says whether there was anything.
    pub(crate) fn catch_up(&mut self, journal: &Journal, loop_id: &str) -> Result<bool, LoadError> {
        let records = read_after(journal, loop_id, self.last)?;
        for record in &records {
            let event = parse(record)?;
            self.state
                .apply(&event)
                .map_err(|source| LoadError::Illegal {
                    number: record.number,
                    source,
                })?;
            self.last = record.number;
            self.records.push(event);
        }
        Ok(!records.is_empty())
    }
}

fn read_after(journal: &Journal, loop_id: &str, after: u64) -> Result<Vec<Record>, LoadError> {
    journal.read(loop_id, after).map_err(|error| match error {
        ReadError::Corrupt { number, why } => LoadError::Damaged { number, why },
        ReadError::Journal(error) => LoadError::Journal(error),
    })
}

fn parse(record: &Record) -> Result<Stamped, LoadError> {
    let event: Event = serde_json::from_str(&record.body).map_err(|error| LoadError::Damaged {
        number: record.number,
        why: error.to_string(),
    })?;
    if event.kind() != record.kind {
        let why = format!("it is called `{}` and says `{}`", record.kind, event.kind());
        return Err(LoadError::Damaged {
            number: record.number,
            why,
        });
    }
    Ok(Stamped {
        at_ms: record.at_ms,
        event,
    })
}
