//! The rule `versions`: a version stands in the root manifest and nowhere else, below the reason
//! why we take the crate.
//!
//! Which versions are good is not judged here: that is the lock file and, where it is installed,
//! cargo-deny.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::{Complaint, Rule};
use super::toml_lines::{Entry, entries};
use super::tree::Tree;
use crate::metadata::Package;

const ROOT: &str = "Cargo.toml";
const TABLE: &str = "workspace.dependencies";
const MEMBER_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Complaint> {
    let members = packages.iter().map(|package| package.manifest.as_str());
    let mut complaints: Vec<Complaint> = members
        .flat_map(|manifest| check_member(manifest, tree.text(manifest)))
        .collect();
    complaints.extend(check_root(tree.text(ROOT)));
    complaints
}

fn check_member(path: &str, text: &str) -> Vec<Complaint> {
    let entries = entries(text);
    let mut dependencies: BTreeMap<(&str, &str), (usize, bool)> = BTreeMap::new();
    for entry in &entries {
        if let Some((name, is_inherited)) = member_dependency(entry) {
            let seen = dependencies
                .entry((&entry.table, name))
                .or_insert((entry.line_number, false));
            seen.1 |= is_inherited;
        }
    }
    let own = dependencies
        .into_iter()
        .filter(|(_, (_, is_inherited))| !is_inherited);
    own.map(|((_, name), (line_number, _))| {
        Complaint::new(
            Rule::Versions,
            path,
            line_number,
            format!("`{name}` is not taken by `workspace = true`"),
        )
    })
    .collect()
}

/// Reads the dependency that an entry is about, and whether this entry takes it from the workspace.
/// The three ways to write it: `name.workspace = true`, `name = { workspace = true }`, and a table
/// `[dependencies.name]`.
fn member_dependency(entry: &Entry) -> Option<(&str, bool)> {
    let is_inherited = |key: &str, value: &str| key == "workspace" && value == "true";
    let last = |table: &str| {
        MEMBER_TABLES
            .iter()
            .any(|name| table.rsplit('.').next() == Some(name))
    };
    if last(&entry.table) {
        return Some(match entry.key.split_once('.') {
            Some((name, key)) => (name, is_inherited(key, &entry.value)),
            None => (
                &entry.key,
                entry.value.replace(' ', "").contains("workspace=true"),
            ),
        });
    }
    let (table, name) = entry.table.rsplit_once('.')?;
    last(table).then(|| (name, is_inherited(&entry.key, &entry.value)))
}

/// A comment covers the run of dependencies below it, up to an empty line.
fn check_root(text: &str) -> Vec<Complaint> {
    let entries = entries(text);
    let lines: Vec<&str> = text.lines().collect();
    let foreign = entries.iter().filter(|entry| is_foreign(entry));
    let unexplained = foreign.filter(|entry| !is_explained(&lines, entry.line_number));
    let complaint = |entry: &Entry| {
        let message = format!("no comment above says why we take `{}`", entry.key);
        Complaint::new(Rule::Versions, ROOT, entry.line_number, message)
    };
    let mut complaints: Vec<Complaint> = unexplained.map(complaint).collect();
    complaints.extend(tables_of_their_own(&entries));
    complaints
}

fn is_foreign(entry: &Entry) -> bool {
    let is_path = entry.value.replace(' ', "").contains("path=");
    entry.table == TABLE && !is_path
}

fn is_explained(lines: &[&str], line_number: usize) -> bool {
    let above = lines[..line_number - 1]
        .iter()
        .rev()
        .map(|line| line.trim());
    let mut ends = above.skip_while(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    ends.next()
        .is_some_and(|line| line.trim_start_matches('#').trim() != "" && line.starts_with('#'))
}

/// One way to write it is enough, and a table would hide from the rule on comments.
fn tables_of_their_own(entries: &[Entry]) -> Vec<Complaint> {
    let mut seen = BTreeSet::new();
    let named = entries.iter().filter_map(|entry| {
        let name = entry.table.strip_prefix(TABLE)?.strip_prefix('.')?;
        seen.insert(name).then_some((entry.line_number, name))
    });
    let complaint = |(line_number, name)| {
        Complaint::new(
            Rule::Versions,
            ROOT,
            line_number,
            format!("`{name}` has a table of its own: make it one line"),
        )
    };
    named.map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_member_takes_a_dependency_by() {
        for (text, refused) in [
            (
                "[package]\nversion = \"1\"\n[dependencies]\na.workspace = true\n",
                None,
            ),
            (
                "[dependencies]\na = { workspace = true, features = [\n  \"x\",\n] }\n",
                None,
            ),
            (
                "[dev-dependencies.a]\nfeatures = [\"x\"]\nworkspace = true\n",
                None,
            ),
            ("[dependencies]\na = \"1\"\n", Some((2, "a"))),
            (
                "[dev-dependencies]\na = { version = \"1\" }\n",
                Some((2, "a")),
            ),
            (
                "[build-dependencies]\na.workspace = true\nb = { path = \"../b\" }\n",
                Some((3, "b")),
            ),
            (
                "[target.'cfg(unix)'.dependencies]\na.version = \"1\"\n",
                Some((2, "a")),
            ),
            ("[dependencies.a]\nversion = \"1\"\n", Some((2, "a"))),
        ] {
            let expected = refused.map(|(line_number, name)| {
                format!("m/Cargo.toml:{line_number}: `{name}` is not taken by `workspace = true` (versions)")
            });
            assert_eq!(
                shown(&check_member("m/Cargo.toml", text)),
                Vec::from_iter(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn the_root_explains_a_dependency_by() {
        let unexplained = |line_number, name| {
            Some(format!(
                "Cargo.toml:{line_number}: no comment above says why we take `{name}` (versions)"
            ))
        };
        for (lines, expected) in [
            ("a = { path = \"a\" }", None),
            (
                "# Why.\nb = \"1\"\nc = { version = \"1\", features = [\n\"x\",\n] }\nd = \"1\"",
                None,
            ),
            ("b = \"1\"", unexplained(2, "b")),
            ("#\nb = \"1\"", unexplained(3, "b")),
            ("# Why.\n\nb = \"1\"", unexplained(4, "b")),
            ("# Why.\nb = \"1\"\n\nc = \"1\" # late", unexplained(5, "c")),
            (
                "# Why.\n[workspace.dependencies.b]\nversion = \"1\"\nfeatures = []",
                Some(
                    "Cargo.toml:4: `b` has a table of its own: make it one line (versions)"
                        .to_owned(),
                ),
            ),
        ] {
            let text = format!("[workspace.dependencies]\n{lines}\n[profile.dev]\ndebug = 1\n");
            assert_eq!(
                shown(&check_root(&text)),
                Vec::from_iter(expected),
                "{lines}"
            );
        }
    }
}
