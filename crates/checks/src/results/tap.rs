//! Reads the Test Anything Protocol, with the subtests and the diagnostics that node writes.

use super::collect::{Collector, TESTS_MAX};
use super::junit::TITLES;
use super::model::{Results, TestStatus};
use super::place::relative;
use super::trouble;
use crate::text::{MESSAGE_BYTES_MAX, PLANNED, clip, indent, lines};

/// Deepest indentation that is told apart, so that nesting costs a bounded effort.
const INDENT_MAX: usize = 64;

pub(super) fn read(output: &str) -> Results {
    let mut reader = Reader::default();
    for line in lines(output) {
        reader.take(line);
    }
    reader.finish(output)
}

/// What runners count in their closing comments.
const COUNTED: [&str; 12] = [
    "tests",
    "suites",
    "pass",
    "fail",
    "failed",
    "passed",
    "cancelled",
    "skip",
    "skipped",
    "duration_ms",
    "assertions",
    PLANNED,
];

#[derive(Default)]
struct Reader {
    tests: Vec<Found>,
    /// Whose diagnostics may follow.
    last: Option<usize>,
    /// How far the diagnostics that are being read are indented.
    diagnostics_at: Option<usize>,
    /// The highest number that a test at the top has.
    highest: usize,
    planned: Option<usize>,
    n_top: usize,
    bail: Option<String>,
}

struct Found {
    depth: usize,
    titles: String,
    status: TestStatus,
    place: Option<String>,
    message: Option<String>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        let text = line.trim();
        if let Some(depth) = self.diagnostics_at {
            // Only what is indented like the block belongs to it: a program that prints `---` must
            // not swallow the tests behind it.
            if indent(line) >= depth || text.is_empty() {
                self.take_diagnostic(text);
                return;
            }
            self.diagnostics_at = None;
        }
        let is_behind_test = self
            .last
            .and_then(|at| self.tests.get(at))
            .is_none_or(|found| indent(line) > found.depth);
        if text == "---" && indent(line) > 0 && is_behind_test {
            self.diagnostics_at = Some(indent(line));
        } else if let Some(rest) = text.strip_prefix("Bail out!") {
            self.bail = Some(rest.trim().to_owned());
        } else if let Some(plan) = line.strip_prefix("1..") {
            self.planned = plan
                .split_whitespace()
                .next()
                .and_then(|number| number.parse().ok());
            // A plan behind the tests closes them: what follows is about all of them.
            self.last = None;
        } else if let Some(rest) = text.strip_prefix("not ok") {
            self.take_test(indent(line).min(INDENT_MAX), rest, TestStatus::Failed);
        } else if let Some(rest) = text.strip_prefix("ok") {
            self.take_test(indent(line).min(INDENT_MAX), rest, TestStatus::Passed);
        } else if let Some(rest) = glued_failure(text) {
            self.take_test(indent(line).min(INDENT_MAX), rest, TestStatus::Failed);
        } else if let Some(comment) = text
            .strip_prefix("# ")
            .filter(|comment| !comment.starts_with("Subtest") && !is_closing(comment))
        {
            self.take_comment(comment);
        }
    }

    /// Plain runners say in comments behind a test why it failed.
    fn take_comment(&mut self, comment: &str) {
        let Some(found) = self.last.and_then(|at| self.tests.get_mut(at)) else {
            return;
        };
        let before = found
            .message
            .take()
            .map(|message| message + "\n")
            .unwrap_or_default();
        found.message = Some(clip(&format!("{before}{comment}"), MESSAGE_BYTES_MAX));
    }

    fn take_test(&mut self, depth: usize, rest: &str, status: TestStatus) {
        // `ok` must stand alone: "okay" and "ok: done" are talk.
        if !rest.is_empty() && !rest.starts_with(' ') {
            return;
        }
        let (title, directive) = split_directive(rest.trim());
        let title = title_of(title);
        let status = if directive {
            TestStatus::Skipped
        } else {
            status
        };
        if depth == 0 {
            self.n_top += 1;
            let number: String = rest
                .trim()
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            self.highest = self.highest.max(number.parse().unwrap_or(0));
        }
        let from = self
            .tests
            .iter()
            .rposition(|found| found.depth <= depth)
            .map_or(0, |at| at + 1);
        self.last = None;
        if from == self.tests.len() {
            return self.push(depth, title, status);
        }
        let children_failed = self.tests[from..]
            .iter()
            .any(|found| found.status == TestStatus::Failed);
        for child in &mut self.tests[from..] {
            child.depth = depth;
            child.titles = clip(
                &format!("{title}{TITLES}{}", child.titles),
                MESSAGE_BYTES_MAX,
            );
        }
        // A suite is no test, unless it failed by itself, as by a hook.
        if status == TestStatus::Failed && !children_failed {
            self.push(depth, title, status);
        }
    }

    fn push(&mut self, depth: usize, title: String, status: TestStatus) {
        if self.tests.len() < 2 * TESTS_MAX {
            self.last = Some(self.tests.len());
            self.tests.push(Found {
                depth,
                titles: title,
                status,
                place: None,
                message: None,
            });
        }
    }

    fn take_diagnostic(&mut self, text: &str) {
        if text == "..." {
            self.diagnostics_at = None;
            return;
        }
        let Some(found) = self.last.and_then(|at| self.tests.get_mut(at)) else {
            return;
        };
        let unquoted = |value: &str| value.trim().trim_matches(['\'', '"']).to_owned();
        if let Some(place) = text.strip_prefix("location:") {
            found.place = Some(relative(trouble::before_position(&unquoted(place))));
        } else if let Some(message) = text
            .strip_prefix("error:")
            .or_else(|| text.strip_prefix("message:"))
        {
            found
                .message
                .get_or_insert_with(|| clip(&unquoted(message), MESSAGE_BYTES_MAX));
        }
    }

    fn finish(self, output: &str) -> Results {
        let mut out = Collector::default();
        for found in &self.tests {
            if found.status == TestStatus::Failed && is_script(&found.titles) {
                out.broken_file(&relative(&found.titles));
                trouble::node(&mut out, output);
                out.build_failure(&format!("{} could not be run", relative(&found.titles)));
                continue;
            }
            let name = if is_script(&found.titles) {
                relative(&found.titles)
            } else {
                found.titles.clone()
            };
            let message = found
                .message
                .as_deref()
                .filter(|_| found.status == TestStatus::Failed);
            out.add(&name, found.place.as_deref(), found.status, message);
        }
        if let Some(why) = &self.bail {
            out.build_failure(&format!("the runner gave up: {why}"));
        }
        match self.planned {
            Some(planned) if self.highest > planned => {
                out.doubt(&format!(
                    "{planned} tests were planned, and one has the number {}",
                    self.highest
                ));
            }
            Some(planned) if planned > self.n_top => {
                out.doubt(&format!(
                    "{planned} tests were planned, {} reported",
                    self.n_top
                ));
            }
            _ => {}
        }
        out.finish()
    }
}

