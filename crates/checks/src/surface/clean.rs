//! A text without comments and without what stands in strings, line for line the same.

/// How a language writes what is no code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// `//`, `/* */`, and `'` for characters and lifetimes.
    Rust,
    /// `//`, `/* */`, and three kinds of quotes.
    Braces,
    /// `#`, and strings of three quotes.
    Hash,
}

/// Blanks comments, and the insides of strings; quotes and line ends stay.
pub(super) fn clean(text: &str, language: Language) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = skipped(rest, character, language);
        if length == 0 {
            out.push(character);
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let (part, after) = rest.split_at(length);
        let is_string = ['"', '\'', '`'].contains(&character);
        if is_string {
            out.push(character);
        }
        out.extend(part.chars().filter(|c| *c == '\n'));
        if is_string {
            out.push(character);
        }
        rest = after;
    }
    out
}

/// How long the comment or string at the start is, in bytes; 0 is none.
fn skipped(rest: &str, first: char, language: Language) -> usize {
    let to = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at);
    match (first, language) {
        ('/', Language::Rust | Language::Braces) if rest.starts_with("//") => to("\n", 2),
        ('/', Language::Rust | Language::Braces) if rest.starts_with("/*") => {
            (to("*/", 2) + 2).min(rest.len())
        }
        ('#', Language::Hash) => to("\n", 1),
        ('"', Language::Hash) if rest.starts_with("\"\"\"") => {
            (to("\"\"\"", 3) + 3).min(rest.len())
        }
        ('\'', Language::Hash) if rest.starts_with("'''") => (to("'''", 3) + 3).min(rest.len()),
        ('\'', Language::Rust) => character_literal(rest),
        ('"', _) => string(rest, '"'),
        ('\'', Language::Braces | Language::Hash) => string(rest, '\''),
        ('`', Language::Braces) => string(rest, '`'),
        _ => 0,
    }
}

/// `'x'` or `'\n'`; a lifetime has no second quote so near.
fn character_literal(rest: &str) -> usize {
    let inside: Vec<(usize, char)> = rest.char_indices().skip(1).take(12).collect();
    match inside.as_slice() {
        [(_, '\\'), _, tail @ ..] => tail
            .iter()
            .find(|(_, c)| *c == '\'')
            .map_or(0, |(at, _)| at + 1),
        [_, (at, '\''), ..] => at + 1,
        _ => 0,
    }
}

fn string(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            // A string in quotes ends with its line, or it was none.
            '\n' if quote == '\'' => return at,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_goes() {
        for (language, text, expected) in [
            (Language::Rust, "a // b {\nc", "a \nc"),
            (Language::Rust, "a /* {\n */ b", "a \n b"),
            (Language::Rust, "x('{', \"}\", 'a)", "x('', \"\", 'a)"),
            (Language::Rust, "'\\'' {", "'' {"),
            (Language::Braces, "f(`{\n`, 'it\\'s')", "f(`\n`, '')"),
            (Language::Hash, "a # b\n\"\"\"x\ny\"\"\" c", "a \n\"\n\" c"),
            (Language::Hash, "'open\nnext", "''\nnext"),
        ] {
            assert_eq!(clean(text, language), expected, "{text}");
        }
    }
}
