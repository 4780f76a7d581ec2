//! What the next attempt is told: names and bounded outputs, never the source of a test, and of
//! tests that are held back nothing but the criterion.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Comparison, Failing};
use crate::results::{Occurrence, Results, fits};
use crate::text::{clip, extension, head};

/// Longest feedback.
pub const FEEDBACK_BYTES_MAX: usize = 12_000;
/// Longest message of one test in it.
const MESSAGE_BYTES: usize = 800;
/// Most tests of one kind that are named in the first line.
const NAMED_MAX: usize = 5;
/// How files of tests end.
const FILE_ENDS: [&str; 20] = [
    "sh", "bash", "bats", "py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "rs", "go",
    "rb", "php", "java", "kt", "t", "pl",
];
/// Most tests of one kind that are told one by one.
const TOLD_MAX: usize = 20;

/// Writes feedback for the next attempt. `held_back` gives for a test's name the criterion that
/// stands for it.
pub fn feedback(facts: &Comparison, held_back: &BTreeMap<String, String>) -> String {
    let teller = Teller { held_back };
    let mut text = String::new();
    match &facts.setup_failed {
        Some(setup) if !setup.on_base => {
            text += &format!(
                "The project could not be set up:\n{}\n",
                teller.without_source(&setup.excerpt)
            );
        }
        _ if facts.finding() == kernel::Finding::Unproven => {
            text += "No new test shows that the change does what the story asks for.\n";
        }
        _ => {}
    }
    text += &teller.list(
        "These were green before the change and are not any more:",
        &facts.broken,
    );
    text += &teller.list("These new tests are not green:", &facts.new_failing);
    text += &teller.criteria(facts);
    for check in &facts.failed_checks {
        text += &format!(
            "The check `{}` is red:\n{}\n",
            check.name,
            teller.without_source(&check.message)
        );
    }
    if facts.n_left_out > 0 {
        text += &format!("{} more names are left out.\n", facts.n_left_out);
    }
    clip(text.trim_end(), FEEDBACK_BYTES_MAX)
}

struct Teller<'a> {
    held_back: &'a BTreeMap<String, String>,
}

impl Teller<'_> {
    /// The criterion of a test that is held back, in whatever form writer and runner name it.
    fn criterion(&self, name: &str) -> Option<&str> {
        let exact = self.held_back.get(name);
        let alike = || {
            self.held_back
                .iter()
                .find(|(held, _)| bare(held) == bare(name))
                .map(|(_, said)| said)
        };
        exact.or_else(alike).map(String::as_str)
    }

    fn list(&self, title: &str, failing: &[Failing]) -> String {
        let told: Vec<&Failing> = failing
            .iter()
            .filter(|test| self.criterion(&test.name).is_none())
            .collect();
        if told.is_empty() {
            return String::new();
        }
        // The first line alone stands in lists of stories.
        let names: Vec<&str> = told
            .iter()
            .take(NAMED_MAX)
            .map(|test| test.name.as_str())
            .collect();
        let more = if told.len() > NAMED_MAX { ", …" } else { "" };
        let mut text = format!("{title} {}{more}\n", names.join(", "));
        for test in told.iter().take(TOLD_MAX) {
            text += &format!("- {}\n", test.name);
            for line in self
                .without_source(head(&test.message, MESSAGE_BYTES))
                .lines()
            {
                text += &format!("    {line}\n");
            }
        }
        if told.len() > TOLD_MAX {
            text += &format!("- and {} more\n", told.len() - TOLD_MAX);
        }
        text
    }

    /// Of tests that are held back, the criteria alone.
    fn criteria(&self, facts: &Comparison) -> String {
        let failing = facts.broken.iter().chain(&facts.new_failing);
        let criteria: BTreeSet<&str> = failing
            .filter_map(|test| self.criterion(&test.name))
            .collect();
        criteria
            .into_iter()
            .take(TOLD_MAX)
            .map(|criterion| format!("Not met: {criterion}\n"))
            .collect()
    }

    /// An output without quoted source and without lines that name a test which is held back.
    fn without_source(&self, output: &str) -> String {
        let kept = output
            .lines()
            .filter(|line| !is_quote(line) && !self.names_held_back(line));
        kept.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    fn names_held_back(&self, line: &str) -> bool {
        self.held_back.keys().any(|name| {
            let last = bare(name);
            last.len() > 2 && line.contains(last)
        })
    }
}

/// The held-back tests, and where a writer named a file, every test of a run that stands in it.
pub fn spread_over_files(
    held_back: &BTreeMap<String, String>,
    results: &Results,
) -> BTreeMap<String, String> {
    let mut all = held_back.clone();
    for (file, criterion) in held_back.iter().filter(|(name, _)| is_file(name)) {
        let stands = |found: &Occurrence| {
            found
                .place
                .as_deref()
                .is_some_and(|place| fits(place, file))
        };
        let inside = results
            .tests
            .iter()
            .filter(|(_, found)| found.iter().any(stands));
        for (name, _) in inside {
            all.entry(name.clone()).or_insert_with(|| criterion.clone());
        }
    }
    all
}

fn is_file(name: &str) -> bool {
    FILE_ENDS.contains(&extension(name)) && !name.contains("::") && !name.contains(' ')
}

/// What is left of a test's name without file, suite, place and parameters.
fn bare(name: &str) -> &str {
    let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let last = name
        .rsplit(['/', ':', '>', '›', '#'])
        .next()
        .unwrap_or(name)
        .trim();
    match last.rsplit_once('.') {
        Some((stem, end)) if FILE_ENDS.contains(&end) => stem,
        Some((_, method)) if !method.is_empty() && !last.contains(' ') => method,
        _ => last,
    }
}

/// A line of source as compilers and runners quote it: `12 | code`, `> 5| code`, `>   assert x`.
fn is_quote(line: &str) -> bool {
    let text = line.trim_start();
    let is_marked = text.starts_with('>');
    let text = text.trim_start_matches('>').trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_number = rest.len() < text.len();
    (rest.trim_start().starts_with('|') && (has_number || text.starts_with('|'))) || is_marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_bared() {
        for (name, expected) in [
            ("negative", "negative"),
            ("tests/negative.sh", "negative"),
            ("tests/test_a.py::TestA::test_b", "test_b"),
            ("tests.test_a.TestA.test_b", "test_b"),
            ("test_b[1-2]", "test_b"),
            ("math > handles zero", "handles zero"),
            ("it::zero (tests/it/main.rs)", "zero"),
            ("a sentence. With a stop", "a sentence. With a stop"),
        ] {
            assert_eq!(bare(name), expected, "{name}");
        }
    }

    #[test]
    fn quoted_source_is_known() {
        for (line, expected) in [
            ("2 | fn multiplies() {", true),
            ("  |      ^^^^ not found", true),
            ("    > 5 | expect(add(1, 1)).toBe(3)", true),
            ("      6|   it('x')", true),
            (">       assert add(1, 1) == 3", true),
            ("E       assert 7 == 3", false),
            ("error[E0425]: cannot find function", false),
            ("2 failed", false),
        ] {
            assert_eq!(is_quote(line), expected, "{line}");
        }
    }
}
