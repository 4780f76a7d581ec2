//! Writes a PRD in its canonical form, as JSON or YAML. Reading that back gives the same PRD.
//!
//! This produces a whole new text. To change one story's state in the author's file, use `mark`.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::keys::Squashed;
use crate::story::{Check, Criterion, Extra, Group, Prd, Story, StoryState, is_invisible};

/// The syntax of the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON, indented by two spaces.
    Json,
    /// YAML in block style.
    Yaml,
}

/// Writes the whole PRD, with a final newline.
pub fn canonical(prd: &Prd, syntax: Syntax) -> String {
    let tree = document(prd);
    let mut out = String::new();
    match syntax {
        Syntax::Json => write_json(&tree, 0, &mut out),
        Syntax::Yaml => write_yaml(&tree, 0, &mut out),
    }
    // YAML blocks already end with a newline.
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

type Entries = Vec<(String, Extra)>;

fn text(text: &str) -> Extra {
    Extra::Text(text.to_owned())
}

fn put(entries: &mut Entries, key: &str, value: Extra) {
    entries.push((key.to_owned(), value));
}

fn put_some(entries: &mut Entries, key: &str, value: Option<&String>) {
    entries.extend(value.map(|value| (key.to_owned(), text(value))));
}

/// The document's keys in the canonical form. An unknown key must not have one of these names,
/// because its value would be read as that field.
const OF_DOCUMENT: &[&str] = &[
    "title",
    "description",
    "notes",
    "branch",
    "checks",
    "stories",
    "outside",
];
/// A story's keys in the canonical form, with the same rule.
const OF_STORY: &[&str] = &[
    "id",
    "title",
    "description",
    "acceptance_criteria",
    "priority",
    "passes",
    "depends_on",
    // A tracker that has its own field for what blocks a story may keep these for something else.
    "dependencies",
    "deps",
    "blocked_by",
    "skipped",
    // The other spelling of `skipped`, which no other key of ours stands before.
    "skip",
    "status",
    "tool",
    "model",
    "files",
    "checks",
    "notes",
    "group",
];

/// What the reader takes for a status; but a list or a map there is some other data of the author's.
const OTHER_STATUS: &str = "state";

/// Adds the keys that the reader kept without understanding them. A key that is also one of ours,
/// in any spelling, is prefixed with `x-` so that the reader does not take it for ours.
fn put_extra(entries: &mut Entries, extra: &Entries, ours: &[&str]) {
    let is_ours = |key: &Squashed, _: &Extra| ours.iter().any(|name| key.is_squashed(name));
    put_extra_unless(entries, extra, is_ours);
}

fn put_extra_unless(
    entries: &mut Entries,
    extra: &Entries,
    is_ours: impl Fn(&Squashed, &Extra) -> bool,
) {
    let mut taken: HashSet<String> = extra.iter().map(|(key, _)| key.clone()).collect();
    for (key, value) in extra {
        let mut free = key.clone();
        if is_ours(&Squashed::new(key), value) {
            // The prefixed key may exist too, so keep going until one is free.
            while !taken.insert(free.clone()) {
                free.insert_str(0, "x-");
            }
        }
        entries.push((free, value.clone()));
    }
}

fn document(prd: &Prd) -> Extra {
    let mut entries = Vec::new();
    put_some(&mut entries, "title", prd.title.as_ref());
    put_some(&mut entries, "description", prd.description.as_ref());
    put_some(&mut entries, "notes", prd.notes.as_ref());
    put_some(&mut entries, "branch", prd.branch.as_ref());
    if !prd.checks.is_empty() {
        put(&mut entries, "checks", checks(&prd.checks));
    }
    put(
        &mut entries,
        "stories",
        Extra::List(prd.stories.iter().map(story).collect()),
    );
    if !prd.outside.is_empty() {
        let ids = prd.outside.iter().map(|id| text(id)).collect();
        put(&mut entries, "outside", Extra::List(ids));
    }
    if !prd.groups.is_empty() {
        put(
            &mut entries,
            "groups",
            Extra::List(prd.groups.iter().map(group).collect()),
        );
    }
    put_extra(&mut entries, &prd.extra, OF_DOCUMENT);
    Extra::Map(entries)
}

/// A group with everything that it said besides its stories. Most groups say their own name in one
/// of their keys; only the others get a `group` key.
fn group(group: &Group) -> Extra {
    let says_its_name = group
        .extra
        .iter()
        .any(|(_, value)| *value == text(&group.name));
    let mut entries = Vec::new();
    if says_its_name {
        put_extra(&mut entries, &group.extra, &[]);
    } else {
        put(&mut entries, "group", text(&group.name));
        put_extra(&mut entries, &group.extra, &["group"]);
    }
    Extra::Map(entries)
}

/// A story. The keys of `keys::ALWAYS_WRITTEN` are written even if they are empty. The reader
/// relies on that: it does not keep an unusable value under one of them.
fn story(story: &Story) -> Extra {
    let mut entries = Vec::new();
    put(&mut entries, "id", text(story.id.as_str()));
    put(&mut entries, "title", text(&story.title));
    put(&mut entries, "description", text(&story.description));
    put(
        &mut entries,
        "acceptance_criteria",
        Extra::List(story.criteria.iter().map(criterion).collect()),
    );
    entries.extend(
        story
            .priority
            .map(|priority| ("priority".to_owned(), Extra::Number(priority.to_string()))),
    );
    put(
        &mut entries,
        "passes",
        Extra::Bool(story.state == StoryState::Passed),
    );
    put(
        &mut entries,
        "depends_on",
        Extra::List(
            story
                .depends_on
                .iter()
                .map(|id| text(id.as_str()))
                .collect(),
        ),
    );
    match story.state {
        // `passes` already says these two.
        StoryState::Open | StoryState::Passed => {}
        StoryState::Skipped => put(&mut entries, "skipped", Extra::Bool(true)),
        state @ (StoryState::WontFix
        | StoryState::Blocked
        | StoryState::Stuck
        | StoryState::Failed) => {
            put(&mut entries, "status", text(state.word()));
        }
    }
    put_some(&mut entries, "tool", story.tool.as_ref());
    put_some(&mut entries, "model", story.model.as_ref());
    if !story.files.is_empty() {
        put(
            &mut entries,
            "files",
            Extra::List(story.files.iter().map(|file| text(file)).collect()),
        );
    }
    if !story.checks.is_empty() {
        put(&mut entries, "checks", checks(&story.checks));
    }
    put_some(&mut entries, "notes", story.notes.as_ref());
    put_some(&mut entries, "group", story.group.as_ref());
    put_extra_unless(&mut entries, &story.extra, |key, value| {
        let is_scalar = !matches!(value, Extra::List(_) | Extra::Map(_));
        (is_scalar && key.is_squashed(OTHER_STATUS))
            || OF_STORY.iter().any(|name| key.is_squashed(name))
    });
    Extra::Map(entries)
}

fn criterion(criterion: &Criterion) -> Extra {
    match &criterion.command {
        None => text(&criterion.text),
        Some(command) => Extra::Map(vec![
            ("text".to_owned(), text(&criterion.text)),
            ("command".to_owned(), text(command)),
        ]),
    }
}

fn checks(checks: &[Check]) -> Extra {
    Extra::List(checks.iter().map(check).collect())
}

fn check(check: &Check) -> Extra {
    match &check.name {
        None => text(&check.text),
        Some(name) => Extra::Map(vec![
            ("name".to_owned(), text(name)),
            ("command".to_owned(), text(&check.text)),
        ]),
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn write_json(value: &Extra, depth: usize, out: &mut String) {
    match value {
        Extra::Null => out.push_str("null"),
        Extra::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Extra::Number(number) => out.push_str(&json_number(number)),
        Extra::Text(text) => write_quoted(text, out),
        Extra::List(items) if items.is_empty() => out.push_str("[]"),
        Extra::Map(entries) if entries.is_empty() => out.push_str("{}"),
        Extra::List(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "[\n" } else { ",\n" });
                indent(depth + 1, out);
                write_json(item, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push(']');
        }
        Extra::Map(entries) => {
            for (index, (key, item)) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "{\n" } else { ",\n" });
                indent(depth + 1, out);
                write_quoted(key, out);
                out.push_str(": ");
                write_json(item, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push('}');
        }
    }
}

/// A number as JSON. YAML and people write numbers that JSON does not have (`007`, `+1`, `.5`);
/// those become text rather than change their digits.
fn json_number(number: &str) -> String {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let leading = digits.as_bytes();
    let starts_well = leading.first().is_some_and(u8::is_ascii_digit)
        && !(leading.first() == Some(&b'0') && leading.get(1).is_some_and(u8::is_ascii_digit));
    // `1.` and `1.e5` are not JSON either.
    let dots_well = !digits.ends_with('.') && !digits.contains(".e") && !digits.contains(".E");
    if starts_well && dots_well {
        return number.to_owned();
    }
    let mut quoted = String::new();
    write_quoted(number, &mut quoted);
    quoted
}

/// Writes text in double quotes, valid as JSON and as YAML. Control and invisible characters are
/// escaped, so that a person can see them.
pub(crate) fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if hidden.is_control() || is_invisible(hidden) => {
                // All of these characters lie below U+10000, so four digits are enough. Writing to
                // a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(hidden));
            }
            shown => out.push(shown),
        }
    }
    out.push('"');
}

