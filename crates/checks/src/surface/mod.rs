//! What a file offers to others: exported names and signatures, without bodies.
//!
//! A test writer whose tests do not build gets this list and not the code, so that tests stay blind
//! to how things are done. It reads lines and not grammars: what is formatted as usual is found,
//! and what is not is left out.

mod clean;
mod others;
mod python;
mod rust;
mod script;
mod statement;

use crate::text::{clip, extension, head};

/// Most items of one file.
pub const SURFACE_ITEMS_MAX: usize = 500;
/// Longest item.
pub const ITEM_BYTES_MAX: usize = 400;
/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The exported names and signatures of a file; empty where the language is not known.
pub fn surface(path: &str, text: &str) -> Vec<String> {
    let text = head(text, TEXT_BYTES_MAX);
    let items = match extension(path) {
        "rs" => rust::items(text),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts" => script::items(text),
        "py" | "pyi" => python::items(text),
        "go" => others::go(text),
        "c" | "h" | "cc" | "cpp" | "hpp" => others::c(text),
        "sh" | "bash" => others::shell(text),
        _ => Vec::new(),
    };
    items
        .into_iter()
        .take(SURFACE_ITEMS_MAX)
        .map(|item| clip(&item, ITEM_BYTES_MAX))
        .collect()
}
