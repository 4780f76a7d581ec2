//! Reads what `cargo nextest run` prints.

use std::collections::BTreeMap;

use super::cargo::message_of;
use super::collect::Collector;
use super::model::{Results, TestStatus};
use super::trouble;
use crate::text::lines;

/// Most lines kept of one failing test's output.
const DETAIL_LINES_MAX: usize = 40;

pub(super) fn read(output: &str) -> Results {
    let mut reader = Reader::default();
    for line in lines(output) {
        reader.take(line);
    }
    let mut out = Collector::default();
    for ((place, name), found) in reader.tests {
        let status = if found.failed {
            TestStatus::Failed
        } else {
            found.status
        };
        let message = message_of(&found.detail);
        let message = (status == TestStatus::Failed).then_some(message.as_str());
        out.add(&name, Some(&place), status, message);
    }
    trouble::compiler(&mut out, output);
    out.finish()
}

#[derive(Default)]
struct Reader {
    tests: BTreeMap<(String, String), Found>,
    /// The test whose output follows.
    current: Option<(String, String)>,
    /// What follows repeats what failed, without details.
    in_summary: bool,
}

struct Found {
    status: TestStatus,
    /// It failed for good: no later line can make it pass.
    failed: bool,
    detail: Vec<String>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        let Some((verdict, place, name)) = test_line(line) else {
            self.take_detail(line);
            return;
        };
        let key = (place, name);
        let found = self.tests.entry(key.clone()).or_insert(Found {
            status: verdict.status,
            failed: false,
            detail: Vec::new(),
        });
        found.status = verdict.status;
        found.failed |= verdict.status == TestStatus::Failed && !verdict.may_be_tried_again;
        self.current = Some(key).filter(|_| !self.in_summary);
    }

    fn take_detail(&mut self, line: &str) {
        let is_frame = |text: &str| {
            text.is_empty()
                || text.starts_with("running ")
                || text == "failures:"
                || text.starts_with("test result: ")
                || text.ends_with(" ... FAILED")
                || text.starts_with("stdout ───")
                || text.starts_with("stderr ───")
        };
        if line.starts_with("────") || is_of_all(line) {
            self.current = None;
        }
        self.in_summary |= line.trim_start().starts_with("Summary [") && self.current.is_none();
        let Some(key) = &self.current else { return };
        let Some(found) = self.tests.get_mut(key) else {
            return;
        };
        let text = line.trim();
        if found.detail.len() < DETAIL_LINES_MAX && !is_frame(text) && text != key.1 {
            found
                .detail
                .push(line.strip_prefix("    ").unwrap_or(line).to_owned());
        }
    }
}

/// Whether the runner speaks of the whole run, or of a test that is still under way.
fn is_of_all(line: &str) -> bool {
    let text = line.trim_start();
    [
        "Cancelling due to ",
        "Canceling due to ",
        "SLOW [",
        "TERMINATING [",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

struct Verdict {
    status: TestStatus,
    may_be_tried_again: bool,
}

/// Reads `PASS [   0.009s] (1/6) tiny::outer name`.
fn test_line(line: &str) -> Option<(Verdict, String, String)> {
    let (word, rest) = line.trim_start().split_once(" [")?;
    let verdict = verdict_of(word)?;
    let (time, rest) = rest.split_once("] ")?;
    if !time.trim().is_empty()
        && !time
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || c == '>')
    {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "))
    {
        Some((_, rest)) => rest.trim_start(),
        None => rest,
    };
    let (binary, name) = rest.split_once(' ')?;
    Some((verdict, place_of(binary), name.trim().to_owned()))
}

fn verdict_of(word: &str) -> Option<Verdict> {
    let (word, may_be_tried_again) = match word.strip_prefix("TRY ") {
        Some(rest) => (rest.split_once(' ')?.1, true),
        None => (word, false),
    };
    let status = match word {
        "PASS" | "LEAK" => TestStatus::Passed,
        "SKIP" => TestStatus::Skipped,
        "FAIL" | "TIMEOUT" | "TMT" | "ABORT" | "LEAK-FAIL" | "FAIL + LEAK" | "EXECFAIL"
        | "XFAIL" | "FL+LK" => TestStatus::Failed,
        _ if word.starts_with("FLAKY") => TestStatus::Passed,
        _ if word.starts_with("SIG") => TestStatus::Failed,
        _ => return None,
    };
    Some(Verdict {
        status,
        may_be_tried_again,
    })
}

/// The file that a binary's id most likely stands for.
fn place_of(binary: &str) -> String {
    match binary.split_once("::") {
        None => "src/lib.rs".to_owned(),
        Some((_, target)) => match target.split_once('/') {
            Some(("bin", name)) => format!("src/bin/{name}.rs"),
            Some((kind, name)) => format!("{kind}/{name}.rs"),
            None => format!("tests/{target}.rs"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_and_signals_are_understood() {
        let output = "  TRY 1 FAIL [   0.004s] (1/4) t::it a\n  TRY 2 PASS [   0.004s] (1/4) t::it a\n        FLAKY 2/3 [   0.004s] (1/4) t::it a\n  TRY 1 FAIL [ 0.1s] t b\n  TRY 2 FAIL [ 0.1s] t b\n     SIGABRT [ 0.1s] t::bin/x c\n        SLOW [> 60.000s] t d\n        PASS [  61.0s] t d\n";
        let results = read(output);
        let seen: Vec<_> = results
            .tests
            .iter()
            .map(|(name, found)| {
                (
                    name.as_str(),
                    found[0].place.as_deref().unwrap_or(""),
                    found[0].status,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("a", "tests/it.rs", TestStatus::Passed),
                ("b", "src/lib.rs", TestStatus::Failed),
                ("c", "src/bin/x.rs", TestStatus::Failed),
                ("d", "src/lib.rs", TestStatus::Passed),
            ]
        );
    }
}
