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

/// Writes what the task was asked for.
pub(crate) fn hand_out(text: impl Display) -> Result<()> {
    writeln!(io::stdout().lock(), "{text}").context("cannot write to stdout")
}
