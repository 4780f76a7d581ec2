//! What is wrong with the configuration, drawn with its place as the complaints about a PRD are. All
//! complaints are said at once.

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
    /// The place, and in a file also the source line with a marker under it.
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
        let place = place.into();
        Self {
            message: message.into(),
            drawing: format!(" --> {place}\n"),
            place,
            help: None,
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
        Self {
            message: message.into(),
            place,
            help: None,
            offset: span.start,
            drawing: prd::render_place(source, span, ""),
            unknown: None,
        }
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n{}", self.message, self.drawing);
        if let Some(help) = &self.help {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "help: {help}");
        }
        out
    }
}

/// All complaints as one failure.
pub(crate) fn failure_of(complaints: &[Complaint]) -> Failure {
    let texts: Vec<String> = complaints.iter().map(Complaint::text).collect();
    let message = texts.join("\nerror: ");
    Failure::bad_input(message.trim_end())
        .hint("`loopwright explain config` lists every table and key")
}
