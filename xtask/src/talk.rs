//! The two ways in which the tasks speak: talk goes to stderr, what was asked for goes to stdout.
//!
//! No colours and no levels: the programs that the tasks start have their own.

use std::fmt::Display;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result};

/// Writes one line of talk. A closed stderr must not fail a task, so the error is dropped.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Where the talk of a task goes: out at once, or kept while another task talks.
pub(crate) enum Talk {
    Live,
    Kept(String),
}

impl Talk {
    /// Says one line, or several at once.
    pub(crate) fn say(&mut self, line: impl Display) {
        match self {
            Self::Live => say(line),
            Self::Kept(text) => text.push_str(&format!("{line}\n")),
        }
    }
}

/// Writes what the task was asked for.
pub(crate) fn hand_out(text: impl Display) -> Result<()> {
    writeln!(io::stdout().lock(), "{text}").context("cannot write to stdout")
}
