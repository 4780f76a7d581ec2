//! The rule `lockfiles`: a lock file of npm pins versions and hashes, not the server they came
//! from.
//!
//! Whoever installs from a mirror would otherwise write its address into the project, and everyone
//! else would be sent there.

use super::complaint::{Complaint, Rule};
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let files = tree
        .texts()
        .filter(|(path, _)| path.rsplit('/').next() == Some("package-lock.json"));
    files
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let hits = (1..)
        .zip(text.lines())
        .filter(|(_, line)| names_a_server(line));
    hits.map(|(line_number, _)| {
        Complaint::new(
            Rule::Lockfiles,
            path,
            line_number,
            "the entry names a server",
        )
    })
    .collect()
}

fn names_a_server(line: &str) -> bool {
    let value = line
        .split_once(r#""resolved""#)
        .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    value.is_some_and(|value| value.trim_start().starts_with(r#""http"#))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_lock_file_is_refused_for() {
        let refused = "bench/package-lock.json:2: the entry names a server (lockfiles)";
        for (path, line, expected) in [
            ("bench/package-lock.json", r#""version": "1.0.0","#, None),
            ("bench/package-lock.json", r#""resolved": "../peer","#, None),
            (
                "bench/package-lock.json",
                r#""resolved": "https://mirror.example/a.tgz","#,
                Some(refused),
            ),
            (
                "bench/package-lock.json",
                r#""resolved":"http://mirror.example/a.tgz","#,
                Some(refused),
            ),
            (
                "bench/package.json",
                r#""resolved": "https://mirror.example/a.tgz","#,
                None,
            ),
        ] {
            let text = format!("{{\n{line}\n}}\n");
            assert_eq!(
                shown(&check(&Tree::of(&[(path, &text)]))),
                Vec::from_iter(expected),
                "{path}: {line}"
            );
        }
    }
}
