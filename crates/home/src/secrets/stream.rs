//! Takes secrets out of a text that comes in pieces: a secret that two pieces share is found too.

use super::redactor::Redactor;
use super::tokens::{KEY_BYTES_MAX, begin_of_key, find};

/// Bytes that are held back while they may be part of a secret.
const HELD_BYTES_MAX: usize = 2 * KEY_BYTES_MAX;

/// How far before a word a header's name may stand.
const HEADER_BYTES: usize = 48;

/// A text that comes in pieces.
#[derive(Debug)]
pub struct Redacting {
    redactor: Redactor,
    held: Vec<u8>,
}

impl Redactor {
    /// Takes secrets out of a text that comes in pieces.
    pub fn stream(&self) -> Redacting {
        Redacting {
            redactor: self.clone(),
            held: Vec::new(),
        }
    }
}

impl Redacting {
    /// Takes the next piece and gives what can be told of the text so far. The end is held back while
    /// what comes next may make it a secret: a word that has not ended, a private key without its
    /// last line, the beginning of a known value.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        let ready = self.ready();
        let rest = self.held.split_off(ready);
        let ready = std::mem::replace(&mut self.held, rest);
        self.redactor.bytes(&ready).into_owned()
    }

    /// Gives what was held back: nothing more comes, or not what follows it.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.redactor.bytes(&held).into_owned()
    }

    /// How many of the held bytes cannot be part of a secret that goes on.
    fn ready(&self) -> usize {
        let text = &self.held;
        if text.len() > HELD_BYTES_MAX {
            return self.cut_of_long_text();
        }
        let last_word = text
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map_or(0, |at| at + 1);
        let mut ready = header_before(text, last_word)
            .min(open_key(text).unwrap_or(text.len()))
            .min(text.len() - self.redactor.begun(text));
        // A known value may hold spaces, so that the cut may be inside a secret that is whole.
        for (range, _) in self.redactor.find(text) {
            if range.start < ready && ready < range.end {
                ready = range.start;
            }
        }
        ready
    }

    /// A word that is longer than any secret: half of it is let go, but not within a secret.
    fn cut_of_long_text(&self) -> usize {
        let cut = self.held.len() - KEY_BYTES_MAX;
        let found = self.redactor.find(&self.held);
        let within = found
            .into_iter()
            .find(|(range, _)| range.start < cut && cut < range.end);
        within.map_or(cut, |(range, _)| range.end)
    }
}

/// Where a header's name begins whose credential may be the last word, or the last word itself.
fn header_before(text: &[u8], last_word: usize) -> usize {
    let from = last_word.saturating_sub(HEADER_BYTES);
    let before = text[from..last_word].to_ascii_lowercase();
    let line = before.iter().rposition(|byte| *byte == b'\n');
    let line = line.map_or(0, |at| at + 1);
    let names = [&b"authorization"[..], b"bearer", b"api-key"];
    let name = names
        .iter()
        .filter_map(|name| find(&before[line..], name))
        .min();
    // `x-api-key` is found by its end.
    name.map_or(last_word, |at| (from + line + at).saturating_sub(2))
}

/// Where a private key begins that has no last line yet.
fn open_key(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let mut from = 0;
    while let Some(at) = find(&text[from..], BEGIN) {
        let at = from + at;
        let label = begin_of_key(&text[at..]);
        let is_cut = label.is_none() && text.len() - at < BEGIN.len() + 64;
        let body = label.map_or(at, |label| at + label);
        let end = find(&text[body..], b"-----END ");
        let is_closed = end.is_some_and(|end| {
            let last_line = &text[body + end + b"-----END ".len()..];
            find(last_line, b"-----").is_some()
        });
        if is_cut || (label.is_some() && !is_closed) {
            return Some(at);
        }
        from = body.max(at + BEGIN.len());
    }
    None
}
