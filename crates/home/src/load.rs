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
        /// The record's number.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A record cannot follow the one before it.
    #[error("record {number} cannot be replayed: {source}")]
    Illegal {
        /// The record's number.
        number: u64,
        /// Why it cannot follow.
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
    let mut loaded: Option<Loaded> = None;
    for record in &read_after(journal, loop_id, 0)? {
        let stamped = event_of(record)?;
        loaded = Some(match loaded {
            None => Loaded {
                state: State::begin(&stamped).map_err(illegal(record.number))?,
                last: record.number,
                records: vec![stamped],
            },
            Some(loaded) => loaded.with(record.number, stamped)?,
        });
    }
    loaded.ok_or(LoadError::Missing)
}

impl Loaded {
    /// Takes in what was recorded since; says whether there was anything.
    pub fn catch_up(&mut self, journal: &Journal, loop_id: &str) -> Result<bool, LoadError> {
        let records = read_after(journal, loop_id, self.last)?;
        for record in &records {
            let stamped = event_of(record)?;
            self.state.apply(&stamped).map_err(illegal(record.number))?;
            self.last = record.number;
            self.records.push(stamped);
        }
        Ok(!records.is_empty())
    }

    fn with(mut self, number: u64, stamped: Stamped) -> Result<Self, LoadError> {
        // The old state is used up, which makes a long replay cheap.
        self.state = self.state.after(&stamped).map_err(illegal(number))?;
        self.last = number;
        self.records.push(stamped);
        Ok(self)
    }
}

fn illegal(number: u64) -> impl FnOnce(IllegalMove) -> LoadError {
    move |source| LoadError::Illegal { number, source }
}

fn read_after(journal: &Journal, loop_id: &str, after: u64) -> Result<Vec<Record>, LoadError> {
    journal.read(loop_id, after).map_err(LoadError::from)
}

impl From<ReadError> for LoadError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Corrupt { number, why } => Self::Damaged { number, why },
            ReadError::Journal(error) => Self::Journal(error),
        }
    }
}

/// The event that a record holds.
pub fn event_of(record: &Record) -> Result<Stamped, LoadError> {
    let damaged = |why: String| LoadError::Damaged {
        number: record.number,
        why,
    };
    let event: Event =
        serde_json::from_str(&record.body).map_err(|error| damaged(error.to_string()))?;
    if !kernel::may_be_filed_as(&event, &record.kind) {
        let (named, held) = (&record.kind, event.kind());
        return Err(damaged(format!("it is called `{named}` and says `{held}`")));
    }
    Ok(Stamped {
        at_ms: record.at_ms,
        event,
    })
}
