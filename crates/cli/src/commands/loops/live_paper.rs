//! The terminal that a live view is drawn on.

use unicode_width::UnicodeWidthChar as _;

use crate::words::{first_line, visible};

/// What the terminal is like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) colours: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Colour {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Magenta,
    Cyan,
}

impl Screen {
    pub(super) fn painted(self, colour: Colour, text: &str) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Bold => 1,
            Colour::Dim => 2,
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Magenta => 35,
            Colour::Cyan => 36,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// The first line of a text, no wider than the screen.
    pub(super) fn cut(self, text: &str) -> String {
        cut(text, self.columns)
    }

    /// A text at the left and another one at the right, in a line from which some columns are taken.
    pub(super) fn row(self, left: &str, right: &str, n_taken: usize) -> String {
        let columns = self.columns.saturating_sub(n_taken);
        let taken = width(right) + if right.is_empty() { 0 } else { 2 };
        // On a screen as narrow as that the text alone says more.
        if taken >= columns {
            return cut(left, columns);
        }
        let left = cut(left, columns - taken);
        let gap = columns - width(&left) - width(right);
        format!("{left}{:gap$}{right}", "").trim_end().to_owned()
    }
}

/// The first line of a text, made visible, in at most so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let line = first_line(&visible(text)).replace('\t', " ");
    if width(&line) <= columns {
        return line;
    }
    let Some(mut left) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut out = String::new();
    for letter in line.chars() {
        let Some(rest) = left.checked_sub(letter.width().unwrap_or(0)) else {
            break;
        };
        left = rest;
        out.push(letter);
    }
    out + "…"
}

pub(super) fn width(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}
