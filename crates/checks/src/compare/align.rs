//! Which test of one run is which test of another. A test is its name; where one name stands in
//! several places, the place tells them apart, and a test that is nowhere else to be found has
//! moved.

use std::collections::{BTreeMap, VecDeque};

use crate::results::{Occurrence, Results, TestStatus, fits, stands_in};

/// Most tests of one name among which one that moved is looked for.
const SAME_NAME_MAX: usize = 1_000;

/// One test of one run.
pub(super) type Test<'a> = (&'a str, &'a Occurrence);

/// Every test of a run.
pub(super) fn tests_of(results: &Results) -> Vec<Test<'_>> {
    let tests = results.tests.iter();
    tests
        .flat_map(|(name, found)| {
            found
                .iter()
                .map(move |occurrence| (name.as_str(), occurrence))
        })
        .collect()
}

/// A run seen beside tests that are known already.
pub(super) struct Aligned<'a> {
    /// For each known test the one that it is here.
    pub(super) matched: Vec<Option<&'a Occurrence>>,
    /// Tests that are none of the known.
    pub(super) rest: Vec<Test<'a>>,
}

/// Finds the known tests in another run. A test in one of the writer's files is never taken for one
/// that moved there.
pub(super) fn align<'a>(
    known: &[Test<'_>],
    other: &'a Results,
    writer_files: &[String],
) -> Aligned<'a> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, (name, _)) in known.iter().enumerate() {
        by_name.entry(name).or_default().push(index);
    }
    let mut aligned = Aligned {
        matched: vec![None; known.len()],
        rest: Vec::new(),
    };
    for (name, found) in &other.tests {
        let mut open: Vec<&Occurrence> = found.iter().collect();
        if let Some(indexes) = by_name.get(name.as_str()) {
            open = match_name(known, indexes, open, &mut aligned.matched, writer_files);
        }
        aligned.rest.extend(
            open.into_iter()
                .map(|occurrence| (name.as_str(), occurrence)),
        );
    }
    aligned
}

/// Matches the tests of one name and gives back those that are left. What is alike in place and
/// outcome goes first, so that two runs which show the same are matched in the same way.
fn match_name<'a>(
    known: &[Test<'_>],
    indexes: &[usize],
    open: Vec<&'a Occurrence>,
    matched: &mut [Option<&'a Occurrence>],
    writer_files: &[String],
) -> Vec<&'a Occurrence> {
    let place = |found: &Occurrence| found.place.clone().unwrap_or_default();
    let is_free = |old: &Occurrence, new: &Occurrence| {
        let is_writers = new
            .place
            .as_deref()
            .is_some_and(|place| stands_in(place, writer_files));
        // Some runners name the place of a failing test alone.
        !is_writers
            || old.place.is_none()
            || old
                .place
                .as_deref()
                .zip(new.place.as_deref())
                .is_some_and(|(old, new)| fits(old, new))
    };
    let mut indexes = indexes.to_vec();
    let mut open = open;
    match_alike(known, &mut indexes, &mut open, matched, |found| {
        (place(found), Some(found.status))
    });
    match_alike(known, &mut indexes, &mut open, matched, |found| {
        (place(found), None::<TestStatus>)
    });
    for is_same_outcome in [true, false] {
        indexes.retain(|index| {
            let old = known[*index].1;
            let fits = |new: &&Occurrence| {
                is_free(old, new) && (!is_same_outcome || new.status == old.status)
            };
            let moved = open.iter().take(SAME_NAME_MAX).position(fits);
            matched[*index] = moved.map(|at| open.swap_remove(at));
            moved.is_none()
        });
    }
    open
}

/// Matches what has the same key.
fn match_alike<'a, K: Ord>(
    known: &[Test<'_>],
    indexes: &mut Vec<usize>,
    open: &mut Vec<&'a Occurrence>,
    matched: &mut [Option<&'a Occurrence>],
    key: impl Fn(&Occurrence) -> K,
) {
    let mut by_key: BTreeMap<K, VecDeque<&'a Occurrence>> = BTreeMap::new();
    for occurrence in open.drain(..) {
        by_key
            .entry(key(occurrence))
            .or_default()
            .push_back(occurrence);
    }
    indexes.retain(|index| {
        matched[*index] = by_key
            .get_mut(&key(known[*index].1))
            .and_then(VecDeque::pop_front);
        matched[*index].is_none()
    });
    open.extend(by_key.into_values().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TestStatus::{Failed, Passed};

    fn results(tests: &[(&str, Option<&str>, TestStatus)]) -> Results {
        let mut results = Results::default();
        for (name, place, status) in tests {
            let occurrence = Occurrence {
                place: place.map(str::to_owned),
                status: *status,
                message: None,
            };
            results
                .tests
                .entry((*name).to_owned())
                .or_default()
                .push(occurrence);
        }
        results
    }

    fn shown(known: &Results, other: &Results, writer_files: &[&str]) -> String {
        let writer_files: Vec<String> =
            writer_files.iter().map(|file| (*file).to_owned()).collect();
        let known = tests_of(known);
        let aligned = align(&known, other, &writer_files);
        let place =
            |occurrence: &Occurrence| occurrence.place.clone().unwrap_or_else(|| "?".to_owned());
        let matched = known
            .iter()
            .zip(&aligned.matched)
            .map(|((name, old), now)| {
                format!(
                    "{name}@{}={}",
                    place(old),
                    now.map_or("gone".to_owned(), place)
                )
            });
        let rest = aligned
            .rest
            .iter()
            .map(|(name, occurrence)| format!("+{name}@{}", place(occurrence)));
        matched.chain(rest).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tests_are_found_again() {
        let one = results(&[("a", Some("x"), Passed)]);
        let two = results(&[("a", Some("x"), Passed), ("a", Some("y"), Passed)]);
        for (known, other, files, expected) in [
            (&one, &one, vec![], "a@x=x"),
            (&one, &results(&[("a", Some("y"), Passed)]), vec![], "a@x=y"),
            (
                &one,
                &results(&[("a", Some("y"), Passed)]),
                vec!["y"],
                "a@x=gone +a@y",
            ),
            (&one, &two, vec![], "a@x=x +a@y"),
            (&two, &one, vec![], "a@x=x a@y=gone"),
            (
                &two,
                &results(&[("a", Some("y"), Failed)]),
                vec![],
                "a@x=gone a@y=y",
            ),
            (
                &one,
                &results(&[("b", Some("x"), Passed)]),
                vec![],
                "a@x=gone +b@x",
            ),
            (
                &results(&[("a", None, Passed)]),
                &results(&[("a", None, Failed), ("a", None, Passed)]),
                vec![],
                "a@?=? +a@?",
            ),
        ] {
            assert_eq!(shown(known, other, &files), expected);
        }
    }
}
