//! The rule `header`: a source file says at once what it is for.
//!
//! Whether the words are worth reading is for a reviewer.

use super::complaint::{Complaint, Rule};
use super::tree::{Tree, has_extension};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let sources = tree.texts().filter(|(path, _)| has_extension(path, "rs"));
    let bare = sources.filter(|(_, text)| !text.starts_with("//!"));
    bare.map(|(path, _)| {
        Complaint::new(Rule::Header, path, 1, "the file does not start with `//!`")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_header_is_asked_of() {
        let complaint = "the file does not start with `//!` (header)";
        for (path, text, expected) in [
            ("a.rs", "//! What it is for.\n", None),
            ("a.rs", "", Some(format!("a.rs:1: {complaint}"))),
            (
                "a.rs",
                "// What it is for.\n",
                Some(format!("a.rs:1: {complaint}")),
            ),
            (
                "tests/it/main.rs",
                "\n//! Late.\n",
                Some(format!("tests/it/main.rs:1: {complaint}")),
            ),
            ("a.sh", "echo\n", None),
        ] {
            assert_eq!(
                shown(&check(&Tree::of(&[(path, text)]))),
                Vec::from_iter(expected),
                "{path}: {text:?}"
            );
        }
    }
}
