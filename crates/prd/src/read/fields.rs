//! Reads the fields that come in many shapes: criteria, dependencies, checks, files.
//!
//! Each function takes a value and returns its meaning, or nothing if it cannot be that field.

use std::collections::HashSet;

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, Severity, Unusable};
use crate::keys::{self, Fields};
use crate::node::{Entry, Map, Node, Value};
use crate::read::Context;
use crate::source::Span;
use crate::story::{Check, Criterion, Extra};

/// Reads criteria from a list, a text or an object. Empty if the value holds none.
pub(crate) fn criteria(node: &Node<'_>, context: &mut Context<'_>) -> Vec<Criterion> {
    match &node.value {
        // `"tests": true` or `"steps": 3` holds no criteria.
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
        Value::Text(text) => {
            let found = criteria_of_text(text);
            if !found.is_empty() {
                context.changed(node.span, ChangeKind::CriteriaFromText);
            }
            found
        }
        Value::List(items) => items
            .iter()
            .filter_map(|item| criterion(item, context))
            .collect(),
        Value::Map(map) => {
            let found = criteria_of_map(map);
            if !found.is_empty() {
                context.changed(node.span, ChangeKind::CriteriaFromObject);
            }
            found
        }
    }
}

fn plain(text: impl Into<String>) -> Criterion {
    Criterion {
        text: text.into(),
        command: None,
    }
}

/// Reads criteria from one text: several if every line is a list item, otherwise one.
fn criteria_of_text(text: &str) -> Vec<Criterion> {
    let items: Option<Vec<String>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            ["- ", "* ", "• "].iter().find_map(|bullet| {
                line.trim()
                    .strip_prefix(bullet)
                    .map(|text| text.trim().to_owned())
            })
        })
        .collect();
    match items {
        Some(items) if items.len() > 1 => items.into_iter().map(plain).collect(),
        _ if text.trim().is_empty() => Vec::new(),
        _ => vec![plain(text.trim())],
    }
}

fn criterion(node: &Node<'_>, context: &mut Context<'_>) -> Option<Criterion> {
    match &node.value {
        Value::Null => None,
        Value::Text(text) => (!text.trim().is_empty()).then(|| plain(text.trim())),
        Value::Bool(_) | Value::Number(_) => {
            context.changed(node.span, ChangeKind::NumberAsText);
            node.as_word().map(plain)
        }
        Value::Map(map) => {
            let found = criterion_of_map(map);
            match found {
                Some(_) => context.changed(node.span, ChangeKind::CriterionFromObject),
                None => context.complaints.push(not_a_criterion(node)),
            }
            found
        }
        Value::List(_) => {
            context.complaints.push(not_a_criterion(node));
            None
        }
    }
}

fn not_a_criterion(node: &Node<'_>) -> Diagnostic {
    let help = "write it as text, or as an object with `text`";
    let unusable = Unusable {
        field: "a criterion",
        found: node.kind(),
        instead: "it was passed over",
        help,
    };
    Diagnostic::unusable_value(&unusable, node.span, Severity::Warning)
}

