//! What is wrong with the configuration, drawn with its place. All complaints are said at once.

use std::fmt::Write as _;

use prd::{Position, Source};
use serde::Serialize;

use crate::failure::Failure;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    /// `FILE:LINE:COLUMN`, the variable's name, or the flag.
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// The source line with a marker under it; empty where there is no file.
    #[serde(skip)]
    pub(super) drawing: String,
    /// Where it is in its file, for the order.
    #[serde(skip)]
    pub(super) offset: usize,
    /// The unknown key that it is about.
    #[serde(skip)]
    pub(super) unknown: Option<Vec<String>>,
}

impl Complaint {
    /// A complaint about a place that is no file.
    pub(crate) fn about(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            place: place.into(),
            help: None,
            drawing: String::new(),
            offset: 0,
            unknown: None,
        }
    }

    /// A complaint about some bytes of a file.
    pub(crate) fn at(
        source: &Source,
        span: std::ops::Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let Position {
            line_number,
            column_number,
        } = source.position(span.start);
        let place = format!("{}:{line_number}:{column_number}", source.name());
        let drawing = draw(source, line_number, column_number, span.clone());
        Self {
            message: message.into(),
            place,
            help: None,
            drawing,
            offset: span.start,
            unknown: None,
        }
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n --> {}\n{}", self.message, self.place, self.drawing);
        if let Some(help) = &self.help {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "help: {help}");
        }
        out
    }
}

/// The line, and a marker under what is meant; a range over several lines is marked to the end of
/// its first.
fn draw(
    source: &Source,
    line_number: usize,
    column_number: usize,
    span: std::ops::Range<usize>,
) -> String {
    const MARKED_CHARS_MAX: usize = 60;
    const SHOWN_CHARS_MAX: usize = 120;
    let visible = |letter: char| if letter.is_control() { ' ' } else { letter };
    let line = source
        .text()
        .lines()
        .nth(line_number - 1)
        .unwrap_or_default();
    let marked = source
        .text()
        .get(span)
        .and_then(|text| text.lines().next())
        .unwrap_or_default();
    let width = marked.chars().count().clamp(1, MARKED_CHARS_MAX);
    let margin = " ".repeat(line_number.to_string().len());
    let shown: String = line.chars().take(SHOWN_CHARS_MAX).map(visible).collect();
    let carets = " ".repeat(column_number - 1) + &"^".repeat(width);
    format!("{margin} |\n{line_number} | {shown}\n{margin} | {carets}\n")
}

/// All complaints as one failure.
pub(crate) fn failure_of(complaints: &[Complaint]) -> Failure {
    let texts: Vec<String> = complaints.iter().map(Complaint::text).collect();
    let message = texts.join("error: ");
    Failure::bad_input(message.trim_end())
        .hint("`loopwright explain config` lists every table and key")
}
