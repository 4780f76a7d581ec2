//! Reads `bun test`: its `JUnit` report for the tests, and its text for what the report leaves out.

use super::collect::Collector;
use super::junit;
use super::model::{Results, TestStatus};
use super::place::relative;
use crate::text::{PLANNED, lines};

pub(super) fn read(output: &str, report: Option<&str>) -> Results {
    let mut out = Collector::default();
    if let Some(xml) = report {
        junit::read_into(&mut out, xml);
    }
    let has_report = !out.is_empty();
    let mut place: Option<String> = None;
    let mut error = String::new();
    let mut is_between_tests = false;
    for line in lines(output) {
        if let Some(file) = file_of(line) {
            place = Some(relative(file));
            error.clear();
        } else if line.starts_with("# Unhandled error between tests") {
            is_between_tests = true;
        } else if line.starts_with("error: ") {
            line.clone_into(&mut error);
            if is_between_tests {
                out.broken_file(place.as_deref().unwrap_or(""));
                out.build_failure(line);
                is_between_tests = false;
            }
        } else if let Some((status, title)) = test_of(line) {
            let message = (status == TestStatus::Failed).then_some(error.as_str());
            if status == TestStatus::Failed && has_report {
                out.ensure_failed(title, place.as_deref(), message);
            } else if !has_report {
                out.add(title, place.as_deref(), status, message);
            }
            error.clear();
        }
    }
    out.finish()
}

/// `test/a.test.js:` alone on its line.
fn file_of(line: &str) -> Option<&str> {
    let file = line.strip_suffix(':')?;
    let extension = file.rsplit_once('.')?.1;
    (["js", "ts", "jsx", "tsx", "mjs", "cjs", "mts", "cts"].contains(&extension)
        && !file.contains(' '))
    .then_some(file)
}

fn test_of(line: &str) -> Option<(TestStatus, &str)> {
    for (mark, status) in [
        ("pass", TestStatus::Passed),
        ("fail", TestStatus::Failed),
        ("skip", TestStatus::Skipped),
        (PLANNED, TestStatus::Skipped),
    ] {
        if let Some(rest) = line
            .strip_prefix('(')
            .and_then(|line| line.strip_prefix(mark)?.strip_prefix(") "))
        {
            let title = match rest.rsplit_once(" [") {
                Some((title, time)) if time.ends_with("s]") => title,
                _ => rest,
            };
            return Some((status, title));
        }
    }
    None
}
