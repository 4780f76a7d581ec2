//! Outputs of real runners, as they were recorded, beside what is read from them.

use checks::results::{Format, Results, TestStatus, read_results, sniff};

/// Every recording: its name, the format, the output and the report.
pub(crate) const RECORDINGS: [(&str, Format, &str, Option<&str>); 29] = [
    (
        "cargo-mixed",
        Format::Cargo,
        include_str!("../recorded/cargo-mixed.txt"),
        None,
    ),
    (
        "cargo-abort",
        Format::Cargo,
        include_str!("../recorded/cargo-abort.txt"),
        None,
    ),
    (
        "cargo-nocompile",
        Format::Cargo,
        include_str!("../recorded/cargo-nocompile.txt"),
        None,
    ),
    (
        "nextest-mixed",
        Format::Nextest,
        include_str!("../recorded/nextest-mixed.txt"),
        None,
    ),
    (
        "nextest-nocompile",
        Format::Nextest,
        include_str!("../recorded/nextest-nocompile.txt"),
        None,
    ),
    (
        "go-mixed",
        Format::GoJson,
        include_str!("../recorded/go-mixed.txt"),
        None,
    ),
    (
        "go-verbose",
        Format::GoJson,
        include_str!("../recorded/go-verbose.txt"),
        None,
    ),
    (
        "go-nocompile",
        Format::GoJson,
        include_str!("../recorded/go-nocompile.txt"),
        None,
    ),
    (
        "pytest-mixed",
        Format::Pytest,
        include_str!("../recorded/pytest-mixed.txt"),
        Some(include_str!("../recorded/pytest-mixed.xml")),
    ),
    (
        "pytest-quiet",
        Format::Pytest,
        include_str!("../recorded/pytest-mixed.txt"),
        None,
    ),
    (
        "pytest-verbose",
        Format::Pytest,
        include_str!("../recorded/pytest-verbose.txt"),
        None,
    ),
    (
        "pytest-collect",
        Format::Pytest,
        include_str!("../recorded/pytest-collect.txt"),
        Some(include_str!("../recorded/pytest-collect.xml")),
    ),
    (
        "pytest-collect-text",
        Format::Pytest,
        include_str!("../recorded/pytest-collect.txt"),
        None,
    ),
    (
        "vitest-mixed",
        Format::Vitest,
        include_str!("../recorded/vitest-mixed.txt"),
        Some(include_str!("../recorded/vitest-mixed.xml")),
    ),
    (
        "vitest-verbose",
        Format::Vitest,
        include_str!("../recorded/vitest-verbose.txt"),
        None,
    ),
    (
        "vitest-import",
        Format::Vitest,
        include_str!("../recorded/vitest-import.txt"),
        Some(include_str!("../recorded/vitest-import.xml")),
    ),
    (
        "jest-mixed",
        Format::Jest,
        include_str!("../recorded/jest-mixed.txt"),
        Some(include_str!("../recorded/jest-mixed.json")),
    ),
    (
        "jest-verbose",
        Format::Jest,
        include_str!("../recorded/jest-verbose.txt"),
        None,
    ),
    (
        "mocha-mixed",
        Format::Mocha,
        "",
        Some(include_str!("../recorded/mocha-mixed.json")),
    ),
    (
        "mocha-text",
        Format::Mocha,
        include_str!("../recorded/mocha-mixed.txt"),
        None,
    ),
    (
        "mocha-import",
        Format::Mocha,
        include_str!("../recorded/mocha-import.txt"),
        None,
    ),
    (
        "bun-mixed",
        Format::Bun,
        include_str!("../recorded/bun-mixed.txt"),
        Some(include_str!("../recorded/bun-mixed.xml")),
    ),
    (
        "bun-text",
        Format::Bun,
        include_str!("../recorded/bun-mixed.txt"),
        None,
    ),
    (
        "node20-tap",
        Format::Tap,
        include_str!("../recorded/node20.tap"),
        None,
    ),
    (
        "node22-tap",
        Format::Tap,
        include_str!("../recorded/node22.tap"),
        None,
    ),
    (
        "node20-spec",
        Format::NodeSpec,
        include_str!("../recorded/node20-spec.txt"),
        None,
    ),
    (
        "node22-spec",
        Format::NodeSpec,
        include_str!("../recorded/node22-spec.txt"),
        None,
    ),
    (
        "node20-junit",
        Format::JunitXml,
        "",
        Some(include_str!("../recorded/node20.xml")),
    ),
    (
        "node22-junit",
        Format::JunitXml,
        "",
        Some(include_str!("../recorded/node22.xml")),
    ),
];

