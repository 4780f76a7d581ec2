//! Bytes that make a file read otherwise than it runs.

/// Longest line that a reader takes in.
const LINE_BYTES_MAX: usize = 5_000;

/// Says what hides text from a reader, if anything does.
pub fn has_hiding_bytes(bytes: &[u8]) -> Option<&'static str> {
    if bytes.contains(&0) {
        return Some("a NUL byte");
    }
    if bytes
        .split(|byte| *byte == b'\n')
        .any(|line| line.len() > LINE_BYTES_MAX)
    {
        return Some("a very long line");
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied().unwrap_or('\n');
        if let Some(says) = hides(before, character, after) {
            return Some(says);
        }
        before = character;
    }
    None
}

fn hides(before: char, character: char, after: char) -> Option<&'static str> {
    match character {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
            Some("a character that turns the direction of text")
        }
        // Within emoji and within words of some languages these are spelling.
        '\u{200c}' | '\u{200d}' if !before.is_ascii() && !after.is_ascii() => None,
        '\u{ad}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{e0000}'..='\u{e01ef}' => Some("an invisible character"),
        // Some languages end a line, and with it a comment, where no reader sees an end.
        '\u{2028}' | '\u{2029}' => Some("a line end that is not seen"),
        // A lone carriage return lets a terminal write over what it has shown.
        '\r' if after != '\n' => Some("a carriage return within a line"),
        '\n' | '\r' | '\t' | '\u{c}' => None,
        control if control.is_control() => Some("a control character"),
        _ => None,
    }
}
