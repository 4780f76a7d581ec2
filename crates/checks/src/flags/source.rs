//! A product file line by line, each without comments, and which lines are new.

use std::ops::Range;

use crate::fresh::new_lines;
use crate::items::test_spans;
use crate::lex::{Kind, Language, Token, lex, pairs};
use crate::text::head;

/// How much of a line is looked at. A longer one is flagged for its length.
const LINE_BYTES_MAX: usize = 8 << 10;
/// Most pieces of a line that are looked at.
const PIECES_MAX: usize = 2_000;

/// A product file.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) language: Language,
    /// Its pieces without comments.
    pub(super) tokens: Vec<Token<'a>>,
    /// Which bracket closes which; each its own partner where brackets do not match.
    pub(super) partners: Vec<usize>,
    pub(super) lines: Vec<Line<'a>>,
}

/// One line.
#[derive(Default)]
pub(super) struct Line<'a> {
    /// The line as it is written.
    pub(super) raw: &'a str,
    /// Whether the base does not have it and it belongs to no test.
    pub(super) is_new: bool,
    /// Its code without white space and comments, strings as they are.
    pub(super) code: String,
    /// The same with empty strings.
    pub(super) bare: String,
    /// What stands in its strings.
    pub(super) texts: Vec<String>,
    /// The pieces that start on it.
    pub(super) tokens: Range<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn read(path: &'a str, base: &str, text: &'a str) -> Option<Self> {
        let language = Language::of(path, text)?;
        let mut tokens = lex(text, language);
        tokens.retain(|token| token.kind != Kind::Comment);
        let partners = pairs(&tokens).unwrap_or_else(|| (0..tokens.len()).collect());
        let mut lines = marked_lines(base, text, &test_spans(language, text));
        let mut at = Cursor::default();
        let mut depth = 0_usize;
        for (index, token) in tokens.iter().enumerate() {
            at.go_to(text, token.at);
            if let "(" | "[" | "{" = token.text {
                depth += 1;
            } else if let ")" | "]" | "}" = token.text {
                depth = depth.saturating_sub(1);
            }
            let Some(line) = lines.get_mut(at.line) else {
                break;
            };
            if line.tokens.is_empty() {
                line.tokens = index..index;
            }
            if line.tokens.len() < PIECES_MAX {
                line.tokens.end = index + 1;
            }
            if language == Language::Python && depth == 0 && is_docstring(&tokens, index, text) {
                continue;
            }
            write(&mut lines[at.line..], token, language);
        }
        if language == Language::Shell {
            keep_shell(&mut lines, text);
        }
        Some(Self {
            path,
            language,
            tokens,
            partners,
            lines,
        })
    }

    /// The pieces that start on a line.
    pub(super) fn pieces(&self, index: usize) -> &[Token<'a>] {
        self.lines
            .get(index)
            .map_or(&[], |line| &self.tokens[line.tokens.clone()])
    }

    /// The file's own name.
    pub(super) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

/// The lines of a text; new are those that the base does not have and no test holds.
fn marked_lines<'a>(base: &str, text: &'a str, tests: &[Range<usize>]) -> Vec<Line<'a>> {
    let mut found = Vec::new();
    let mut at = 0;
    for (whole, is_new) in text.split_inclusive('\n').zip(new_lines(base, text)) {
        let raw = head(whole.trim_end_matches(['\n', '\r']), LINE_BYTES_MAX);
        let before = tests.partition_point(|span| span.start <= at + raw.len());
        let is_test = before > 0 && tests[before - 1].end > at;
        found.push(Line {
            raw,
            is_new: is_new && !is_test,
            ..Line::default()
        });
        at += whole.len();
    }
    found
}

/// Where in the text the reader is.
#[derive(Default)]
struct Cursor {
    at: usize,
    line: usize,
}

impl Cursor {
    fn go_to(&mut self, text: &str, at: usize) {
        let passed = text.get(self.at..at).unwrap_or("");
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.at = at;
    }
}

/// Says whether a string stands alone, as documentation does.
fn is_docstring(tokens: &[Token<'_>], index: usize, text: &str) -> bool {
    let token = &tokens[index];
    let before = index
        .checked_sub(1)
        .map_or(0, |before| tokens[before].end());
    let starts = index == 0 || text[before..token.at].contains('\n');
    let after = tokens.get(index + 1).map_or(text.len(), |next| next.at);
    let ends = text[token.end()..after].contains('\n') || after == text.len();
    token.kind == Kind::Text && starts && ends
}

/// Adds a piece to its line; a string of several lines adds to each of them.
fn write(lines: &mut [Line<'_>], token: &Token<'_>, language: Language) {
    let is_text = token.kind == Kind::Text;
    for (line, part) in lines.iter_mut().zip(token.text.split('\n')) {
        if line.code.len() > LINE_BYTES_MAX {
            continue;
        }
        let part = head(part, LINE_BYTES_MAX);
        let is_wordy = |c: char| c.is_alphanumeric() || "_\"'`$".contains(c);
        let needs_gap =
            token.kind != Kind::Mark && line.code.ends_with(is_wordy) && part.starts_with(is_wordy);
        if needs_gap {
            line.code.push(' ');
            line.bare.push(' ');
        }
        line.code.push_str(part);
        if is_text {
            line.bare.push_str("\"\"");
            line.bare.push_str(&substitutions(part, language));
        } else {
            line.bare.push_str(part);
        }
    }
    if is_text {
        let parts = token.content().split('\n');
        for (line, part) in lines.iter_mut().zip(parts) {
            line.texts.push(head(part, LINE_BYTES_MAX).to_owned());
        }
    }
}

/// The code within a template or an f-string.
fn substitutions(text: &str, language: Language) -> String {
    let start = match language {
        Language::Script if text.starts_with('`') || !text.starts_with(['"', '\'', '/']) => "${",
        Language::Python if text.starts_with(['f', 'F']) => "{",
        _ => return String::new(),
    };
    let parts = text.split(start).skip(1);
    let codes = parts.filter_map(|part| part.split_once('}').map(|(code, _)| code));
    codes.map(|code| format!(" {code}")).collect()
}

/// In a shell white space matters and strings hold code, so lines stay as they are but for comments.
fn keep_shell(lines: &mut [Line<'_>], text: &str) {
    let comments: Vec<usize> = lex(text, Language::Shell)
        .iter()
        .filter(|token| token.kind == Kind::Comment)
        .map(|token| token.at)
        .collect();
    let mut at = 0;
    for (line, whole) in lines.iter_mut().zip(text.split_inclusive('\n')) {
        let after = comments.partition_point(|comment| *comment < at);
        let cut = comments
            .get(after)
            .map_or(line.raw.len(), |comment| (comment - at).min(line.raw.len()));
        let code = line.raw.get(..cut).unwrap_or(line.raw).trim();
        line.code = code.to_owned();
        line.bare = code.to_owned();
        at += whole.len();
    }
}
