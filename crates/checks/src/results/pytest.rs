//! Reads pytest: its `JUnit` report where there is one, and its text.

use super::collect::Collector;
use super::junit;
use super::model::{Results, TestStatus};
use super::place::relative;
use super::trouble::excerpt_from;
use crate::text::{extension, lines};

pub(super) fn read(output: &str, report: Option<&str>) -> Results {
    let mut out = Collector::default();
    if let Some(xml) = report {
        junit::read_into(&mut out, xml);
    }
    if out.is_empty() {
        read_verbose(&mut out, output);
    }
    read_summary(&mut out, output);
    read_broken(&mut out, output);
    out.finish()
}

/// `tests/test_a.py::TestX::test_b[1-2] PASSED   [ 12%]`
fn read_verbose(out: &mut Collector, output: &str) {
    for line in lines(output) {
        let Some((place, rest)) = split_id(line) else {
            continue;
        };
        let rest = rest.trim_end();
        // The rightmost word counts, since a parameter may hold such a word as well.
        let found = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
            .iter()
            .filter_map(|word| Some((rest.rfind(&format!(" {word}"))?, *word)))
            .max();
        let Some((at, word)) = found else { continue };
        let name = &rest[..at];
        out.add(name, Some(&relative(place)), status_of(word), None);
    }
}

fn status_of(word: &str) -> TestStatus {
    match word {
        "PASSED" | "XPASS" => TestStatus::Passed,
        "SKIPPED" | "XFAIL" => TestStatus::Skipped,
        _ => TestStatus::Failed,
    }
}

/// Splits `file.py::name` where a line begins with it.
fn split_id(line: &str) -> Option<(&str, &str)> {
    let (place, rest) = line.split_once("::")?;
    let is_place = ["py", "txt"].contains(&extension(place)) && !place.contains(' ');
    is_place.then_some((place, rest))
}

/// The lines under "short test summary info", which name what failed even without `-v`.
fn read_summary(out: &mut Collector, output: &str) {
    let summary = lines(output).skip_while(|line| !line.contains("short test summary info"));
    for line in summary {
        let Some(rest) = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "))
        else {
            continue;
        };
        let Some((place, rest)) = split_id(rest) else {
            out.broken_file(&relative(rest.split(" - ").next().unwrap_or(rest)));
            continue;
        };
        let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
        out.ensure_failed(name, Some(&relative(place)), Some(message));
    }
}

fn read_broken(out: &mut Collector, output: &str) {
    for line in lines(output) {
        let Some(title) = line
            .trim_matches('_')
            .trim()
            .strip_prefix("ERROR collecting ")
        else {
            continue;
        };
        out.broken_file(&relative(title));
    }
    let is_sign = |line: &str| {
        line.contains("ERROR collecting")
            || line.starts_with("ImportError while loading conftest")
            || line.starts_with("INTERNALERROR>")
            || line.starts_with("ERROR: usage:")
            || line.starts_with("ERROR: file or directory not found")
    };
    if lines(output).any(is_sign) {
        let errors: Vec<&str> = lines(output)
            .filter(|line| line.starts_with("E  "))
            .take(20)
            .collect();
        let excerpt = if errors.is_empty() {
            excerpt_from(output, is_sign)
        } else {
            errors.join("\n")
        };
        out.build_failure(&excerpt);
    }
}
