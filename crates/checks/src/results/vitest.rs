//! Reads vitest: its `JUnit` report where there is one, and its text.

use super::collect::Collector;
use super::junit;
use super::model::{Results, TestStatus};
use super::place::relative;
use super::trouble;
use crate::text::lines;

pub(super) fn read(output: &str, report: Option<&str>) -> Results {
    let mut out = Collector::default();
    if let Some(xml) = report {
        junit::read_into(&mut out, xml);
    }
    let has_report = !out.is_empty();
    for line in lines(output) {
        take(&mut out, line, has_report);
    }
    let is_sign = |line: &str| {
        [
            "Failed Suites",
            "Failed to resolve import",
            "Startup Error",
            "Unhandled Errors",
        ]
        .iter()
        .any(|sign| line.contains(sign))
    };
    if lines(output).any(is_sign) {
        out.build_failure(&trouble::excerpt_from(output, is_sign));
    }
    trouble::typescript(&mut out, output);
    out.finish()
}

fn take(out: &mut Collector, line: &str, has_report: bool) {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("FAIL ") {
        let rest = rest.trim();
        if let Some((file, titles)) = rest.split_once(" > ") {
            out.ensure_failed(titles, Some(&relative(last_word(file))), None);
        } else if let Some((file, _)) = rest.split_once(" [ ") {
            out.broken_file(&relative(last_word(file)));
        }
        return;
    }
    if has_report {
        return;
    }
    for (mark, status) in [
        ("✓ ", TestStatus::Passed),
        ("× ", TestStatus::Failed),
        ("↓ ", TestStatus::Skipped),
        ("□ ", TestStatus::Skipped),
    ] {
        let Some(rest) = text.strip_prefix(mark) else {
            continue;
        };
        if let Some((file, titles)) = rest.split_once(" > ") {
            out.add(
                without_time(titles),
                Some(&relative(last_word(file))),
                status,
                None,
            );
        }
    }
}

/// The file, which a project's label may stand before.
fn last_word(text: &str) -> &str {
    text.trim().rsplit(' ').next().unwrap_or(text)
}

/// Takes ` 12ms` off.
fn without_time(title: &str) -> &str {
    let title = title.trim();
    match title.rsplit_once(' ') {
        Some((before, time)) => {
            let number = time.trim_end_matches("ms").trim_end_matches('s');
            let is_time = number.len() < time.len() && number.parse::<f64>().is_ok();
            if is_time { before.trim_end() } else { title }
        }
        None => title,
    }
}
