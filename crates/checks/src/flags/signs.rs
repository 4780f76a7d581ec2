//! Finding words in code, and telling conditions from other code.

use super::source::Source;
use crate::lex::{Kind, Language, Token};
use crate::text::head;

/// Longest name of a member.
const MEMBER_BYTES_MAX: usize = 200;

/// What was found on a line, in words.
pub(super) type Found = Option<&'static str>;
/// Something to look for, and what it means.
pub(super) type Sign = (&'static str, &'static str);

/// Finds a word or a phrase in code that has no white space. A `*` at the end lets the last word go
/// on.
pub(super) fn has(code: &str, needle: &str) -> bool {
    position(code, needle).is_some()
}

/// Where a word or a phrase stands.
pub(super) fn position(code: &str, needle: &str) -> Option<usize> {
    let (needle, may_go_on) = match needle.strip_suffix('*') {
        Some(needle) => (needle, true),
        None => (needle, false),
    };
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let starts_word = is_part(needle.chars().next());
    let ends_word = is_part(needle.chars().next_back()) && !may_go_on;
    code.match_indices(needle).map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + needle.len()..].chars().next();
        let is_cut = (starts_word && is_part(before)) || (ends_word && is_part(after));
        !is_cut
    })
}

/// The meaning of the first sign that code shows.
pub(super) fn first(code: &str, signs: &[Sign]) -> Option<&'static str> {
    signs
        .iter()
        .find(|(needle, _)| has(code, needle))
        .map(|(_, says)| *says)
}

/// Says whether any of these words stands in code.
pub(super) fn has_any(code: &str, needles: &[&str]) -> bool {
    needles.iter().any(|needle| has(code, needle))
}

/// Says whether code sets a member of something: `owner.a.b = c`, `owner["a"] = c`.
pub(super) fn sets_member(bare: &str, owner: &str) -> bool {
    let mut from = 0;
    while let Some(at) = position(&bare[from..], owner) {
        let rest = &bare[from + at + owner.len()..];
        let rest = head(rest, MEMBER_BYTES_MAX);
        let chain = rest
            .find(|c: char| !c.is_alphanumeric() && !"_.$[]\"".contains(c))
            .unwrap_or(rest.len());
        let is_member = rest.starts_with(['.', '[']);
        let after = &rest[chain..];
        let is_set = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        if is_member && is_set {
            return true;
        }
        from += at + owner.len();
    }
    false
}

/// Says whether a call of this name reaches for one of these things: `setattr(builtins, …`.
pub(super) fn calls_on(bare: &str, calls: &[&str], owners: &[&str]) -> bool {
    calls.iter().any(|call| {
        position(bare, call).is_some_and(|at| {
            let rest = &bare[at + call.len()..];
            owners.iter().any(|owner| {
                rest.strip_prefix(owner)
                    .is_some_and(|after| after.starts_with([',', ')', '.']))
            })
        })
    })
}

/// What separates the parts of a line of code, each of which is looked at alone.
const SEPARATORS: [&str; 16] = [
    "?", ":", ";", "{", "}", "=", "&&", "||", "??", "if", "elif", "else", "while", "and", "or",
    "return",
];
const COMPARISONS: [&str; 6] = ["==", "===", "!=", "!==", "<=", ">="];
const CONDITIONS: [&str; 7] = ["if", "elif", "while", "unless", "until", "switch", "match"];

/// A part of a line, and whether it decides anything.
pub(super) struct Part<'a> {
    pub(super) text: String,
    /// Whether it compares, or is a condition.
    pub(super) decides: bool,
    /// The name that it is given to.
    pub(super) name: Option<&'a str>,
}

/// The parts of a line.
pub(super) fn parts<'a>(source: &Source<'a>, index: usize) -> Vec<Part<'a>> {
    let pieces = source.pieces(index);
    let is_separator = |token: &Token<'_>| {
        [Kind::Mark, Kind::Word].contains(&token.kind) && SEPARATORS.contains(&token.text)
    };
    let mut found = Vec::new();
    let mut start = 0;
    for end in 0..=pieces.len() {
        let Some(separator) = pieces.get(end) else {
            found.push(part(source, pieces, start, end));
            break;
        };
        if is_separator(separator) {
            found.push(part(source, pieces, start, end));
            start = end + 1;
        }
    }
    found
}

fn part<'a>(source: &Source<'a>, pieces: &[Token<'a>], start: usize, end: usize) -> Part<'a> {
    let own = &pieces[start..end];
    let text: String = own
        .iter()
        .map(|token| match token.kind {
            Kind::Text => "\"\"",
            _ => token.text,
        })
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" ( ", "(")
        .replace(" . ", ".")
        .replace(" :: ", "::")
        .replace("( )", "()")
        .replace(" )", ")");
    let before = start.checked_sub(1).map(|at| &pieces[at]);
    let after = pieces.get(end);
    let is_condition = before
        .is_some_and(|token| CONDITIONS.iter().any(|word| token.is_word(word)))
        || own
            .iter()
            .any(|token| CONDITIONS.iter().any(|word| token.is_word(word)))
        || (source.language == Language::Script && after.is_some_and(|token| token.is_mark("?")));
    let is_given = before.is_some_and(|token| token.is_mark("="));
    // A type may stand between the name and the value.
    let is_typed = start >= 4 && pieces[start - 3].is_mark(":");
    let name = (start >= 2 && is_given)
        .then(|| &pieces[start - if is_typed { 4 } else { 2 }])
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text);
    Part {
        text,
        decides: is_condition || compares(own, source.language),
        name,
    }
}

/// Says whether pieces compare. `<` and `>` count where they cannot be the brackets of a type.
fn compares(pieces: &[Token<'_>], language: Language) -> bool {
    pieces.iter().enumerate().any(|(at, token)| {
        if token.kind != Kind::Mark {
            return false;
        }
        let is_angle = ["<", ">"].contains(&token.text);
        let has_types = [Language::Rust, Language::Script, Language::Braces].contains(&language);
        let before = at.checked_sub(1).map(|before| &pieces[before]);
        let after = pieces.get(at + 1);
        let stands_free = before
            .is_none_or(|before| before.end() < token.at || before.is_mark(")"))
            && after.is_none_or(|after| token.end() < after.at || after.kind == Kind::Number);
        COMPARISONS.contains(&token.text) || (is_angle && (!has_types || stands_free))
    })
}
