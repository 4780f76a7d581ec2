//! Texts of several lines, no wider than what they are drawn on.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The lines of a text in at most so many columns each. It is broken between words, and only a word that
/// is wider than a whole line is broken itself. Its own lines stay apart.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    text.trim_end()
        .lines()
        .flat_map(|line| wrapped_line(line, columns.max(1)))
        .collect()
}

fn wrapped_line(line: &str, columns: usize) -> Vec<String> {
    let (mut lines, mut last) = (Vec::new(), String::new());
    for word in line.split_whitespace() {
        let gap = usize::from(!last.is_empty());
        if last.width() + gap + word.width() <= columns {
            last.push_str(&" ".repeat(gap));
            last.push_str(word);
            continue;
        }
        if !last.is_empty() {
            lines.push(std::mem::take(&mut last));
        }
        for letter in word.chars() {
            if !last.is_empty() && last.width() + letter.width().unwrap_or(0) > columns {
                lines.push(std::mem::take(&mut last));
            }
            last.push(letter);
        }
    }
    lines.push(last);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_its_words() {
        for (text, columns, expected) in [
            ("", 5, ""),
            ("one two three", 80, "one two three"),
            ("one two three", 7, "one two|three"),
            ("one\n\ntwo  three\n", 80, "one||two three"),
            ("extraordinary thing", 5, "extra|ordin|ary|thing"),
            ("日本語 です", 4, "日本|語|です"),
            ("ab", 0, "a|b"),
        ] {
            assert_eq!(wrapped(text, columns).join("|"), expected, "{text}");
        }
    }
}
