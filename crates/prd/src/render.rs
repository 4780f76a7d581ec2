//! Draws a diagnostic for a terminal: code, place, source line with a marker, help.
//!
//! A PRD may come from anybody, so control characters in text from files are replaced and long
//! lines are cut to a window. Colour never carries meaning alone.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

use crate::diagnostic::{Diagnostic, Severity, visible};
use crate::source::{Position, Source, Sources};

/// Whether to use terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Ansi,
}

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// The most characters of a source line that are shown.
const LINE_CHARS_MAX: usize = 100;

/// Draws a diagnostic as several lines with a final newline.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, paint: Paint) -> String {
    let colour = match diagnostic.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
    };
    let mut out = paint.wrap(
        colour,
        &format!("{}[{}]", diagnostic.severity.word(), diagnostic.code),
    );
    out.push_str(&paint.wrap("1", &format!(": {}", diagnostic.message)));
    out.push('\n');
    let margin = match diagnostic.at {
        Some(at) => sources.file(at).map_or(0, |source| {
            let ink = Ink { paint, colour };
            draw_place(&mut out, source, at.range(), &diagnostic.label, ink)
        }),
        None => 0,
    };
    let more: Vec<String> = diagnostic
        .more
        .iter()
        .map(|place| sources.place(*place))
        .collect();
    // Writing to a String cannot fail, here and below.
    if !more.is_empty() {
        let _ = writeln!(out, "{:margin$} = also at {}", "", more.join(", "));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{}: {help}", paint.wrap("1;36", "help"));
    }
    out
}

/// Draws a place in any text as a diagnostic of a PRD is drawn, without colours: name, line and column,
/// the source line, and a marker with a label below it. Configuration is shown like this too.
pub fn render_place(source: &Source, range: Range<usize>, label: &str) -> String {
    let mut out = String::new();
    let ink = Ink {
        paint: Paint::Plain,
        colour: "",
    };
    draw_place(&mut out, source, range, label, ink);
    out
}

/// What a drawing is drawn with: the colour is that of the marker.
#[derive(Clone, Copy)]
struct Ink<'a> {
    paint: Paint,
    colour: &'a str,
}

/// Draws the place, the source line and the marker. Returns the width of the line number.
fn draw_place(
    out: &mut String,
    source: &Source,
    range: Range<usize>,
    label: &str,
    Ink { paint, colour }: Ink<'_>,
) -> usize {
    let Position {
        line_number,
        column_number,
    } = source.position(range.start);
    let place = format!("{}:{line_number}:{column_number}", source.name());
    let line_number = line_number.to_string();
    let margin = line_number.len();
    let bar = paint.wrap("1;34", "|");
    let (line_start, line) = source.line_at(range.start);
    // A span may reach over the end of its line; the marker then covers only this line.
    let from = line.floor_char_boundary(range.start - line_start);
    let to = line
        .floor_char_boundary(range.end.saturating_sub(line_start))
        .max(from);
    let window = Window::around(line, from, to);
    let _ = writeln!(out, "{:margin$}{} {place}", "", paint.wrap("1;34", "-->"));
    let _ = writeln!(out, "{:margin$} {bar}", "");
    let _ = writeln!(
        out,
        "{} {bar} {}",
        paint.wrap("1;34", &line_number),
        window.text
    );
    let marker = format!("{} {label}", "^".repeat(window.marker_width));
    let _ = writeln!(
        out,
        "{:margin$} {bar} {:offset$}{}",
        "",
        "",
        paint.wrap(colour, marker.trim_end()),
        offset = window.marker_offset
    );
    let _ = writeln!(out, "{:margin$} {bar}", "");
    margin
}

/// The visible part of a line and the marker's position under it, in terminal columns.
struct Window {
    text: String,
    marker_offset: usize,
    marker_width: usize,
}

impl Window {
    /// Cuts a window around a marked range. It never walks further than the window is wide, because
    /// a minified file is one line of megabytes.
    fn around(line: &str, from: usize, to: usize) -> Self {
        // Show the line from its start if the marker still fits with some room after it, otherwise
        // only a little of what comes before it.
        const BEFORE_CHARS_MAX: usize = LINE_CHARS_MAX - 20;
        const BEFORE_CHARS_SHOWN: usize = 30;
        let back = |count: usize| {
            line[..from]
                .char_indices()
                .rev()
                .nth(count - 1)
                .map(|(at, _)| at)
        };
        let start = if back(BEFORE_CHARS_MAX + 1).is_some() {
            back(BEFORE_CHARS_SHOWN).unwrap_or(0)
        } else {
            0
        };
        let mut window = Self {
            text: String::new(),
            marker_offset: 0,
            marker_width: 0,
        };
        if start > 0 {
            window.push('…', Part::Before);
        }
        let mut shown = line[start..]
            .char_indices()
            .map(|(at, character)| (start + at, character));
        for (offset, character) in shown.by_ref().take(LINE_CHARS_MAX) {
            let part = match offset {
                offset if offset < from => Part::Before,
                offset if offset < to => Part::Marked,
                _ => Part::After,
            };
            window.push(character, part);
        }
        if shown.next().is_some() {
            window.push('…', Part::After);
        }
        // An empty span, such as the place of a missing comma, still needs a marker.
        window.marker_width = window.marker_width.max(1);
        window
    }

    fn push(&mut self, character: char, part: Part) {
        // A tab's width depends on its column, so it is shown as one space to keep the marker
        // aligned.
        let shown = if character == '\t' {
            ' '
        } else {
            visible(character)
        };
        let width = shown.width().unwrap_or(1);
        self.text.push(shown);
        match part {
            Part::Before => self.marker_offset += width,
            Part::Marked => self.marker_width += width,
            Part::After => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Part {
    Before,
    Marked,
    After,
}
