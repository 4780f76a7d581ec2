//! The lexer itself. Text that makes no sense gives pieces that make no sense, and never a panic.

use super::literals::{self, Context};
use super::token::{Kind, Language, Token};
use crate::text::head;

/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Operators of several characters, longest first.
const MARKS: [&str; 35] = [
    ">>>=", "<<=", ">>=", "===", "!==", "**=", "...", "..=", "&&=", "||=", "??=", ">>>", "<=>",
    "=>", "->", "==", "!=", "<=", ">=", "&&", "||", "??", "::", "..", "+=", "-=", "*=", "/=", "%=",
    "**", "++", "--", "?.", ":=", "<<",
];

/// Cuts a text into pieces, in order. What stands between them is white space.
pub(crate) fn lex(text: &str, language: Language) -> Vec<Token<'_>> {
    let text = head(text, TEXT_BYTES_MAX);
    let mut context = Context::new(language);
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            if first == '\n'
                && let Some(length) = context.heredoc(&text[at..])
            {
                push(&mut tokens, Kind::Text, at, &text[at..at + length]);
                at += length;
            }
            continue;
        }
        let (kind, length) = next(&text[at..], first, at, &tokens, &mut context);
        let piece = &text[at..at + length];
        context.saw(kind, piece, &text[at + length..], &tokens);
        push(&mut tokens, kind, at, piece);
        at += length;
    }
    tokens
}

fn push<'a>(tokens: &mut Vec<Token<'a>>, kind: Kind, at: usize, text: &'a str) {
    if !text.is_empty() {
        tokens.push(Token { kind, at, text });
    }
}

/// The kind and the length of the piece at the start; the length is never 0.
fn next(
    rest: &str,
    first: char,
    at: usize,
    tokens: &[Token<'_>],
    context: &mut Context,
) -> (Kind, usize) {
    let is_after_gap = tokens.last().is_none_or(|last| last.end() < at);
    if let Some(length) = literals::comment(rest, context.language, is_after_gap, tokens) {
        return (Kind::Comment, length);
    }
    if let Some(length) = literals::string(rest, first, context, tokens) {
        return (Kind::Text, length);
    }
    if first.is_ascii_digit() {
        return (Kind::Number, number(rest));
    }
    if is_word(first) {
        return (Kind::Word, word(rest, context.language));
    }
    if first == '\'' && context.language == Language::Rust {
        return (Kind::Word, 1 + word(&rest[1..], context.language));
    }
    let mark = MARKS
        .iter()
        .find(|mark| context.language != Language::Shell && rest.starts_with(**mark));
    (Kind::Mark, mark.map_or(first.len_utf8(), |mark| mark.len()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long the name at the start is; `r#fn` is one name.
fn word(rest: &str, language: Language) -> usize {
    let skipped = if language == Language::Rust && rest.starts_with("r#") {
        2
    } else {
        0
    };
    let tail = &rest[skipped..];
    skipped + tail.find(|c| !is_word(c)).unwrap_or(tail.len())
}

/// How long the number at the start is: `0xff_u8`, `1.5e-3`, and `1` of `1..2` and `1.max(2)`.
fn number(rest: &str) -> usize {
    let mut end = 0;
    let mut previous = ' ';
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let after = characters.peek().map_or(' ', |(_, next)| *next);
        let is_part = is_word(character)
            || (character == '.' && after.is_ascii_digit() && !rest[..at].contains('.'))
            || ("+-".contains(character)
                && "eE".contains(previous)
                && !rest.starts_with("0x")
                && after.is_ascii_digit());
        if !is_part {
            break;
        }
        end = at + character.len_utf8();
        previous = character;
    }
    end
}
