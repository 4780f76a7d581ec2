//! The rule `decisions`: decision pages are numbered in one row, so that a number names one page
//! for ever.
//!
//! What a page says is not read.

use std::collections::BTreeMap;

use super::complaint::{Complaint, Rule};
use super::tree::Tree;

const FOLDER: &str = "docs/decisions/";

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let names: Vec<&str> = tree
        .paths()
        .filter_map(|path| path.strip_prefix(FOLDER))
        .collect();
    let mut complaints: Vec<Complaint> = names
        .iter()
        .filter(|name| number(name).is_none())
        .map(|name| {
            complaint(
                name,
                "the name is not `NNNN-words-with-dashes.md`".to_owned(),
            )
        })
        .collect();
    complaints.extend(out_of_row(&names));
    complaints
}

fn complaint(name: &str, message: String) -> Complaint {
    Complaint::new(Rule::Decisions, &format!("{FOLDER}{name}"), 1, message)
}

/// Reads the number of a well-named page.
fn number(name: &str) -> Option<u32> {
    let (digits, words) = name.strip_suffix(".md")?.split_once('-')?;
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    let is_well_named = digits.len() == 4
        && digits.chars().all(|c| c.is_ascii_digit())
        && words.split('-').all(is_word);
    if is_well_named {
        digits.parse().ok()
    } else {
        None
    }
}

/// Complains about a number that is taken, and about one that leaves a gap below it.
fn out_of_row(names: &[&str]) -> Vec<Complaint> {
    let mut pages: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for name in names {
        if let Some(number) = number(name) {
            pages.entry(number).or_default().push(name);
        }
    }
    let mut complaints = Vec::new();
    let mut expected = 1;
    for (number, names) in pages {
        if number != expected {
            complaints.push(complaint(
                names[0],
                format!("the number should be {expected:04}"),
            ));
        }
        for name in &names[1..] {
            complaints.push(complaint(
                name,
                format!("the number {number:04} belongs to `{}`", names[0]),
            ));
        }
        expected = number + 1;
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn pages_are_refused_for() {
        let bad_name = "the name is not `NNNN-words-with-dashes.md`";
        for (names, expected) in [
            (vec!["0001-one-file.md", "0002-no-yaml-2.md"], vec![]),
            (vec!["README.md"], vec![format!("README.md:1: {bad_name}")]),
            (
                vec!["1-short.md"],
                vec![format!("1-short.md:1: {bad_name}")],
            ),
            (
                vec!["0001-Large.md"],
                vec![format!("0001-Large.md:1: {bad_name}")],
            ),
            (
                vec!["0001-two--dashes.md"],
                vec![format!("0001-two--dashes.md:1: {bad_name}")],
            ),
            (
                vec!["0000-zero.md"],
                vec!["0000-zero.md:1: the number should be 0001".to_owned()],
            ),
            (
                vec!["0001-a.md", "0003-c.md"],
                vec!["0003-c.md:1: the number should be 0002".to_owned()],
            ),
            (
                vec!["0001-a.md", "0001-b.md", "0002-c.md"],
                vec!["0001-b.md:1: the number 0001 belongs to `0001-a.md`".to_owned()],
            ),
        ] {
            let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            let expected: Vec<String> = expected
                .iter()
                .map(|line| format!("{FOLDER}{line} (decisions)"))
                .collect();
            assert_eq!(shown(&check(&Tree::of(&files))), expected, "{names:?}");
        }
    }
}