/// Writes a YAML value at the current position. The caller has already started a new line for a
/// list, and for a map unless it follows a dash.
fn write_yaml(value: &Extra, depth: usize, out: &mut String) {
    match value {
        Extra::List(items) if !items.is_empty() => {
            for item in items {
                indent(depth, out);
                out.push_str("- ");
                write_yaml_item(item, depth + 1, out);
            }
        }
        Extra::Map(entries) if !entries.is_empty() => {
            for (index, (key, item)) in entries.iter().enumerate() {
                // The first entry of a map that follows a dash is already indented by it.
                if index > 0 || depth == 0 || out.ends_with('\n') {
                    indent(depth, out);
                }
                write_yaml_key(key, depth, out);
                write_yaml_entry(item, depth, out);
            }
        }
        scalar => write_scalar(scalar, out),
    }
}

/// Writes a key with its colon. YAML allows 1024 characters for a simple key; a longer one must be
/// written with `?`. The limit here is lower to leave room for quotes and escapes.
fn write_yaml_key(key: &str, depth: usize, out: &mut String) {
    const KEY_BYTES_MAX: usize = 500;
    if key.len() <= KEY_BYTES_MAX {
        write_word(key, out);
    } else {
        out.push_str("? ");
        write_word(key, out);
        out.push('\n');
        indent(depth, out);
    }
    out.push(':');
}

