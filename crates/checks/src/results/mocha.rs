//! Reads mocha: its JSON report where there is one, else its outline.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::collect::Collector;
use super::junit::TITLES;
use super::model::{Results, TestStatus};
use super::outline;
use super::place::relative;

#[derive(Deserialize)]
struct Report {
    tests: Vec<Test>,
    #[serde(default)]
    failures: Vec<Test>,
    #[serde(default)]
    pending: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    title: String,
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    err: Trouble,
}

#[derive(Deserialize, Default)]
struct Trouble {
    #[serde(default)]
    message: Option<String>,
}

impl Test {
    fn key(&self) -> (&str, Option<&str>) {
        (&self.full_title, self.file.as_deref())
    }
}

pub(super) fn read(output: &str, report: Option<&str>) -> Results {
    let report = report
        .filter(|text| !text.trim().is_empty())
        .unwrap_or(output);
    let Some(report) = report
        .find('{')
        .and_then(|at| serde_json::from_str::<Report>(&report[at..]).ok())
    else {
        return outline::read(output);
    };
    let mut out = Collector::default();
    let pending: BTreeSet<_> = report.pending.iter().map(Test::key).collect();
    let failed: BTreeSet<_> = report.failures.iter().map(Test::key).collect();
    for test in report
        .tests
        .iter()
        .filter(|test| !failed.contains(&test.key()))
    {
        let status = if pending.contains(&test.key()) {
            TestStatus::Skipped
        } else {
            TestStatus::Passed
        };
        add(&mut out, test, status);
    }
    // A hook that failed is in this list alone.
    for test in &report.failures {
        add(&mut out, test, TestStatus::Failed);
    }
    out.finish()
}

/// The report joins all titles by spaces; what stands before the last one is kept as one title.
fn add(out: &mut Collector, test: &Test, status: TestStatus) {
    let suite = test
        .full_title
        .strip_suffix(&test.title)
        .unwrap_or("")
        .trim();
    let name = if suite.is_empty() {
        test.title.clone()
    } else {
        format!("{suite}{TITLES}{}", test.title)
    };
    let place = test.file.as_deref().map(relative);
    out.add(&name, place.as_deref(), status, test.err.message.as_deref());
}
