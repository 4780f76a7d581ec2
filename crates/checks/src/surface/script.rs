//! JavaScript and TypeScript: exports, and the methods of exported classes.

use super::clean::{Language, clean};
use super::statement::{balance, block, statement};

pub(super) fn items(text: &str) -> Vec<String> {
    let original: Vec<&str> = text.lines().collect();
    let text = clean(text, Language::Braces);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut depth = 0;
    let mut class: Option<String> = None;
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim();
        if depth == 0 {
            class = None;
            if code.starts_with("export ")
                || code.starts_with("exports.")
                || code.starts_with("module.exports")
            {
                class = export(&lines, &original, index, &mut found);
            }
        } else if let Some(name) = class.as_deref().filter(|_| depth == 1) {
            found.extend(method(&lines, index).map(|method| format!("{name}: {method}")));
        }
        depth += balance(line);
    }
    found
}

/// Takes an export; gives the name of a class, whose methods follow.
fn export(
    lines: &[&str],
    original: &[&str],
    index: usize,
    found: &mut Vec<String>,
) -> Option<String> {
    let code = lines[index].trim();
    let words = code.strip_prefix("export ").unwrap_or(code);
    let words = words
        .strip_prefix("default ")
        .or_else(|| words.strip_prefix("declare "))
        .unwrap_or(words);
    let starts = |kinds: &[&str]| kinds.iter().any(|kind| words.starts_with(kind));
    if starts(&["class ", "abstract class "]) {
        let header = statement(lines, index, &['{']);
        found.push(header.clone());
        let after = header.split("class ").nth(1).unwrap_or("");
        return Some(after.split([' ', '<']).next().unwrap_or("").to_owned());
    }
    if starts(&["interface ", "enum ", "const enum "])
        || (words.starts_with("type ") && code.contains('{'))
    {
        found.push(block(lines, index, |_| true));
    } else if starts(&["{", "*"]) {
        // Where it comes from stands in quotes.
        let line = original.get(index).copied().unwrap_or(code);
        let whole = if line.contains('}') || words.starts_with('*') {
            line.trim().to_owned()
        } else {
            block(lines, index, |_| true)
        };
        found.push(whole.trim_end_matches(';').to_owned());
    } else if starts(&["const ", "let ", "var "]) || code.starts_with("exports.") {
        found.push(value(lines, index));
    } else if code.starts_with("module.exports") {
        found.push(block(lines, index, |_| true));
    } else {
        found.push(statement(lines, index, &['{', ';', '\n']));
    }
    None
}

/// `name = (a, b) =>` with its parameters, and any other value without.
fn value(lines: &[&str], index: usize) -> String {
    let name = statement(lines, index, &['=', ';', '\n']);
    let whole = statement(lines, index, &['{', ';', '\n']);
    let is_function =
        whole.contains("=>") || whole.contains("= function") || whole.contains("= async");
    if is_function {
        whole.split("=>").next().unwrap_or("").trim().to_owned() + " =>"
    } else {
        name
    }
}

/// A method that others may call.
fn method(lines: &[&str], index: usize) -> Option<String> {
    let code = lines[index].trim();
    let is_hidden = ["private ", "#", "_", "protected ", "@"]
        .iter()
        .any(|start| code.starts_with(start));
    let first: String = code.split('(').next()?.to_owned();
    let is_control = ["if", "for", "while", "switch", "return", "catch"].contains(&first.trim());
    let is_name = !first.is_empty()
        && first
            .chars()
            .all(|c| c.is_alphanumeric() || "_$ *<>,".contains(c));
    if is_hidden || is_control || !is_name || !code.contains('(') {
        return None;
    }
    Some(statement(lines, index, &['{', ';']))
}
