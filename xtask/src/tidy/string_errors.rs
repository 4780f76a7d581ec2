//! The rule `string-errors`: in the crates that decide and act, an error is a value that can be
//! told apart, not a sentence.
//!
//! Only `Result<…, String>` is looked for, under that name. A function that takes or hands back a
//! sentence in another way is for a reviewer.

use super::complaint::{Complaint, Rule};
use super::rust_source::{Word, starts_with, words};
use super::tree::{Tree, has_extension};

const FOLDERS: [&str; 3] = [
    "crates/engine/src/",
    "crates/kernel/src/",
    "crates/home/src/",
];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let is_searched = |path: &str| {
        FOLDERS.iter().any(|folder| path.starts_with(folder)) && has_extension(path, "rs")
    };
    tree.texts()
        .filter(|(path, _)| is_searched(path))
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let words = words(text);
    let results = (0..words.len()).filter(|&at| starts_with(&words[at..], &["Result", "<"]));
    let hits = results.filter(|&at| error_type(&words[at + 2..]) == ["String"]);
    hits.map(|at| {
        let message = "the error is a `String`";
        Complaint::new(Rule::StringErrors, path, words[at].line_number, message)
    })
    .collect()
}

/// What stands between the last comma of a list of types and its end; nothing if it has no comma.
fn error_type<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
    let mut depth = 0_usize;
    let mut after_comma = None;
    for (index, word) in words.iter().enumerate() {
        let is_arrow = word.text == ">" && index > 0 && words[index - 1].text == "-";
        match word.text {
            "<" | "(" | "[" => depth += 1,
            ">" if is_arrow => {}
            ">" if depth == 0 => {
                let start = after_comma.unwrap_or(index);
                return words[start..index].iter().map(|word| word.text).collect();
            }
            ">" | ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 && words.get(index + 1).is_some_and(|next| next.text != ">") => {
                after_comma = Some(index + 1);
            }
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn an_error_is_a_string_in() {
        for (code, is_refused) in [
            ("fn f() -> Result<(), String> {", true),
            (
                "type R<T> = std::result::Result<Option<(T, u8)>, String>;",
                true,
            ),
            ("|| -> Result<Box<dyn Fn(u8) -> u8>, String> { x }", true),
            ("fn f() -> Result<\n    Vec<u8>,\n    String\n> {", true),
            ("fn f() -> Result<String, Error> {", false),
            ("fn f() -> Result<(u8, String), Error> {", false),
            ("fn f() -> Result<String> {", false),
            ("fn f() -> Result<u8, Error<String>> {", false),
            ("fn f() -> Result<Result<u8, Error>, Error> {", false),
            ("/// Was a `Result<(), String>`.", false),
            (
                "#[cfg(test)] mod tests { fn f() -> Result<(), String> {} }",
                false,
            ),
        ] {
            let seen = check(&Tree::of(&[("crates/kernel/src/a.rs", code)]));
            assert_eq!(seen.len(), usize::from(is_refused), "{code}");
        }
    }

    #[test]
    fn errors_are_looked_at_in() {
        for (path, is_refused) in [
            ("crates/engine/src/b/a.rs", true),
            ("crates/home/src/a.rs", true),
            ("crates/cli/src/a.rs", false),
            ("crates/engine/tests/it/a.rs", false),
        ] {
            let expected =
                is_refused.then(|| format!("{path}:1: the error is a `String` (string-errors)"));
            let seen = check(&Tree::of(&[(path, "fn f() -> Result<(), String> {}")]));
            assert_eq!(shown(&seen), Vec::from_iter(expected), "{path}");
        }
    }
}
