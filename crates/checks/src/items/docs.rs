//! Code blocks in the documentation of a Rust file, which `cargo test` runs.
//!
//! Blocks that are only indented count as tests for rustdoc and not here: they cannot be told from
//! the lines of a list without reading Markdown.

use super::file::File;
use super::gates::Gate;
use crate::lex::{Kind, Token};

/// Words after a fence that leave a block a test.
const TESTED: [&str; 6] = [
    "rust",
    "should_panic",
    "no_run",
    "compile_fail",
    "standalone_crate",
    "test_harness",
];

/// The code blocks of a file: what they document, and their text.
pub(super) fn doc_tests(file: &File<'_>) -> Vec<(String, String)> {
    let hidden: Vec<_> = file
        .items()
        .into_iter()
        .filter(|item| item.gate == Gate::Test)
        .map(|item| item.tokens)
        .collect();
    let mut found = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut is_inner = false;
    for (index, token) in file.tokens.iter().enumerate() {
        let before = hidden.partition_point(|range| range.start <= index);
        if before > 0 && hidden[before - 1].contains(&index) {
            continue;
        }
        if let Some(text) = doc_text(token) {
            let was_inner = std::mem::replace(&mut is_inner, token.text[2..].starts_with('!'));
            // The documentation of the file ends where that of its first item begins.
            if was_inner && !is_inner {
                found.extend(named(&lines, "crate"));
                lines.clear();
            }
            lines.extend(text);
            continue;
        }
        let is_plain_comment = token.kind == Kind::Comment;
        if lines.is_empty() || is_plain_comment {
            continue;
        }
        let name = if is_inner {
            "crate".to_owned()
        } else {
            documented(&file.tokens[index..])
        };
        found.extend(named(&lines, &name));
        lines.clear();
    }
    found.extend(named(&lines, "crate"));
    found
}

fn named(lines: &[String], name: &str) -> Vec<(String, String)> {
    let blocks = blocks(lines).into_iter();
    blocks.map(|block| (name.to_owned(), block)).collect()
}

/// The lines of a comment that is documentation.
fn doc_text(token: &Token<'_>) -> Option<Vec<String>> {
    if token.kind != Kind::Comment {
        return None;
    }
    let text = token.text;
    if text.starts_with("////") || text.starts_with("/***") {
        return None;
    }
    if let Some(line) = text
        .strip_prefix("///")
        .or_else(|| text.strip_prefix("//!"))
    {
        return Some(vec![line.trim().to_owned()]);
    }
    let inner = text
        .strip_prefix("/**")
        .or_else(|| text.strip_prefix("/*!"))?;
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let lines = inner.lines();
    Some(
        lines
            .map(|line| line.trim().trim_start_matches('*').trim().to_owned())
            .collect(),
    )
}

/// The tested blocks among lines of documentation.
fn blocks(lines: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(String, bool, Vec<&str>)> = None;
    for line in lines {
        let fence = line
            .chars()
            .next()
            .filter(|first| ['`', '~'].contains(first))
            .map(|first| line.chars().take_while(|c| *c == first).collect::<String>())
            .filter(|fence| fence.len() >= 3);
        match (&mut open, fence) {
            (None, None) => {}
            (None, Some(fence)) => {
                let words = line[fence.len()..].trim().to_owned();
                let is_tested = is_tested(&words);
                open = Some((fence, is_tested, vec![line]));
            }
            (Some((start, is_tested, block)), Some(fence))
                if fence.len() >= start.len() && line.trim_end() == fence =>
            {
                if *is_tested {
                    found.push(block.join("\n"));
                }
                open = None;
            }
            (Some((_, _, block)), _) => block.push(line),
        }
    }
    found.extend(
        open.filter(|(_, is_tested, _)| *is_tested)
            .map(|(_, _, block)| block.join("\n")),
    );
    found
}

/// Says whether rustdoc takes a block with these words for Rust. `ignore` makes it no test.
fn is_tested(words: &str) -> bool {
    words
        .split([',', ' ', '{', '}'])
        .filter(|word| !word.is_empty())
        .all(|word| TESTED.contains(&word) || word.starts_with("edition") || word.starts_with('E'))
}

/// The name of what follows.
fn documented(rest: &[Token<'_>]) -> String {
    const KEYWORDS: [&str; 10] = [
        "fn",
        "struct",
        "enum",
        "trait",
        "mod",
        "type",
        "const",
        "static",
        "union",
        "macro_rules",
    ];
    let words: Vec<&str> = rest
        .iter()
        .take(60)
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect();
    let keyword = words
        .iter()
        .position(|word| KEYWORDS.contains(word) && !(*word == "const" && words.contains(&"fn")));
    keyword
        .and_then(|at| words.get(at + 1))
        .or(words.first())
        .map_or_else(|| "crate".to_owned(), |name| (*name).to_owned())
}