fn is_block(value: &Extra) -> bool {
    match value {
        Extra::List(items) => !items.is_empty(),
        Extra::Map(entries) => !entries.is_empty(),
        Extra::Null | Extra::Bool(_) | Extra::Number(_) | Extra::Text(_) => false,
    }
}

/// Writes what follows a dash: a map continues on the same line, a list starts a new one.
fn write_yaml_item(item: &Extra, depth: usize, out: &mut String) {
    match item {
        Extra::Map(_) if is_block(item) => write_yaml(item, depth, out),
        Extra::List(_) if is_block(item) => {
            out.push('\n');
            write_yaml(item, depth, out);
        }
        scalar => {
            write_scalar(scalar, out);
            out.push('\n');
        }
    }
}

fn write_yaml_entry(item: &Extra, depth: usize, out: &mut String) {
    if is_block(item) {
        out.push('\n');
        write_yaml(item, depth + 1, out);
    } else {
        out.push(' ');
        write_scalar(item, out);
        out.push('\n');
    }
}

fn write_scalar(value: &Extra, out: &mut String) {
    match value {
        Extra::Text(text) => write_word(text, out),
        // JSON's scalars and its empty list and object are valid YAML.
        other => write_json(other, 0, out),
    }
}

/// Writes text without quotes if no YAML reader can misread it, otherwise in quotes.
fn write_word(text: &str, out: &mut String) {
    let plain_letter = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, ' ' | '_' | '-' | '.' | ',' | '(' | ')' | '/')
    };
    let starts_well = text.starts_with(|first: char| first.is_ascii_alphabetic());
    // Besides `true`, `false` and `null`, YAML 1.1 readers take these words for booleans.
    let special = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if starts_well && !special && !text.ends_with(' ') && text.chars().all(plain_letter) {
        out.push_str(text);
    } else {
        write_quoted(text, out);
    }
}
