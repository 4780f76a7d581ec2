//! Dependencies as people write them into plans: labelled lines, words in brackets, ranges.
//!
//! Only what looks like an id of the same file counts. The order of phases in prose is no
//! dependency.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::label::{IdKind, token};
use super::lines::{Kind, Line};
use super::words::{
    BLOCKS, NEEDS, NEEDS_IN_BRACKETS, NEEDS_INLINE, after_label, bare_word, may_hold_phrase,
    strip_prefix_any_case,
};

/// A reference to a story, and where it is written in the file.
pub(crate) type Reference = (String, std::ops::Range<usize>);

/// What a story says about others.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    pub(crate) needs: Vec<Reference>,
    pub(crate) blocks: Vec<Reference>,
}

/// The ids of a file, for recognising references to them.
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_lower: HashMap<String, String>,
    /// What comes before the number, for ids such as `T012`, with all numbers in use.
    numbered: HashMap<String, BTreeMap<u64, Vec<String>>>,
    hashes: bool,
    plain_numbers: bool,
}

impl Known {
    /// Collects the ids that authors gave. Ids that we made from titles are never referred to.
    pub(super) fn of<'i>(ids: impl Iterator<Item = (IdKind, &'i str)>) -> Self {
        let mut known = Self::default();
        for (kind, id) in ids {
            known
                .by_lower
                .entry(id.to_lowercase())
                .or_insert_with(|| id.to_owned());
            known.hashes |= kind == IdKind::Hash;
            known.plain_numbers |= matches!(kind, IdKind::Number | IdKind::TaskWord);
            if let Some((prefix, number)) = split(id) {
                let numbers = known.numbered.entry(prefix).or_default();
                numbers.entry(number).or_default().push(id.to_owned());
            }
        }
        known
    }

    /// The ids of issues. Every `#12` is taken for one, whether or not it is in the file.
    pub(crate) fn of_issues<'i>(ids: impl Iterator<Item = &'i str>) -> Self {
        let is_number = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit());
        let kind = |id: &str| {
            if is_number(id) {
                IdKind::Hash
            } else {
                IdKind::Code
            }
        };
        Self {
            hashes: true,
            ..Self::of(ids.map(|id| (kind(id), id)))
        }
    }

    fn is_empty(&self) -> bool {
        self.by_lower.is_empty() && !self.hashes
    }

    /// The ids in a cell of a column for dependencies.
    pub(super) fn in_cell(&self, text: &str, base: usize) -> Vec<Reference> {
        self.named(text, base, Place::Label)
    }

    /// The ids that a text names. `base` is its offset in the file.
    fn named(&self, text: &str, base: usize, place: Place) -> Vec<Reference> {
        let mut found: Vec<Reference> = Vec::new();
        let mut at = 0;
        while let Some(skipped) = text[at..].find(|c: char| c.is_ascii_alphanumeric()) {
            let start = at + skipped;
            let word = token(&text[start..]);
            // A token never is empty here: it begins with a letter or a digit.
            let end = start + word.len().max(1);
            let is_hash = text[..start].ends_with('#');
            let range = base + start..base + end;
            if let Some((from, rest)) = self.range(word, &text[end..]) {
                let length = rest.len();
                found.extend(from.into_iter().map(|id| (id, range.clone())));
                at = end + length;
                continue;
            }
            found.extend(self.one(word, is_hash, place).map(|id| (id, range)));
            at = end;
        }
        let mut seen = HashSet::new();
        found.retain(|(id, _)| seen.insert(id.clone()));
        found
    }

    fn one(&self, word: &str, is_hash: bool, place: Place) -> Option<String> {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain && is_hash {
            let known = self.by_lower.get(word).cloned();
            return known.or_else(|| self.hashes.then(|| word.to_owned()));
        }
        if is_plain && !(place == Place::Label && self.plain_numbers) {
            return None;
        }
        if let Some(id) = self.by_lower.get(&word.to_lowercase()) {
            return Some(id.clone());
        }
        // An id of the same form that this file does not have.
        let (prefix, _) = split(word)?;
        (!prefix.is_empty() && self.numbered.contains_key(&prefix)).then(|| word.to_owned())
    }

    /// The ids of a range such as `T015-T018` or `T015 to T018`, and what of the text behind the
    /// word belongs to it.
    fn range<'t>(&self, word: &str, after: &'t str) -> Option<(Vec<String>, &'t str)> {
        if self.by_lower.contains_key(&word.to_lowercase()) {
            let rest = after.trim_start_matches(['*', '`', ' ']);
            let joined = [
                "to ", "through ", "–", "—", "~", "至", "到", "..", "- ", "→ ",
            ];
            let dash = joined.iter().find_map(|dash| rest.strip_prefix(dash))?;
            let end = dash.trim_start_matches(['*', '`', ' ', '.', '-']);
            let last = token(end);
            let ids = self.between(word, last)?;
            return Some((ids, &after[..after.len() - end.len() + last.len()]));
        }
        let mut dashes = word.match_indices('-');
        let ids = dashes.find_map(|(dash, _)| self.between(&word[..dash], &word[dash + 1..]))?;
        Some((ids, ""))
    }

    fn between(&self, first: &str, last: &str) -> Option<Vec<String>> {
        let ((prefix, from), (end_prefix, mut to)) = (split(first)?, split_or_number(last)?);
        if !end_prefix.is_empty() && end_prefix != prefix {
            return None;
        }
        let numbers = self.numbered.get(&prefix)?;
        if from > to || !numbers.contains_key(&from) {
            return None;
        }
        to = to.max(from);
        Some(
            numbers
                .range(from..=to)
                .flat_map(|(_, ids)| ids.clone())
                .collect(),
        )
    }
}

