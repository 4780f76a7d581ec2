//! Reads what `cargo test` prints. Targets are named on stderr and tests on stdout, so both must
//! come interleaved.

use std::collections::BTreeMap;

use super::collect::Collector;
use super::model::{Results, TestStatus};
use super::trouble;
use crate::text::lines;

/// Most lines kept of one failing test's output.
const DETAIL_LINES_MAX: usize = 30;

pub(super) fn read(output: &str) -> Results {
    let mut reader = Reader::default();
    for line in lines(output) {
        reader.take(line);
    }
    reader.finish(output)
}

#[derive(Default)]
struct Reader {
    out: Collector,
    place: Option<String>,
    /// The target at hand said how many tests it runs, and owes a summary.
    owes_summary: bool,
    section: Section,
    /// A test whose line was begun and whose end was not seen yet.
    pending: Option<String>,
    /// The tests of the target at hand; their messages come after them.
    target: Vec<Found>,
    /// Where in `target` a name was last put.
    index: BTreeMap<String, usize>,
}

#[derive(Default)]
enum Section {
    #[default]
    Tests,
    /// Output of the named failing test, which may hold anything, also lines that look like ours.
    Detail(String, Vec<String>),
    FailureNames,
}

struct Found {
    name: String,
    status: TestStatus,
    message: Option<String>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        if let Some(place) = place_of(line) {
            self.end_target(None);
            self.place = Some(place);
            return;
        }
        if let Some(summary) = line.strip_prefix("test result: ") {
            self.end_target(Some(summary));
            return;
        }
        if let Some(name) = detail_name(line) {
            self.end_detail();
            self.section = Section::Detail(bare(name), Vec::new());
            return;
        }
        match &mut self.section {
            Section::Detail(..) if line == "failures:" => {
                self.end_detail();
                self.section = Section::FailureNames;
            }
            Section::Detail(_, kept) if kept.len() < DETAIL_LINES_MAX => kept.push(line.to_owned()),
            Section::Detail(..) => {}
            Section::FailureNames => self.take_failure_name(line),
            Section::Tests => self.take_test(line),
        }
    }

    fn take_test(&mut self, line: &str) {
        self.owes_summary |=
            line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"));
        if line == "failures:" {
            self.section = Section::FailureNames;
        } else if let Some((name, rest)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            self.close_pending(TestStatus::Failed);
            self.pending = Some(bare(name));
            if let Some(status) = status_of(rest) {
                self.close_pending(status);
            }
        } else if let Some(status) = status_of(line) {
            self.close_pending(status);
        }
    }

    fn take_failure_name(&mut self, line: &str) {
        let Some(name) = line.strip_prefix("    ") else {
            return;
        };
        let name = bare(name);
        match self.find(&name) {
            Some(found) => found.status = TestStatus::Failed,
            None => self.push(Found {
                name,
                status: TestStatus::Failed,
                message: None,
            }),
        }
    }

    fn close_pending(&mut self, status: TestStatus) {
        if let Some(name) = self.pending.take() {
            self.push(Found {
                name,
                status,
                message: None,
            });
        }
    }

    fn push(&mut self, found: Found) {
        self.index.insert(found.name.clone(), self.target.len());
        self.target.push(found);
    }

    fn find(&mut self, name: &str) -> Option<&mut Found> {
        self.index.get(name).and_then(|at| self.target.get_mut(*at))
    }

    fn end_detail(&mut self) {
        let Section::Detail(name, kept) = std::mem::take(&mut self.section) else {
            return;
        };
        let message = message_of(&kept);
        match self.find(&name) {
            Some(found) => {
                found.status = TestStatus::Failed;
                found.message = Some(message);
            }
            None => self.push(Found {
                name,
                status: TestStatus::Failed,
                message: Some(message),
            }),
        }
    }

    /// Ends one test program: by its summary, or by the start of the next one, which means that it
    /// crashed.
    fn end_target(&mut self, summary: Option<&str>) {
        self.end_detail();
        self.section = Section::Tests;
        self.close_pending(TestStatus::Failed);
        let owes_summary = std::mem::take(&mut self.owes_summary);
        match (summary, &self.place) {
            (Some(summary), _) => self.compare_with(summary),
            (None, Some(place)) if owes_summary => self.out.crashed(place),
            (None, _) => {}
        }
        self.index.clear();
        for found in std::mem::take(&mut self.target) {
            self.out.add(
                &found.name,
                self.place.as_deref(),
                found.status,
                found.message.as_deref(),
            );
        }
    }

    fn compare_with(&mut self, summary: &str) {
        for (word, status) in [
            ("passed", TestStatus::Passed),
            ("failed", TestStatus::Failed),
            ("ignored", TestStatus::Skipped),
        ] {
            let listed = self
                .target
                .iter()
                .filter(|found| found.status == status)
                .count();
            match count_before(summary, word) {
                Some(said) if said != listed && !self.target.is_empty() => {
                    self.out.doubt(&format!(
                        "the runner counts {said} {word}, its lines show {listed}"
                    ));
                }
                _ => {}
            }
        }
    }

    fn finish(mut self, output: &str) -> Results {
        self.end_target(None);
        trouble::compiler(&mut self.out, output);
        self.out.finish()
    }
}

