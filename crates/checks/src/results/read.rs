//! From an output to results, by format.

use serde::{Deserialize, Serialize};

use super::collect::Collector;
use super::model::Results;
use super::{
    bun, cargo, go, jest, junit, mocha, nextest, outline, pytest, sniff, tap, trouble, vitest,
};
use crate::text::{bounded, plain};

/// Who wrote an output.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
    /// `go test -json`, or the text of `go test -v`.
    GoJson,
    /// pytest, best with a `JUnit` report.
    Pytest,
    /// A `JUnit` report, in a file or as the output.
    JunitXml,
    /// The Test Anything Protocol.
    Tap,
    /// node's `spec` reporter.
    NodeSpec,
    /// vitest, best with a `JUnit` report.
    Vitest,
    /// jest, best with its JSON report.
    Jest,
    /// `bun test`, best with a `JUnit` report.
    Bun,
    /// mocha, best with its JSON report.
    Mocha,
    /// Nothing but the exit code is known.
    ExitCode,
    /// Not known beforehand: the output's looks decide.
    Sniff,
}

/// Reads what a check said. `output` is stdout and stderr as they came, `report` the text of the
/// report file where one was asked for and written. Paths of the checkout are best taken out
/// before, see [`super::without_root`].
pub fn read_results(format: Format, output: &str, report: Option<&str>) -> Results {
    let (output, output_cut) = bounded(output);
    let output = plain(&output);
    let report = report.map(bounded);
    let report_cut = report.as_ref().is_some_and(|(_, cut)| *cut);
    let report = report
        .as_ref()
        .map(|(text, _)| text.as_ref())
        .filter(|text| !text.trim().is_empty());
    let mut results = read(format, &output, report);
    results.truncated |= output_cut || report_cut;
    results
}

fn read(format: Format, output: &str, report: Option<&str>) -> Results {
    match format {
        Format::Cargo => cargo::read(output),
        Format::Nextest => nextest::read(output),
        Format::GoJson => go::read(output),
        Format::Pytest => pytest::read(output, report),
        Format::JunitXml => read_junit(report.unwrap_or(output)),
        Format::Tap => tap::read(output),
        Format::NodeSpec => outline::read(output),
        Format::Vitest => vitest::read(output, report),
        Format::Jest => jest::read(output, report),
        Format::Bun => bun::read(output, report),
        Format::Mocha => mocha::read(output, report),
        Format::ExitCode => read_exit_code(output),
        Format::Sniff => read_sniffed(output, report),
    }
}

fn read_junit(xml: &str) -> Results {
    let mut out = Collector::default();
    junit::read_into(&mut out, xml);
    out.finish()
}

fn read_exit_code(output: &str) -> Results {
    let mut out = Collector::default();
    trouble::compiler(&mut out, output);
    trouble::typescript(&mut out, output);
    trouble::signs(&mut out, output);
    out.finish()
}

/// A report says more than looks; without tests in either, the exit code is all.
fn read_sniffed(output: &str, report: Option<&str>) -> Results {
    let format = match report {
        Some(text) if text.trim_start().starts_with('<') => Format::JunitXml,
        _ => sniff(output),
    };
    let results = if format == Format::Sniff {
        Results::default()
    } else {
        read(format, output, report)
    };
    if results.is_per_test() || results.build_failure.is_some() {
        results
    } else {
        read_exit_code(output)
    }
}
