//! The base's tests in a candidate's text.

use std::collections::BTreeMap;
use std::ops::Range;

use super::docs::doc_tests;
use super::file::File;
use super::gates::Gate;
use super::model::{ITEMS_MAX, Items};
use super::rust::{Item, full_name};
use super::script;
use crate::lex::joined;

/// One change of the candidate's text.
struct Edit {
    at: Range<usize>,
    text: String,
}

/// Rust: every item that exists for tests alone is the base's.
pub(super) fn rust(base: &str, candidate: &str) -> Items {
    let Some(old) = File::read(base) else {
        // A base that cannot be read had no tests that could run.
        return Items::Same;
    };
    if old.is_for_tests() {
        return Items::Replaced(base.to_owned());
    }
    let Some(new) = File::read(candidate) else {
        let names = pieces(&old).into_iter().map(|(name, _)| name);
        return Items::Unsure(names.collect());
    };
    if old.items().len() > ITEMS_MAX || new.items().len() > ITEMS_MAX {
        return Items::Unsure(Vec::new());
    }
    let docs = missing(doc_tests(&old), doc_tests(&new));
    let edits = edits(&old, &new).filter(|_| docs.is_empty());
    let Some(edits) = edits else {
        let mut names = missing(pieces(&old), pieces(&new));
        names.extend(docs);
        return Items::Unsure(names);
    };
    if edits.is_empty() {
        return Items::Same;
    }
    Items::Replaced(apply(candidate, edits))
}

/// Scripts: blocks that run only in vitest are the base's.
pub(super) fn script(base: &str, candidate: &str) -> Items {
    let old = script::blocks(base);
    let new = script::blocks(candidate);
    let (Some(old), Some(new)) = (old, new) else {
        let has_block = base.contains("import.meta.vitest");
        return if has_block {
            Items::Unsure(script::changed(base, candidate))
        } else {
            Items::Same
        };
    };
    let texts = |text: &str, spans: &[Range<usize>]| -> Vec<String> {
        spans.iter().map(|at| text[at.clone()].to_owned()).collect()
    };
    let (old, spans) = (texts(base, &old), new);
    if old == texts(candidate, &spans) {
        return Items::Same;
    }
    let replaced = spans.iter().enumerate().map(|(index, at)| Edit {
        at: at.clone(),
        text: old.get(index).cloned().unwrap_or_default(),
    });
    let appended = old.iter().skip(spans.len()).map(|text| Edit {
        at: candidate.len()..candidate.len(),
        text: format!("\n{text}\n"),
    });
    Items::Replaced(apply(candidate, replaced.chain(appended).collect()))
}

/// The changes that make the candidate's test items the base's; nothing where an item has no place.
fn edits(old: &File<'_>, new: &File<'_>) -> Option<Vec<Edit>> {
    let (wanted, present) = (old.items(), new.items());
    let mut taken = vec![false; present.len()];
    let mut edits = Vec::new();
    for item in wanted.iter().filter(|item| item.gate == Gate::Test) {
        let text = &old.text[old.span(item)];
        match partner(item, &present, &taken) {
            Some(index) => {
                taken[index] = true;
                let at = new.span(&present[index]);
                if new.text[at.clone()] != *text {
                    let text = text.to_owned();
                    edits.push(Edit { at, text });
                }
            }
            None => edits.push(insertion(item, text, new, &present)?),
        }
    }
    let surplus = present.iter().zip(taken).filter(|(item, is_taken)| {
        !is_taken && item.gate == Gate::Test && !has_opposite(item, &present)
    });
    edits.extend(surplus.map(|(item, _)| Edit {
        at: new.span(item),
        text: String::new(),
    }));
    Some(edits)
}

/// The candidate's form of an item: a test item first, and else one that lost its mark.
fn partner(item: &Item, present: &[Item], taken: &[bool]) -> Option<usize> {
    let find = |gate: Gate| {
        present.iter().zip(taken).position(|(other, is_taken)| {
            !is_taken
                && other.gate == gate
                && other.key == item.key
                && other.container == item.container
        })
    };
    find(Gate::Test).or_else(|| find(Gate::Always))
}

/// Where an item goes that the candidate does not have.
fn insertion(item: &Item, text: &str, new: &File<'_>, present: &[Item]) -> Option<Edit> {
    let at = match item.container.split_last() {
        None => new.text.len(),
        Some((key, container)) => {
            let holder = present
                .iter()
                .find(|other| other.key == *key && other.container == container)?;
            new.tokens.get(holder.inside.as_ref()?.end)?.at
        }
    };
    Some(Edit {
        at: at..at,
        text: format!("\n{text}\n"),
    })
}

/// Says whether the candidate has the same item for everything but tests, so that one of the two is
/// always needed.
fn has_opposite(item: &Item, present: &[Item]) -> bool {
    present.iter().any(|other| {
        other.gate == Gate::NotTest
            && other.container == item.container
            && (other.key == item.key || other.name == item.name || item.key.starts_with("use "))
    })
}

/// All that exists for tests, each with its name and its text.
fn pieces(file: &File<'_>) -> Vec<(String, String)> {
    let tests: Vec<Range<usize>> = file
        .items()
        .into_iter()
        .filter(|item| item.gate == Gate::Test)
        .map(|item| item.tokens)
        .collect();
    let is_inside = |item: &Item| {
        let before = tests.partition_point(|at| at.start <= item.tokens.start);
        before > 0 && tests[before - 1].contains(&item.tokens.start)
    };
    let mut found = Vec::new();
    for item in file.all_items() {
        // A module is told by what it holds; one without a body is told by itself.
        let is_shell = item.key.starts_with("mod ") && item.inside.is_some();
        if is_inside(&item) && !is_shell {
            found.push((full_name(&item), joined(&file.tokens[item.tokens.clone()])));
        }
    }
    found
}

/// The names of what is in the first list and not in the second.
fn missing(old: Vec<(String, String)>, new: Vec<(String, String)>) -> Vec<String> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for piece in new {
        *counts.entry(piece).or_default() += 1;
    }
    let mut names = Vec::new();
    for piece in old {
        match counts.get_mut(&piece).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => names.push(piece.0),
        }
    }
    names
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    // A stable order keeps what is added at one place in the order of the base.
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        if edit.at.start < at {
            continue;
        }
        out.push_str(&text[at..edit.at.start]);
        out.push_str(&edit.text);
        at = edit.at.end;
    }
    out.push_str(&text[at..]);
    out
}
