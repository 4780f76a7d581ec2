//! Python: what stands at the top of a module, the methods of its classes, and `__all__`.

use super::clean::{Language, clean};
use super::statement::statement;
use crate::text::indent;

pub(super) fn items(text: &str) -> Vec<String> {
    let original: Vec<&str> = text.lines().collect();
    let text = clean(text, Language::Hash);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut class: Option<(usize, String)> = None;
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim();
        if code.is_empty() {
            continue;
        }
        let depth = indent(line);
        if depth == 0 {
            class = None;
        }
        let is_function = code.starts_with("def ") || code.starts_with("async def ");
        if depth == 0 && code.starts_with("__all__") {
            found.push(statement(&original, index, &['\n']));
        } else if depth == 0 && code.starts_with("class ") {
            let header = statement(&lines, index, &[':']);
            let name = header
                .trim_start_matches("class ")
                .split(['(', ':'])
                .next()
                .unwrap_or("")
                .to_owned();
            if !name.starts_with('_') {
                found.push(header);
                class = Some((usize::MAX, name));
            }
        } else if depth == 0 && is_function && !is_hidden(code) {
            found.push(statement(&lines, index, &[':']));
        } else if let Some((inner, name)) = class.as_mut() {
            // The first line within a class says how deep its methods stand.
            *inner = (*inner).min(depth);
            if depth == *inner && is_function && (!is_hidden(code) || code.contains("def __init__"))
            {
                found.push(format!("{name}: {}", statement(&lines, index, &[':'])));
            }
        }
    }
    found
}

fn is_hidden(code: &str) -> bool {
    code.split("def ")
        .nth(1)
        .is_some_and(|name| name.starts_with('_'))
}
