//! Splits a Markdown ticket: YAML front matter between two `---` lines, and a body with headings
//! and lists.
//!
//! The YAML parser reads the front matter. This is not a Markdown parser: it knows headings, list
//! items, paragraphs and code fences, which is all that criteria are written with.

use std::ops::Range;

use super::Piece;
use crate::plan::check_box;
use crate::source::Span;

/// A ticket's two halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket<'s> {
    pub(crate) front: Piece<'s>,
    pub(crate) body: Piece<'s>,
}

/// The kind of a Markdown file.
#[derive(Debug)]
pub(crate) enum Split<'s> {
    Ticket(Ticket<'s>),
    /// The file opens with `---`, at this place, and the front matter is never closed.
    NeverClosed(Span),
    /// The file opens with something else: the place of its first line.
    NoFrontMatter(Span),
}

/// Splits a ticket into front matter and body.
pub(crate) fn split(piece: Piece<'_>) -> Split<'_> {
    let text = piece.text;
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    let first_span = piece.span(0, first_line.trim_end().len());
    if first_line.trim_end() != "---" {
        return Split::NoFrontMatter(first_span);
    }
    let front_from = first_line.len();
    let mut at = front_from;
    for line in text[front_from..].split_inclusive('\n') {
        let next = at + line.len();
        // YAML also ends a document with `...`.
        if matches!(line.trim_end(), "---" | "...") {
            let part = |from: usize, to: usize| Piece {
                text: &text[from..to],
                base: piece.base + from,
                ..piece
            };
            return Split::Ticket(Ticket {
                front: part(front_from, at),
                body: part(next, text.len()),
            });
        }
        at = next;
    }
    Split::NeverClosed(first_span)
}

/// The content of a ticket's body.
#[derive(Debug, Default)]
pub(crate) struct Body<'s> {
    /// The first heading of level 1.
    pub(crate) heading: Option<&'s str>,
    /// Each criterion: its text, and the offset of its first line in the file.
    pub(crate) criteria: Vec<(String, usize)>,
    /// Everything else.
    pub(crate) description: String,
    /// The check boxes of the acceptance criteria: where the mark is, and whether it is ticked.
    pub(crate) boxes: Vec<(Range<usize>, bool)>,
}

/// Reads the body: the text under a heading about acceptance holds the criteria, the rest is the
/// description.
pub(crate) fn read_body(body: Piece<'_>) -> Body<'_> {
    let mut out = Body::default();
    let mut at = body.base;
    // The level of the heading that started the criteria, while they last.
    let mut criteria_level = None;
    let mut inside_code = false;
    let mut inside_comment = false;
    let mut ticks = false;
    let mut item_open = false;
    for line in body.text.split_inclusive('\n') {
        let place = at;
        at += line.len();
        let bare = line.trim();
        // Comments mark sections for programs, as `<!-- AC:BEGIN -->` does, and say nothing.
        if !inside_code && (inside_comment || bare.starts_with("<!--")) {
            inside_comment = !bare.contains("-->");
            continue;
        }
        // Inside a code block a `#` is a comment, not a heading, and a `-` is no list item.
        let fences = bare.starts_with("```") || bare.starts_with("~~~");
        if !inside_code
            && !fences
            && let Some((level, heading)) = heading(bare)
        {
            item_open = false;
            // The first heading is the ticket's title, so it is not part of the description.
            if level == 1 && out.heading.is_none() {
                out.heading = Some(heading);
                continue;
            }
            // A deeper heading only divides the criteria; one of the same level or above ends them.
            if criteria_level.is_none_or(|open: usize| level <= open) {
                criteria_level = is_about_acceptance(heading).then_some(level);
                // What is done in every ticket alike is not this ticket's own.
                ticks = !heading.to_lowercase().contains("definition of done");
            }
            if criteria_level.is_some() {
                continue;
            }
        }
        inside_code ^= fences;
        if criteria_level.is_none() {
            out.description.push_str(line);
        } else if bare.is_empty() && !inside_code {
            item_open = false;
        } else {
            if ticks && !inside_code {
                out.boxes.extend(check_box(line, place));
            }
            add_criterion_line(
                &mut out.criteria,
                bare,
                place,
                inside_code || fences,
                &mut item_open,
            );
        }
    }
    out.description = out.description.trim().to_owned();
    // A box without words says nothing.
    out.criteria.retain(|(text, _)| !text.is_empty());
    out
}

/// Adds a line to the criteria: a list item or a new paragraph starts one, any other line and all
/// lines of a code block continue the last one.
fn add_criterion_line(
    criteria: &mut Vec<(String, usize)>,
    bare: &str,
    place: usize,
    fenced: bool,
    open: &mut bool,
) {
    let item = (!fenced).then(|| list_item(bare)).flatten();
    match (item, criteria.last_mut()) {
        (None, Some((last, _))) if *open || fenced => {
            // A box without words may have them in the next line.
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(bare);
        }
        (item, _) => criteria.push((item.unwrap_or(bare).to_owned(), place)),
    }
    *open = true;
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' '))
        .then(|| (level, text.trim().trim_end_matches('#').trim()))
}

/// Says whether a heading stands over criteria.
pub(crate) fn is_about_acceptance(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    ["acceptance", "criteria", "definition of done", "done when"]
        .iter()
        .any(|words| heading.contains(words))
}

/// The text of a list item without its bullet, number and check box. A ticked box says nothing
/// about the story's state: only its state fields do.
fn list_item(line: &str) -> Option<&str> {
    let text = ["- ", "* ", "+ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
        .or_else(|| numbered_item(line))?
        .trim();
    let unboxed = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark));
    // Backlog.md numbers its boxes: `- [ ] #1 text`.
    let numbered = unboxed.and_then(|text| text.trim_start().strip_prefix('#'));
    let text = unboxed.unwrap_or(text).trim();
    let rest = numbered.map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
    Some(
        rest.and_then(|text| text.strip_prefix(' '))
            .unwrap_or(text)
            .trim(),
    )
}

/// The text behind `1. ` or `1) `.
fn numbered_item(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|first: char| first.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_gives_criteria_from_lists_and_paragraphs() {
        let text = "# T-1: Title\nIntro.\n## Acceptance Criteria\n- [ ] one\n  goes on\n- two\n### Deeper\n1. three\n\nPlain words.\n```\n- code\n```\n## Notes\nrest\n";
        let body = read_body(Piece {
            file: 0,
            text,
            base: 0,
        });
        let criteria: Vec<&str> = body
            .criteria
            .iter()
            .map(|(text, _)| text.as_str())
            .collect();
        assert_eq!(
            criteria,
            ["one goes on", "two", "three", "Plain words. ``` - code ```"]
        );
        assert_eq!(
            (body.heading, body.description.as_str()),
            (Some("T-1: Title"), "Intro.\n## Notes\nrest")
        );
    }
}
