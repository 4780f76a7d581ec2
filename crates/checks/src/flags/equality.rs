//! Product code whose values are equal to everything.
//!
//! A value that compares its fields is ordinary. What is looked for is equality that answers without
//! looking at the other side.

use super::signs::{Found, has};
use super::source::Source;
use crate::lex::{Kind, Language, Token};
use crate::text::indent;

const SAYS: &str = "is equal to anything";
/// Longest body that is looked into, in pieces and in lines.
const BODY_MAX: usize = 400;
const BODY_LINES_MAX: usize = 40;

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let found = match source.language {
        Language::Python => in_python(source, index),
        Language::Rust | Language::Script | Language::Braces => in_braces(source, index),
        Language::Ruby | Language::Shell => false,
    };
    found.then_some(SAYS)
}

const PYTHON: [&str; 4] = ["__eq__", "__ne__", "__instancecheck__", "__subclasscheck__"];

fn in_python(source: &Source<'_>, index: usize) -> bool {
    let line = &source.lines[index];
    let Some(name) = PYTHON.iter().find(|name| has(&line.bare, name)) else {
        return is_in_python_body(source, index);
    };
    let bare = line.bare.as_str();
    if has(bare, &format!("{name}=lambda*")) {
        let body = bare.rsplit(':').next().unwrap_or("");
        return is_yes(body);
    }
    has(bare, &format!("def {name}")) && python_ignores(source, index)
}

/// A changed line within the body of an older `__eq__`.
fn is_in_python_body(source: &Source<'_>, index: usize) -> bool {
    let line = &source.lines[index];
    if !line.bare.starts_with("return ") {
        return false;
    }
    let depth = indent(line.raw);
    let from = index.saturating_sub(BODY_LINES_MAX);
    let header = (from..index).rev().find(|before| {
        let before = &source.lines[*before];
        has(&before.bare, "def") && indent(before.raw) < depth
    });
    header.is_some_and(|header| {
        let before = &source.lines[header];
        !before.is_new
            && PYTHON
                .iter()
                .any(|name| has(&before.bare, &format!("def {name}")))
            && python_ignores(source, header)
    })
}

/// Says whether a method never looks at what it is given, or says yes whatever it sees.
fn python_ignores(source: &Source<'_>, header: usize) -> bool {
    let head = source.lines[header].bare.as_str();
    let parameters = head.split_once('(').map_or("", |(_, rest)| rest);
    let (parameters, same_line) = parameters.split_once(')').unwrap_or((parameters, ""));
    let other = parameters.split(',').nth(1).unwrap_or("");
    let other = other.split([':', '=']).next().unwrap_or("");
    let same_line = same_line.rsplit_once(':').map_or("", |(_, body)| body);
    let depth = indent(source.lines[header].raw);
    let end = source.lines.len().min(header + 1 + BODY_LINES_MAX);
    let below = source.lines[header + 1..end]
        .iter()
        .take_while(|line| line.code.is_empty() || indent(line.raw) > depth)
        .map(|line| (indent(line.raw), line.bare.as_str()));
    let body: Vec<(usize, &str)> = [(depth, same_line)]
        .into_iter()
        .chain(below)
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if other.is_empty() || !body.iter().any(|(_, line)| has(line, "return")) {
        return false;
    }
    let looks = body.iter().any(|(_, line)| has(line, other));
    // A type is no value: whoever asks for nothing else takes any value.
    let asks_type_alone = body.iter().all(|(_, line)| {
        let value = line.strip_prefix("return ").unwrap_or(line);
        value.starts_with("isinstance(") && !value.contains(" and ") && !value.contains("==")
    });
    !looks || asks_type_alone || says_yes(&body, head.contains("__ne__"))
}

/// Says whether the last word of a body is yes, where nothing before it says no.
fn says_yes(body: &[(usize, &str)], is_turned: bool) -> bool {
    let base = body.first().map_or(0, |(depth, _)| *depth);
    // A loop that found no difference ends with yes as well.
    let may_say_no = body.iter().any(|(_, line)| {
        ["False", "for", "==", "!="]
            .iter()
            .any(|word| line.contains(word))
    });
    body.iter().any(|(depth, line)| {
        let value = line.strip_prefix("return ").unwrap_or("");
        let is_answer = if is_turned {
            value == "False"
        } else {
            is_yes(value)
        };
        is_answer && *depth == base && (is_turned || !may_say_no)
    })
}

