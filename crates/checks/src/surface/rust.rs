//! Rust: public items, and the methods of types and traits.

use super::clean::{Language, clean};
use super::statement::{balance, block, statement};

/// A block that is looked into.
struct Open {
    /// How deep its lines stand.
    depth: i32,
    /// What its items are shown with.
    label: String,
    /// Items of traits are public without saying so.
    is_trait: bool,
}

pub(super) fn items(text: &str) -> Vec<String> {
    let text = clean(text, Language::Rust);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut open: Vec<Open> = vec![Open {
        depth: 0,
        label: String::new(),
        is_trait: false,
    }];
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate() {
        while open.len() > 1 && open.last().is_some_and(|block| block.depth > depth) {
            open.pop();
        }
        if let Some(block) = open.last().filter(|block| block.depth == depth) {
            let next = item(&lines, index, block, &mut found);
            open.extend(next.map(|(label, is_trait)| Open {
                depth: depth + 1,
                label,
                is_trait,
            }));
        }
        depth += balance(line);
    }
    found
}

/// Takes one line's item; gives the label of the block that it opens, if that is looked into.
fn item(
    lines: &[&str],
    index: usize,
    open: &Open,
    found: &mut Vec<String>,
) -> Option<(String, bool)> {
    let line = lines[index].trim();
    let is_public = line.starts_with("pub ") || open.is_trait;
    let words = line.strip_prefix("pub ").unwrap_or(line);
    let starts = |kinds: &[&str]| kinds.iter().any(|kind| words.starts_with(kind));
    if starts(&["impl ", "impl<", "unsafe impl"]) {
        let header = statement(lines, index, &['{', ';']);
        if header.contains(" for ") {
            found.push(header);
            return None;
        }
        return Some((format!("{header}: "), false));
    }
    if !is_public {
        return None;
    }
    let show = |text: String| format!("{}{text}", open.label);
    if starts(&["fn ", "async fn", "const fn", "unsafe fn", "extern"]) {
        found.push(show(statement(lines, index, &['{', ';'])));
    } else if starts(&["struct ", "enum ", "union "]) {
        let is_enum = words.starts_with("enum ");
        found.push(show(block(lines, index, |field| {
            is_enum || field.starts_with("pub ")
        })));
    } else if starts(&["trait ", "unsafe trait"]) {
        let header = statement(lines, index, &['{']);
        found.push(show(header.clone()));
        return Some((format!("{header}: "), true));
    } else if starts(&["mod "]) {
        let header = statement(lines, index, &['{', ';']);
        found.push(show(header.clone()));
        return Some((format!("{header}: "), false));
    } else if starts(&["const ", "static "]) {
        found.push(show(statement(lines, index, &['=', ';'])));
    } else if starts(&["type ", "use "]) {
        found.push(show(statement(lines, index, &[';'])));
    }
    None
}