/// Draws results in lines that people can compare.
pub(crate) fn drawn(results: &Results) -> String {
    let mut text = String::new();
    for (name, occurrences) in &results.tests {
        for found in occurrences {
            let mark = match found.status {
                TestStatus::Passed => "pass",
                TestStatus::Failed => "FAIL",
                TestStatus::Skipped => "skip",
            };
            let place = found.place.as_deref().unwrap_or("?");
            text += &format!("{mark}  {name}  [{place}]\n");
            if let Some(message) = &found.message {
                text += &message
                    .lines()
                    .map(|line| format!("        | {line}\n"))
                    .collect::<String>();
            }
        }
    }
    text += &format!("counts: {:?}\n", results.counts());
    if let Some(excerpt) = &results.build_failure {
        text += &format!(
            "did not build:\n{}",
            excerpt
                .lines()
                .map(|line| format!("    | {line}\n"))
                .collect::<String>()
        );
    }
    text += &format!(
        "broken files: {:?}, crashed: {:?}, truncated: {}, doubt: {:?}",
        results.broken_files, results.crashed, results.truncated, results.doubt
    );
    text
}

#[test]
fn recordings_are_read() {
    for (name, format, output, report) in RECORDINGS {
        insta::assert_snapshot!(name, drawn(&read_results(format, output, report)));
    }
}

#[test]
fn the_looks_of_an_output_tell_its_runner() {
    for (name, format, output, _) in RECORDINGS {
        if output.is_empty() || ["pytest-quiet", "mocha-import"].contains(&name) {
            continue;
        }
        // What does not compile under nextest looks like any cargo.
        let expected = if name == "nextest-nocompile" {
            Format::Cargo
        } else {
            format
        };
        assert_eq!(sniff(output), expected, "{name}");
    }
    for (output, expected) in [
        ("", Format::ExitCode),
        ("ok then\nall good", Format::ExitCode),
        ("1..2\nok 1 - a\nnot ok 2 - b\n", Format::Tap),
        ("<?xml version=\"1.0\"?><testsuites/>", Format::JunitXml),
        ("ok  \texample.com/x\t0.1s\n", Format::GoJson),
    ] {
        assert_eq!(sniff(output), expected, "{output}");
    }
}

#[test]
fn a_cut_report_does_not_lose_what_failed() {
    let xml = include_str!("../recorded/pytest-mixed.xml");
    let cut = &xml[..xml.find("tests.test_calc.TestMore").expect("is there")];
    let results = read_results(Format::Pytest, "", Some(cut));
    assert!(results.truncated);
    assert_eq!(results.status("test_sum[3-4]"), Some(TestStatus::Failed));
}

#[test]
fn every_cut_of_a_red_output_is_red_or_says_nothing_of_the_failing_test() {
    for (name, format, output, report) in RECORDINGS {
        let whole = read_results(format, output, report);
        let text = report.unwrap_or(output);
        for at in (0..text.len())
            .filter(|at| text.is_char_boundary(*at))
            .step_by(7)
        {
            let cut = match report {
                Some(_) => read_results(format, output, Some(&text[..at])),
                None => read_results(format, &text[..at], None),
            };
            for (test, _) in whole
                .tests
                .iter()
                .filter(|(test, _)| whole.status(test) == Some(TestStatus::Failed))
            {
                assert_ne!(
                    cut.status(test),
                    Some(TestStatus::Passed),
                    "{name}: `{test}` cut at {at}"
                );
            }
        }
    }
}
