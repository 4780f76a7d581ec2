//! A test file with two tests more: one that must fail and one that must pass.
//!
//! If product code has bent a runner or its assertions, the first one passes; if it has broken them,
//! the second one fails. Both look like the file's own tests and use its own assertions, and their
//! names come from a seed, so that nothing in the product can know them.

mod draw;
mod model;
mod python;
mod rust;
mod script;
#[cfg(test)]
mod tests;

pub use model::Canary;

use draw::Draw;

use crate::lex::Language;

/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Adds a test that must fail and one that must pass to a test file.
///
/// Nothing where the file has no tests that are known by name: a shell script, an empty file, a
/// runner that is not known.
pub fn canary(path: &str, text: &str, seed: u64) -> Option<Canary> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let draw = Draw::new(text, seed)?;
    match Language::of(path, text)? {
        Language::Python => python::canary(text, &draw),
        Language::Script => script::canary(text, &draw),
        Language::Rust => rust::canary(text, &draw),
        Language::Shell | Language::Ruby | Language::Braces => None,
    }
}
