//! Product code that opens tests, or looks whether they are there.

use super::signs::{Found, has_any};
use super::source::Source;
use crate::lex::Language;

/// Calls that open, list or look for files.
const OPENERS: [&str; 36] = [
    "open(",
    "exists(",
    "existsSync(",
    "isfile(",
    "isdir(",
    "is_file(",
    "is_dir(",
    "readFile(",
    "readFileSync(",
    "createReadStream(",
    "readdir(",
    "readdirSync(",
    "statSync(",
    "stat(",
    "lstatSync(",
    "access(",
    "accessSync(",
    "glob(",
    "iglob(",
    "rglob(",
    "globSync(",
    "listdir(",
    "scandir(",
    "walk(",
    "read_text(",
    "read_to_string(",
    "read_dir(",
    "fs::read(",
    "include_str!(",
    "include_bytes!(",
    "Path(",
    "Path::new(",
    "require(",
    "import(",
    "import_module(",
    "ReadFile(",
];
/// Programs of a shell that look at files.
const SHELL: [&str; 14] = [
    "-f", "-e", "-d", "-s", "-r", "cat", "grep", "ls", "find", "sed", "awk", "head", "source", ".",
];

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let line = &source.lines[index];
    let found = if source.language == Language::Shell {
        let words: Vec<&str> = line
            .code
            .split(|c: char| c.is_whitespace() || ";|&()\"'`<>=".contains(c))
            .collect();
        let looks = words.iter().any(|word| SHELL.contains(word)) || line.code.contains('<');
        // A folder by itself is searched by some programs only.
        let searches = words
            .iter()
            .any(|word| ["grep", "find", "ls", "awk"].contains(word))
            && words
                .iter()
                .any(|word| ["tests", "test", "spec", "t"].contains(word));
        searches || (looks && words.iter().any(|word| is_test_path(word)))
    } else {
        let writes = line
            .texts
            .iter()
            .any(|text| ["w", "wb", "x", "a"].contains(&text.as_str()));
        let opens = has_any(&line.bare, &OPENERS) && !writes;
        let is_folder = |text: &String| ["tests", "__tests__"].contains(&text.as_str());
        let joins = opens && line.texts.iter().any(is_folder);
        joins || (opens && line.texts.iter().any(|text| is_test_path(text)))
    };
    found.then_some("opens tests, or looks whether they are there")
}

/// Says whether a path leads to tests.
fn is_test_path(text: &str) -> bool {
    if text.contains("://") || text.contains(' ') || text.len() > 300 {
        return false;
    }
    let mut parts: Vec<&str> = text.split(['/', '\\']).collect();
    let name = parts.pop().unwrap_or("");
    let in_folder = parts
        .iter()
        .any(|part| ["tests", "test", "spec", "__tests__"].contains(part))
        || parts.first() == Some(&"t");
    let stem = name.split('.').next().unwrap_or("");
    let has_extension = name.contains('.');
    let is_test = has_extension
        && (stem.starts_with("test_")
            || stem.ends_with("_test")
            || name.contains(".test.")
            || name.contains(".spec.")
            || name == "conftest.py");
    in_folder || is_test
}
