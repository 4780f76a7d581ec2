//! Tests inside product files: which ones there are, and a candidate's file with the base's tests.
//!
//! A file that holds product code and tests cannot be taken whole from either side: the code is the
//! candidate's to change, its older tests are not. What is done here is done by syntax alone, and
//! where syntax does not settle it, [`Items::Unsure`] says so.

mod cut;
mod docs;
mod file;
mod gates;
mod model;
mod python;
mod rust;
mod script;
mod swap;
#[cfg(test)]
mod tests;

pub use cut::without_tests;
pub use model::Items;

use std::ops::Range;

use crate::lex::Language;
use crate::text::{NAME_BYTES_MAX, clip};
use model::{ITEMS_MAX, TEXT_BYTES_MAX};

/// Puts the base's tests into the candidate's text of a product file.
pub fn with_base_tests(path: &str, base: &str, candidate: &str) -> Items {
    if base == candidate {
        return Items::Same;
    }
    if base.len() > TEXT_BYTES_MAX || candidate.len() > TEXT_BYTES_MAX {
        return Items::Unsure(Vec::new());
    }
    let items = match Language::of(path, candidate) {
        Some(Language::Rust) => swap::rust(base, candidate),
        Some(Language::Script) => swap::script(base, candidate),
        Some(Language::Python) => python::doctests_kept(base, candidate),
        Some(Language::Shell | Language::Ruby | Language::Braces) | None => Items::Same,
    };
    match items {
        Items::Unsure(names) => Items::Unsure(bounded(names)),
        Items::Same | Items::Replaced(_) => items,
    }
}

/// The tests of a file, each with its name and its body.
///
/// Bodies are in a comparable form, without comments and with white space evened out, and they hold
/// attributes, decorators and parameters but not the name: a test that moved or was renamed has the
/// same body.
pub fn test_items(path: &str, text: &str) -> Vec<(String, String)> {
    if text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let mut found = match Language::of(path, text) {
        Some(Language::Rust) => rust::tests(text),
        Some(Language::Script) => script::tests(text),
        Some(Language::Python) => python::tests(text),
        Some(Language::Shell | Language::Ruby | Language::Braces) | None => Vec::new(),
    };
    found.truncate(ITEMS_MAX);
    found
}

/// Where further tests can be put into a Rust file that has some.
pub(crate) fn place_for_rust_tests(text: &str) -> Option<usize> {
    rust::place_for_tests(text)
}

/// The bytes of what exists for tests alone in a product file, in order.
pub(crate) fn test_spans(language: Language, text: &str) -> Vec<Range<usize>> {
    match language {
        Language::Rust => rust::test_spans(text),
        Language::Script => script::blocks(text).unwrap_or_default(),
        Language::Python | Language::Shell | Language::Ruby | Language::Braces => Vec::new(),
    }
}

fn bounded(mut names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.truncate(ITEMS_MAX);
    names
        .iter()
        .map(|name| clip(name, NAME_BYTES_MAX))
        .collect()
}
