//! One line for every file that differs.

use std::collections::BTreeMap;

use super::facts::{Changed, Content, Side};
use super::kinds::is_data;
use super::patch::{Patch, cut};
use super::visible::name;
use crate::entry::Mode;

/// The most files that have a line of their own.
const LINES_MAX: usize = 2000;
/// The most folders that are named for the rest.
const FOLDERS_MAX: usize = 50;
/// The part of a link's target that is shown.
const TARGET_BYTES_MAX: usize = 300;
/// How many kinds of escapes are named.
const ESCAPES_MAX: usize = 8;

/// Lists all files that differ, and counts by folder those that have no room.
pub(crate) fn listing(facts: &[Changed], bytes_max: usize) -> String {
    let mut text = counts(facts);
    let mut order: Vec<_> = facts.iter().collect();
    if facts.len() > LINES_MAX || n_bytes(facts) > bytes_max {
        // What is left out then should be what matters least.
        order.sort_by_cached_key(|changed| precedence(changed));
    }
    let mut n_listed = 0;
    for changed in order.iter().take(LINES_MAX) {
        let line = words(changed);
        if text.len() + line.len() > bytes_max {
            break;
        }
        text.push_str(&line);
        text.push('\n');
        n_listed += 1;
    }
    text + &rest(&order[n_listed..])
}

fn n_bytes(facts: &[Changed]) -> usize {
    facts.iter().map(|changed| words(changed).len() + 1).sum()
}

/// What is shown first: source before data, and what was there already before what is new.
pub(crate) fn precedence(changed: &Changed) -> (bool, bool) {
    (is_data(&changed.path), changed.before.is_none())
}

/// The line of one file.
pub(crate) fn words(changed: &Changed) -> String {
    let kind = kind(changed);
    let new_name = name(&changed.path);
    let names = match &changed.old_path {
        Some(old) => format!("{} -> {new_name}", name(old)),
        None => new_name,
    };
    let mut facts = sides(changed);
    match &changed.content {
        Content::Same if is_same_file(changed) => facts.push("same content".to_owned()),
        Content::Same | Content::Differs => {}
        Content::Text(patch) => facts.push(lines(changed, patch)),
        Content::Binary => facts.insert(0, "binary".to_owned()),
        Content::TooLarge => facts.push("too large to compare".to_owned()),
    }
    format!("{kind} {names} ({})", facts.join(", "))
}

fn kind(changed: &Changed) -> &'static str {
    match changed {
        Changed {
            old_path: Some(_), ..
        } => "renamed",
        Changed { before: None, .. } => "added",
        Changed { after: None, .. } => "deleted",
        Changed { .. } => "changed",
    }
}

fn is_same_file(changed: &Changed) -> bool {
    let is_file = |side: &Option<Side>| matches!(side, Some(Side::File { .. }));
    is_file(&changed.before) && is_file(&changed.after)
}

/// What both sides are.
fn sides(changed: &Changed) -> Vec<String> {
    match (&changed.before, &changed.after) {
        (
            Some(Side::File {
                mode: mode_before,
                bytes: before,
            }),
            Some(Side::File { mode, bytes: after }),
        ) => {
            let mut words = Vec::new();
            if mode_before != mode {
                words.push(format!("mode {mode_before} -> {mode}"));
            }
            words.push(if before == after {
                format!("{after} bytes")
            } else {
                format!("{before} -> {after} bytes")
            });
            words
        }
        (Some(before), Some(after)) => vec![format!("{} -> {}", side(before), side(after))],
        (before, after) => before.iter().chain(after).map(side).collect(),
    }
}

fn side(side: &Side) -> String {
    match side {
        Side::File {
            mode: Mode::Executable,
            bytes,
        } => format!("executable, {bytes} bytes"),
        Side::File { bytes, .. } => format!("{bytes} bytes"),
        Side::Link { target } => format!("link to {}", cut(name(target), TARGET_BYTES_MAX)),
        Side::Submodule { commit } => format!("submodule at {commit}"),
    }
}

/// How many lines differ, and what is hidden in them.
fn lines(changed: &Changed, patch: &Patch) -> String {
    let counts = match (&changed.before, &changed.after) {
        (None, _) => format!("+{} lines", patch.n_added),
        (_, None) => format!("-{} lines", patch.n_removed),
        (Some(_), Some(_)) => format!("+{} -{} lines", patch.n_added, patch.n_removed),
    };
    if patch.escapes.is_empty() {
        return counts;
    }
    let escapes = patch.escapes.iter().take(ESCAPES_MAX);
    let mut escapes: Vec<_> = escapes
        .map(|(escape, n)| format!("{escape} {n} {}", if *n == 1 { "time" } else { "times" }))
        .collect();
    let n_more = patch.escapes.len().saturating_sub(ESCAPES_MAX);
    if n_more > 0 {
        escapes.push(format!("{n_more} others"));
    }
    format!("{counts}; written as escapes: {}", escapes.join(", "))
}

/// The first line: how many files of each kind there are.
fn counts(facts: &[Changed]) -> String {
    let counts: Vec<_> = ["added", "changed", "deleted", "renamed"]
        .into_iter()
        .map(|word| (word, facts.iter().filter(|one| kind(one) == word).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    match facts.len() {
        0 => "no file differs\n".to_owned(),
        1 => format!("1 file differs: {}\n", counts.join(", ")),
        n => format!("{n} files differ: {}\n", counts.join(", ")),
    }
}

/// Counts files by the folder at the top that they are in, the largest number first.
fn rest(facts: &[&Changed]) -> String {
    let mut folders: BTreeMap<&[u8], usize> = BTreeMap::new();
    for changed in facts {
        let end = changed.path.iter().position(|byte| *byte == b'/');
        let folder = &changed.path[..end.unwrap_or_default()];
        *folders.entry(folder).or_default() += 1;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let (named, others) = folders.split_at(folders.len().min(FOLDERS_MAX));
    let mut text = String::new();
    for (folder, n) in named {
        let folder = match folder {
            [] => "the top folder".to_owned(),
            folder => cut(format!("{}/", name(folder)), TARGET_BYTES_MAX),
        };
        text.push_str(&format!("and {n} more in {folder}\n"));
    }
    if !others.is_empty() {
        let n: usize = others.iter().map(|(_, n)| n).sum();
        text.push_str(&format!("and {n} more in {} other folders\n", others.len()));
    }
    text
}
