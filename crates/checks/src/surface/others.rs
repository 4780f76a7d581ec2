//! Go, C and shells.

use super::clean::{Language, clean};
use super::statement::{balance, block, statement};

/// What starts with a capital letter.
pub(super) fn go(text: &str) -> Vec<String> {
    let text = clean(text, Language::Braces);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let is_capital = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
        if let Some(rest) = line.strip_prefix("func ") {
            let name = if rest.starts_with('(') {
                rest.split_once(") ").map_or("", |(_, name)| name)
            } else {
                rest
            };
            if is_capital(name) {
                found.push(statement(&lines, index, &['{', '\n']));
            }
        } else if line.strip_prefix("type ").is_some_and(is_capital) {
            let is_block = line.trim_end().ends_with('{');
            found.push(if is_block {
                block(&lines, index, is_capital)
            } else {
                statement(&lines, index, &['\n'])
            });
        } else if ["const ", "var "]
            .iter()
            .any(|kind| line.strip_prefix(kind).is_some_and(is_capital))
        {
            found.push(statement(&lines, index, &['=', '\n']));
        }
    }
    found
}

/// Prototypes, functions that are not static, and types.
pub(super) fn c(text: &str) -> Vec<String> {
    let text = clean(text, Language::Braces);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate() {
        let is_top = depth == 0 && line.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_type = ["typedef ", "struct ", "enum "]
            .iter()
            .any(|kind| line.starts_with(kind));
        if is_top && is_type && !line.contains('(') {
            found.push(
                block(&lines, index, |_| true)
                    .trim_end_matches(';')
                    .to_owned(),
            );
        } else if is_top
            && line.contains('(')
            && !line.starts_with("static ")
            && !line.starts_with("else")
        {
            found.push(statement(&lines, index, &['{', ';']));
        }
        depth = (depth + balance(line)).max(0);
    }
    found
}

/// Functions by either way to write them.
pub(super) fn shell(text: &str) -> Vec<String> {
    let name_of = |line: &str| -> Option<String> {
        let line = line.strip_prefix("function ").unwrap_or(line);
        let (name, rest) = line.split_once("()").or_else(|| line.split_once(" {"))?;
        let is_name = !name.trim().is_empty()
            && name
                .trim()
                .chars()
                .all(|c| c.is_alphanumeric() || "_-:.".contains(c));
        (is_name && (rest.trim().is_empty() || rest.trim_start().starts_with(['{', '('])))
            .then(|| format!("{}()", name.trim()))
    };
    text.lines().filter_map(name_of).collect()
}
