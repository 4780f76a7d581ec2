//! Writes a PRD in its canonical form, as JSON or YAML; reading that back gives the same PRD.
//!
//! It makes a whole new text. To change one story's state in somebody's own file, use `mark`.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::keys::Squashed;
use crate::story::{Check, Criterion, Extra, Prd, Story, StoryState, is_invisible};

/// How the canonical form is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON with two blanks of indentation.
    Json,
    /// YAML blocks.
    Yaml,
}

/// The whole PRD as a text with a final newline.
pub fn canonical(prd: &Prd, syntax: Syntax) -> String {
    let tree = document(prd);
    let mut out = String::new();
    match syntax {
        Syntax::Json => write_json(&tree, 0, &mut out),
        Syntax::Yaml => write_yaml(&tree, 0, &mut out),
    }
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

/// The keys of the canonical form: what stands under one of them has its shape.
const OF_DOCUMENT: &[&str] = &["title", "description", "branch", "checks", "stories"];
const OF_STORY: &[&str] = &[
    "id",
    "title",
    "description",
    "acceptance_criteria",
    "priority",
    "passes",
    "depends_on",
    "skipped",
    "status",
    "tool",
    "model",
    "files",
    "checks",
    "group",
];

/// Adds the keys that were only kept. One that has the name of a key of ours, in
/// any spelling, gets an `x-` in front, so that it is not taken for ours.
fn put_extra(entries: &mut Entries, extra: &Entries, ours: &[&str]) {
    let mut taken: HashSet<String> = extra.iter().map(|(key, _)| key.clone()).collect();
    for (key, value) in extra {
        let mut free = key.clone();
        let spelt = Squashed::new(key);
        if ours.iter().any(|name| spelt.is_squashed(name)) {
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
    put_some(&mut entries, "branch", prd.branch.as_ref());
    if !prd.checks.is_empty() {
        put(&mut entries, "checks", checks(&prd.checks));
    }
    put(
        &mut entries,
        "stories",
        Extra::List(prd.stories.iter().map(story).collect()),
    );
    if !prd.groups.is_empty() {
        let group = |group: &crate::story::Group| {
            let named = group
                .extra
                .iter()
                .any(|(_, value)| *value == text(&group.name));
            let name = (!named).then(|| ("group".to_owned(), text(&group.name)));
            let mut entries = Vec::from_iter(name);
            put_extra(
                &mut entries,
                &group.extra,
                if named { &[] } else { &["group"] },
            );
            Extra::Map(entries)
        };
        put(
            &mut entries,
            "groups",
            Extra::List(prd.groups.iter().map(group).collect()),
        );
    }
    put_extra(&mut entries, &prd.extra, OF_DOCUMENT);
    Extra::Map(entries)
}

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
    put_some(&mut entries, "group", story.group.as_ref());
    put_extra(&mut entries, &story.extra, OF_STORY);
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
    let one = |check: &Check| match &check.name {
        None => text(&check.text),
        Some(name) => Extra::Map(vec![
            ("name".to_owned(), text(name)),
            ("command".to_owned(), text(&check.text)),
        ]),
    };
    Extra::List(checks.iter().map(one).collect())
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

/// YAML and people write numbers that JSON does not know (`007`, `+1`, `.5`): those become text.
fn json_number(number: &str) -> String {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let leading = digits.as_bytes();
    let starts_well = leading.first().is_some_and(u8::is_ascii_digit)
        && !(leading.first() == Some(&b'0') && leading.get(1).is_some_and(u8::is_ascii_digit));
    let dots_well = !digits.ends_with('.') && !digits.contains(".e") && !digits.contains(".E");
    if starts_well && dots_well {
        return number.to_owned();
    }
    let mut quoted = String::new();
    write_quoted(number, &mut quoted);
    quoted
}

/// Text in double quotes, readable as JSON and as YAML; what is not to be seen is escaped.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if hidden.is_control() || is_invisible(hidden) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(hidden));
            }
            shown => out.push(shown),
        }
    }
    out.push('"');
}

/// A value in YAML, beginning at the present place; lists and maps begin on a line of their own.
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

/// A key with its colon. YAML allows 1024 characters for one; a longer key must be announced.
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

/// What follows a dash: a map goes on in the same line, a list begins a new one.
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
        other => write_json(other, 0, out),
    }
}

/// Text without quotes where nobody could misread it, else in quotes.
fn write_word(text: &str, out: &mut String) {
    let plain_letter = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, ' ' | '_' | '-' | '.' | ',' | '(' | ')' | '/')
    };
    let starts_well = text.starts_with(|first: char| first.is_ascii_alphabetic());
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
