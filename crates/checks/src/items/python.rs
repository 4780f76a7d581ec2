//! Tests in Python: functions by name, and examples in docstrings.

use std::collections::BTreeMap;

use super::model::{ITEMS_MAX, Items};
use crate::lex::{Kind, Language, Token, joined, lex};

/// How deep functions and classes may nest.
const DEPTH_MAX: usize = 64;

/// A line of code, which may stretch over several lines of text.
struct Line {
    indent: usize,
    /// Its first piece, and the one after its last.
    from: usize,
    to: usize,
}

/// A function or a class.
struct Block {
    name: String,
    is_function: bool,
    /// Whether it stands in a function, where no runner finds it.
    is_nested: bool,
    /// Its lines, decorators first.
    lines: std::ops::Range<usize>,
    /// The line with its name.
    header: usize,
}

/// Says which doctests of the base the candidate changed.
pub(super) fn doctests_kept(base: &str, candidate: &str) -> Items {
    if !base.contains(">>>") {
        return Items::Same;
    }
    let new = doctests(candidate);
    let changed: Vec<String> = doctests(base)
        .into_iter()
        .filter(|(name, text)| {
            let kept = new.get(name).is_some_and(|new| is_within(text, new));
            !kept
        })
        .map(|(name, _)| name)
        .collect();
    if changed.is_empty() {
        Items::Same
    } else {
        Items::Unsure(changed)
    }
}

/// Says whether all examples are among the others, in order.
fn is_within(examples: &[String], others: &[String]) -> bool {
    let mut rest = others.iter();
    examples
        .iter()
        .all(|example| rest.any(|other| other == example))
}

/// The examples of each docstring, by the function, class or module that it belongs to.
fn doctests(text: &str) -> BTreeMap<String, Vec<String>> {
    let tokens = lex(text, Language::Python);
    let lines = lines(text, &tokens);
    let blocks = blocks(&tokens, &lines);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Text || !token.text.contains(">>>") {
            continue;
        }
        if found.len() > ITEMS_MAX {
            break;
        }
        let line = lines.partition_point(|line| line.from <= index);
        let owner = blocks
            .iter()
            .rfind(|block| block.lines.contains(&line.saturating_sub(1)))
            .map_or("module", |block| block.name.as_str());
        let examples = found.entry(owner.to_owned()).or_default();
        examples.extend(self::examples(token.content()));
    }
    found.retain(|_, examples| !examples.is_empty());
    found
}

/// Each `>>>` line with what it goes on with and what it must print.
fn examples(docstring: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in docstring.lines().map(str::trim) {
        if line.starts_with(">>>") {
            found.push(line.to_owned());
            is_open = true;
        } else if line.is_empty() {
            is_open = false;
        } else if is_open && let Some(last) = found.last_mut() {
            last.push('\n');
            last.push_str(line);
        }
    }
    found
}

/// The tests of a file with their bodies.
pub(super) fn tests(text: &str) -> Vec<(String, String)> {
    let tokens = lex(text, Language::Python);
    let lines = lines(text, &tokens);
    blocks(&tokens, &lines)
        .iter()
        .filter(|block| {
            let own = block.name.rsplit("::").next().unwrap_or("");
            block.is_function && !block.is_nested && (own.starts_with("test_") || own == "test")
        })
        .map(|block| (block.name.clone(), body(&tokens, &lines, block)))
        .collect()
}

/// The lines of code. A bracket that is open joins lines, and so does a string of several lines.
fn lines(text: &str, tokens: &[Token<'_>]) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut depth = 0_usize;
    let mut end = 0;
    let mut is_joined = false;
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Comment {
            continue;
        }
        let between = &text[end..token.at];
        let is_new = found.is_empty() || (depth == 0 && !is_joined && between.contains('\n'));
        if is_new {
            let start = text[..token.at].rfind('\n').map_or(0, |at| at + 1);
            let indent = crate::text::indent(&text[start..token.at]);
            found.push(Line {
                indent,
                from: index,
                to: index + 1,
            });
        } else if let Some(last) = found.last_mut() {
            last.to = index + 1;
        }
        end = token.end();
        // A backslash at the end of a line joins the next one.
        is_joined = token.is_mark("\\") && text[end..].starts_with(['\n', '\r']);
        if token.kind == Kind::Mark {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    found
}

/// All functions and classes, outer ones first, named like `TestX::test_b`.
fn blocks(tokens: &[Token<'_>], lines: &[Line]) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Vec<(usize, String, bool)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        while open
            .last()
            .is_some_and(|(indent, _, _)| *indent >= line.indent)
        {
            open.pop();
        }
        let words = &tokens[line.from..line.to];
        let words = match words {
            [first, rest @ ..] if first.is_word("async") => rest,
            _ => words,
        };
        let [keyword, name, ..] = words else { continue };
        let is_function = keyword.is_word("def");
        if !is_function && !keyword.is_word("class") {
            continue;
        }
        if found.len() > ITEMS_MAX || open.len() > DEPTH_MAX {
            break;
        }
        let parts = open.iter().map(|(_, name, _)| name.as_str());
        let full: Vec<&str> = parts.chain([name.text]).collect();
        let after = lines[index + 1..]
            .iter()
            .position(|next| next.indent <= line.indent);
        let end = after.map_or(lines.len(), |after| index + 1 + after);
        let decorators = lines[..index]
            .iter()
            .rev()
            .take_while(|line| tokens[line.from].is_mark("@"))
            .count();
        found.push(Block {
            name: full.join("::"),
            is_function,
            is_nested: open.iter().any(|(_, _, is_function)| *is_function),
            lines: index - decorators..end,
            header: index,
        });
        open.push((line.indent, name.text.to_owned(), is_function));
    }
    found
}

/// Decorators, parameters and body without the name, each line with its relative depth.
fn body(tokens: &[Token<'_>], lines: &[Line], block: &Block) -> String {
    let mut depths: Vec<usize> = Vec::new();
    let mut out = Vec::new();
    for index in block.lines.clone() {
        let line = &lines[index];
        while depths.last().is_some_and(|depth| *depth > line.indent) {
            depths.pop();
        }
        if depths.last() != Some(&line.indent) {
            depths.push(line.indent);
        }
        let mut pieces = &tokens[line.from..line.to];
        if index == block.header {
            let named = pieces.iter().position(|token| token.is_word("def"));
            pieces = named.and_then(|at| pieces.get(at + 2..)).unwrap_or(pieces);
        }
        out.push(format!(
            "{}{}",
            " ".repeat(depths.len() - 1),
            joined(pieces)
        ));
    }
    out.join("\n")
}