/// The target that a line announces.
fn place_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("Doc-tests {}", name.trim()));
    }
    let rest = line.strip_prefix("Running ")?;
    let path = rest.strip_prefix("unittests ").unwrap_or(rest);
    let (path, program) = path.split_once(" (").unwrap_or((path, path));
    if !program.contains("deps") {
        return None;
    }
    Some(path.trim().replace('\\', "/"))
}

fn detail_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    name.strip_suffix(" stdout")
        .or_else(|| name.strip_suffix(" stderr"))
}

fn status_of(text: &str) -> Option<TestStatus> {
    let word = text.split(['<', ',']).next().unwrap_or(text).trim();
    match word {
        "ok" => Some(TestStatus::Passed),
        "FAILED" => Some(TestStatus::Failed),
        "ignored" => Some(TestStatus::Skipped),
        _ if word.starts_with("bench: ") => Some(TestStatus::Passed),
        _ => None,
    }
}

/// A test's name without what changes when lines move: the line of a doc test, the remark on
/// panics.
fn bare(name: &str) -> String {
    let name = name.trim();
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let name = name
        .strip_suffix(" - compile fail")
        .or_else(|| name.strip_suffix(" - compile"))
        .unwrap_or(name);
    match name.rsplit_once(" (line ") {
        Some((item, line))
            if line
                .trim_end_matches(')')
                .bytes()
                .all(|byte| byte.is_ascii_digit()) =>
        {
            item.to_owned()
        }
        _ => name.to_owned(),
    }
}

pub(super) fn message_of(kept: &[String]) -> String {
    let until = kept
        .iter()
        .position(|line| line.trim() == "stack backtrace:")
        .unwrap_or(kept.len());
    let lines = kept[..until]
        .iter()
        .filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE"));
    lines
        .map(|line| without_thread_id(line))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

/// `thread 'name' (4711) panicked at …` without the number, which differs in every run.
fn without_thread_id(line: &str) -> String {
    let split = line
        .split_once("' (")
        .and_then(|(thread, rest)| Some((thread, rest.split_once(") panicked at ")?)));
    match split {
        Some((thread, (number, place))) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{thread}' panicked at {place}")
        }
        _ => line.to_owned(),
    }
}

fn count_before(summary: &str, word: &str) -> Option<usize> {
    let before = &summary[..summary.find(&format!(" {word}"))?];
    before.rsplit([' ', ';']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_moves() {
        for (name, expected) in [
            ("tests::adds", "tests::adds"),
            ("tests::panics - should panic", "tests::panics"),
            ("src/lib.rs - add (line 4)", "src/lib.rs - add"),
            (
                "src/lib.rs - add (line 4) - compile fail",
                "src/lib.rs - add",
            ),
            ("src/lib.rs - (line 4)", "src/lib.rs -"),
            ("odd (line x)", "odd (line x)"),
        ] {
            assert_eq!(bare(name), expected);
        }
    }

    #[test]
    fn a_failing_test_cannot_list_others_in_its_output() {
        let output = "test a ... FAILED\ntest b ... FAILED\n\nfailures:\n\n---- a stdout ----\ntest b ... ok\nok\n\nfailures:\n    a\n    b\n\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let results = read(output);
        assert_eq!(results.status("a"), Some(TestStatus::Failed));
        assert_eq!(results.status("b"), Some(TestStatus::Failed));
        assert_eq!(results.doubt, None);
    }

    #[test]
    fn a_test_that_forges_its_end_is_doubted() {
        let output = "test a ... hello\nok\nFAILED\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored";
        assert_eq!(read(output).status("a"), Some(TestStatus::Failed));
        let forged =
            read("test gone ... ok\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored");
        assert_eq!(
            forged.doubt.as_deref(),
            Some("the runner counts 1 passed, its lines show 2")
        );
    }
}
