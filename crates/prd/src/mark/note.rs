//! The note that asks a person to look at a story, in the story's own `notes` field.
//!
//! It is the last line of the notes, so that it can be found and taken away again, and so that the
//! author's words before it stay as they are, byte by byte.

use crate::canonical::write_quoted;

/// What the note begins with.
pub(super) const NEEDS_REVIEW: &str = "NEEDS HUMAN REVIEW";

/// Notes with a request for review, or without one, in place of the one that they have.
pub(super) fn with_review(notes: &str, reason: Option<&str>) -> String {
    join(own_words(notes, "\n"), "\n", reason)
}

/// The same for a text between double quotes, where a line break is written `\n`. All that was
/// there stays in the author's own spelling.
pub(super) fn literal_with_review(inside: &str, reason: Option<&str>) -> String {
    let escaped = reason.map(escaped);
    join(own_words(inside, r"\n"), r"\n", escaped.as_deref())
}

/// What may stand between double quotes, in JSON and in YAML.
pub(super) fn escaped(text: &str) -> String {
    let mut quoted = String::new();
    write_quoted(text, &mut quoted);
    quoted[1..quoted.len() - 1].to_owned()
}

fn own_words<'n>(notes: &'n str, line_break: &str) -> &'n str {
    let is_ours = |line: &str| line.starts_with(NEEDS_REVIEW);
    match notes.rsplit_once(line_break) {
        Some((before, last)) if is_ours(last) => before,
        None if is_ours(notes) => "",
        _ => notes,
    }
}

fn join(own: &str, line_break: &str, reason: Option<&str>) -> String {
    match reason {
        None => own.to_owned(),
        Some(reason) if own.is_empty() => format!("{NEEDS_REVIEW}: {reason}"),
        Some(reason) => format!("{own}{line_break}{NEEDS_REVIEW}: {reason}"),
    }
}
