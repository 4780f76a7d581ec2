//! Where strings and comments end, by language.

use super::token::{Kind, Language, Token};

/// Longest regular expression: an open bracket must not make each line be read over and over.
const REGEX_BYTES_MAX: usize = 2_000;
/// How deep strings with code inside may nest.
const NESTING_MAX: usize = 16;

/// What the lexer remembers between pieces.
pub(super) struct Context {
    pub(super) language: Language,
    /// For each open parenthesis, whether a regular expression may follow its end: `if (a) /b/`.
    open: Vec<bool>,
    may_follow: bool,
    /// Words that end the texts that begin on the next line of a shell script.
    heredocs: Vec<String>,
}

impl Context {
    pub(super) fn new(language: Language) -> Self {
        Self {
            language,
            open: Vec::new(),
            may_follow: false,
            heredocs: Vec::new(),
        }
    }

    /// Takes note of a piece, before it joins the others.
    pub(super) fn saw(&mut self, kind: Kind, piece: &str, rest: &str, before: &[Token<'_>]) {
        if kind != Kind::Mark {
            return;
        }
        match (self.language, piece) {
            (Language::Script, "(") => self.open.push(before.last().is_some_and(|last| {
                ["if", "while", "for", "with"]
                    .iter()
                    .any(|word| last.is_word(word))
            })),
            (Language::Script, ")") => self.may_follow = self.open.pop().unwrap_or(false),
            (Language::Shell, "<") if before.last().is_some_and(|last| last.is_mark("<")) => {
                self.heredocs.extend(heredoc_word(rest));
            }
            _ => {}
        }
    }

    /// How long the text of a heredoc at the start of this line is, its last line included.
    pub(super) fn heredoc(&mut self, rest: &str) -> Option<usize> {
        if self.heredocs.is_empty() {
            return None;
        }
        let mut end = 0;
        for word in std::mem::take(&mut self.heredocs) {
            for line in rest[end..].split_inclusive('\n') {
                end += line.len();
                if line.trim() == word {
                    break;
                }
            }
        }
        // The line end stays outside, so that the next line starts after it.
        Some(rest[..end].trim_end_matches(['\n', '\r']).len())
    }
}

/// The word after `<<`; none in `<<<` and in shifts.
fn heredoc_word(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let rest = rest.trim_start_matches(['\'', '"', '\\']);
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let is_word = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word.then(|| rest[..end].to_owned())
}

/// How long the comment at the start is.
pub(super) fn comment(
    rest: &str,
    language: Language,
    is_after_gap: bool,
    tokens: &[Token<'_>],
) -> Option<usize> {
    let line = || Some(rest.find('\n').unwrap_or(rest.len()));
    match language {
        Language::Rust if rest.starts_with("/*") => Some(nested_comment(rest)),
        Language::Script | Language::Braces if rest.starts_with("/*") => {
            Some(rest[2..].find("*/").map_or(rest.len(), |at| at + 4))
        }
        Language::Rust | Language::Script | Language::Braces if rest.starts_with("//") => line(),
        // A shebang of a script.
        Language::Script if rest.starts_with("#!") && tokens.is_empty() => line(),
        Language::Python | Language::Ruby if rest.starts_with('#') => line(),
        Language::Shell if rest.starts_with('#') => {
            let is_after_mark = tokens
                .last()
                .is_some_and(|last| last.kind == Kind::Mark && ";(&|".contains(last.text));
            (is_after_gap || is_after_mark).then(line).flatten()
        }
        _ => None,
    }
}

fn nested_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = rest[at..].find(['/', '*']) {
        at += found;
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// How long the string, character, template or regular expression at the start is.
pub(super) fn string(
    rest: &str,
    first: char,
    context: &Context,
    tokens: &[Token<'_>],
) -> Option<usize> {
    match context.language {
        Language::Rust => rust(rest, first),
        Language::Python => python(rest, first),
        Language::Script => match first {
            '"' | '\'' => Some(quoted(rest, first, Lines::One)),
            '`' => Some(template(rest, 0)),
            '/' if may_be_regex(context, tokens, rest) => regex(rest),
            _ => None,
        },
        Language::Shell => match first {
            '\'' if tokens.last().is_some_and(|last| last.is_mark("$")) => {
                Some(quoted(rest, '\'', Lines::Many))
            }
            '\'' => Some(rest[1..].find('\'').map_or(rest.len(), |at| at + 2)),
            '"' => Some(shell_double(rest, 0)),
            // What follows a backslash means itself.
            '\\' => Some(1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
            _ => None,
        },
        Language::Ruby => match first {
            '"' | '\'' | '`' => Some(quoted(rest, first, Lines::Many)),
            _ => None,
        },
        Language::Braces => match first {
            '"' | '\'' => Some(quoted(rest, first, Lines::One)),
            '`' => Some(rest[1..].find('`').map_or(rest.len(), |at| at + 2)),
            _ => None,
        },
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Lines {
    /// A string that is not closed on its line ends with it.
    One,
    Many,
}

fn quoted(rest: &str, quote: char, lines: Lines) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if lines == Lines::One => return at,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn rust(rest: &str, first: char) -> Option<usize> {
    match first {
        '"' => Some(quoted(rest, '"', Lines::Many)),
        '\'' => character(rest),
        'b' | 'c' | 'r' => {
            let (prefix, tail) = ["br", "cr", "b", "c", "r"]
                .into_iter()
                .find_map(|prefix| Some((prefix, rest.strip_prefix(prefix)?)))
                .filter(|(_, tail)| tail.starts_with(['"', '#', '\'']))?;
            if prefix.ends_with('r') {
                return raw(tail).map(|length| prefix.len() + length);
            }
            let length = match tail.chars().next()? {
                '"' => quoted(tail, '"', Lines::Many),
                '\'' if prefix == "b" => character(tail)?,
                _ => return None,
            };
            Some(prefix.len() + length)
        }
        _ => None,
    }
}

/// `"…"` or `#"…"#` with any number of hashes, after the `r`.
fn raw(tail: &str) -> Option<usize> {
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    tail[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", &tail[..hashes]);
    let from = hashes + 1;
    Some(
        tail[from..]
            .find(&end)
            .map_or(tail.len(), |at| from + at + end.len()),
    )
}

/// `'x'` or `'\n'`; a lifetime has no second quote so near.
fn character(rest: &str) -> Option<usize> {
    let inside: Vec<(usize, char)> = rest.char_indices().skip(1).take(14).collect();
    match inside.as_slice() {
        [(_, '\\'), _, tail @ ..] => tail.iter().find(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
        [(_, inner), (at, '\''), ..] if *inner != '\'' => Some(at + 1),
        _ => None,
    }
}

fn python(rest: &str, first: char) -> Option<usize> {
    let prefix = if first == '"' || first == '\'' {
        0
    } else {
        let at = rest.find(|c| !"rRbBuUfFtT".contains(c))?;
        let is_prefix = (1..=2).contains(&at) && rest[at..].starts_with(['"', '\'']);
        is_prefix.then_some(at)?
    };
    let tail = &rest[prefix..];
    let quote = tail.chars().next()?;
    for triple in ["\"\"\"", "'''"] {
        if tail.starts_with(triple) {
            return Some(prefix + 3 + triple_end(&tail[3..], triple));
        }
    }
    Some(prefix + quoted(tail, quote, Lines::One))
}

/// Where a string of three quotes ends, counted from after its start.
fn triple_end(tail: &str, triple: &str) -> usize {
    let mut at = 0;
    while let Some(found) = tail[at..].find(['\\', '"', '\'']) {
        at += found;
        if tail[at..].starts_with(triple) {
            return at + 3;
        }
        let skipped = if tail[at..].starts_with('\\') { 2 } else { 1 };
        let mut next = (at + skipped).min(tail.len());
        while !tail.is_char_boundary(next) {
            next += 1;
        }
        at = next;
    }
    tail.len()
}

/// A template with the code in its `${…}`.
fn template(rest: &str, depth: usize) -> usize {
    let mut at = 1;
    while let Some(character) = rest[at.min(rest.len())..].chars().next() {
        match character {
            '\\' => {
                at += 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            }
            '`' => return at + 1,
            '$' if rest[at..].starts_with("${") && depth < NESTING_MAX => {
                at += 2;
                at += substitution(&rest[at..], '}', depth);
            }
            other => at += other.len_utf8(),
        }
    }
    rest.len()
}

/// The code of a substitution up to and with its end.
fn substitution(rest: &str, end: char, depth: usize) -> usize {
    let start = if end == '}' { '{' } else { '(' };
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(character) = rest[at..].chars().next() {
        at += match character {
            '`' if end == '}' => template(&rest[at..], depth + 1),
            '"' if end == ')' => shell_double(&rest[at..], depth + 1),
            '\'' if end == ')' => rest[at + 1..].find('\'').map_or(1, |found| found + 2),
            '"' | '\'' => quoted(&rest[at..], character, Lines::One).max(1),
            _ if character == end && open == 0 => return at + 1,
            other => {
                open += usize::from(other == start);
                open -= usize::from(other == end);
                other.len_utf8()
            }
        };
    }
    rest.len()
}

/// A string of a shell with the commands in its `$(…)`.
fn shell_double(rest: &str, depth: usize) -> usize {
    let mut at = 1;
    while let Some(character) = rest[at.min(rest.len())..].chars().next() {
        match character {
            '\\' => {
                at += 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            }
            '"' => return at + 1,
            '$' if rest[at..].starts_with("$(") && depth < NESTING_MAX => {
                at += 2;
                at += substitution(&rest[at..], ')', depth);
            }
            other => at += other.len_utf8(),
        }
    }
    rest.len()
}

/// Words after which a value is expected, so that `/` starts a regular expression.
const BEFORE_VALUES: [&str; 15] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "instanceof",
    "yield",
    "await",
    "default",
];

fn may_be_regex(context: &Context, tokens: &[Token<'_>], rest: &str) -> bool {
    if rest.starts_with("/=") && tokens.last().is_some_and(|last| last.kind != Kind::Mark) {
        return false;
    }
    let mut before = tokens.iter().rev().filter(|t| t.kind != Kind::Comment);
    match before.next() {
        None => true,
        Some(last) => match last.kind {
            Kind::Word => BEFORE_VALUES.contains(&last.text),
            Kind::Number | Kind::Text | Kind::Comment => false,
            Kind::Mark => match last.text {
                ")" => context.may_follow,
                // `</a>` of markup.
                "]" | "<" | "++" | "--" => false,
                _ => true,
            },
        },
    }
}

/// A regular expression with its flags; none where it does not end on its line.
fn regex(rest: &str) -> Option<usize> {
    let mut is_escaped = false;
    let mut is_in_class = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            '\n' => return None,
            _ if at > REGEX_BYTES_MAX => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '/' if !is_in_class => {
                let tail = &rest[at + 1..];
                let flags = tail
                    .find(|c: char| !c.is_ascii_alphabetic())
                    .unwrap_or(tail.len());
                return Some(at + 1 + flags);
            }
            _ => {}
        }
    }
    None
}
