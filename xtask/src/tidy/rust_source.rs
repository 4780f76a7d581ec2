//! As much of Rust's grammar as the rules need: where string literals are, where the tests begin,
//! and the words of the code that is no test.
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

/// A name, a number, `::`, or any other single character of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) line_number: usize,
    pub(super) text: &'a str,
}

impl Word<'_> {
    /// Tells names, keywords and numbers from punctuation.
    pub(super) fn is_name(&self) -> bool {
        self.text.starts_with(is_name_character)
    }
}

/// Splits code into words. A string literal is a word of one quote, whatever it says; comments and
/// everything below `#[cfg(test)]` are left out.
pub(super) fn words(source: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut rest, mut line_number) = (source, 1);
    while !rest.is_empty() {
        let token = next_token(rest);
        let length = token.length.max(word_length(rest));
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        if !is_comment && !rest.starts_with(char::is_whitespace) {
            let text = if token.is_string {
                "\""
            } else {
                &rest[..length]
            };
            words.push(Word { line_number, text });
        }
        line_number += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    without_tests(&words)
}

/// The `b` of a byte string stands alone, so that the string behind it is seen.
fn word_length(rest: &str) -> usize {
    let is_byte_string = rest
        .strip_prefix('b')
        .is_some_and(|after| next_token(after).is_string);
    if is_byte_string {
        1
    } else if rest.starts_with("::") {
        2
    } else {
        rest.find(|c| !is_name_character(c)).unwrap_or(rest.len())
    }
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn without_tests<'a>(words: &[Word<'a>]) -> Vec<Word<'a>> {
    let mut kept = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        if starts_with(rest, &TEST_ONLY) {
            rest = &rest[TEST_ONLY.len()..];
            rest = &rest[item_length(rest)..];
        } else {
            kept.push(*first);
            rest = others;
        }
    }
    kept
}

const TEST_ONLY: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Tells whether code starts with these words.
pub(super) fn starts_with(words: &[Word<'_>], expected: &[&str]) -> bool {
    words.len() >= expected.len()
        && words
            .iter()
            .zip(expected)
            .all(|(word, expected)| word.text == *expected)
}

/// An item ends with its first semicolon outside brackets, or with its first closing brace. Other
/// attributes in front of it belong to it.
fn item_length(words: &[Word<'_>]) -> usize {
    let mut depth = 0_usize;
    for (index, word) in words.iter().enumerate() {
        match word.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return index,
            "}" if depth == 1 => return index + 1,
            ")" | "]" | "}" => depth -= 1,
            ";" if depth == 0 => return index + 1,
            _ => {}
        }
    }
    words.len()
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
    fn code_has_the_words() {
        for (source, expected) in [
            ("use a::b; // no", "use a :: b ;"),
            (
                "f(\"no\", r#\"no\"#, br#\"no\"#) /* no */",
                "f ( \" , \" , b \" )",
            ),
            ("x.0 == 'y'", "x . 0 == 'y'"),
            ("for_r(r, rest)", "for_r ( r , rest )"),
            ("a #[cfg(test)] mod tests { fn f() {} } b", "a b"),
            (
                "a #[cfg(test)] #[rustfmt::skip] fn f(x: [u8; 2]) {} b",
                "a b",
            ),
            ("a #[cfg(test)] mod tests; b", "a b"),
            ("{ a: 1, #[cfg(test)] b: 2 } c", "{ a : 1 , } c"),
        ] {
            let seen: Vec<&str> = words(source).iter().map(|word| word.text).collect();
            assert_eq!(seen.join(" ").replace("= =", "=="), expected, "{source}");
        }
    }

    #[test]
    fn words_know_their_lines() {
        let lines: Vec<usize> = words("a\n\"b\n\" c\n/* \n */ d")
            .iter()
            .map(|word| word.line_number)
            .collect();
        assert_eq!(lines, [1, 2, 3, 5]);
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
