//! The rule `debug-words`: what a program says is made of words that were chosen for people, not of
//! the names of our types.
//!
//! Only `:?` in string literals is looked for. Fields of log lines (`?field`) are for us and may be
//! what they are.

use super::complaint::{Complaint, Rule};
use super::rust_source::string_literals;
use super::tree::{Tree, has_extension};

/// Test equipment may show values as it likes.
const TEST_EQUIPMENT: &str = "crates/testkit/";

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let is_searched = |path: &str| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.starts_with(TEST_EQUIPMENT)
            && has_extension(path, "rs")
    };
    tree.texts()
        .filter(|(path, _)| is_searched(path))
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let literals = string_literals(text).into_iter();
    let shown = literals.filter(|literal| shows_debug(literal.text));
    shown
        .map(|literal| {
            let message = "a value is shown by its `Debug` form";
            Complaint::new(Rule::DebugWords, path, literal.line_number, message)
        })
        .collect()
}

/// Whether a format string has a place such as `{:?}`, `{name:#?}` or `{0:>5?}`.
fn shows_debug(literal: &str) -> bool {
    let places = literal.split('{').skip(1);
    let inside = places.filter_map(|rest| Some(rest.split_once('}')?.0));
    inside
        .filter_map(|place| place.split_once(':'))
        .any(|(_, form)| form.ends_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_value_is_shown_by_its_debug_form_in() {
        for (code, is_refused) in [
            ("fn f() { format!(\"{:?}\", a) }", true),
            ("fn f() { format!(\"at {found:?} now\") }", true),
            ("fn f() { write!(out, \"{0:#?}\", a) }", true),
            ("fn f() { format!(\"{found}: why?\") }", false),
            ("fn f() { format!(\"{a}:?\") }", false),
            ("fn f() { format!(\"{number:>5}?\") }", false),
            ("// format!(\"{:?}\")", false),
            (
                "#[cfg(test)]\nmod tests {\n    fn f() { panic!(\"{a:?}\") }\n}",
                false,
            ),
        ] {
            let seen = check(&Tree::of(&[("crates/kernel/src/a.rs", code)]));
            assert_eq!(seen.len(), usize::from(is_refused), "{code}");
        }
    }

    #[test]
    fn words_are_looked_at_in() {
        for (path, is_refused) in [
            ("crates/cli/src/b/a.rs", true),
            ("crates/cli/tests/it/a.rs", false),
            ("crates/testkit/src/a.rs", false),
            ("xtask/src/a.rs", false),
        ] {
            let expected = is_refused
                .then(|| format!("{path}:1: a value is shown by its `Debug` form (debug-words)"));
            let seen = check(&Tree::of(&[(path, "fn f() { format!(\"{:?}\", a) }")]));
            assert_eq!(shown(&seen), Vec::from_iter(expected), "{path}");
        }
    }
}
