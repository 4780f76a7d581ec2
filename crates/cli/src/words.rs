//! Numbers and texts as people read them.

use home::DiskUse;

/// A size in the unit that fits it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut divisor: u64 = 1;
    while bytes / divisor >= 1024 && unit + 1 < UNITS.len() {
        (unit, divisor) = (unit + 1, divisor * 1024);
    }
    if unit == 0 {
        return format!("{bytes} B");
    }
    let tenths = bytes / (divisor / 1024) * 10 / 1024;
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A text of somebody else's as a terminal may show it: colours are left out, and whatever else would act
/// on the terminal is written as an escape.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let text = without_colours(text);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            hidden if hidden.is_control() => {
                let number = u32::from(hidden);
                shown.push_str(&format!("\\x{number:02x}"));
            }
            turning if turns_text(turning) => shown.extend(turning.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    shown
}

/// The first line of such a text, all of it: it may end with a path, of which nobody can use a part.
pub fn visible_line(text: &str) -> String {
    visible(text.lines().next().unwrap_or_default())
}

/// What begins a colour, or bold, or the end of them.
const COLOUR: &str = "\x1b[";

/// A text without the sequences that only choose how letters look: programs write them for people, and
/// written out they hide what was said.
fn without_colours(text: &str) -> String {
    let mut parts = text.split(COLOUR);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letters = part.trim_start_matches(is_parameter);
        match letters.strip_prefix('m') {
            Some(rest) => plain.push_str(rest),
            None => plain.extend([COLOUR, part]),
        }
    }
    plain
}

/// Whether a colour is chosen with this character.
fn is_parameter(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, ';' | ':')
}

/// How many bytes at the end of a text begin a colour whose end is still to come.
pub(crate) fn begun_colour_bytes(text: &str) -> usize {
    const COLOUR_BYTES_MAX: usize = 32;
    let begun = text.rfind('\x1b').map(|at| &text[at..]);
    let is_open = |begun: &&str| {
        let parameters = begun.strip_prefix(COLOUR).unwrap_or_default();
        let is_begun = *begun == "\x1b" || begun.starts_with(COLOUR);
        is_begun && parameters.chars().all(is_parameter) && begun.len() <= COLOUR_BYTES_MAX
    };
    begun.filter(is_open).map_or(0, str::len)
}

/// Whether a character makes a terminal write the next ones in the other direction, so that a text
/// reads as something else.
fn turns_text(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The last lines of a text.
pub(crate) fn last_lines(text: &[u8], n_lines: usize) -> &[u8] {
    let is_end = |byte: &u8| *byte == b'\n';
    let last = text.iter().rposition(|byte| !is_end(byte)).unwrap_or(0);
    let starts = (1..=last).rev().filter(|&at| is_end(&text[at - 1]));
    let from = starts.into_iter().nth(n_lines.saturating_sub(1));
    from.map_or(text, |from| &text[from..])
}

/// A length of time in its two largest units: `2 min 5 s`.
pub(crate) fn duration(milliseconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let milliseconds = milliseconds.max(0);
    if milliseconds < 10_000 {
        let tenths = milliseconds / 100;
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = milliseconds / 1000;
    let first = UNITS.iter().position(|(unit, _)| seconds >= *unit);
    let first = first.unwrap_or(UNITS.len() - 1);
    let (unit, name) = UNITS[first];
    let rest = UNITS
        .get(first + 1)
        .map(|(next, name)| (seconds % unit / next, *name));
    match rest {
        Some((count, next)) if count > 0 => format!("{} {name} {count} {next}", seconds / unit),
        _ => format!("{} {name}", seconds / unit),
    }
}

/// So many of something.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What a folder takes, as far as it was counted.
pub(crate) fn room(found: DiskUse) -> String {
    let least = if found.is_more { "more than " } else { "" };
    format!("{least}{}", size(found.bytes))
}

/// The first line of a text, for a list; an ellipsis says that there is more.
pub(crate) fn first_line(text: &str) -> String {
    let text = text.trim_end();
    match text.split_once('\n') {
        Some((line, _)) => format!("{}…", line.trim_end()),
        None => text.to_owned(),
    }
}

/// A text that begins with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let first = first.map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_written_out() {
        let shown = visible("a\tb\r\nc\u{1b}[2Jd\u{7}\u{9b}e\rf\n");
        assert_eq!(shown, "a\tb\nc\\x1b[2Jd\\x07\\x9be\\x0df\n");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
    }

    #[test]
    fn colours_are_left_out() {
        for (text, expected) in [
            ("\x1b[31mred\x1b[0m", "red"),
            (
                "\x1b[1;38:5:9mbold\x1b[m and \x1b[22mplain",
                "bold and plain",
            ),
            ("\x1b[31", "\\x1b[31"),
            ("\x1b[31K\x1b[2Jm", "\\x1b[31K\\x1b[2Jm"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        for (text, expected) in [
            ("a\x1b", 1),
            ("a\x1b[1;3", 5),
            ("a\x1b[31m", 0),
            ("a\x1bM", 0),
            ("a", 0),
        ] {
            assert_eq!(begun_colour_bytes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_lines_of_a_text_are() {
        for (n_lines, expected) in [
            (1, "c\n"),
            (2, "b\nc\n"),
            (3, "a\nb\nc\n"),
            (9, "a\nb\nc\n"),
        ] {
            assert_eq!(last_lines(b"a\nb\nc\n", n_lines), expected.as_bytes());
        }
        assert_eq!(last_lines(b"", 3), b"");
    }

    #[test]
    fn a_duration_reads_as() {
        for (milliseconds, expected) in [
            (-5, "0.0 s"),
            (349, "0.3 s"),
            (9_999, "9.9 s"),
            (42_000, "42 s"),
            (125_000, "2 min 5 s"),
            (3_600_000, "1 h"),
            (11_520_000, "3 h 12 min"),
            (180_000_000, "2 d 2 h"),
        ] {
            assert_eq!(duration(milliseconds), expected);
        }
    }

    #[test]
    fn a_size_reads_as() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (5 * 1024 * 1024 + 900 * 1024, "5.8 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn an_ellipsis_says_that_a_line_is_not_all() {
        assert_eq!(first_line("all of it\n"), "all of it");
        assert_eq!(first_line("the first\r\nthe second"), "the first…");
        assert_eq!(first_line(""), "");
    }
}
