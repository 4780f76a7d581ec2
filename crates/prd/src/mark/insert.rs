//! Adds one entry to a map in the author's text, in the style of the existing entries.

use super::edit::Edit;
use crate::node::{Entry, MapStyle, Origin, Value};
use crate::read::locate::Found;
use crate::source::Sources;

/// The edit that adds `key: value`, or `None` if the map has no place for it.
pub(super) fn entry(
    sources: &Sources,
    found: &Found<'_, '_>,
    key: &str,
    value: &str,
) -> Option<Edit> {
    let text = sources.file(found.node.span)?.text();
    let inside = found.node.span.range();
    // Merged entries are written elsewhere, so they say nothing about the style of this map.
    let own: Vec<&Entry<'_>> = found
        .map
        .entries
        .iter()
        .filter(|entry| entry.value.origin == Origin::Own || !entry.value.span.range().is_empty())
        .filter(|entry| inside.contains(&(entry.key_span.start as usize)))
        .collect();
    match found.map.style {
        MapStyle::Json | MapStyle::YamlFlow => {
            flow(text, inside.start, &own, found.map.style, key, value)
        }
        MapStyle::YamlBlock => block(text, &own, key, value),
        MapStyle::YamlPair => None,
    }
}

/// Adds to `{…}` after the last value, with the whitespace and line ends of the entry before.
fn flow(
    text: &str,
    open: usize,
    own: &[&Entry<'_>],
    style: MapStyle,
    key: &str,
    value: &str,
) -> Option<Edit> {
    let quoted = style == MapStyle::Json
        || own
            .last()
            .is_some_and(|last| text[last.key_span.range()].starts_with('"'));
    let key = if quoted {
        format!("\"{key}\"")
    } else {
        key.to_owned()
    };
    // An anchor or a tag may come before the brace, so look for it.
    let Some((last, before)) = own.split_last() else {
        let brace = open + text[open..].find('{')? + 1;
        return Some(Edit {
            range: brace..brace,
            text: format!("{key}: {value}"),
        });
    };
    let at = (last.value.span.end as usize).max(last.key_span.end as usize);
    let key_start = last.key_span.start as usize;
    let gap_from = before
        .last()
        .map_or(open + text[open..].find('{')? + 1, |entry| {
            entry.value.span.end as usize
        });
    let gap = text.get(gap_from..key_start)?;
    let blank = |gap: &str| {
        gap.chars()
            .all(|letter| letter.is_whitespace() || letter == ',')
    };
    // The gap before the last entry shows how the author separates entries. If a comment is in it,
    // use only the indentation.
    let separator = match gap {
        gap if gap.matches(',').count() == 1 && blank(gap) => gap.to_owned(),
        gap if !gap.contains(',') && blank(gap) && !gap.is_empty() => format!(",{gap}"),
        "" => ",".to_owned(),
        _ => format!(",{}", own_line(text, key_start)),
    };
    let colon = text.get(last.key_span.end as usize..last.value.span.start as usize)?;
    let plain_colon = colon.trim() == ":" && !colon.contains('\n');
    // YAML reads `key:value` without a space as one word, so a bare colon is not copied there.
    let colon = if plain_colon && !(style == MapStyle::YamlFlow && colon == ":") {
        colon
    } else {
        ": "
    };
    Some(Edit {
        range: at..at,
        text: format!("{separator}{key}{colon}{value}"),
    })
}

/// The line end and indentation of the line that an offset is in, or one space if the offset is not
/// the first thing on its line.
fn own_line(text: &str, at: usize) -> String {
    let line_start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let indentation = &text[line_start..at];
    if line_start == 0 || !indentation.trim().is_empty() {
        return " ".to_owned();
    }
    let line_end = if text[..line_start].ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    format!("{line_end}{indentation}")
}

/// Adds a line of its own: after the last one-line entry, or before the first entry if all of them
/// span lines.
fn block(text: &str, own: &[&Entry<'_>], key: &str, value: &str) -> Option<Edit> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let indentation = block_indentation(text, own.first()?)?;
    let line_ending = own.iter().rev().find_map(|entry| end_of_line(text, entry));
    if let Some(at) = line_ending {
        return Some(Edit {
            range: at..at,
            text: format!("{line_end}{indentation}{key}: {value}"),
        });
    }
    let at = own.first()?.key_span.start as usize;
    Some(Edit {
        range: at..at,
        text: format!("{key}: {value}{line_end}{indentation}"),
    })
}

/// The spaces that put a key under the given one. A list's dash counts as a space.
fn block_indentation(text: &str, entry: &Entry<'_>) -> Option<String> {
    let key_start = entry.key_span.start as usize;
    // A byte order mark takes no column.
    let line_start = text[..key_start]
        .rfind(['\n', '\u{FEFF}'])
        .map_or(0, |found| {
            found + text[found..].chars().next().map_or(1, char::len_utf8)
        });
    let before = &text[line_start..key_start];
    before
        .chars()
        .all(|letter| matches!(letter, ' ' | '-'))
        .then(|| " ".repeat(before.len()))
}

/// The offset at the end of a one-line entry's line, before the line break. `None` if the value
/// spans lines.
fn end_of_line(text: &str, entry: &Entry<'_>) -> Option<usize> {
    if matches!(entry.value.value, Value::List(_) | Value::Map(_))
        || entry.value.origin == Origin::Shared
    {
        return None;
    }
    let from = entry.key_span.start as usize;
    let value_end = (entry.value.span.end as usize).max(entry.key_span.end as usize);
    if text[from..value_end].contains('\n') {
        return None;
    }
    let rest = &text[value_end..];
    let line = rest[..rest.find('\n').unwrap_or(rest.len())].trim_end_matches('\r');
    let after_colon = if entry.value.span.range().is_empty() {
        line.trim_start().strip_prefix(':').unwrap_or(line)
    } else {
        line
    };
    // Only a comment may follow, and YAML wants whitespace before its `#`.
    let comment = after_colon.trim_start();
    (comment.is_empty() || (comment.starts_with('#') && comment.len() < after_colon.len()))
        .then(|| value_end + line.len())
}
