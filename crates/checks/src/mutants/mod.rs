//! Small faults in the lines that a candidate added, to see whether the story's tests notice.
//!
//! One fault per mutant, and the file stays plausible: operators in strings, brackets of types,
//! imports and attributes are left alone. That a fault changes behaviour is likely and not certain.

mod shell;
mod site;
mod sites;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

use crate::dice::Dice;
use crate::fresh::new_lines;
use crate::items::test_spans;
use crate::lex::Language;
use site::{LINE_BYTES_MAX, Rank, Site};

/// Most mutants of one file.
pub const MUTANTS_MAX: usize = 50;
/// Longest text that is changed.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// A file with one small fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The line of the fault, from 1.
    pub line_number: usize,
    /// What stood there.
    pub was: String,
    /// What stands there now.
    pub becomes: String,
    /// The whole file with the fault.
    pub text: String,
}

/// Puts small faults into the lines of a product file that are new in the candidate.
///
/// The faults are spread over the lines: every line has one before any line has two. A language that
/// is not known gives none.
pub fn mutants(
    path: &str,
    base: Option<&str>,
    candidate: &str,
    seed: u64,
    max: usize,
) -> Vec<Mutant> {
    let Some(language) = Language::of(path, candidate) else {
        return Vec::new();
    };
    if candidate.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let sites = match language {
        Language::Shell => shell::sites(candidate),
        _ => sites::sites(candidate, language),
    };
    let lines = by_line(sites, language, base.unwrap_or(""), candidate);
    let picked = pick(lines, seed, max.min(MUTANTS_MAX));
    picked
        .into_iter()
        .map(|(line_number, site)| Mutant {
            line_number,
            was: candidate[site.at.clone()].to_owned(),
            text: [
                &candidate[..site.at.start],
                &site.becomes,
                &candidate[site.at.end..],
            ]
            .concat(),
            becomes: site.becomes,
        })
        .collect()
}

/// The sites on lines that are new, of ordinary length and not in tests, by line number.
fn by_line(
    sites: Vec<Site>,
    language: Language,
    base: &str,
    text: &str,
) -> BTreeMap<usize, Vec<Site>> {
    let is_new = new_lines(base, text);
    let tests = test_spans(language, text);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let mut lines: BTreeMap<usize, Vec<Site>> = BTreeMap::new();
    for site in sites {
        let index = starts.partition_point(|start| *start <= site.at.start) - 1;
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        let before = tests.partition_point(|span| span.start <= site.at.start);
        let is_test = before > 0 && tests[before - 1].contains(&site.at.start);
        let is_long = end - starts[index] > LINE_BYTES_MAX;
        let is_same = text[site.at.clone()] == site.becomes;
        if is_new.get(index) == Some(&true) && !is_test && !is_long && !is_same {
            lines.entry(index + 1).or_default().push(site);
        }
    }
    lines
}

/// Picks sites line by line, the likelier faults first.
fn pick(lines: BTreeMap<usize, Vec<Site>>, seed: u64, max: usize) -> Vec<(usize, Site)> {
    let mut dice = Dice::new(seed);
    let mut queues: Vec<(u64, usize, Vec<Site>)> = lines
        .into_iter()
        .map(|(line_number, sites)| {
            let mut sites: Vec<(Rank, u64, Site)> = sites
                .into_iter()
                .map(|site| (site.rank, dice.roll(), site))
                .collect();
            // The likeliest stands last, where it is taken from.
            sites.sort_by_key(|(rank, order, _)| std::cmp::Reverse((*rank, *order)));
            let sites = sites.into_iter().map(|(_, _, site)| site).collect();
            (dice.roll(), line_number, sites)
        })
        .collect();
    queues.sort_by_key(|(order, _, _)| *order);
    let mut picked = Vec::new();
    while picked.len() < max && !queues.is_empty() {
        for (_, line_number, sites) in &mut queues {
            let site = sites.pop().filter(|_| picked.len() < max);
            picked.extend(site.map(|site| (*line_number, site)));
        }
        queues.retain(|(_, _, sites)| !sites.is_empty());
    }
    picked
}
