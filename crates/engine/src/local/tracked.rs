//! A loop as the worker follows it: where it stands and how far the log was read. The history is not
//! kept, since an order says all that its execution needs.

use home::{LoadError, RunName, event_of};
use kernel::{RunKey, Stamped, State};

use crate::ports::Log;

/// A loop that is not over.
#[derive(Debug, Clone)]
pub struct Tracked {
    /// Where it stands.
    pub state: State,
    /// The number of its last record.
    pub last: u64,
}

impl Tracked {
    /// Reads a loop from its first record on.
    pub(crate) fn load(log: &dyn Log, loop_id: &str) -> Result<Self, LoadError> {
        let mut state: Option<State> = None;
        let mut last = 0;
        for record in &log.read(loop_id, 0)? {
            let stamped = event_of(record)?;
            let next = match state {
                None => State::begin(&stamped),
                Some(state) => state.after(&stamped),
            };
            last = record.number;
            state = Some(next.map_err(|source| LoadError::Illegal {
                number: last,
                source,
            })?);
        }
        let state = state.ok_or(LoadError::Missing)?;
        Ok(Self { state, last })
    }

    /// Takes in what was recorded since.
    pub(crate) fn catch_up(&mut self, log: &dyn Log, loop_id: &str) -> Result<(), LoadError> {
        for record in &log.read(loop_id, self.last)? {
            let stamped: Stamped = event_of(record)?;
            self.state
                .apply(&stamped)
                .map_err(|source| LoadError::Illegal {
                    number: record.number,
                    source,
                })?;
            self.last = record.number;
        }
        Ok(())
    }

    /// Whether it is over and owes nothing.
    pub(crate) fn is_settled(&self) -> bool {
        self.state.ended().is_some() && !self.state.owes_publishing()
    }

    /// The names of the runs whose files are still needed: every try of the attempts that are under
    /// way, since what an author made is used until the attempt is over.
    pub(crate) fn needed_runs(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (at, story) in self.state.stories().iter().enumerate() {
            let Some(attempt) = story.attempt() else {
                continue;
            };
            for (stage, last) in &attempt.tries {
                for try_number in 1..=last.number {
                    let run = RunKey {
                        story: story.spec.id.clone(),
                        attempt: attempt.number,
                        stage: *stage,
                        try_number,
                    };
                    let name = RunName::numbered(at + 1, &run);
                    names.push(name.as_str().to_owned());
                }
            }
        }
        names
    }
}
