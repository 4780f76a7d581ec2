//! Lines and neighbours of pieces that tell whether a fault there is plausible.

use crate::lex::{Kind, Language, Token};

/// Words after which no value has ended, so that an operator has one side only.
const KEYWORDS: [&str; 29] = [
    "return", "in", "of", "case", "typeof", "delete", "void", "throw", "new", "else", "do",
    "yield", "await", "export", "import", "function", "default", "and", "or", "not", "if", "elif",
    "while", "lambda", "print", "match", "mut", "const", "as",
];
/// First words of lines that load, declare or annotate.
const DECLARATIONS: [&str; 20] = [
    "import",
    "from",
    "use",
    "extern",
    "package",
    "require",
    "require_relative",
    "type",
    "interface",
    "declare",
    "namespace",
    "mod",
    "impl",
    "trait",
    "assert",
    "assert_eq",
    "debug_assert",
    "global",
    "nonlocal",
    "del",
];
/// Words of lines whose strings only people read.
const MESSAGES: [&str; 21] = [
    "log",
    "logger",
    "logging",
    "warn",
    "warning",
    "debug",
    "info",
    "trace",
    "tracing",
    "expect",
    "panic",
    "raise",
    "throw",
    "Error",
    "assert",
    "help",
    "unreachable",
    "eprintln",
    "error",
    "__name__",
    "typing",
];

/// Says whether a value ends with this piece.
pub(super) fn is_operand(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| match token.kind {
        Kind::Number => true,
        Kind::Word => !KEYWORDS.contains(&token.text) && !token.text.starts_with('\''),
        Kind::Mark => [")", "]"].contains(&token.text),
        Kind::Text | Kind::Comment => false,
    })
}

/// Says whether white space stands on both sides of a piece.
pub(super) fn stands_free(
    before: Option<&Token<'_>>,
    token: &Token<'_>,
    after: &Token<'_>,
) -> bool {
    before.is_some_and(|before| before.end() < token.at) && token.end() < after.at
}

/// Says whether a line loads, declares or annotates, so that no fault belongs there.
pub(super) fn is_declaration(pieces: &[Token<'_>], language: Language) -> bool {
    let mut words = pieces
        .iter()
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .skip_while(|word| ["pub", "export", "crate", "unsafe"].contains(word));
    let starts = pieces.first().is_some_and(|first| {
        first.is_mark("#") || (first.is_mark("@") && language != Language::Ruby)
    });
    let is_called = |at: usize| {
        pieces[at].is_word("require") && pieces.get(at + 1).is_some_and(|next| next.is_mark("("))
    };
    let loads = language == Language::Script
        && (0..pieces.len()).any(|at| {
            is_called(at)
                || (pieces[at].is_word("from")
                    && pieces
                        .get(at + 1)
                        .is_some_and(|next| next.kind == Kind::Text))
        });
    let first = words.next().unwrap_or("");
    starts || loads || (DECLARATIONS.contains(&first) && !pieces[0].is_mark("."))
}

/// Says whether only people read the strings of a line.
pub(super) fn is_message(pieces: &[Token<'_>]) -> bool {
    pieces
        .iter()
        .any(|token| token.kind == Kind::Word && MESSAGES.contains(&token.text))
}

/// Says whether a piece of Rust is the name of a type, so that `+` beside it joins bounds.
pub(super) fn is_type(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| {
        let mut characters = token.text.chars();
        token.text.starts_with(['\'', '?'])
            || (token.kind == Kind::Word
                && characters.next().is_some_and(char::is_uppercase)
                && characters.next().is_none_or(char::is_lowercase))
    })
}
