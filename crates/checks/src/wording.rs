//! Whether a change of a product file has any code in it, or only comments and blank lines.
//!
//! What a comment turns green looks at the text of the source and not at what it does. Comments that
//! tools read (directives, documentation that is compiled in, annotations) count as code.

use crate::lex::{Kind, Language, Token, lex};

/// What a change of a file consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// Code, or what may be code.
    Code,
    /// Comments and blank lines alone.
    Comments,
    /// What looks like comments, in a language that is not known.
    Unsure,
}

/// How comments begin that some tool reads.
const DIRECTIVES: [&str; 25] = [
    "go:",
    "+build",
    "cgo ",
    "include <",
    "include \"",
    "coding:",
    "coding=",
    "frozen_string_literal",
    "eslint",
    "biome-",
    "prettier-",
    "@ts-",
    "@jsx",
    "@flow",
    "@vitest",
    "@jest",
    "sourceMappingURL",
    "__PURE__",
    "webpack",
    "@vite-",
    "type:",
    "noqa",
    "pragma",
    "pyright",
    "shellcheck",
];
/// How comments begin in languages that are not known.
const MARKS: [&str; 8] = ["#", "//", "--", ";", "<!--", "/*", "*", "%"];

/// Tells what differs between two texts of a file; nothing is the text of a file that is not there.
pub fn wording(path: &str, base: &str, candidate: &str) -> Wording {
    match Language::of(path, candidate) {
        Some(language) if code_lines(base, language) == code_lines(candidate, language) => {
            Wording::Comments
        }
        None if looks_like_comments(base, candidate) => Wording::Unsure,
        Some(_) | None => Wording::Code,
    }
}

/// The lines without comments and without what is blank. How far a line is set in may be code.
fn code_lines(text: &str, language: Language) -> Vec<String> {
    let mut left = String::new();
    let mut at = 0;
    let tokens = lex(text, language);
    for token in tokens.iter().filter(|token| is_plain(token, language)) {
        left.push_str(&text[at..token.at]);
        at = token.end();
    }
    left.push_str(&text[at..]);
    let lines = left.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Says whether nothing but people reads a comment.
fn is_plain(token: &Token<'_>, language: Language) -> bool {
    let text = token.text;
    let is_documentation = ["///", "//!", "/**", "/*!"]
        .iter()
        .any(|start| text.starts_with(start));
    let is_compiled = is_documentation && (language == Language::Rust || text.contains('@'));
    let is_directive = text.starts_with("#!") || has_directive(text);
    token.kind == Kind::Comment && !is_compiled && !is_directive
}

/// Says whether a comment, a line of it, or what it says after a further `#` begins as a tool reads it.
fn has_directive(text: &str) -> bool {
    let parts = text.split(['\n', '#']).map(|part| {
        let is_mark = |letter: char| letter.is_whitespace() || "/*!-".contains(letter);
        part.trim_start_matches(is_mark)
    });
    let mut parts = parts.filter(|part| !part.is_empty());
    parts.any(|part| DIRECTIVES.iter().any(|word| part.starts_with(word)))
}

fn looks_like_comments(base: &str, candidate: &str) -> bool {
    let rest = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim_end);
        let is_code = |line: &&str| {
            let line = line.trim_start();
            !line.is_empty() && !MARKS.iter().any(|mark| line.starts_with(mark))
        };
        lines.filter(is_code).map(str::to_owned).collect()
    };
    rest(base) == rest(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_without_code_is_told() {
        for (path, base, candidate, expected) in [
            (
                "a.py",
                "x = 1\n",
                "x = 1\n\n# def double(a)\n",
                Wording::Comments,
            ),
            ("a.py", "x = 1\n", "x = 1  # one\n", Wording::Comments),
            ("a.py", "", "# nothing yet\n", Wording::Comments),
            (
                "a.js",
                "f();\n",
                "/* double */\nf(); // double\n",
                Wording::Comments,
            ),
            (
                "a.rs",
                "fn a() {}\n",
                "// double\nfn a() {}\n",
                Wording::Comments,
            ),
            ("a.sh", "a\n", "a\n# b\n", Wording::Comments),
            ("a.py", "x = 1\n", "x = 1\n#[double]\n", Wording::Comments),
            (
                "a.py",
                "x = 1\n",
                "x = 1\n# of type: double\n",
                Wording::Comments,
            ),
            ("a.py", "x = 1\n", "x = 1\ny = 2\n", Wording::Code),
            (
                "a.py",
                "if a:\n  b\n  c\n",
                "if a:\n  b\nc\n",
                Wording::Code,
            ),
            ("a.py", "x = 'a'\n", "x = '# a'\n", Wording::Code),
            (
                "a.py",
                "def f(): pass\n",
                "def f():\n    '''Says.'''\n",
                Wording::Code,
            ),
        ] {
            assert_eq!(wording(path, base, candidate), expected, "{candidate}");
        }
    }

    #[test]
    fn what_tools_read_and_what_is_not_known() {
        for (path, base, candidate, expected) in [
            // Comments that tools read.
            (
                "a.rs",
                "fn a() {}\n",
                "/// Doubles.\nfn a() {}\n",
                Wording::Code,
            ),
            (
                "a.go",
                "package a\n",
                "//go:build linux\npackage a\n",
                Wording::Code,
            ),
            (
                "a.js",
                "f();\n",
                "/** @param {number} a */\nf();\n",
                Wording::Code,
            ),
            (
                "a.py",
                "f()\n",
                "#!/usr/bin/env python3\nf()\n",
                Wording::Code,
            ),
            ("a.php", "f();\n", "#[Route]\nf();\n", Wording::Code),
            (
                "a.py",
                "f()\n",
                "f()  # slow  # noqa: E501\n",
                Wording::Code,
            ),
            (
                "a.py",
                "f()\n",
                "# -*- coding: latin-1 -*-\nf()\n",
                Wording::Code,
            ),
            (
                "a.js",
                "f();\n",
                "/*\n * @jest-environment jsdom\n */\nf();\n",
                Wording::Code,
            ),
            (
                "a.js",
                "f();\n",
                "//# sourceMappingURL=a.js.map\nf();\n",
                Wording::Code,
            ),
            ("a.js", "f();\n", "/*#__PURE__*/ f();\n", Wording::Code),
            (
                "a.go",
                "package a\n",
                "/*\n#cgo LDFLAGS: -lm\n#include <math.h>\n*/\npackage a\n",
                Wording::Code,
            ),
            // A language that is not known.
            (
                "a.sql",
                "select 1;\n",
                "-- double\nselect 1;\n",
                Wording::Unsure,
            ),
            ("a.sql", "select 1;\n", "\nselect 1;\n", Wording::Unsure),
            ("a.sql", "select 1;\n", "select 2;\n", Wording::Code),
        ] {
            assert_eq!(wording(path, base, candidate), expected, "{candidate}");
        }
    }
}
