//! Applies every rule and shows every complaint at once, so that one run is enough to mend them
//! all.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

use super::complaint::{Complaint, Rule};
use super::tree::Tree;
use super::{
    changelog, debug_words, decisions, edges, errors, header, homes, lockfiles, modules, paths,
    prose_branches, sizes, string_errors, versions, words,
};
use crate::metadata::{Metadata, Package};
use crate::talk::{hand_out, say};

/// Checks all rules; fails if there is any complaint.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::load(root)?;
    let packages = Metadata::load(root)?.packages;
    let complaints = complaints(&tree, &packages);
    if complaints.is_empty() {
        say(format!(
            "tidy: {} files and {} crates, no complaint",
            tree.paths().count(),
            packages.len()
        ));
        return Ok(());
    }
    hand_out(report(&complaints))?;
    bail!("tidy: {} to mend", complaints.len());
}

/// A set, because it comes out sorted and the same complaint is not made twice.
fn complaints(tree: &Tree, packages: &[Package]) -> BTreeSet<Complaint> {
    let of_the_packages = [edges::check, homes::check, versions::check];
    let of_the_tree = [
        header::check,
        sizes::check,
        words::check,
        paths::check,
        errors::check,
        decisions::check,
        lockfiles::check,
        modules::check,
        prose_branches::check,
        string_errors::check,
        debug_words::check,
        changelog::check,
    ];
    let first = of_the_packages
        .into_iter()
        .flat_map(|rule| rule(tree, packages));
    let second = of_the_tree.into_iter().flat_map(|rule| rule(tree));
    first.chain(second).collect()
}

fn report(complaints: &BTreeSet<Complaint>) -> String {
    let mut text = String::new();
    for complaint in complaints {
        let _ = writeln!(text, "{complaint}");
    }
    text.push_str("\nHow to mend:");
    let rules: BTreeSet<Rule> = complaints.iter().map(|complaint| complaint.rule).collect();
    for rule in rules {
        let _ = write!(text, "\n  {}: {}", rule.name(), rule.mend());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_sorted_and_says_how_to_mend_each_rule_once() {
        let tree = Tree::of(&[
            ("b.rs", "fn main() {}\n"),
            ("a.rs", "fn main() {}\n"),
            ("c.rs", "//! Fine.\n"),
        ]);
        let expected = "\
a.rs:1: the file does not start with `//!` (header)
b.rs:1: the file does not start with `//!` (header)

How to mend:
  header: start the file with `//!`: what it is for and what it deliberately does not do";
        assert_eq!(report(&complaints(&tree, &[])), expected);
    }
}
