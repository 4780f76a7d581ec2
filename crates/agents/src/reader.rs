//! Reads a run's output while it comes, for whoever watches the agent.

use crate::activity::Activity;
use crate::kind::Kind;
use crate::lines::{Line, Lines};
use crate::parser::{Dialect, take};
use crate::record::Record;

/// Reads a run's standard output while it comes. Its memory is bounded whatever the output is, and
/// how the bytes are cut makes no difference.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    /// None for a program that prints plain text.
    dialect: Option<Box<dyn Dialect>>,
    record: Record,
}

impl Reader {
    /// Makes a reader for one run of a CLI.
    pub fn new(kind: Kind) -> Self {
        Self {
            lines: Lines::default(),
            dialect: kind.dialect(),
            record: Record::telling(),
        }
    }

    /// Reads the next bytes. A line that is not whole yet waits for its end.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Activity> {
        let (dialect, record) = (&mut self.dialect, &mut self.record);
        self.lines
            .push(bytes, |line| read(line, dialect.as_deref_mut(), record));
        self.record.take_activities()
    }

    /// Says whether the agent has done the same again and again, so that it will not end by itself.
    pub fn goes_round(&self) -> bool {
        self.record.rounds.is_too_many()
    }

    /// Reads what was left when the output ended.
    pub fn finish(mut self) -> Vec<Activity> {
        let (dialect, record) = (&mut self.dialect, &mut self.record);
        self.lines
            .finish(|line| read(line, dialect.as_deref_mut(), record));
        self.record.say_the_rest();
        self.record.take_activities()
    }
}

fn read(line: Line<'_>, dialect: Option<&mut (dyn Dialect + 'static)>, record: &mut Record) {
    match (dialect, line) {
        (Some(dialect), line) => take(line, dialect, record),
        (None, Line::Whole(bytes) | Line::TooLong(bytes)) => record.strange_line(bytes),
    }
}
