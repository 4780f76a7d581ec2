//! The rules `file-size` and `function-size`: what is too long to be read in one sitting is split.
//!
//! Clippy measures functions; here are only counted those that switch that lint off. Tests may be
//! long: a table of cases does not get harder to read as it grows.

use std::collections::BTreeMap;

use super::complaint::{Complaint, Rule};
use super::exceptions::{self, Exception};
use super::rust_source::lines_before_tests;
use super::tree::{Tree, has_extension};

const FILE_LINES_MAX: usize = 600;

/// The lint's name, in pieces, so that this file does not count itself.
const LONG_FUNCTION_LINT: &str = concat!("clippy::", "too_many_lines");

/// What was measured, by rule and file: the numbers of the lines that count.
type Measures<'a> = BTreeMap<(Rule, &'a str), Vec<usize>>;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let measures = measure(tree);
    let (mut exceptions, mut complaints) = exceptions::parse(tree.text(exceptions::LIST));
    exceptions.retain(|entry| [Rule::FileSize, Rule::FunctionSize].contains(&entry.rule));
    complaints.extend(measures.iter().filter_map(|(&(rule, path), lines)| {
        let allowed = allowed(&exceptions, rule, path);
        let line_number = *lines.get(allowed)?;
        Some(Complaint::new(
            rule,
            path,
            line_number,
            too_large(rule, lines.len(), allowed),
        ))
    }));
    complaints.extend(exceptions.iter().filter_map(|exception| {
        let count = measures
            .get(&(exception.rule, exception.path.as_str()))
            .map(Vec::len);
        exceptions::ratchet(exception, count, limit(exception.rule))
    }));
    complaints
}

fn measure(tree: &Tree) -> Measures<'_> {
    let mut measures = Measures::new();
    for (path, text) in tree.texts().filter(|(path, _)| has_extension(path, "rs")) {
        if path
            .split('/')
            .any(|folder| ["tests", "examples"].contains(&folder))
        {
            continue;
        }
        let lines = (1..=lines_before_tests(text)).collect();
        measures.insert((Rule::FileSize, path), lines);
        measures.insert((Rule::FunctionSize, path), long_functions(text));
    }
    measures
}

/// Looks for the lint's name alone: the formatter breaks a long attribute anywhere around it.
fn long_functions(text: &str) -> Vec<usize> {
    let code = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter(|(_, line)| line.contains(LONG_FUNCTION_LINT))
        .map(|(line_number, _)| line_number)
        .collect()
}

fn limit(rule: Rule) -> usize {
    if rule == Rule::FileSize {
        FILE_LINES_MAX
    } else {
        0
    }
}

fn allowed(exceptions: &[Exception], rule: Rule, path: &str) -> usize {
    let entries = exceptions
        .iter()
        .filter(|exception| exception.rule == rule && exception.path == path);
    entries
        .map(|exception| exception.allowed)
        .max()
        .unwrap_or_default()
        .max(limit(rule))
}

fn too_large(rule: Rule, count: usize, allowed: usize) -> String {
    if rule == Rule::FileSize {
        format!("{count} lines before the tests, {allowed} are allowed")
    } else {
        format!("{count} functions switch off the lint on long functions, {allowed} may")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    fn source(n_lines: usize, n_long_functions: usize) -> String {
        let text = "//! Text.\n".repeat(n_lines - n_long_functions);
        let functions = format!("    {LONG_FUNCTION_LINT},\n").repeat(n_long_functions);
        text + &functions + "#[cfg(test)]\nmod tests {\n" + &"// Test.\n".repeat(700) + "}\n"
    }

    #[test]
    fn a_file_may_be_as_large_as() {
        let long_file = "a.rs:601: 601 lines before the tests, 600 are allowed (file-size)";
        let grown_file = "a.rs:651: 652 lines before the tests, 650 are allowed (file-size)";
        let long_function =
            "a.rs:9: 2 functions switch off the lint on long functions, 0 may (function-size)";
        let second_function =
            "a.rs:10: 2 functions switch off the lint on long functions, 1 may (function-size)";
        let list = exceptions::LIST;
        let shrink =
            format!("{list}:1: `a.rs` has 601 where 650 are allowed: shrink it to 601 (file-size)");
        for (path, text, exceptions, expected) in [
            ("a.rs", source(600, 0), "", None),
            ("a.rs", source(601, 0), "", Some(long_file)),
            ("tests/a.rs", source(601, 0), "", None),
            ("a.md", source(601, 2), "", None),
            ("a.rs", source(601, 0), "file-size a.rs 601", None),
            (
                "a.rs",
                source(652, 0),
                "file-size a.rs 650",
                Some(grown_file),
            ),
            ("a.rs", source(601, 0), "file-size a.rs 650", Some(&shrink)),
            ("a.rs", source(600, 0), "module-cycle a 2", None),
            ("a.rs", source(10, 2), "", Some(long_function)),
            ("a.rs", source(10, 2), "function-size a.rs 2", None),
            (
                "a.rs",
                source(10, 2),
                "function-size a.rs 1",
                Some(second_function),
            ),
            (
                "a.rs",
                format!("// `{LONG_FUNCTION_LINT}` is a lint.\n"),
                "",
                None,
            ),
        ] {
            let seen = check(&Tree::of(&[(path, &text), (list, exceptions)]));
            let expected = expected.map(str::to_owned);
            assert_eq!(
                shown(&seen),
                Vec::from_iter(expected),
                "{path}, {exceptions:?}"
            );
        }
    }
}
