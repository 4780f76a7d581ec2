//! Check boxes: where the mark is, and what it means.

use std::ops::Range;

use crate::story::StoryState;

/// A check box in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckBox {
    /// The bytes between the brackets.
    pub(super) mark: Range<usize>,
    /// The offset after the closing bracket.
    pub(super) end: usize,
    pub(super) state: StoryState,
}

impl CheckBox {
    pub(super) fn moved(self, by: usize) -> Self {
        Self {
            mark: self.mark.start + by..self.mark.end + by,
            end: self.end + by,
            state: self.state,
        }
    }

    pub(super) fn is_ticked(&self) -> bool {
        self.state == StoryState::Passed
    }
}

/// The check box that a text begins with. It may be bold, or have its brackets escaped, as some
/// programs export them.
pub(super) fn leading(text: &str) -> Option<CheckBox> {
    let bold = if text.starts_with("**") { 2 } else { 0 };
    let rest = &text[bold..];
    let open = ["[", "\\["].iter().find(|open| rest.starts_with(**open))?;
    let inside = bold + open.len();
    let (length, state) = mark(&text[inside..])?;
    let after = &text[inside + length..];
    let close = ["]", "\\]"]
        .iter()
        .find(|close| after.starts_with(**close))?;
    let end = inside + length + close.len();
    // `[x](address)`, `[x][name]` and `[x]: address` are links.
    let is_link = text[end..].starts_with(['(', '[', ':']);
    (!is_link).then(|| CheckBox {
        mark: inside..inside + length,
        end,
        state,
    })
}

/// The check box at the end of a heading, behind a blank.
pub(super) fn trailing(text: &str) -> Option<CheckBox> {
    let open = text.trim_end().rfind('[')?;
    let found = leading(&text[open..])?.moved(open);
    let alone = text[found.end..].trim().is_empty();
    let apart = text[..open].ends_with([' ', '\t']);
    (alone && apart).then_some(found)
}

/// The length and the meaning of the mark that a text begins with, up to the closing bracket.
fn mark(text: &str) -> Option<(usize, StoryState)> {
    let mut letters = text.chars();
    let letter = letters.next()?;
    // An emoji may be followed by the selector of its coloured form.
    let selector = letters.next().filter(|c| *c == '\u{FE0F}');
    let length = letter.len_utf8() + selector.map_or(0, char::len_utf8);
    let state = match letter {
        ' ' | '\t' | '\u{A0}' | '\u{3000}' => StoryState::Open,
        'x' | 'X' | 'v' | 'V' | '✅' | '✓' | '✔' | '☑' | '√' | 'х' | 'Х' => {
            StoryState::Passed
        }
        // In progress, partly done, dropped, put off, important, in question, not done: people mean
        // different things by these, and all agree that it is not done.
        '-' | '~' | '!' | '/' | '\\' | '>' | '<' | '?' | '.' | 'o' | 'O' | '*' | '+' | '='
        | '❌' | '✗' | '⏳' | '🔄' | '🚧' | '⏸' | '⏭' | '⬜' | '🟡' => {
            StoryState::Open
        }
        _ => return None,
    };
    Some((length, state))
}

/// Says whether a letter is a sign for done, as headings have them.
pub(super) fn is_done_sign(letter: char) -> bool {
    matches!(letter, '✅' | '☑' | '✔' | '✓')
}
