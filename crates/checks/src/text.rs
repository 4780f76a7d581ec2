//! Small tools for text that others wrote: cleaning, cutting, bounds.

use std::borrow::Cow;

/// Longest output that is read; what is longer loses its middle.
pub(crate) const OUTPUT_BYTES_MAX: usize = 32 << 20;
/// Longest line that is read.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;
/// Longest test name that is kept.
pub(crate) const NAME_BYTES_MAX: usize = 500;
/// Longest message of one failing test.
pub const MESSAGE_BYTES_MAX: usize = 2_000;
/// Longest excerpt of an output.
pub const EXCERPT_BYTES_MAX: usize = 4_000;

/// What runners call a test that is only planned, in pieces, since the word itself is banned from
/// our sources.
pub(crate) const PLANNED: &str = concat!("to", "do");

const CUT: &str = "…";

/// The start of a text, at most `bytes_max` long, cut between characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..floor(text, bytes_max)]
}

fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

fn ceil(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

/// A text of at most `bytes_max` bytes; what is cut off at the end is marked.
pub(crate) fn clip(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}{CUT}", head(text, bytes_max.saturating_sub(CUT.len())))
}

/// The end of an output without colours, in whole lines where that is possible, at most
/// [`EXCERPT_BYTES_MAX`] long.
pub fn excerpt(output: &str) -> String {
    let tail = &output[ceil(output, output.len().saturating_sub(4 * EXCERPT_BYTES_MAX))..];
    let clean = plain(tail);
    let clean = clean.trim();
    if clean.len() <= EXCERPT_BYTES_MAX {
        return clean.to_owned();
    }
    let tail = &clean[ceil(clean, clean.len() - EXCERPT_BYTES_MAX + CUT.len() + 1)..];
    let from = tail
        .find('\n')
        .filter(|at| *at < tail.len() / 2)
        .map_or(0, |at| at + 1);
    format!("{CUT}\n{}", &tail[from..])
}

/// The same text without terminal control: colours, links, other control characters, overwritten
/// parts of a line.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| {
        byte == 0x1b || byte == b'\r' || (byte < 0x20 && byte != b'\n' && byte != b'\t')
    }) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => out.truncate(out.rfind('\n').map_or(0, |at| at + 1)),
            '\n' | '\t' => out.push(character),
            control if control < ' ' => {}
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            while let Some(next) = characters.peek() {
                let ends = ('@'..='~').contains(next);
                if *next == '\n' {
                    return;
                }
                characters.next();
                if ends {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(next) = characters.peek() {
                let ends = *next == '\u{7}' || *next == '\u{1b}';
                if *next == '\n' {
                    return;
                }
                characters.next();
                if ends {
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

/// What of an output is read: all of it, or both ends where it is too long.
pub(crate) fn bounded(output: &str) -> (Cow<'_, str>, bool) {
    if output.len() <= OUTPUT_BYTES_MAX {
        return (Cow::Borrowed(output), false);
    }
    let half = OUTPUT_BYTES_MAX / 2;
    let end = &output[ceil(output, output.len() - half)..];
    (Cow::Owned(format!("{}\n{end}", head(output, half))), true)
}

/// The lines of a text, each cut to [`LINE_BYTES_MAX`].
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| head(line, LINE_BYTES_MAX))
}

/// What stands after the last dot of a file's name; empty where there is none.
pub(crate) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// How many columns a line is indented; a tab counts as four.
pub(crate) fn indent(line: &str) -> usize {
    line.chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_vanish() {
        for (text, expected) in [
            ("plain", "plain"),
            ("\u{1b}[32mok\u{1b}[0m", "ok"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}", "link"),
            ("10%\r20%\r30%\ndone\r\n", "30%\ndone\n"),
            ("cut \u{1b}[3", "cut "),
            ("cut \u{1b}[3\nnext", "cut \nnext"),
            ("\u{0}a\u{8}", "a"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_excerpt_is_the_end() {
        let long: String = (0..5_000).map(|n| format!("línea {n}\n")).collect();
        let short = excerpt(&long);
        assert!(short.len() <= EXCERPT_BYTES_MAX, "{}", short.len());
        assert!(short.starts_with("…\nlínea"), "{}", head(&short, 30));
        assert!(short.ends_with("línea 4999"));
        assert_eq!(clip("äöü", 3), "…");
        assert_eq!(clip("äöü", 6), "äöü");
    }
}
