//! Where faults can be put in shell scripts: tests, sums, exit codes and what is printed.

use std::ops::Range;

use super::site::{LINE_BYTES_MAX, Rank, Site};
use crate::lex::{Kind, Language, lex};

/// Most places of one file.
const SITES_MAX: usize = 20_000;
/// Words of tests and what they become.
const TESTS: [(&str, &str); 9] = [
    (" -eq ", " -ne "),
    (" -ne ", " -eq "),
    (" -lt ", " -ge "),
    (" -gt ", " -le "),
    (" -le ", " -gt "),
    (" -ge ", " -lt "),
    (" == ", " != "),
    (" != ", " = "),
    (" = ", " != "),
];

/// All places in a text. Comments, heredocs and what stands in single quotes are left alone.
pub(super) fn sites(text: &str) -> Vec<Site> {
    let hidden: Vec<Range<usize>> = lex(text, Language::Shell)
        .iter()
        .filter(|token| {
            let is_quoted = token.text.starts_with('\'') || token.text.starts_with('\\');
            let is_heredoc = token.kind == Kind::Text && !token.text.starts_with(['"', '\'', '\\']);
            token.kind == Kind::Comment || is_heredoc || (token.kind == Kind::Text && is_quoted)
        })
        .map(|token| token.at..token.end())
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        if found.len() < SITES_MAX && line.len() < LINE_BYTES_MAX {
            let mut own = Vec::new();
            tests(line, &mut own);
            sums(line, &mut own);
            commands(line, &mut own);
            found.extend(own.into_iter().map(|(range, becomes, rank)| Site {
                at: at + range.start..at + range.end,
                becomes,
                rank,
            }));
        }
        at += whole.len();
    }
    found.retain(|site| {
        let before = hidden.partition_point(|range| range.start <= site.at.start);
        let Some(range) = before.checked_sub(1).map(|before| &hidden[before]) else {
            return true;
        };
        // A string in single quotes may go as a whole.
        let is_whole = range.start == site.at.start && text[range.start..].starts_with('\'');
        range.end <= site.at.start || is_whole
    });
    found
}

type Faults = Vec<(Range<usize>, String, Rank)>;

fn tests(line: &str, found: &mut Faults) {
    let is_test = line.contains('[') || line.contains("test ");
    for (word, other) in TESTS {
        let needs_test = word.contains('=');
        for (at, _) in line.match_indices(word) {
            if is_test || !needs_test {
                let inner = at + 1..at + word.len() - 1;
                found.push((inner, other.trim().to_owned(), Rank::Operator));
            }
        }
    }
    for (word, other) in [(" && ", "||"), (" || ", "&&")] {
        for (at, _) in line.match_indices(word) {
            found.push((at + 1..at + 3, other.to_owned(), Rank::Operator));
        }
    }
}

/// Operators and numbers within `$((…))`.
fn sums(line: &str, found: &mut Faults) {
    for (start, _) in line.match_indices("$((") {
        let from = start + 3;
        let Some(length) = line[from..].find("))") else {
            continue;
        };
        let inner = &line[from..from + length];
        let mut previous = ' ';
        for (at, character) in inner.char_indices() {
            let place = from + at..from + at + character.len_utf8();
            let is_binary = previous.is_alphanumeric() || [')', '}', '_'].contains(&previous);
            let next = inner[at + character.len_utf8()..]
                .chars()
                .next()
                .unwrap_or(' ');
            let becomes = match character {
                '+' if next != '+' && next != '=' => "-",
                '-' if next != '-' && next != '=' => "+",
                '*' if next != '*' => "+",
                '/' | '%' => "*",
                _ => "",
            };
            if is_binary && !becomes.is_empty() {
                found.push((place, becomes.to_owned(), Rank::Operator));
            }
            if !character.is_whitespace() {
                previous = character;
            }
        }
        numbers(inner, from, found);
    }
}

/// Numbers that are no parameters and no parts of names.
fn numbers(inner: &str, from: usize, found: &mut Faults) {
    let mut at = 0;
    while let Some(start) = inner[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + start;
        let rest = &inner[start..];
        let length = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let before = inner[..start].chars().next_back().unwrap_or(' ');
        let is_name = before.is_alphanumeric() || ['$', '{', '_', '#'].contains(&before);
        let value = rest[..length]
            .parse::<u64>()
            .ok()
            .and_then(|value| value.checked_add(1));
        if let Some(value) = value.filter(|_| !is_name) {
            found.push((
                from + start..from + start + length,
                value.to_string(),
                Rank::Number,
            ));
        }
        at = start + length;
    }
}

/// What is printed, exit codes, and commands that say yes or no.
fn commands(line: &str, found: &mut Faults) {
    for word in ["echo", "exit", "return", "true", "false"] {
        for (at, _) in line.match_indices(word) {
            if !is_command(line, at, word.len()) {
                continue;
            }
            let from = at + word.len();
            let argument = argument(&line[from..]);
            let place = from + argument.start..from + argument.end;
            let text = &line[place.clone()];
            match word {
                "true" => found.push((at..from, "false".to_owned(), Rank::Operator)),
                "false" => found.push((at..from, "true".to_owned(), Rank::Operator)),
                "echo" if !text.is_empty() && !text.starts_with('-') => {
                    found.push((place, "mutant".to_owned(), Rank::Text));
                }
                "exit" | "return" => {
                    if let Some(next) = text.parse::<u8>().ok().and_then(|n| n.checked_add(1)) {
                        found.push((place, next.to_string(), Rank::Number));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Says whether a word stands where a command does.
fn is_command(line: &str, at: usize, length: usize) -> bool {
    let before = line[..at].trim_end();
    let is_start = before.is_empty()
        || before.ends_with([';', '|', '&', '(', '{', ')', '!', '`'])
        || ["then", "do", "else"]
            .iter()
            .any(|word| before.ends_with(word));
    let touches = line[..at].ends_with(|c: char| c.is_alphanumeric() || "_-./$".contains(c));
    let after = line[at + length..].chars().next();
    is_start && !touches && after.is_none_or(|c| c.is_whitespace() || ";)&|`".contains(c))
}

/// What follows a command, up to the end of the command.
fn argument(rest: &str) -> Range<usize> {
    let start = rest.len() - rest.trim_start().len();
    let mut quote = None;
    let mut depth = 0_usize;
    let mut end = rest.len();
    for (at, character) in rest.char_indices().skip(1) {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') if depth > 0 => depth -= 1,
            (None, ';' | '|' | '&' | ')' | '>' | '<' | '`' | '#') if depth == 0 => {
                end = at;
                break;
            }
            (Some(_) | None, _) => {}
        }
    }
    let end = rest[..end].trim_end().len();
    start.min(end)..end
}
