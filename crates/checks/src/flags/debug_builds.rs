//! Product code that does something else in a debug build. Tests run in one, and what is shipped is not.

use super::signs::{Found, Sign, first, has, has_any};
use super::source::{Line, Source};
use crate::lex::{Kind, Language, Token};

const ASKS: &str = "does something else in a debug build, as tests are";

/// What Python calls a run without `-O`.
const OF_PYTHON: [Sign; 2] = [("__debug__", ASKS), ("sys.flags.optimize", ASKS)];

/// Assertions that only a debug build carries out.
const ASSERTIONS: [&str; 3] = ["debug_assert", "debug_assert_eq", "debug_assert_ne"];

/// Calls that leave something else behind. Those that may as well only look are not among them.
const EFFECTS: [&str; 16] = [
    ".insert(",
    ".push(",
    ".push_str(",
    ".push_back(",
    ".push_front(",
    ".pop(",
    ".pop_front(",
    ".remove(",
    ".retain(",
    ".truncate(",
    ".clear(",
    ".drain(",
    ".extend(",
    ".append(",
    ".store(",
    ".fetch_*",
];

/// Assignments that are none of a format's arguments.
const ASSIGNMENTS: [&str; 10] = ["+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>="];

/// Items that a debug build may have beside the others: somebody must still call them.
const ITEMS: [&str; 10] = [
    "pub", "fn ", "use ", "mod ", "impl", "struct ", "const ", "static ", "type ", "enum ",
];

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let line = &source.lines[index];
    match source.language {
        Language::Python => first(&line.bare, &OF_PYTHON),
        Language::Rust => {
            (asks(line) || is_gated(source, index) || asserts_with_effect(source, index))
                .then_some(ASKS)
        }
        _ => None,
    }
}

/// `cfg!(debug_assertions)`, or something that is not there in a debug build.
fn asks(line: &Line<'_>) -> bool {
    let bare = line.bare.as_str();
    let is_asked = has(bare, "cfg!(*") || has_any(bare, &["#[cfg(not(*", "#[cfg(all(not(*"]);
    is_asked && has(bare, "debug_assertions")
}

/// A statement that only a debug build has. An item, a field or an arm changes nothing by itself.
fn is_gated(source: &Source<'_>, index: usize) -> bool {
    let bare = source.lines[index].bare.as_str();
    if !has(bare, "#[cfg(*") || !has(bare, "debug_assertions") {
        return false;
    }
    let own = bare.rsplit_once(']').map_or("", |(_, own)| own);
    let later = source.lines[index + 1..].iter();
    let mut later = later.map(|line| line.code.as_str());
    let next = match own {
        "" => later.find(|code| !code.is_empty()).unwrap_or(""),
        own => own,
    };
    let is_item = ITEMS.iter().any(|word| next.trim_start().starts_with(word));
    !(is_item || next.ends_with(',') || next.contains("=>") || next.starts_with("#["))
}

/// An assertion that changes what it looks at: without it the rest of the code goes otherwise.
fn asserts_with_effect(source: &Source<'_>, index: usize) -> bool {
    let tokens = source.lines[index].tokens.clone();
    tokens.into_iter().any(|at| {
        let is_assertion = ASSERTIONS
            .iter()
            .any(|word| source.tokens[at].is_word(word));
        let open = at + 2;
        let close = source.partners.get(open).copied().unwrap_or(open);
        is_assertion && close > open && has_effect(&source.tokens[open..close])
    })
}

fn has_effect(tokens: &[Token<'_>]) -> bool {
    let is_assignment =
        |token: &Token<'_>| token.kind == Kind::Mark && ASSIGNMENTS.contains(&token.text);
    let code = tokens.iter().map(|token| match token.kind {
        Kind::Text => "\"\"",
        _ => token.text,
    });
    tokens.iter().any(is_assignment) || has_any(&code.collect::<String>(), &EFFECTS)
}
