//! Reads `go test -json`, and the text of `go test -v`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::collect::{Collector, TESTS_MAX};
use super::model::{Results, TestStatus};
use super::trouble::{before_position, excerpt_from};
use crate::text::{MESSAGE_BYTES_MAX, extension, lines};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

pub(super) fn read(output: &str) -> Results {
    let mut reader = Reader::default();
    for line in lines(output) {
        match serde_json::from_str::<Event>(line)
            .ok()
            .filter(|_| line.starts_with('{'))
        {
            Some(event) => reader.take(event),
            None => reader.take_text(line),
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    /// By package and test; no status is a test that has not ended.
    tests: BTreeMap<(String, String), Running>,
    /// Tests read from text, which wait for the line that names their package.
    waiting: Vec<(String, TestStatus)>,
    broken: Vec<String>,
    /// Text that is no test's: compilers, panics, packages.
    talk: String,
    failed_packages: Vec<String>,
}

#[derive(Default)]
struct Running {
    status: Option<TestStatus>,
    output: String,
}

impl Reader {
    fn take(&mut self, event: Event) {
        if event.test.is_empty() {
            match event.action.as_str() {
                "output" | "build-output" => self.take_text(event.output.trim_end()),
                "fail" => self.failed_packages.push(event.package),
                _ => {}
            }
            return;
        }
        if self.tests.len() >= 2 * TESTS_MAX {
            return;
        }
        let running = self.tests.entry((event.package, event.test)).or_default();
        match event.action.as_str() {
            "pass" | "bench" => running.status = Some(worse(running.status, TestStatus::Passed)),
            "fail" => running.status = Some(TestStatus::Failed),
            "skip" => running.status = Some(worse(running.status, TestStatus::Skipped)),
            "output" if running.output.len() < MESSAGE_BYTES_MAX && is_message(&event.output) => {
                running.output.push_str(&event.output);
            }
            _ => {}
        }
    }

    fn take_text(&mut self, line: &str) {
        let text = line.trim_start();
        for (mark, status) in [
            ("--- PASS: ", TestStatus::Passed),
            ("--- FAIL: ", TestStatus::Failed),
            ("--- SKIP: ", TestStatus::Skipped),
        ] {
            if let Some((name, _)) = text
                .strip_prefix(mark)
                .and_then(|rest| rest.split_once(" ("))
            {
                self.waiting.push((name.to_owned(), status));
                return;
            }
        }
        if let Some(package) = package_line(line) {
            for (name, status) in std::mem::take(&mut self.waiting) {
                self.tests.insert(
                    (package.to_owned(), name),
                    Running {
                        status: Some(status),
                        output: String::new(),
                    },
                );
            }
        }
        if line.contains("[build failed]") || line.contains("[setup failed]") {
            self.broken.push(line.trim().to_owned());
        }
        if self.talk.len() < 4 * MESSAGE_BYTES_MAX {
            self.talk.push_str(line);
            self.talk.push('\n');
        }
    }

    fn finish(mut self) -> Results {
        let mut out = Collector::default();
        for (name, status) in std::mem::take(&mut self.waiting) {
            out.add(&name, None, status, None);
        }
        let mut blamed: BTreeSet<&str> = BTreeSet::new();
        for ((package, name), running) in &self.tests {
            let status = running.status.unwrap_or(TestStatus::Failed);
            if status == TestStatus::Failed {
                blamed.insert(package);
            }
            let message = (status == TestStatus::Failed).then_some(running.output.as_str());
            out.add(name, Some(package), status, message);
        }
        let unexplained = self
            .failed_packages
            .iter()
            .any(|package| !blamed.contains(package.as_str()));
        if !self.broken.is_empty() || unexplained {
            for path in self.talk.lines().filter_map(go_file) {
                out.broken_file(path);
            }
            let excerpt = excerpt_from(&self.talk, |line| {
                line.starts_with("# ") || go_file(line).is_some()
            });
            out.build_failure(if excerpt.is_empty() {
                &self.talk
            } else {
                &excerpt
            });
        }
        out.finish()
    }
}

fn worse(before: Option<TestStatus>, now: TestStatus) -> TestStatus {
    before.map_or(now, |before| before.min(now))
}

/// Whether a test said it. After a panic go counts its own closing lines to the test that was under
/// way.
fn is_message(output: &str) -> bool {
    let text = output.trim_start();
    if text.trim_end() == "FAIL" || package_line(text).is_some() || text.starts_with("exit status ")
    {
        return false;
    }
    !["=== ", "--- ", "goroutine ", "testing.", "\t/"]
        .iter()
        .any(|start| text.starts_with(start))
        && !output.starts_with("\t/")
}

/// `ok  \tpackage\t0.003s` or `FAIL\tpackage\t…`.
fn package_line(line: &str) -> Option<&str> {
    let mut parts = line.split('\t');
    let word = parts.next()?.trim();
    (word == "ok" || word == "FAIL")
        .then(|| parts.next().map(str::trim))
        .flatten()
}

/// The file of `./path.go:3:38: undefined: X`.
fn go_file(line: &str) -> Option<&str> {
    let place = line.split(": ").next()?;
    let path = before_position(place);
    (path.len() < place.len() && extension(path) == "go" && !path.starts_with(char::is_whitespace))
        .then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_go_reports_builds_as_events() {
        let output = "{\"ImportPath\":\"x [x.test]\",\"Action\":\"build-output\",\"Output\":\"# x [x.test]\\n\"}\n{\"ImportPath\":\"x [x.test]\",\"Action\":\"build-output\",\"Output\":\"./new_test.go:3:38: undefined: M\\n\"}\n{\"ImportPath\":\"x [x.test]\",\"Action\":\"build-fail\"}\n{\"Action\":\"start\",\"Package\":\"x\"}\n{\"Action\":\"output\",\"Package\":\"x\",\"Output\":\"FAIL\\tx [build failed]\\n\"}\n{\"Action\":\"fail\",\"Package\":\"x\",\"Elapsed\":0,\"FailedBuild\":\"x [x.test]\"}\n";
        let results = read(output);
        assert_eq!(results.broken_files, ["new_test.go"]);
        assert!(
            results
                .build_failure
                .is_some_and(|text| text.contains("undefined: M"))
        );
        assert!(!results.tests.contains_key("x"));
    }

    #[test]
    fn a_test_that_never_ends_failed() {
        let results = read(
            "{\"Action\":\"run\",\"Package\":\"x\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"x\"}",
        );
        assert_eq!(results.status("TestA"), Some(TestStatus::Failed));
    }
}