fn is_yes(value: &str) -> bool {
    [
        "True",
        "true",
        "1",
        "not False",
        "!0",
        "!false",
        "bool(1)",
        "not 0",
    ]
    .contains(&value.trim().trim_end_matches(';'))
}

const SCRIPT: [&str; 6] = [
    "valueOf",
    "toPrimitive",
    "equals",
    "isEqual",
    "asymmetricMatch",
    "hasInstance",
];

fn in_braces(source: &Source<'_>, index: usize) -> bool {
    let range = source.lines[index].tokens.clone();
    range.into_iter().any(|at| {
        let token = &source.tokens[at];
        if source.language == Language::Rust {
            let is_named = token.is_word("eq") || token.is_word("ne");
            let is_function = at > 0 && source.tokens[at - 1].is_word("fn");
            return is_named && is_function && ignores(source, at);
        }
        if token.is_word("asymmetricMatch") {
            return true;
        }
        SCRIPT.iter().any(|name| token.is_word(name)) && ignores(source, at)
    })
}

/// Says whether the method that is named here answers without a look at what it is given.
fn ignores(source: &Source<'_>, name: usize) -> bool {
    let tokens = &source.tokens;
    // `[Symbol.toPrimitive](`, `valueOf: (`, `equals = (`.
    let open = (name + 1..tokens.len().min(name + 6)).find(|at| tokens[*at].is_mark("("));
    let Some(open) = open else { return false };
    let between = &tokens[name + 1..open];
    let is_definition = between
        .iter()
        .all(|token| ["]", ":", "=", "function"].contains(&token.text));
    let close = source.partners[open];
    let is_called =
        name > 0 && tokens[name - 1].is_mark(".") && !between.iter().any(|t| t.is_mark("]"));
    if !is_definition || close <= open || is_called {
        return false;
    }
    let Some(body) = body(source, close) else {
        return false;
    };
    let parameter = parameter(source, &tokens[open + 1..close]);
    answers(body, parameter)
}

/// The pieces of a body that follows parameters: a block, or what an arrow leads to.
fn body<'s, 'a>(source: &'s Source<'a>, close: usize) -> Option<&'s [Token<'a>]> {
    let tokens = &source.tokens;
    let start = (close + 1..tokens.len().min(close + 12))
        .find(|at| ["{", "=>", ";", ",", ")"].contains(&tokens[*at].text))?;
    let start = match tokens[start].text {
        "{" => start,
        "=>" if tokens.get(start + 1)?.is_mark("{") => start + 1,
        "=>" => {
            let end = (start + 1..tokens.len().min(start + 12))
                .find(|at| [",", ";", "}", ")"].contains(&tokens[*at].text))?;
            return Some(&tokens[start + 1..end]);
        }
        _ => return None,
    };
    let end = source.partners[start];
    (end > start && end - start < BODY_MAX).then(|| &tokens[start + 1..end])
}

/// The name of what the method compares with.
fn parameter<'a>(source: &Source<'_>, parameters: &[Token<'a>]) -> Option<&'a str> {
    let is_rust = source.language == Language::Rust;
    let skipped = if is_rust {
        parameters.iter().position(|token| token.is_mark(","))? + 1
    } else {
        0
    };
    let mut words = parameters
        .get(skipped..)?
        .iter()
        .filter(|t| t.kind == Kind::Word);
    // Java writes the type first.
    let first = words.next()?;
    let second = words.next().filter(|_| source.language == Language::Braces);
    Some(second.unwrap_or(first).text)
}

fn answers(body: &[Token<'_>], parameter: Option<&str>) -> bool {
    let words: Vec<&str> = body.iter().map(|token| token.text).collect();
    let value: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !["return", ";"].contains(word))
        .collect();
    let is_literal = match body.iter().find(|token| !token.is_word("return")) {
        Some(token) => {
            value.len() == 1
                && (["true", "false"].contains(&token.text)
                    || [Kind::Number, Kind::Text].contains(&token.kind))
        }
        None => false,
    };
    if is_literal {
        return true;
    }
    let looks = parameter.is_some_and(|name| words.contains(&name));
    let gives_up = ["throw", "panic", "unimplemented", "unreachable"]
        .iter()
        .any(|word| words.contains(word));
    let says_yes = value.last() == Some(&"true")
        && ![
            "==", "===", "!=", "!==", "false", "eq", "cmp", "matches", "equals",
        ]
        .iter()
        .any(|word| words.contains(word));
    says_yes || (parameter.is_some() && !looks && !gives_up && words.contains(&"true"))
}
