//! Tells from an output which runner wrote it.

use super::read::Format;
use crate::text::{bounded, lines, plain};

/// Guesses the format of an output that is known only by its looks. What fits nothing is
/// [`Format::ExitCode`].
pub fn sniff(output: &str) -> Format {
    let (output, _) = bounded(output);
    let output = plain(&output);
    let start = output.trim_start();
    if start.starts_with("<?xml") || start.starts_with("<testsuite") {
        return Format::JunitXml;
    }
    let mut seen = [false; SIGNS.len()];
    for line in lines(&output) {
        for (seen, (_, is_sign)) in seen.iter_mut().zip(SIGNS) {
            *seen = *seen || is_sign(line);
        }
    }
    let found = seen.into_iter().zip(SIGNS).find(|(seen, _)| *seen);
    found.map_or(Format::ExitCode, |(_, (format, _))| format)
}

type Sign = fn(&str) -> bool;

/// What gives a runner away, the surest first.
const SIGNS: [(Format, Sign); 11] = [
    (Format::Nextest, |line| {
        let text = line.trim_start();
        text.starts_with("Nextest run ID")
            || (text.starts_with("Starting ") && text.contains(" across "))
    }),
    (Format::Cargo, |line| {
        line.starts_with("test result: ") || line.starts_with("error: could not compile")
    }),
    (Format::GoJson, |line| {
        line.starts_with("{\"") && line.contains("\"Action\":\"")
    }),
    (Format::Pytest, |line| {
        line.contains("= test session starts =") || line.contains("= short test summary info =")
    }),
    (Format::Vitest, |line| {
        line.trim_start().starts_with("Test Files  ") || line.trim_start().starts_with("RUN  v")
    }),
    (Format::Jest, |line| line.starts_with("Test Suites: ")),
    (Format::Bun, |line| line.starts_with("bun test v")),
    (Format::NodeSpec, |line| {
        line.trim_start().starts_with("ℹ tests ")
    }),
    (Format::Tap, |line| {
        line.starts_with("TAP version ") || is_tap_plan(line)
    }),
    (Format::Mocha, is_mocha_count),
    (Format::GoJson, |line| {
        line.starts_with("FAIL\t")
            || line.starts_with("ok  \t")
            || line.starts_with("--- FAIL: Test")
    }),
];

fn is_tap_plan(line: &str) -> bool {
    let count = line
        .strip_prefix("1..")
        .and_then(|rest| rest.split_whitespace().next());
    count.is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_mocha_count(line: &str) -> bool {
    line.trim_start()
        .split_once(' ')
        .is_some_and(|(number, rest)| {
            rest.starts_with("passing (") && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}
