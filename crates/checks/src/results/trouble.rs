//! What did not compile, could not be imported or could not be collected, told from a runner's
//! text.

use super::collect::Collector;
use super::place::relative;
use crate::text::lines;

/// Most lines of an excerpt.
const EXCERPT_LINES_MAX: usize = 40;
/// Words at the start of a line of cargo's that mean failing tests and not a failing build.
const NOT_THE_BUILD: [&str; 9] = [
    "error: test failed",
    "error: test run failed",
    "error: doctest failed",
    "error: process didn't exit",
    "error: command `",
    "error: bench failed",
    "error: could not execute",
    "error: no tests to run",
    "error: creating test list failed",
];

/// Finds what cargo could not build.
pub(super) fn compiler(out: &mut Collector, output: &str) {
    let is_error = |line: &str| {
        (line.starts_with("error:") || line.starts_with("error["))
            && !NOT_THE_BUILD.iter().any(|start| line.starts_with(start))
            && !is_target_count(line)
    };
    let is_certain = lines(output).any(|line| line.starts_with("error: could not compile"));
    if !is_certain && (!out.is_empty() || !lines(output).any(is_error)) {
        return;
    }
    let mut is_open = false;
    for line in lines(output) {
        if is_error(line) {
            is_open = true;
        } else if line.starts_with("warning") {
            is_open = false;
        } else if let Some(place) = line.trim_start().strip_prefix("--> ").filter(|_| is_open) {
            out.broken_file(&relative(before_position(place)));
            is_open = false;
        }
    }
    out.build_failure(&excerpt_from(output, is_error));
}

fn is_target_count(line: &str) -> bool {
    line.strip_prefix("error: ").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.trim_end().ends_with("failed:")
    })
}

/// `path:line:column` without the position.
pub(super) fn before_position(place: &str) -> &str {
    let mut place = place.trim();
    for _ in 0..2 {
        match place.rsplit_once(':') {
            Some((path, number))
                if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                place = path;
            }
            _ => break,
        }
    }
    place
}

/// The text from the first line that matches.
pub(super) fn excerpt_from(output: &str, matches: impl Fn(&str) -> bool) -> String {
    let kept: Vec<&str> = lines(output)
        .skip_while(|line| !matches(line))
        .take(EXCERPT_LINES_MAX)
        .collect();
    kept.join("\n")
}

/// Finds TypeScript's complaints, in both of its ways to print them.
pub(super) fn typescript(out: &mut Collector, output: &str) {
    let mut found = false;
    for line in lines(output) {
        if let Some(path) = typescript_path(line) {
            out.broken_file(&relative(path));
            found = true;
        }
    }
    if found {
        out.build_failure(&excerpt_from(output, |line| {
            typescript_path(line).is_some()
        }));
    }
}

fn typescript_path(line: &str) -> Option<&str> {
    let at = line
        .find(": error TS")
        .or_else(|| line.find(" - error TS"))?;
    let place = &line[..at];
    let path = match place.rsplit_once('(') {
        Some((path, position)) if position.ends_with(')') => path,
        _ => before_position(place),
    };
    (!path.is_empty() && !path.contains(' ')).then_some(path)
}

/// Signs that a program did not even start, for checks of which only the exit code is known.
const SIGNS: [&str; 13] = [
    "ERR_MODULE_NOT_FOUND",
    "Cannot find module",
    "SyntaxError:",
    "ModuleNotFoundError:",
    "ImportError:",
    "Failed to resolve import",
    ": fatal error:",
    ": undefined reference to",
    "undefined symbol",
    "error: cannot find symbol",
    "COMPILATION ERROR",
    "Compilation failed",
    "command not found",
];

/// Finds the signs of a missing module, a syntax error or a failed compiler in any text.
pub(super) fn signs(out: &mut Collector, output: &str) {
    if out.has_build_failure() {
        return;
    }
    let is_sign = |line: &str| {
        SIGNS.iter().any(|sign| line.contains(sign)) || c_compiler_path(line).is_some()
    };
    if !lines(output).any(is_sign) {
        return;
    }
    out.build_failure(&excerpt_from(output, is_sign));
    for path in lines(output).filter_map(c_compiler_path) {
        out.broken_file(&relative(path));
    }
}

/// The file of `path:line:column: error: …`.
fn c_compiler_path(line: &str) -> Option<&str> {
    let place = &line[..line.find(": error:")?];
    let path = before_position(place);
    (path.len() < place.len() && !path.is_empty() && !path.contains(' ')).then_some(path)
}

/// Finds what node says of a file that it could not load; the file is the one that asked.
pub(super) fn node(out: &mut Collector, output: &str) {
    let is_sign = |line: &&str| {
        line.contains("Error")
            && ["ERR_MODULE_NOT_FOUND]", "Cannot find module", "SyntaxError"]
                .iter()
                .any(|sign| line.contains(sign))
    };
    if let Some(line) = lines(output).find(is_sign) {
        out.build_failure(line.trim_start_matches(['#', ' ']));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typescript_names_its_files() {
        for (line, expected) in [
            (
                "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
                Some("src/a.ts"),
            ),
            (
                "test/b.test.ts:1:10 - error TS2307: Cannot find module",
                Some("test/b.test.ts"),
            ),
            ("error TS5083: Cannot read file", None),
            ("we saw an error TS1 somewhere", None),
        ] {
            assert_eq!(typescript_path(line), expected, "{line}");
        }
    }

    #[test]
    fn c_names_its_files() {
        for (line, expected) in [
            ("src/a.c:3:5: error: unknown type", Some("src/a.c")),
            ("src/a.c: error: unknown", None),
            ("make: *** [x] Error 1", None),
        ] {
            assert_eq!(c_compiler_path(line), expected, "{line}");
        }
    }
}
