//! Reads outlines: titles by indentation with a mark before each test, as mocha, `jest --verbose`
//! and node's `spec` reporter print them.

use super::collect::Collector;
use super::junit::TITLES;
use super::model::{Results, TestStatus};
use super::place::relative;
use super::trouble;
use crate::text::{PLANNED, indent, lines};

/// Deepest nesting of titles that is followed.
const DEPTH_MAX: usize = 64;

pub(super) fn read(output: &str) -> Results {
    let mut reader = Reader::default();
    for line in lines(output) {
        if is_end(line) {
            break;
        }
        reader.take(line);
    }
    let mut out = reader.out;
    broken(&mut out, output);
    trouble::typescript(&mut out, output);
    out.finish()
}

#[derive(Default)]
struct Reader {
    out: Collector,
    /// Open titles with their indentation.
    titles: Vec<(usize, String)>,
    /// The file that jest named last.
    place: Option<String>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        let depth = indent(line);
        let text = line.trim();
        if let Some(file) = text
            .strip_prefix("PASS ")
            .or_else(|| text.strip_prefix("FAIL "))
            .filter(|_| depth <= 1)
        {
            let file = file.trim().split(" (").next().unwrap_or(file);
            self.place = Some(relative(file));
            self.titles.clear();
            return;
        }
        if let Some((status, title)) =
            test_of(text).filter(|_| depth > 0 || !text.starts_with("- "))
        {
            self.take_test(depth, status, title);
        } else if let Some(title) = text.strip_prefix("▶ ") {
            self.open(depth, without_time(title));
        } else if !text.is_empty() && depth > 0 && !text.starts_with(['●', '>', '|', '+']) {
            self.open(depth, text);
        } else if depth == 0 && !text.is_empty() {
            self.titles.clear();
        }
    }

    fn open(&mut self, depth: usize, title: &str) {
        let is_closing = self
            .titles
            .iter()
            .any(|(at, open)| *at == depth && open == title);
        self.titles.retain(|(at, _)| *at < depth);
        if !is_closing && self.titles.len() < DEPTH_MAX {
            self.titles.push((depth, title.to_owned()));
        }
    }

    fn take_test(&mut self, depth: usize, status: TestStatus, title: &str) {
        // node closes a suite with a line that looks like a test.
        if self
            .titles
            .iter()
            .any(|(at, open)| *at == depth && open == title)
        {
            self.titles.retain(|(at, _)| *at < depth);
            return;
        }
        self.titles.retain(|(at, _)| *at < depth);
        if is_script(title) {
            if status == TestStatus::Failed {
                self.out.broken_file(&relative(title));
                return;
            }
            return self.out.add(&relative(title), None, status, None);
        }
        let mut name: String = self
            .titles
            .iter()
            .flat_map(|(_, title)| [title.as_str(), TITLES])
            .collect();
        name.push_str(title);
        self.out.add(&name, self.place.as_deref(), status, None);
    }
}

/// The status and title of a test's line.
fn test_of(text: &str) -> Option<(TestStatus, &str)> {
    for (mark, status) in [
        ("✔ ", TestStatus::Passed),
        ("✓ ", TestStatus::Passed),
        ("√ ", TestStatus::Passed),
        ("✖ ", TestStatus::Failed),
        ("✕ ", TestStatus::Failed),
        ("× ", TestStatus::Failed),
        ("﹣ ", TestStatus::Skipped),
        ("- ", TestStatus::Skipped),
        ("○ ", TestStatus::Skipped),
        ("✎ ", TestStatus::Skipped),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            let directive = rest
                .rsplit_once(" # ")
                .map_or("", |(_, directive)| directive)
                .to_ascii_lowercase();
            let is_directive = directive.starts_with("skip") || directive.starts_with(PLANNED);
            let status = if is_directive {
                TestStatus::Skipped
            } else {
                status
            };
            let word = rest
                .strip_prefix("skipped ")
                .or_else(|| rest.strip_prefix(PLANNED));
            let rest = if mark == "○ " || mark == "✎ " {
                word.unwrap_or(rest)
            } else {
                rest
            };
            return Some((
                status,
                without_time(rest.split(" # ").next().unwrap_or(rest)),
            ));
        }
    }
    // mocha numbers what failed: `1) title`.
    let (number, title) = text.split_once(") ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((TestStatus::Failed, title))
}

/// Takes `(1.2ms)` or `(3 ms)` off.
fn without_time(title: &str) -> &str {
    let title = title.trim();
    match title.rsplit_once(" (") {
        Some((before, time))
            if time.ends_with("s)") && time.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            before
        }
        _ => title,
    }
}

/// Where the outline ends and the details begin.
fn is_end(line: &str) -> bool {
    let text = line.trim();
    if text.starts_with("ℹ tests ")
        || text == "✖ failing tests:"
        || text.starts_with("Test Suites: ")
    {
        return true;
    }
    let (number, word) = text.split_once(' ').unwrap_or(("", ""));
    let word = word.split(' ').next().unwrap_or("");
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && ["passing", "failing"].contains(&word)
}

fn is_script(title: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"]
        .iter()
        .any(|end| title.ends_with(end))
        && !title.contains(' ')
}

/// Files that could not be loaded: mocha's exception, jest's failed suites, node's missing modules.
fn broken(out: &mut Collector, output: &str) {
    let mut place = None;
    for line in lines(output) {
        let text = line.trim();
        if let Some(file) = line.strip_prefix("FAIL ") {
            place = Some(file.trim());
        } else if text == "● Test suite failed to run" {
            if let Some(file) = place {
                out.broken_file(&relative(file));
            }
            out.build_failure(&trouble::excerpt_from(output, |line| {
                line.trim() == "● Test suite failed to run"
            }));
        } else if text.starts_with("Exception during run:")
            || text.starts_with("Error: Cannot find module")
        {
            out.build_failure(&trouble::excerpt_from(output, |line| line.trim() == text));
        } else if let Some(file) = text.strip_prefix("requireStack: [ '") {
            out.broken_file(&relative(file.split('\'').next().unwrap_or("")));
        } else if text.starts_with("Error [ERR_MODULE_NOT_FOUND]")
            || text.starts_with("SyntaxError:")
        {
            out.build_failure(text);
        }
    }
}
