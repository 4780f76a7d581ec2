//! Reads jest: its JSON report where there is one, else the outline of `--verbose`.

use serde::Deserialize;

use super::collect::Collector;
use super::junit::TITLES;
use super::model::{Results, TestStatus};
use super::outline;
use super::place::relative;
use crate::text::PLANNED;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    #[serde(default)]
    failure_messages: Vec<String>,
}

pub(super) fn read(output: &str, report: Option<&str>) -> Results {
    let Some(report) = report.and_then(|text| serde_json::from_str::<Report>(text).ok()) else {
        return outline::read(output);
    };
    let mut out = Collector::default();
    for file in &report.test_results {
        let place = relative(&file.name);
        if file.assertion_results.is_empty() && file.status == "failed" {
            out.broken_file(&place);
            out.build_failure(&without_frame(&file.message));
        }
        for test in &file.assertion_results {
            add(&mut out, &place, test);
        }
    }
    out.finish()
}

fn add(out: &mut Collector, place: &str, test: &Test) {
    let mut name: String = test
        .ancestor_titles
        .iter()
        .flat_map(|title| [title.as_str(), TITLES])
        .collect();
    name.push_str(&test.title);
    let status = match test.status.as_str() {
        "passed" | "focused" => TestStatus::Passed,
        "pending" | "skipped" | "disabled" => TestStatus::Skipped,
        planned if planned == PLANNED => TestStatus::Skipped,
        _ => TestStatus::Failed,
    };
    let message = test.failure_messages.join("\n");
    out.add(&name, Some(place), status, Some(&without_stack(&message)));
}

/// Takes the stack off: it is long, and the same in every failure.
fn without_stack(message: &str) -> String {
    message
        .lines()
        .filter(|line| !line.trim_start().starts_with("at "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Takes the quoted source off.
fn without_frame(message: &str) -> String {
    let is_frame = |line: &str| {
        let text = line.trim_start().trim_start_matches('>').trim_start();
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.trim_start().starts_with('|')
    };
    message
        .lines()
        .filter(|line| !is_frame(line))
        .collect::<Vec<_>>()
        .join("\n")
}
