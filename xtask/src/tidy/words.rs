//! The rule `words`: marks of unfinished work and switched-off tests do not reach the main branch.
//!
//! Prose is not searched: a document may well speak of these words. They are put together from
//! pieces here, so that this file does not complain about itself.

use super::complaint::{Complaint, Rule};
use super::tree::{Tree, has_extension};

const WORDS: [&str; 3] = [
    concat!("to", "do"),
    concat!("fix", "me"),
    concat!("xx", "x"),
];
const DEBUG_MACRO: &str = concat!("db", "g!");
const SWITCHED_OFF: &str = concat!("#[", "ignore");

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.texts()
        .filter(|(path, _)| is_searched(path))
        .flat_map(|(path, text)| check_text(path, text))
        .collect()
}

fn is_searched(path: &str) -> bool {
    path == ".ci/run"
        || ["rs", "sh", "toml"]
            .iter()
            .any(|extension| has_extension(path, extension))
}

fn check_text(path: &str, text: &str) -> Vec<Complaint> {
    let lines = (1..).zip(text.lines());
    let hits = lines.flat_map(|(line_number, line)| {
        banned(line)
            .into_iter()
            .map(move |what| (line_number, what))
    });
    let complaint = |(line_number, what)| {
        Complaint::new(
            Rule::Words,
            path,
            line_number,
            format!("`{what}` is banned"),
        )
    };
    hits.map(complaint).collect()
}

fn banned(line: &str) -> Vec<&'static str> {
    let words = words_of(line);
    let mut hits: Vec<&str> = WORDS
        .into_iter()
        .filter(|banned| words.iter().any(|word| word.eq_ignore_ascii_case(banned)))
        .collect();
    hits.extend(has_debug_macro(line).then_some(DEBUG_MACRO));
    hits.extend(has_switched_off_test(line).then_some(SWITCHED_OFF));
    hits
}

fn words_of(line: &str) -> Vec<&str> {
    line.split(|c| !is_word_character(c)).collect()
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_debug_macro(line: &str) -> bool {
    line.match_indices(DEBUG_MACRO)
        .any(|(at, _)| !line[..at].ends_with(is_word_character))
}

fn has_switched_off_test(line: &str) -> bool {
    let mut rests = line
        .match_indices(SWITCHED_OFF)
        .map(|(at, found)| line[at + found.len()..].trim_start());
    rests.any(|rest| rest.starts_with([']', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_line_is_refused_for() {
        let [task, defect, mark] = WORDS;
        for (line, expected) in [
            ("let attempt = 1;".to_owned(), vec![]),
            (format!("// {task}: later"), vec![task]),
            (format!("// {}(me)", task.to_uppercase()), vec![task]),
            (format!("{task}!()"), vec![task]),
            (format!("{task}s and mas{task}n and {task}_list"), vec![]),
            (format!("# {defect} {mark}"), vec![defect, mark]),
            (format!("mktemp -d name.{mark}{mark}"), vec![]),
            (format!("{DEBUG_MACRO}(attempt)"), vec![DEBUG_MACRO]),
            (format!("my_{DEBUG_MACRO}(attempt)"), vec![]),
            (format!("{SWITCHED_OFF}]"), vec![SWITCHED_OFF]),
            (format!("{SWITCHED_OFF} = \"slow\"]"), vec![SWITCHED_OFF]),
            (format!("{SWITCHED_OFF}d_by_us]"), vec![]),
        ] {
            assert_eq!(banned(&line), expected, "{line}");
        }
    }

    #[test]
    fn only_sources_are_searched() {
        let text = format!("one\n{}\n", WORDS[0]);
        for (path, is_refused) in [
            ("a.rs", true),
            ("a.sh", true),
            ("Cargo.toml", true),
            (".ci/run", true),
            ("a.md", false),
        ] {
            let expected =
                is_refused.then(|| format!("{path}:2: `{}` is banned (words)", WORDS[0]));
            assert_eq!(
                shown(&check(&Tree::of(&[(path, &text)]))),
                Vec::from_iter(expected),
                "{path}"
            );
        }
    }
}
