//! JSON as people and models write it. The parser repairs comments, trailing and missing commas,
//! raw control characters, unknown escapes, Python's words and a code fence around the document,
//! and reports every repaired place.
//!
//! It does not guess at structure: an open bracket or quote at the end of the file is an error,
//! because what was cut off there is lost.

use std::borrow::Cow;

use super::{Fault, Findings, Parsed, Piece};
use crate::diagnostic::Repair;
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::node::{Entry, Map, MapStyle, Node, Value};
use crate::source::Span;

/// Parses one document. An empty one has no node.
pub(crate) fn parse<'s>(piece: Piece<'s>, findings: &mut Findings) -> Parsed<'s> {
    parse_counted(piece, &mut 0, findings)
}

/// Parses one document per line, as JSON Lines have them, into a list. A line that is broken is left
/// out, and its fault is returned; the others are read all the same.
pub(crate) fn parse_lines<'s>(
    piece: Piece<'s>,
    findings: &mut Findings,
) -> (Option<Node<'s>>, Vec<Fault>) {
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    let (mut at, mut nodes) = (0, 0);
    for line in piece.text.split_inclusive('\n') {
        let one = Piece {
            text: line.trim_end_matches(['\n', '\r']),
            base: piece.base + at,
            ..piece
        };
        at += line.len();
        match parse_counted(one, &mut nodes, findings) {
            Ok(root) => items.extend(root),
            Err(fault @ Fault::TooManyValues { .. }) => {
                faults.push(fault);
                break;
            }
            Err(fault) => faults.push(fault),
        }
    }
    let span = piece.span(0, piece.text.len());
    let list = (!items.is_empty()).then(|| Node::own(Value::List(items), span));
    (list, faults)
}

/// Parses one document, and counts its values together with those of others.
fn parse_counted<'s>(piece: Piece<'s>, nodes: &mut usize, findings: &mut Findings) -> Parsed<'s> {
    let mut parser = Parser {
        piece,
        bytes: piece.text.as_bytes(),
        at: 0,
        nodes: *nodes,
        findings,
        long_string: None,
    };
    let parsed = parser.document();
    *nodes = parser.nodes;
    parsed
}

struct Parser<'s, 'f> {
    piece: Piece<'s>,
    bytes: &'s [u8],
    at: usize,
    nodes: usize,
    findings: &'f mut Findings,
    /// The start of the last string that contains a line break. If the structure breaks later, its
    /// missing closing quote is the likely cause.
    long_string: Option<usize>,
}