/// Where a reference stands: behind a label everything counts, in a sentence only what is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Label,
    Sentence,
}

/// An id's letters in lower case, and its number: `T012` is `t` and 12. Only ids with letters.
fn split(id: &str) -> Option<(String, u64)> {
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, number) = id.split_at(id.len() - digits);
    let has_letters = prefix.bytes().any(|byte| byte.is_ascii_alphabetic());
    Some((prefix.to_lowercase(), number.parse().ok()?)).filter(|_| has_letters)
}

fn split_or_number(id: &str) -> Option<(String, u64)> {
    split(id).or_else(|| Some((String::new(), id.parse().ok()?)))
}

/// Says whether a line is one about dependencies.
pub(super) fn is_dependency_line(line: &Line<'_>) -> bool {
    let words = line.words();
    matches!(line.kind, Kind::Text(_) | Kind::Item(..))
        && (after_label(words, NEEDS).is_some() || after_label(words, BLOCKS).is_some())
}

/// What some lines say about other stories.
pub(super) fn relations(lines: &[Line<'_>], known: &Known) -> Relations {
    let mut out = Relations::default();
    if known.is_empty() {
        return out;
    }
    // A label without ids has them in the list below it.
    let mut list_follows = false;
    for line in lines {
        let (words, offset) = match line.kind {
            Kind::Blank => continue,
            Kind::Opaque | Kind::Rule => {
                list_follows = false;
                continue;
            }
            _ => (line.words(), line.words_start()),
        };
        // What follows a label goes to the end of the words.
        let behind = |rest: &str| offset + (words.len() - rest.len());
        if let Kind::Heading(..) = line.kind {
            let is_label = |word: &&str| {
                strip_prefix_any_case(words, word).is_some_and(|rest| {
                    bare_word(rest).is_empty() || rest.trim_start().starts_with('(')
                })
            };
            list_follows = NEEDS.iter().any(is_label);
        } else if let Some(rest) = after_label(words, NEEDS) {
            out.needs
                .extend(known.named(rest, behind(rest), Place::Label));
            list_follows = bare_word(rest).is_empty();
        } else if let Some(rest) = after_label(words, BLOCKS) {
            out.blocks
                .extend(known.named(rest, behind(rest), Place::Label));
            list_follows = false;
        } else if list_follows && line.is_item() {
            out.needs.extend(known.named(words, offset, Place::Label));
        } else {
            list_follows = false;
            for (start, clause) in inline(words) {
                let named = known.named(clause, offset + start, Place::Sentence);
                out.needs.extend(named);
            }
        }
    }
    let mut seen = HashSet::new();
    out.needs.retain(|(id, _)| seen.insert(id.clone()));
    out
}

/// The parts of a sentence behind `depends on` and the like, each up to the end of its clause.
fn inline(words: &str) -> Vec<(usize, &str)> {
    const CLAUSE_BYTES_MAX: usize = 2_000;
    let mut found = Vec::new();
    let words = &words[..words.floor_char_boundary(16 * 1024)];
    if !may_hold_phrase(words) {
        return found;
    }
    let mut at = 0;
    while let Some(rest) = words.get(at..) {
        let Some(letter) = rest.chars().next() else {
            break;
        };
        let begins = !words[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let bracketed = words[..at].ends_with(['(', '（', '[']);
        let behind = |list: &[&str]| {
            list.iter()
                .find_map(|word| strip_prefix_any_case(rest, word))
        };
        let clause =
            behind(NEEDS_INLINE).or_else(|| behind(NEEDS_IN_BRACKETS).filter(|_| bracketed));
        let clause = clause.filter(|_| begins);
        if let Some(clause) = clause {
            let end = clause
                .find([')', '）', ';', '；', '。'])
                .or_else(|| clause.find(". "))
                .unwrap_or(clause.len());
            at = words.len() - clause.len();
            let end = clause.floor_char_boundary(end.min(CLAUSE_BYTES_MAX));
            found.push((at, &clause[..end]));
        } else {
            at += letter.len_utf8();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::lines::lines;

    fn needs(text: &str) -> String {
        let ids = [
            "T001", "T002", "T003", "T010", "US-1", "US-1b", "P0-1", "P0-2",
        ];
        let mut known = ids.map(|id| (IdKind::Code, id)).to_vec();
        known.extend([(IdKind::Hash, "3"), (IdKind::Number, "1.2")]);
        let known = Known::of(known.into_iter());
        let found = relations(&lines(text, 0), &known);
        let ids = |list: Vec<Reference>| {
            list.into_iter()
                .map(|(id, at)| {
                    assert!(text.get(at).is_some());
                    id
                })
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!("{}|{}", ids(found.needs), ids(found.blocks))
    }

    #[test]
    fn a_line_depends_on() {
        for (text, expected) in [
            ("**Dependencies**: T001, T002 and US-1b", "T001 T002 US-1b|"),
            ("**Dependencies:** None", "|"),
            ("- Prerequisites: T001-T003 (all)", "T001 T002 T003|"),
            ("All of it (depends on T001 to T003)", "T001 T002 T003|"),
            ("> Requires: P0-1\n> Blocks: P0-2", "P0-1|P0-2"),
            ("text 依赖T001、T002", "T001 T002|"),
            ("**依赖**：T-001", "|"),
            ("x (depends on: #3, #77 | none)", "3 77|"),
            ("x (depends on 2 services, 1.2)", "1.2|"),
            ("Dependencies:\n- T001\n- T002\n\nT003", "T001 T002|"),
            ("## Dependencies\n\n- T001\n\ntext T002", "T001|"),
            ("| Depends on | T010 |", "T010|"),
            ("different files, no dependencies, T001 comes first", "|"),
            ("depends on T099", "T099|"),
            ("Depends on: US-1.", "US-1|"),
            ("(after T001)", "T001|"),
            ("look after T001", "|"),
        ] {
            assert_eq!(needs(text), expected, "{text}");
        }
    }
}
