//! The rule `errors`: what we can complain about has a page that explains it and a test that shows
//! it.
//!
//! Codes are looked for where diagnostics are made, in string literals; a code in a comment
//! promises nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::{Complaint, Rule};
use super::rust_source::string_literals;
use super::tree::{Tree, has_extension};

const PAGES: &str = "docs/errors/";

/// Three capital letters and three digits, as in the code of a bad PRD.
const CODE_LENGTH: usize = 6;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let codes = codes(tree);
    let shown_in_tests = codes_in_tests(tree);
    let mut complaints = check_pages(tree, &codes);
    for (code, (path, line_number)) in &codes {
        let complaint = |message| Complaint::new(Rule::Errors, path, *line_number, message);
        if !tree
            .paths()
            .any(|path| path.strip_prefix(PAGES) == Some(&format!("{code}.md")))
        {
            complaints.push(complaint(format!("{code} has no page `{PAGES}{code}.md`")));
        }
        if !shown_in_tests.contains(code) {
            complaints.push(complaint(format!(
                "no file below crates/*/tests names {code}"
            )));
        }
    }
    complaints
}

/// Where each code is first made.
fn codes(tree: &Tree) -> BTreeMap<&str, (&str, usize)> {
    let mut codes = BTreeMap::new();
    for (path, text) in tree.texts().filter(|(path, _)| makes_diagnostics(path)) {
        for literal in string_literals(text) {
            for code in codes_in(literal.text) {
                codes.entry(code).or_insert((path, literal.line_number));
            }
        }
    }
    codes
}

/// Tells `crates/*/src/**/*diagnostic*.rs` and `crates/*/src/diagnostic/**`.
fn makes_diagnostics(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let ["crates", _, "src", inner @ ..] = &parts[..] else {
        return false;
    };
    let is_in_folder = inner.len() > 1 && inner[0] == "diagnostic";
    has_extension(path, "rs")
        && (is_in_folder || inner.last().is_some_and(|name| name.contains("diagnostic")))
}

fn codes_in_tests(tree: &Tree) -> BTreeSet<&str> {
    let is_test = |path: &str| {
        let mut parts = path.split('/');
        parts.next() == Some("crates") && parts.nth(1) == Some("tests")
    };
    tree.texts()
        .filter(|(path, _)| is_test(path))
        .flat_map(|(_, text)| codes_in(text))
        .collect()
}

fn codes_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| is_code(word))
}

fn is_code(word: &str) -> bool {
    let Some((letters, digits)) = word.split_at_checked(CODE_LENGTH / 2) else {
        return false;
    };
    word.len() == CODE_LENGTH
        && letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_pages(tree: &Tree, codes: &BTreeMap<&str, (&str, usize)>) -> Vec<Complaint> {
    let pages = tree
        .texts()
        .filter_map(|(path, text)| Some((path, path.strip_prefix(PAGES)?, text)));
    let refused = pages.filter_map(|(path, name, text)| {
        let message = match name
            .strip_suffix(".md")
            .filter(|name| codes.contains_key(name))
        {
            None => format!("no diagnostic has the code that `{name}` explains"),
            Some(code) if !has_title(text, code) => {
                format!("the first line is not `# {code}: what is wrong`")
            }
            Some(_) => return None,
        };
        Some(Complaint::new(Rule::Errors, path, 1, message))
    });
    refused.collect()
}

fn has_title(text: &str, code: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let title = first
        .strip_prefix("# ")
        .and_then(|rest| rest.strip_prefix(code)?.strip_prefix(": "));
    title.is_some_and(|title| !title.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    const SOURCE: &str = "crates/prd/src/diagnostic.rs";
    const FOLDER: &str = "crates/prd/src/diagnostic/make.rs";
    const CONFIG: &str = "crates/cli/src/config/diagnostics.rs";
    const PAGE: &str = "docs/errors/PRD004.md";
    const TEST: &str = "crates/prd/tests/cases/a.snap";

    #[test]
    fn a_code_needs_a_page_and_a_test() {
        let made = "//! Made here.\nnew(\"PRD004\")\n";
        let title = "# PRD004: no such story\n";
        for (files, expected) in [
            (
                vec![(SOURCE, made), (PAGE, title), (TEST, "error[PRD004]: x")],
                vec![],
            ),
            (
                vec![(FOLDER, made), (PAGE, title), (TEST, "PRD004")],
                vec![],
            ),
            (
                vec![
                    (CONFIG, "f(\"CFG001: x\")"),
                    ("docs/errors/CFG001.md", "# CFG001: x"),
                    (TEST, "CFG001"),
                ],
                vec![],
            ),
            (vec![("crates/prd/src/lib.rs", made)], vec![]),
            (
                vec![(
                    SOURCE,
                    "// \"PRD004\"\nf(\"PRD04\", \"XPRD004\", \"SHA2560\")",
                )],
                vec![],
            ),
            (
                vec![(SOURCE, made), (TEST, "PRD004")],
                vec!["crates/prd/src/diagnostic.rs:2: PRD004 has no page `docs/errors/PRD004.md`"],
            ),
            (
                vec![
                    (SOURCE, made),
                    (PAGE, title),
                    ("crates/prd/src/tests.rs", "PRD004"),
                ],
                vec!["crates/prd/src/diagnostic.rs:2: no file below crates/*/tests names PRD004"],
            ),
            (
                vec![(SOURCE, made), (PAGE, "# PRD004\n"), (TEST, "PRD004")],
                vec!["docs/errors/PRD004.md:1: the first line is not `# PRD004: what is wrong`"],
            ),
            (
                vec![("docs/errors/PRD009.md", "# PRD009: gone\n")],
                vec![
                    "docs/errors/PRD009.md:1: no diagnostic has the code that `PRD009.md` explains",
                ],
            ),
        ] {
            let expected: Vec<String> = expected
                .iter()
                .map(|line| format!("{line} (errors)"))
                .collect();
            assert_eq!(shown(&check(&Tree::of(&files))), expected, "{files:?}");
        }
    }
}