impl<'s> Parser<'s, '_> {
    fn document(&mut self) -> Parsed<'s> {
        self.open_fence();
        self.skip_blank()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let root = self.value(0)?;
        self.skip_blank()?;
        self.close_fence();
        match self.peek() {
            None => Ok(Some(root)),
            Some(_) => Err(self.fault("there is text after the end of the document")),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(word)
    }

    fn span(&self, start: usize) -> Span {
        self.piece.span(start, self.at)
    }

    /// A syntax fault at the current character.
    fn fault(&self, message: impl Into<String>) -> Fault {
        let width = self.piece.text[self.at..]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        let help = self.long_string.map(|start| {
            let line = self.line_of(start);
            format!("the string that begins on line {line} runs over the end of its line: is its closing quote missing?")
        });
        Fault::Syntax {
            message: message.into(),
            at: self.piece.span(self.at, self.at + width),
            help,
        }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        match self.piece.text[self.at..].chars().next() {
            Some(found) => self.fault(format!(
                "expected {wanted}, found `{}`",
                crate::diagnostic::visible(found)
            )),
            None => self.fault(format!("expected {wanted}, but the file ends here")),
        }
    }

    /// The fault of a file that ends inside a list or an object. It names the end of the file and
    /// the bracket that is not closed.
    fn never_closed(&self, open: usize) -> Fault {
        let text = self.piece.text.trim_end();
        let end = text.len();
        let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
        let bracket = &self.piece.text[open..=open];
        let line = self.line_of(open);
        let message = format!("the file ends, and the `{bracket}` on line {line} is not closed");
        let help =
            "if the file was cut off, what is missing is lost: restore it from where it came"
                .to_owned();
        Fault::Syntax {
            message,
            at: self.piece.span(last, end),
            help: Some(help),
        }
    }

    /// The line number of an offset. It counts from the start each time, which is fine because a
    /// parser stops at its first fault.
    fn line_of(&self, offset: usize) -> usize {
        self.piece.text[..offset].matches('\n').count() + 1
    }

    fn open_fence(&mut self) {
        let text = self.piece.text;
        let start = text.len() - text.trim_start().len();
        if text[start..].starts_with("```") {
            let line_end = text[start..]
                .find('\n')
                .map_or(text.len(), |found| start + found);
            // Skip the whole line: the fence may name a language, as in "```json".
            self.at = line_end;
            self.findings
                .repaired(Repair::CodeFence, self.piece.span(start, line_end));
        }
    }

    /// Skips the closing fence. It was reported with the opening one.
    fn close_fence(&mut self) {
        if self.starts_with(b"```") && self.piece.text[self.at..].trim_end().len() == 3 {
            self.at = self.bytes.len();
        }
    }

    fn skip_blank(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if self.starts_with(b"//") => self.skip_line_comment(),
                Some(b'/') if self.starts_with(b"/*") => self.skip_block_comment()?,
                // Comments as in Python and YAML.
                Some(b'#') => self.skip_line_comment(),
                // A no-break space or a byte order mark is invisible, and no value starts with one.
                Some(0xC2) if self.starts_with("\u{A0}".as_bytes()) => self.at += 2,
                Some(0xEF) if self.starts_with("\u{FEFF}".as_bytes()) => self.at += 3,
                _ => return Ok(()),
            }
        }
    }

    fn skip_line_comment(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        self.at += rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        self.findings.repaired(Repair::Comment, self.span(start));
    }

    fn skip_block_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        match self.piece.text[start..].find("*/") {
            Some(found) => self.at += found + 2,
            None => return Err(self.fault("this comment is never closed")),
        }
        self.findings.repaired(Repair::Comment, self.span(start));
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node<'s>, Fault> {
        // Every value costs far more memory than its bytes: `[[],[],…` has one per three bytes.
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(Fault::TooManyValues {
                at: self.piece.span(self.at, self.at + 1),
            });
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.map(self.deeper(depth)?)?,
            Some(b'[') => self.list(self.deeper(depth)?)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word()?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node::own(value, self.span(start)))
    }

    fn deeper(&self, depth: usize) -> Result<usize, Fault> {
        if depth >= DEPTH_MAX {
            return Err(Fault::TooDeep {
                at: self.piece.span(self.at, self.at + 1),
            });
        }
        Ok(depth + 1)
    }

    fn list(&mut self, depth: usize) -> Result<Value<'s>, Fault> {
        let mut items = Vec::new();
        let open = self.at;
        self.at += 1;
        while self.next_item(open, b']', !items.is_empty())? {
            items.push(self.value(depth)?);
        }
        Ok(Value::List(items))
    }

    fn map(&mut self, depth: usize) -> Result<Value<'s>, Fault> {
        let mut entries = Vec::new();
        let open = self.at;
        self.at += 1;
        while self.next_item(open, b'}', !entries.is_empty())? {
            entries.push(self.entry(depth)?);
        }
        let map = Map {
            entries,
            style: MapStyle::Json,
        };
        self.findings.look_for_doubles(&map);
        Ok(Value::Map(map))
    }

    fn entry(&mut self, depth: usize) -> Result<Entry<'s>, Fault> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        let key_span = self.span(start);
        self.skip_blank()?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:` after a key"));
        }
        self.at += 1;
        self.skip_blank()?;
        Ok(Entry {
            key,
            key_span,
            value: self.value(depth)?,
        })
    }

    /// Moves to the next item of a list or map, or past its closing bracket. Commas are repaired
    /// here.
    fn next_item(&mut self, open: usize, close: u8, after_item: bool) -> Result<bool, Fault> {
        let item_end = self.at;
        self.skip_blank()?;
        let mut commas = 0;
        // Several commas in a row, or one before the first item, are all too many.
        while self.peek() == Some(b',') {
            commas += 1;
            self.at += 1;
            let one_too_many = commas > 1 || !after_item;
            let comma = self.span(self.at - 1);
            self.skip_blank()?;
            if one_too_many || self.peek() == Some(close) {
                self.findings.repaired(Repair::TrailingComma, comma);
            }
        }
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            None => Err(self.never_closed(open)),
            Some(byte) if after_item && commas == 0 => {
                // A comma is missing only if a new item clearly starts here. In a map that is a
                // quoted key, in a list any value but a bare word.
                let starts_item = byte == b'"'
                    || (close == b']' && matches!(byte, b'{' | b'[' | b'-' | b'0'..=b'9'));
                if !starts_item {
                    return Err(self.unexpected(if close == b']' {
                        "`,` or `]`"
                    } else {
                        "`,` or `}`"
                    }));
                }
                self.findings
                    // The comma belongs after the last item, not before the next line's.
                    .repaired(Repair::MissingComma, self.piece.span(item_end, item_end));
                Ok(true)
            }
            Some(_) => Ok(true),
        }
    }

    fn word(&mut self) -> Result<Value<'s>, Fault> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let (value, python) = match &rest[..length] {
            b"true" => (Value::Bool(true), false),
            b"false" => (Value::Bool(false), false),
            b"null" => (Value::Null, false),
            b"True" => (Value::Bool(true), true),
            b"False" => (Value::Bool(false), true),
            b"None" => (Value::Null, true),
            _ => return Err(self.fault("a word without quotes")),
        };
        self.at += length;
        if python {
            self.findings.repaired(Repair::PythonWord, self.span(start));
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value<'s>, Fault> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let is_part =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest
            .iter()
            .position(|byte| !is_part(byte))
            .unwrap_or(rest.len());
        let text = &self.piece.text[start..start + length];
        // Rust parses every JSON number, however large. What it refuses is not a number (`1-2`,
        // `--3`).
        if text.parse::<f64>().is_err() {
            return Err(self.fault("not a number"));
        }
        self.at += length;
        Ok(Value::Number(Cow::Borrowed(text)))
    }

    /// Reads a string. It is borrowed from the file unless it has an escape.
    fn string(&mut self) -> Result<Cow<'s, str>, Fault> {
        let open = self.at;
        let mut from = open + 1;
        let mut built: Option<String> = None;
        self.at = from;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(plain) = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F))
            else {
                // Point at the opening quote; the end of the file would show nothing.
                self.at = open;
                return Err(self.fault("this string is never closed"));
            };
            self.at += plain;
            match self.bytes[self.at] {
                b'"' => {
                    let last = &self.piece.text[from..self.at];
                    self.at += 1;
                    return Ok(match built {
                        Some(built) => Cow::Owned(built + last),
                        None => Cow::Borrowed(last),
                    });
                }
                b'\\' => {
                    let text = built.get_or_insert_default();
                    text.push_str(&self.piece.text[from..self.at]);
                    let start = self.at;
                    let character = escape(&self.piece.text[start..]);
                    self.at += character.length;
                    text.push(character.meaning);
                    if !character.known {
                        self.findings.repaired(Repair::Escape, self.span(start));
                    }
                    from = self.at;
                }
                // A raw control character stays in the string as it is, so nothing is copied here.
                control => {
                    self.at += 1;
                    if control == b'\n' {
                        self.long_string = Some(open);
                    }
                    self.findings
                        .repaired(Repair::ControlCharacter, self.span(self.at - 1));
                }
            }
        }
    }
}

/// The meaning of an escape, its length, and whether it is valid JSON.
struct Escape {
    meaning: char,
    length: usize,
    known: bool,
}

/// Reads the escape at the start of `text`, which begins with a backslash.
fn escape(text: &str) -> Escape {
    let known = |meaning: char| Escape {
        meaning,
        length: 2,
        known: true,
    };
    match text.as_bytes().get(1) {
        Some(b'"') => known('"'),
        Some(b'\\') => known('\\'),
        Some(b'/') => known('/'),
        Some(b'b') => known('\u{8}'),
        Some(b'f') => known('\u{C}'),
        Some(b'n') => known('\n'),
        Some(b'r') => known('\r'),
        Some(b't') => known('\t'),
        Some(b'u') => unicode_escape(text),
        // The backslash stands for itself, as the author of a pattern with `\d` meant it.
        _ => Escape {
            meaning: '\\',
            length: 1,
            known: false,
        },
    }
}

/// Reads `\uXXXX`, or a surrogate pair of two such escapes. A lone surrogate becomes a replacement
/// character.
fn unicode_escape(text: &str) -> Escape {
    let unit = |at: usize| {
        let digits = text
            .get(at..at + 4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        text.get(at - 2..at)
            .filter(|mark| *mark == "\\u")
            .and_then(|_| u32::from_str_radix(digits, 16).ok())
    };
    let Some(first) = unit(2) else {
        return Escape {
            meaning: '\\',
            length: 1,
            known: false,
        };
    };
    // Every unit but a surrogate is a character by itself.
    if let Some(meaning) = char::from_u32(first) {
        return Escape {
            meaning,
            length: 6,
            known: true,
        };
    }
    let low =
        unit(8).filter(|low| (0xDC00..0xE000).contains(low) && (0xD800..0xDC00).contains(&first));
    let pair =
        low.and_then(|low| char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)));
    match pair {
        Some(meaning) => Escape {
            meaning,
            length: 12,
            known: true,
        },
        None => Escape {
            meaning: char::REPLACEMENT_CHARACTER,
            length: 6,
            known: false,
        },
    }
}