/// Reads a criterion from an object: a text and perhaps a command, or given/when/then, or nothing
/// but texts.
fn criterion_of_map(map: &Map<'_>) -> Option<Criterion> {
    let fields = Fields::of(map);
    let text_of = |names: &[&str]| {
        fields
            .all(names)
            .find_map(|entry| entry.value.as_text())
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let command = text_of(keys::CRITERION_COMMAND).map(str::to_owned);
    let inner = fields
        .first(&["bdd", "scenario", "gherkin"])
        .and_then(|entry| entry.value.as_map());
    let scenario = given_when_then(map).or_else(|| inner.and_then(given_when_then));
    let text = match (text_of(keys::CRITERION_TEXT), scenario) {
        (Some(text), Some(scenario)) => format!("{text} ({scenario})"),
        (Some(text), None) => text.to_owned(),
        (None, Some(scenario)) => scenario,
        // A command alone is a criterion too: that it succeeds.
        (None, None) => command
            .as_ref()
            .map(|command| format!("`{command}` succeeds"))
            .or_else(|| all_texts(map))?,
    };
    Some(Criterion { text, command })
}

fn given_when_then(map: &Map<'_>) -> Option<String> {
    let fields = Fields::of(map);
    let part = |name: &str| {
        let entry = fields.named(name)?;
        let texts = entry
            .value
            .as_list()
            .unwrap_or(std::slice::from_ref(&entry.value));
        let words: Vec<&str> = texts
            .iter()
            .filter_map(Node::as_text)
            .map(|text| text.trim().trim_end_matches('.'))
            .collect();
        (!words.is_empty()).then(|| format!("{name} {}", words.join(" and ")))
    };
    let parts: Vec<String> = ["given", "when", "then"]
        .into_iter()
        .filter_map(part)
        .collect();
    // A lone `when` or `then` is more likely something else.
    (parts.len() > 1).then(|| parts.join(", "))
}

/// All texts of an object with their keys: better than to drop a criterion in an unknown shape.
fn all_texts(map: &Map<'_>) -> Option<String> {
    let parts: Vec<String> = map
        .entries
        .iter()
        .filter_map(|entry| {
            let text = entry.value.as_text()?;
            let line = format!("{}: {}", entry.key.trim(), text.trim());
            Some(line.trim_end().to_owned())
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Reads criteria from `{"api": ["…"], "cli": ["…"]}`: each text with its key. Anything deeper is
/// not a list of criteria.
fn criteria_of_map(map: &Map<'_>) -> Vec<Criterion> {
    let mut found = Vec::new();
    for entry in &map.entries {
        let texts = entry
            .value
            .as_list()
            .unwrap_or(std::slice::from_ref(&entry.value));
        for text in texts {
            match &text.value {
                Value::Text(text) => {
                    found.push(plain(format!("{}: {}", entry.key, text.trim()).trim()));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
                Value::List(_) | Value::Map(_) => return Vec::new(),
            }
        }
    }
    found
}

/// A reference to a story, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) id: String,
    pub(crate) at: Span,
}

/// Reads the ids in `depends_on` or `blocks`: a list of words, numbers or objects with an id, or
/// one text with commas.
pub(crate) fn wanted(entry: &Entry<'_>, context: &mut Context<'_>) -> Vec<Wanted> {
    let node = &entry.value;
    match &node.value {
        Value::Null => Vec::new(),
        Value::List(items) => items
            .iter()
            .filter_map(|item| one_wanted(&entry.key, item, context))
            .collect(),
        Value::Text(text) => {
            // People write these for an empty list.
            let is_name = |word: &&str| {
                !matches!(
                    word.to_lowercase().as_str(),
                    "" | "none" | "n/a" | "-" | "null"
                )
            };
            let words: Vec<&str> = text
                .split([',', ';'])
                .map(str::trim)
                .filter(is_name)
                .collect();
            if !words.is_empty() {
                context.changed(node.span, ChangeKind::DependenciesFromText);
            }
            words
                .into_iter()
                .map(|word| Wanted {
                    id: word.to_owned(),
                    at: node.span,
                })
                .collect()
        }
        Value::Number(_) => one_wanted(&entry.key, node, context).into_iter().collect(),
        Value::Bool(_) | Value::Map(_) => {
            context.complaints.push(not_a_dependency(&entry.key, node));
            Vec::new()
        }
    }
}

fn one_wanted(field: &str, node: &Node<'_>, context: &mut Context<'_>) -> Option<Wanted> {
    let id = match &node.value {
        Value::Null => return None,
        Value::Number(number) => {
            context.changed(node.span, ChangeKind::DependencyFromNumber);
            Some(number.to_string())
        }
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::Map(map) => Fields::of(map)
            .first(keys::ID)
            .and_then(|entry| entry.value.as_word())
            .map(str::to_owned),
        Value::Bool(_) | Value::List(_) => None,
    };
    match id {
        // An empty text names nothing, and is no mistake worth a warning.
        Some(id) if id.is_empty() => None,
        Some(id) => Some(Wanted { id, at: node.span }),
        None => {
            context.complaints.push(not_a_dependency(field, node));
            None
        }
    }
}

fn not_a_dependency(field: &str, node: &Node<'_>) -> Diagnostic {
    let help = "name the ids of stories in a list";
    let unusable = Unusable {
        field,
        found: node.kind(),
        instead: "it was passed over",
        help,
    };
    Diagnostic::unusable_value(&unusable, node.span, Severity::Warning)
}

/// Reads commands or rules in any shape. `None` if any part of the value is something else, so that
/// the value is kept whole.
pub(crate) fn checks(node: &Node<'_>, name: Option<&str>) -> Option<Vec<Check>> {
    let check = |name: Option<&str>, text: &str| Check {
        name: name.map(str::to_owned),
        text: text.trim().to_owned(),
    };
    let found: Vec<Check> = match &node.value {
        Value::Text(text) => vec![check(name, text)],
        Value::List(items) => items
            .iter()
            .map(|item| one_check(item, name))
            .collect::<Option<_>>()?,
        Value::Map(map) => {
            let each = map
                .entries
                .iter()
                .map(|entry| checks(&entry.value, Some(&entry.key)));
            each.collect::<Option<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    Some(
        found
            .into_iter()
            .filter(|check| !check.text.is_empty())
            .collect(),
    )
}

fn one_check(node: &Node<'_>, name: Option<&str>) -> Option<Check> {
    if let Some(text) = node.as_text() {
        return Some(Check {
            name: name.map(str::to_owned),
            text: text.trim().to_owned(),
        });
    }
    let fields = Fields::of(node.as_map()?);
    let text = fields
        .all(keys::CRITERION_COMMAND)
        .find_map(|entry| entry.value.as_text())?;
    let own_name = fields
        .first(&["name", "id", "title"])
        .and_then(|entry| entry.value.as_text());
    Some(Check {
        name: own_name.or(name).map(str::to_owned),
        text: text.trim().to_owned(),
    })
}

/// Reads notes from a text or a list of texts. `None` if the value is something else; blank notes say
/// nothing, which is no reason to keep them.
pub(crate) fn notes(node: &Node<'_>, context: &mut Context<'_>) -> Option<String> {
    match &node.value {
        Value::Null => Some(String::new()),
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::List(items) => {
            let lines: Option<Vec<String>> = items
                .iter()
                .map(|item| item.as_text().map(|text| format!("- {}", text.trim())))
                .collect();
            let lines = lines?;
            if !lines.is_empty() {
                context.changed(node.span, ChangeKind::NotesFromList);
            }
            Some(lines.join("\n"))
        }
        Value::Bool(_) | Value::Number(_) | Value::Map(_) => None,
    }
}

/// Reads file names from a text, a list of texts, or objects with a path. `None` if the value is
/// something else.
pub(crate) fn files(node: &Node<'_>) -> Option<Vec<String>> {
    let one = |node: &Node<'_>| match &node.value {
        Value::Text(text) => Some(text.to_string()),
        Value::Map(map) => Fields::of(map)
            .first(&["path", "file", "name"])?
            .value
            .as_text()
            .map(str::to_owned),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => None,
    };
    match &node.value {
        Value::List(items) => items.iter().map(one).collect(),
        Value::Text(_) => one(node).map(|file| vec![file]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => None,
    }
}

/// Copies a value that is kept without being understood.
pub(crate) fn extra(node: &Node<'_>) -> Extra {
    match &node.value {
        Value::Null => Extra::Null,
        Value::Bool(flag) => Extra::Bool(*flag),
        Value::Number(text) => Extra::Number(text.to_string()),
        Value::Text(text) => Extra::Text(text.to_string()),
        Value::List(items) => Extra::List(items.iter().map(extra).collect()),
        Value::Map(map) => Extra::Map(extras(map, &[])),
    }
}

/// Copies the entries of a map whose keys were not used. Of duplicate keys the last one is kept,
/// and none if another entry with that key was used.
pub(crate) fn extras(map: &Map<'_>, used: &[Span]) -> Vec<(String, Extra)> {
    let is_used = |entry: &&Entry<'_>| used.contains(&entry.key_span);
    let mut seen: HashSet<&str> = map
        .entries
        .iter()
        .filter(is_used)
        .map(|entry| entry.key.as_ref())
        .collect();
    let mut kept: Vec<(String, Extra)> = map
        .entries
        .iter()
        .rev()
        .filter(|entry| seen.insert(entry.key.as_ref()))
        .map(|entry| (entry.key.to_string(), extra(&entry.value)))
        .collect();
    kept.reverse();
    kept
}
