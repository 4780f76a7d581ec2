//! The rule `prose-branches`: no decision hangs on the wording of a text of ours.
//!
//! It looks for a name that means prose (`why`, `reason`, …) whose text is searched or compared
//! with fixed text. What other programs print is prose too, but reading it is what
//! `checks/src/results` is for, so that folder is passed over.

use super::complaint::{Complaint, Rule};
use super::rust_source::{Word, words};
use super::tree::{Tree, has_extension};

const FOLDERS: [&str; 4] = [
    "crates/kernel/src/",
    "crates/engine/src/",
    "crates/home/src/",
    "crates/checks/src/",
];
const READS_OTHERS: &str = "crates/checks/src/results/";

const PROSE: [&str; 4] = ["why", "reason", "cause", "message"];
const SEARCHES: [&str; 3] = ["contains", "starts_with", "ends_with"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let is_searched = |path: &str| {
        FOLDERS.iter().any(|folder| path.starts_with(folder))
            && !path.starts_with(READS_OTHERS)
            && has_extension(path, "rs")
    };
    tree.texts()
        .filter(|(path, _)| is_searched(path))
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let words = words(text);
    let hits = (0..words.len()).filter(|&at| PROSE.contains(&words[at].text));
    let hits = hits.filter(|&at| is_branch(&words[at + 1..]));
    hits.map(|at| {
        let message = format!("a branch hangs on the wording of `{}`", words[at].text);
        Complaint::new(Rule::ProseBranches, path, words[at].line_number, message)
    })
    .collect()
}

/// Tells whether what follows a name searches its text or compares it with fixed text, possibly
/// after calls such as `.as_deref()`.
fn is_branch(after: &[Word<'_>]) -> bool {
    let text = |index: usize| after.get(index).map_or("", |word| word.text);
    let mut at = 0;
    loop {
        match text(at) {
            "?" => at += 1,
            "." if text(at + 2) != "(" => at += 2,
            "." if SEARCHES.contains(&text(at + 1)) => return true,
            "." => at += 2 + brackets_length(&after[at + 2..]),
            "=" | "!" if text(at + 1) == "=" => return is_fixed_text(&after[at + 2..]),
            _ => return false,
        }
    }
}

/// A literal or a constant, also inside `Some(…)`.
fn is_fixed_text(words: &[Word<'_>]) -> bool {
    let wrapping = ["&", "*", "Some", "("];
    let value = words.iter().find(|word| !wrapping.contains(&word.text));
    let is_constant =
        |text: &str| text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    value.is_some_and(|word| word.text == "\"" || is_constant(word.text))
}

/// The length of a pair of brackets with all that is inside.
fn brackets_length(words: &[Word<'_>]) -> usize {
    let mut depth = 0_usize;
    for (index, word) in words.iter().enumerate() {
        match word.text {
            "(" => depth += 1,
            ")" if depth == 1 => return index + 1,
            ")" => depth -= 1,
            _ => {}
        }
    }
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_branch_hangs_on_wording_in() {
        for (code, is_refused) in [
            ("why.contains(OUTGREW)", true),
            (
                "self.why.as_deref().unwrap_or(f(\"\")).starts_with(\"x\")",
                true,
            ),
            ("run?.message\n.text.ends_with('.')", true),
            ("why == \"gone\"", true),
            ("reason != Some(\"gone\")", true),
            ("cause == OUTGREW", true),
            ("exit.cause == ExitCause::Exited", false),
            ("why == other", false),
            ("why.is_empty() && names.contains(name)", false),
            ("names.contains(&reason)", false),
            ("because.contains(OUTGREW)", false),
            ("Failed { why, names: list.contains(name) }", false),
            ("// why.contains(OUTGREW)", false),
            (
                "#[cfg(test)] mod tests { fn f() { why.contains(\"x\") } }",
                false,
            ),
        ] {
            let seen = check(&Tree::of(&[("crates/engine/src/a.rs", code)]));
            assert_eq!(seen.len(), usize::from(is_refused), "{code}");
        }
    }

    #[test]
    fn wording_is_looked_at_in() {
        let text = "\nfn f() { why.contains(\"x\") }";
        for (path, is_refused) in [
            ("crates/kernel/src/a.rs", true),
            ("crates/home/src/b/a.rs", true),
            ("crates/checks/src/compare/a.rs", true),
            ("crates/checks/src/results/a.rs", false),
            ("crates/agents/src/a.rs", false),
            ("crates/engine/tests/it/a.rs", false),
        ] {
            let expected = is_refused.then(|| {
                format!("{path}:2: a branch hangs on the wording of `why` (prose-branches)")
            });
            let seen = check(&Tree::of(&[(path, text)]));
            assert_eq!(shown(&seen), Vec::from_iter(expected), "{path}");
        }
    }
}
