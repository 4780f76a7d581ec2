//! Source text in pieces: words, numbers, literals, comments and marks, each with its place.
//!
//! One small lexer for several languages. It knows where strings and comments end, so that braces
//! can be matched and an operator in a string is no operator. It knows no grammar.

mod literals;
mod pairs;
mod scan;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use pairs::pairs;
pub(crate) use scan::lex;
pub(crate) use token::{Kind, Language, Token};

/// The pieces without comments.
pub(crate) fn code(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut tokens = lex(text, language);
    tokens.retain(|token| token.kind != Kind::Comment);
    tokens
}

/// Code in one comparable form: one blank between pieces, comments gone.
pub(crate) fn joined(tokens: &[Token<'_>]) -> String {
    let mut out = String::new();
    for token in tokens.iter().filter(|token| token.kind != Kind::Comment) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(token.text);
    }
    out
}
