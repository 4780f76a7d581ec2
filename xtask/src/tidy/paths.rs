//! The rule `paths`: no file tells where a developer keeps the project.
//!
//! Only well-known roots are searched for: a rule against every absolute path would refuse
//! `/usr/bin/env`. The roots are put together from pieces here, so that this file does not complain
//! about itself.

use super::complaint::{Complaint, Rule};
use super::tree::Tree;

const ROOTS: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/fa", "rm/"),
];
const HOMES: &str = concat!("/ho", "me/");

/// Names that stand for anybody.
const ANYBODY: [&str; 2] = ["you", "user"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.texts()
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let hits = (1..)
        .zip(text.lines())
        .filter_map(|(line_number, line)| Some((line_number, foreign_path(line)?)));
    let complaint = |(line_number, found)| {
        Complaint::new(
            Rule::Paths,
            path,
            line_number,
            format!("`{found}` is a path of one machine"),
        )
    };
    hits.map(complaint).collect()
}

fn foreign_path(line: &str) -> Option<&str> {
    let slashes = line.match_indices('/').map(|(at, _)| at);
    let starts = slashes.filter(|&at| !line[..at].ends_with(continues_a_path));
    starts
        .map(|at| &line[at..])
        .find_map(|rest| known_root(rest).or_else(|| known_home(rest)))
}

/// A slash after one of these is inside a path, whose beginning is elsewhere: `docs/x`, `../x`,
/// `$HOME/x`.
fn continues_a_path(c: char) -> bool {
    c.is_alphanumeric() || "._-~)}]>*".contains(c)
}

fn known_root(rest: &str) -> Option<&str> {
    ROOTS
        .iter()
        .find(|root| rest.starts_with(**root))
        .map(|root| &rest[..root.len()])
}

fn known_home(rest: &str) -> Option<&str> {
    let (name, _) = rest.strip_prefix(HOMES)?.split_once('/')?;
    let is_name = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "._-".contains(c));
    (is_name && !ANYBODY.contains(&name)).then(|| &rest[..=HOMES.len() + name.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_line_gives_away() {
        let [first, second, third] = ROOTS;
        for (line, expected) in [
            ("#!/usr/bin/env bash".to_owned(), None),
            (format!("{first}main"), Some(first.to_owned())),
            (format!("see `{second}.cargo`"), Some(second.to_owned())),
            (format!("file://{third}x"), Some(third.to_owned())),
            (
                format!("docs{first}page, ..{first}page, $DIR{second}x, ${{dir}}{third}x"),
                None,
            ),
            (
                format!("{HOMES}anna/project"),
                Some(format!("{HOMES}anna/")),
            ),
            (format!("{HOMES}you/project and {HOMES}user/project"), None),
            (format!("{HOMES}$USER/project and {HOMES}anna"), None),
        ] {
            assert_eq!(foreign_path(&line), expected.as_deref(), "{line}");
        }
    }

    #[test]
    fn every_text_file_is_searched() {
        let text = format!("one\n{}\n", ROOTS[0]);
        let seen = check(&Tree::of(&[("docs/a.md", &text), ("Cargo.lock", "one\n")]));
        assert_eq!(
            shown(&seen),
            [format!(
                "docs/a.md:2: `{}` is a path of one machine (paths)",
                ROOTS[0]
            )]
        );
    }
}
