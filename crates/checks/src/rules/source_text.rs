//! Tests that open the project's source files as text. They test how code is written and not what
//! it does.

use crate::shell::parse;
use crate::text::{clip, extension, lines};

/// Calls that open a file.
const OPENERS: [&str; 16] = [
    "readFileSync(",
    "readFile(",
    "createReadStream(",
    "Bun.file(",
    "Deno.readTextFile",
    "open(",
    "read_text(",
    "include_str!(",
    "include_bytes!(",
    "read_to_string(",
    "fs::read(",
    "File::open(",
    "ReadFile(",
    "os.Open(",
    "Files.readString(",
    "Files.readAllLines(",
];
/// Programs of shell tests that look into files.
const SHELL: [&str; 7] = ["grep", "cat", "sed", "awk", "head", "tail", "diff"];
/// Names that say that a file belongs to tests.
const TEST_WORDS: [&str; 9] = [
    "fixture",
    "testdata",
    "test/",
    "tests/",
    "__tests__",
    "snapshot",
    "tmp",
    "expected",
    "golden",
];
const SOURCES: [&str; 17] = [
    "rs", "js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "py", "go", "java", "kt", "c", "h", "cpp",
    "rb", "sh",
];
/// How many lines a call may stretch over.
const CALL_LINES: usize = 3;

/// Says why a test reads source text, if it does. `is_source_file` says whether the project has a
/// file of that name: what a test makes itself, or what only looks like a path, is nobody's source.
pub fn reads_source_text(
    path: &str,
    text: &str,
    is_source_file: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let all: Vec<&str> = lines(text).collect();
    let is_shell = ["sh", "bash", "bats", ""].contains(&extension(path));
    for (index, line) in all.iter().enumerate() {
        let code = line.trim_start();
        if code.starts_with("//") || (code.starts_with('#') && !code.starts_with("#[")) {
            continue;
        }
        if code.contains("inspect.getsource") {
            return Some(format!(
                "line {} reads the source of what it tests",
                index + 1
            ));
        }
        let is_opener = OPENERS.iter().any(|opener| code.contains(opener));
        let found = if is_opener {
            let call = all[index..all.len().min(index + CALL_LINES)].join(" ");
            let own = literals(from_opener(&call));
            // What is read is often named just before.
            let before = literals(if index > 0 { all[index - 1] } else { "" });
            let named = if own.is_empty() { before } else { own };
            named.into_iter().find(|word| is_source(word))
        } else if is_shell {
            shell_source(code)
        } else {
            None
        };
        let is_written = ["'w'", "\"w\"", "'wb'", "\"wb\"", "write"]
            .iter()
            .any(|mark| code.contains(mark));
        if let Some(file) = found.filter(|file| is_source_file(file) && !is_written) {
            return Some(format!(
                "line {} opens `{}` as text",
                index + 1,
                clip(&file, 100)
            ));
        }
    }
    None
}

/// The part of a call that names what is opened: its arguments, or what a method is called on.
fn from_opener(call: &str) -> &str {
    if call.contains("read_text(") {
        return call;
    }
    let at = OPENERS.iter().filter_map(|opener| call.find(opener)).min();
    at.map_or(call, |at| &call[at..])
}

/// The source file that a program of a shell line looks into.
fn shell_source(line: &str) -> Option<String> {
    let calls = parse(line).calls;
    calls.into_iter().find_map(|call| {
        let program = call
            .words
            .iter()
            .position(|word| SHELL.contains(&word.as_str()))?;
        call.words
            .into_iter()
            .skip(program + 1)
            .find(|word| is_source(word))
    })
}

/// What stands in quotes.
fn literals(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let quote = &rest[at..=at];
        let Some((word, after)) = rest[at + 1..].split_once(quote) else {
            break;
        };
        found.push(word.to_owned());
        rest = after;
    }
    found
}

fn is_source(word: &str) -> bool {
    let is_test = TEST_WORDS
        .iter()
        .any(|known| word.to_ascii_lowercase().contains(known));
    let is_in_source = word.starts_with("src/")
        || word.contains("/src/")
        || word == "src"
        || word.starts_with("lib/")
        || word.contains("/lib/");
    let is_file =
        SOURCES.contains(&extension(word)) && !word.contains(' ') && !word.starts_with('-');
    !is_test && (is_in_source || is_file)
}
