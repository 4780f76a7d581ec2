//! Makes characters visible that a reader would not see, or that would change how the rest is shown.

use std::collections::BTreeMap;

/// How many escapes are written in a row.
const RUN_MAX: usize = 16;

/// The escapes that were written, and how often.
pub(crate) type Escapes = BTreeMap<String, usize>;

/// One line of a file as it can be shown; every hidden character is written as an escape.
pub(crate) fn visible(line: &[u8], escapes: &mut Escapes) -> String {
    let mut text = Text::default();
    // The end of a Windows line is shown too, but is no secret.
    let (line, end) = match line.strip_suffix(b"\r") {
        Some(line) => (line, r"\r"),
        None => (line, ""),
    };
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_shown(character) {
                text.show(character);
            } else {
                text.escape(escaped(character), escapes);
            }
        }
        for byte in chunk.invalid() {
            text.escape(format!("\\x{byte:02x}"), escapes);
        }
    }
    text.end_run();
    text.shown + end
}

/// A path as one word: in quotes if it could be mistaken for something else.
pub(crate) fn name(path: &[u8]) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+@~".contains(character);
    if let Ok(plain) = std::str::from_utf8(path)
        && plain.chars().all(is_plain)
    {
        return plain.to_owned();
    }
    // What the path has of backslashes and quotes itself must not look like ours.
    let mut inside = Vec::new();
    for byte in path {
        if matches!(byte, b'\\' | b'"') {
            inside.push(b'\\');
        }
        inside.push(*byte);
    }
    let shown = visible(&inside, &mut Escapes::new()).replace('\t', r"\x09");
    format!("\"{shown}\"")
}

/// The number of bytes of a line that can be shown as they are.
pub(crate) fn n_text_bytes(line: &[u8]) -> usize {
    line.utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars())
        .filter(|character| is_shown(*character) || *character == '\r')
        .map(char::len_utf8)
        .sum()
}

#[derive(Default)]
struct Text {
    shown: String,
    /// The number of escapes in a row so far.
    run: usize,
}

impl Text {
    fn show(&mut self, character: char) {
        self.end_run();
        self.shown.push(character);
    }

    fn escape(&mut self, escape: String, escapes: &mut Escapes) {
        self.run += 1;
        if self.run <= RUN_MAX {
            self.shown.push_str(&escape);
        }
        *escapes.entry(escape).or_default() += 1;
    }

    /// Long runs are shortened, so that they cannot use up the room of everything else.
    fn end_run(&mut self) {
        if self.run > RUN_MAX {
            let more = format!("[{} more such bytes]", self.run - RUN_MAX);
            self.shown.push_str(&more);
        }
        self.run = 0;
    }
}

fn escaped(character: char) -> String {
    match (character, u32::from(character)) {
        ('\r', _) => r"\r".to_owned(),
        (_, code @ 0..0x80) => format!("\\x{code:02x}"),
        (_, code @ 0x80..0x1_0000) => format!("\\u{code:04x}"),
        (_, code) => format!("\\U{code:08x}"),
    }
}

/// Whether a reader sees this character, or an ordinary space. Others are invisible, turn the
/// direction of the text around or end a line for some programs only.
fn is_shown(character: char) -> bool {
    let is_hidden = matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{ffa0}' | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    character == '\t' || !(character.is_control() || is_hidden)
}
