//! A Rust file in pieces, with its brackets matched.

use crate::lex::{Language, Token, lex, pairs};

/// A Rust file in pieces.
pub(super) struct File<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) partners: Vec<usize>,
}

impl<'a> File<'a> {
    /// Reads a file; nothing where its brackets do not match.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let tokens = lex(text, Language::Rust);
        let partners = pairs(&tokens)?;
        Some(Self {
            text,
            tokens,
            partners,
        })
    }

    pub(super) fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_mark(mark))
    }

    pub(super) fn is_word(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_word(word))
    }
}
