//! As much of Rust's grammar as the rules need: where string literals are, and where the tests
//! begin.
//!
//! This is no parser. It trusts that the file compiles, which an earlier step of CI has shown.

/// A string literal with its quotes, and where it starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Literal<'a> {
    pub(super) line_number: usize,
    pub(super) text: &'a str,
}

/// Finds every string literal that is neither in a comment nor in the test module.
pub(super) fn string_literals(source: &str) -> Vec<Literal<'_>> {
    let n_lines = lines_before_tests(source);
    let length = source
        .split_inclusive('\n')
        .take(n_lines)
        .map(str::len)
        .sum();
    let mut rest = &source[..length];
    let mut line_number = 1;
    let mut literals = Vec::new();
    while !rest.is_empty() {
        let token = next_token(rest);
        let text = &rest[..token.length];
        if token.is_string {
            literals.push(Literal { line_number, text });
        }
        line_number += text.matches('\n').count();
        rest = &rest[token.length..];
    }
    literals
}

/// Counts the lines before the test module, or all of them. Only a module with a body ends the
/// count: the line `mod tests;` may stand at the top of a long file.
pub(super) fn lines_before_tests(source: &str) -> usize {
    let lines: Vec<&str> = source.lines().collect();
    let starts_tests = |index: &usize| {
        let mut after = lines[index + 1..]
            .iter()
            .skip_while(|line| line.starts_with("#[") || line.starts_with("//"));
        lines[*index] == "#[cfg(test)]"
            && after
                .next()
                .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    (0..lines.len()).find(starts_tests).unwrap_or(lines.len())
}

struct Token {
    length: usize,
    is_string: bool,
}

fn next_token(rest: &str) -> Token {
    let other = |length| Token {
        length,
        is_string: false,
    };
    let string = |length| Token {
        length,
        is_string: true,
    };
    if rest.starts_with("//") {
        other(rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        other(block_comment_length(rest))
    } else if let Some(length) = raw_string_length(rest) {
        string(length)
    } else if rest.starts_with('"') {
        string(quoted_length(rest, '"'))
    } else if is_character_literal(rest) {
        other(quoted_length(rest, '\''))
    } else {
        other(rest.chars().next().map_or(0, char::len_utf8))
    }
}

/// Block comments nest in Rust.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(step) = rest[at..].find(['/', '*']) {
        at += step;
        let is_open = rest[at..].starts_with("/*");
        let is_close = rest[at..].starts_with("*/");
        at += if is_open || is_close { 2 } else { 1 };
        depth = if is_open {
            depth + 1
        } else {
            depth - usize::from(is_close)
        };
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// No name can end in `r` right before a quote, so what comes before the `r` need not be known.
fn raw_string_length(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let n_hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[n_hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n_hashes));
    let body_length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(1 + n_hashes + 1 + body_length)
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character_literal(rest: &str) -> bool {
    let mut after = rest.chars();
    after.next() == Some('\'') && (after.next() == Some('\\') || after.next() == Some('\''))
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + c.len_utf8();
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_literals_are_found_in() {
        for (source, expected) in [
            (r#"f("a", "b");"#, vec![(1, r#""a""#), (1, r#""b""#)]),
            ("// \"no\"\n\"yes\"", vec![(2, "\"yes\"")]),
            ("/* \"no\" /* */ \"no\" */ \"yes\"", vec![(1, "\"yes\"")]),
            (
                r#""say \"a\\" "b""#,
                vec![(1, r#""say \"a\\""#), (1, r#""b""#)],
            ),
            (
                "r#\"a \" b\"# \"c\"",
                vec![(1, "r#\"a \" b\"#"), (1, "\"c\"")],
            ),
            (
                r#"let r#type = '"'; f::<'a>('\'', "b")"#,
                vec![(1, r#""b""#)],
            ),
            (
                "\"two\nlines\" \"b\"",
                vec![(1, "\"two\nlines\""), (2, "\"b\"")],
            ),
            (
                "\"a\"\n#[cfg(test)]\nmod tests {\n\"no\" }",
                vec![(1, "\"a\"")],
            ),
        ] {
            let seen: Vec<_> = string_literals(source)
                .iter()
                .map(|found| (found.line_number, found.text))
                .collect();
            assert_eq!(seen, expected, "{source}");
        }
    }

    #[test]
    fn tests_begin_at() {
        for (source, expected) in [
            ("", 0),
            ("a\nb\n", 2),
            ("a\n#[cfg(test)]\nmod tests {\n}\n", 1),
            (
                "a\n#[cfg(test)]\n#[path = \"x\"]\n// Why.\nmod tests {\n}\n",
                1,
            ),
            ("#[cfg(test)]\nmod tests;\nb\n", 3),
            ("#[cfg(test)]\nfn helper() {\n}\n", 3),
        ] {
            assert_eq!(lines_before_tests(source), expected, "{source}");
        }
    }
}
