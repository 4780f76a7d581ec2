//! Languages, and the pieces that their sources are made of.

use crate::text::extension;

/// A family of languages that write strings and comments alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Rust.
    Rust,
    /// JavaScript and TypeScript.
    Script,
    /// Python.
    Python,
    /// Shells.
    Shell,
    /// Ruby.
    Ruby,
    /// Go, C, Java and their kin.
    Braces,
}

impl Language {
    /// Tells the language by the file's name, or by its first line where the name says nothing.
    pub(crate) fn of(path: &str, text: &str) -> Option<Self> {
        match extension(path) {
            "rs" => Some(Self::Rust),
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts" => Some(Self::Script),
            "py" | "pyi" | "pyw" => Some(Self::Python),
            "sh" | "bash" | "zsh" | "ksh" | "bats" => Some(Self::Shell),
            "rb" => Some(Self::Ruby),
            "go" | "c" | "h" | "cc" | "cpp" | "hpp" | "java" | "kt" | "cs" | "swift" | "php" => {
                Some(Self::Braces)
            }
            "" => Self::of_shebang(text),
            _ => None,
        }
    }

    fn of_shebang(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("#!")?;
        let program = line.split(['/', ' ']).rfind(|word| !word.is_empty())?;
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            "python" => Some(Self::Python),
            "node" | "bun" | "deno" => Some(Self::Script),
            "ruby" => Some(Self::Ruby),
            _ => None,
        }
    }
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, a keyword, a lifetime.
    Word,
    /// A number.
    Number,
    /// A string, a character, a template or a regular expression, with its quotes.
    Text,
    /// A comment.
    Comment,
    /// An operator, a bracket, a separator.
    Mark,
}

/// One piece of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it starts, in bytes.
    pub(crate) at: usize,
    /// What stands there.
    pub(crate) text: &'a str,
}

impl Token<'_> {
    /// Where it ends, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Says whether it is this mark.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// Says whether it is this word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// What a string holds between its quotes, escapes as they are written.
    pub(crate) fn content(&self) -> &str {
        if self.kind != Kind::Text {
            return "";
        }
        let inner = self
            .text
            .trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '#' || c == '$');
        let Some(quote) = inner.chars().next() else {
            return "";
        };
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let width = if inner.len() >= 6 && inner.starts_with(&triple) {
            3
        } else {
            1
        };
        let inner = inner.trim_end_matches('#');
        let body = inner.get(width * quote.len_utf8()..).unwrap_or("");
        let end = triple.get(..width).unwrap_or("");
        body.strip_suffix(end).unwrap_or(body)
    }
}