/// A failed test behind text that a program printed without an end of line.
fn glued_failure(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("not ok")?;
    let number = rest.strip_prefix(' ')?;
    number
        .starts_with(|letter: char| letter.is_ascii_digit())
        .then_some(rest)
}

/// Whether a comment counts all tests, as runners do at their end: `tests 7`, `fail 2`,
/// `Looks like you failed 2 tests of 7.`
fn is_closing(comment: &str) -> bool {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    match words.as_slice() {
        [what, number] => COUNTED.contains(what) && is_number(number),
        [number, what, ..] if is_number(number) => ["test,", "tests,"].contains(what),
        ["failed" | "Failed", number, "of", ..] => is_number(number),
        ["Looks", "like", "you", ..] => true,
        [time] => time.starts_with("time="),
        _ => false,
    }
}

/// Takes a directive off, which says that the outcome does not matter.
fn split_directive(text: &str) -> (&str, bool) {
    for (at, _) in text.match_indices('#') {
        let word: String = text[at + 1..].trim_start().chars().take(4).collect();
        let word = word.to_ascii_lowercase();
        if word == "skip" || word == PLANNED {
            return (text[..at].trim_end(), true);
        }
    }
    (text, false)
}

/// `1 - title`, where number and dash may be missing.
fn title_of(text: &str) -> String {
    let rest = text
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start();
    let rest = rest
        .strip_prefix("- ")
        .or_else(|| rest.strip_prefix('-'))
        .unwrap_or(rest)
        .trim();
    if rest.is_empty() {
        format!("test {}", text.trim())
    } else {
        rest.replace("\\#", "#")
    }
}

/// A whole file that node reports as a test.
fn is_script(title: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"]
        .iter()
        .any(|end| title.ends_with(end))
        && !title.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_swallows_no_test() {
        for (output, expected) in [
            (
                "ok 1 - a\n---\nnot ok 2 - b\n...\n1..2\n",
                TestStatus::Failed,
            ),
            ("ok 1 - a\n# not ok 2 - b\n1..2\n", TestStatus::Failed),
            ("ok 1 - a\ntalknot ok 2 - b\n1..2\n", TestStatus::Failed),
            ("ok 99 - b\nnot ok 2 - b\n1..2\n", TestStatus::Failed),
            (
                "ok 1 - a\n  ---\n  error: 'not ok'\n  ...\nok 2 - b\n1..2\n",
                TestStatus::Passed,
            ),
        ] {
            assert_eq!(read(output).status("b"), Some(expected), "{output}");
        }
        assert!(read("ok 99 - b\n1..1\n").doubt.is_some());
    }

    #[test]
    fn plain_tap_is_read() {
        let output = format!(
            "TAP version 13\n1..7\nok 1 - first\nnot ok 2 second\nok 3 - third # SKIP later\nnot ok 4 - fourth # {}\nokay then\nok 5\nok 6 - a # b\nBail out! no disk\n",
            PLANNED.to_uppercase()
        );
        let results = read(&output);
        let seen: Vec<_> = results
            .tests
            .iter()
            .map(|(name, found)| (name.as_str(), found[0].status))
            .collect();
        assert_eq!(
            seen,
            [
                ("a # b", TestStatus::Passed),
                ("first", TestStatus::Passed),
                ("fourth", TestStatus::Skipped),
                ("second", TestStatus::Failed),
                ("test 5", TestStatus::Passed),
                ("third", TestStatus::Skipped),
            ]
        );
        assert_eq!(
            results.build_failure.as_deref(),
            Some("the runner gave up: no disk")
        );
        assert_eq!(
            results.doubt.as_deref(),
            Some("7 tests were planned, 6 reported")
        );
    }
}
