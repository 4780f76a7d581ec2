//! Tests in JavaScript and TypeScript: calls of `test` and `it`, and blocks that vitest alone runs.

use std::ops::Range;

use crate::lex::{Kind, Language, Token, code, joined, pairs};

/// Words that define a test.
const TESTS: [&str; 3] = ["test", "it", "specify"];
/// Words that group tests.
const GROUPS: [&str; 3] = ["describe", "suite", "context"];
/// Members whose first call takes data and not a title.
const CURRIED: [&str; 4] = ["each", "for", "runIf", "skipIf"];
/// How deep groups may nest.
const DEPTH_MAX: usize = 64;
/// Longest condition that is looked into, in pieces.
const CONDITION_MAX: usize = 50;
/// Between the titles of a test, as the readers of results write them.
const TITLES: &str = " > ";

/// The tests of a file with their bodies.
pub(super) fn tests(text: &str) -> Vec<(String, String)> {
    let tokens = code(text, Language::Script);
    let Some(partners) = pairs(&tokens) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        while open.last().is_some_and(|(end, _)| *end < at) {
            open.pop();
        }
        let is_test = TESTS.iter().any(|word| tokens[at].is_word(word));
        let is_group = GROUPS.iter().any(|word| tokens[at].is_word(word));
        let call = (is_test || is_group)
            .then(|| call(&tokens, &partners, at))
            .flatten();
        let Some(call) = call else {
            at += 1;
            continue;
        };
        let title = tokens[call.title].content().to_owned();
        if is_group {
            if open.len() < DEPTH_MAX {
                open.push((call.end, title));
            }
            at = call.title;
            continue;
        }
        let titles: Vec<&str> = open.iter().map(|(_, title)| title.as_str()).collect();
        let name = [titles.as_slice(), &[title.as_str()]].concat().join(TITLES);
        let before = joined(&tokens[at + 1..call.open]);
        let body = joined(&tokens[call.title + 1..call.end]);
        found.push((name, format!("{before} {body}").trim().to_owned()));
        // What a test holds is part of it.
        at = call.end;
    }
    found
}

/// A call with a title.
struct Call {
    open: usize,
    title: usize,
    end: usize,
}

/// Reads `test.only.each(data)('title', …`.
fn call(tokens: &[Token<'_>], partners: &[usize], at: usize) -> Option<Call> {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    if before.is_some_and(|token| token.is_mark(".") || token.is_word("function")) {
        return None;
    }
    let mut next = at + 1;
    let mut member = "";
    loop {
        let token = tokens.get(next)?;
        if token.is_mark(".") {
            member = tokens.get(next + 1)?.text;
            next += 2;
        } else if CURRIED.contains(&member) && (token.is_mark("(") || token.kind == Kind::Text) {
            next = partners[next].max(next) + 1;
            member = "";
        } else if token.is_mark("(") {
            let title = next + 1;
            let is_title = tokens.get(title)?.kind == Kind::Text;
            return is_title.then_some(Call {
                open: next,
                title,
                end: partners[next],
            });
        } else {
            return None;
        }
    }
}

/// The bytes of each `if (import.meta.vitest) { … }` at the top of a file; nothing where such a
/// block is not of this form.
pub(super) fn blocks(text: &str) -> Option<Vec<Range<usize>>> {
    if !text.contains("import.meta.vitest") {
        return Some(Vec::new());
    }
    let tokens = code(text, Language::Script);
    let partners = pairs(&tokens)?;
    let mut found = Vec::new();
    let mut at = 0;
    let mut depth = 0_usize;
    while at < tokens.len() {
        depth += usize::from(tokens[at].is_mark("{"));
        depth = depth.saturating_sub(usize::from(tokens[at].is_mark("}")));
        if depth == 0
            && tokens[at].is_word("if")
            && let Some(block) = block(&tokens, &partners, at)
        {
            found.push(tokens[at].at..tokens[block].end());
            at = block + 1;
        } else if is_asked(&tokens[at..]) {
            return None;
        } else {
            at += 1;
        }
    }
    Some(found)
}

/// The end of the block that begins here, where its condition asks for vitest and nothing follows
/// otherwise. Only what stands at the top is looked at: a function that asks is product code.
fn block(tokens: &[Token<'_>], partners: &[usize], at: usize) -> Option<usize> {
    let is_open = tokens.get(at + 1).is_some_and(|token| token.is_mark("("));
    let end = partners.get(at + 1).copied().filter(|_| is_open)?;
    if end > at + CONDITION_MAX {
        return None;
    }
    let asks = (at + 2..end).any(|inner| is_asked(&tokens[inner..]));
    let is_block = tokens.get(end + 1).is_some_and(|token| token.is_mark("{"));
    let last = partners.get(end + 1).copied().filter(|_| is_block)?;
    let has_else = tokens
        .get(last + 1)
        .is_some_and(|token| token.is_word("else"));
    (asks && !has_else).then_some(last)
}

fn is_asked(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [import, dot, meta, next, vitest, ..]
        if import.is_word("import") && dot.is_mark(".") && meta.is_word("meta")
            && (next.is_mark(".") || next.is_mark("?.")) && vitest.is_word("vitest"))
}

/// The names of the base's tests that the candidate does not have as they were.
pub(super) fn changed(base: &str, candidate: &str) -> Vec<String> {
    let new = tests(candidate);
    tests(base)
        .into_iter()
        .filter(|test| !new.contains(test))
        .map(|(name, _)| name)
        .collect()
}
