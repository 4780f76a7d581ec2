//! Tests that belong together though their names vary: parametrised and numbered ones, and titles
//! with a date or a count in them.
//!
//! Such a name may change from one run to the next. What must not change unseen is how many there
//! are.

use std::collections::BTreeMap;

use super::align::{Test, tests_of};
use super::evidence::Measured;
use crate::results::{Results, TestStatus, stands_in};

/// How many tests of each family were green before, and are now.
pub(super) struct Families {
    before: BTreeMap<Key, usize>,
    now: BTreeMap<Key, usize>,
}

/// A family's name and place.
type Key = (String, Option<String>);

/// What became of a test whose name is gone.
pub(super) enum Fate {
    /// Its family has as many members as before.
    Whole,
    /// Its family lost members.
    Smaller,
    /// Nothing like it is there.
    Gone,
}

impl Families {
    /// The families of the base's tests beside those of another run, without what stands in the
    /// writer's files.
    pub(super) fn of(olds: &[Test<'_>], seen: &Measured, writer_files: &[String]) -> Self {
        let is_old = |test: &Test<'_>| {
            let place = test.1.place.as_deref();
            !place.is_some_and(|place| stands_in(place, writer_files))
                || olds.iter().any(|old| old.1.place.as_deref() == place)
        };
        let now: Vec<Test<'_>> = tests_of(&seen.results).into_iter().filter(is_old).collect();
        Self {
            before: counted(olds),
            now: counted(&now),
        }
    }

    /// The families of one run, however its tests went, beside those of another.
    pub(super) fn of_any(known: &Results, seen: &Measured) -> Self {
        let mut before = BTreeMap::new();
        for test in tests_of(known) {
            *before.entry(key_of(test)).or_insert(0) += 1;
        }
        Self {
            before,
            now: counted(&tests_of(&seen.results)),
        }
    }

    pub(super) fn fate(&self, test: Test<'_>) -> Fate {
        let key = key_of(test);
        let n_of = |counts: &BTreeMap<Key, usize>| counts.get(&key).copied().unwrap_or(0);
        match (n_of(&self.before), n_of(&self.now)) {
            (_, 0) => Fate::Gone,
            (before, now) if now >= before => Fate::Whole,
            (_, _) => Fate::Smaller,
        }
    }
}

/// How many tests of a run are of a test's family and went in one way.
pub(super) fn n_alike(results: &Results, like: Test<'_>, status: TestStatus) -> usize {
    let key = key_of(like);
    let is_alike = |test: &Test<'_>| test.1.status == status && key_of(*test) == key;
    tests_of(results).into_iter().filter(is_alike).count()
}

/// Whether a test is known by its number alone, which moves when another test comes before it.
pub(super) fn is_number_alone((name, found): Test<'_>) -> bool {
    let number = name.strip_prefix("test ").unwrap_or(name);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && found.place.is_none()
}

/// How many tests of a run are of a test's family, however they went.
pub(super) fn n_of_family(results: &Results, like: Test<'_>) -> usize {
    let key = key_of(like);
    let tests = tests_of(results).into_iter();
    tests.filter(|test| key_of(*test) == key).count()
}

fn counted(tests: &[Test<'_>]) -> BTreeMap<Key, usize> {
    let mut counts = BTreeMap::new();
    for test in tests
        .iter()
        .filter(|test| test.1.status == TestStatus::Passed)
    {
        *counts.entry(key_of(*test)).or_insert(0) += 1;
    }
    counts
}

fn key_of((name, found): Test<'_>) -> Key {
    // pytest puts parameters into brackets behind the function's name.
    let function = match name.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        Some((function, _)) => function,
        None => name,
    };
    let mut family = String::new();
    for letter in function.chars() {
        match (letter.is_ascii_digit(), family.ends_with('#')) {
            (true, true) => {}
            (true, false) => family.push('#'),
            (false, _) => family.push(letter),
        }
    }
    (family, found.place.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Occurrence;

    fn results(names: &[&str]) -> Results {
        let mut results = Results::default();
        for name in names {
            let found = Occurrence {
                place: None,
                status: TestStatus::Passed,
                message: None,
            };
            results
                .tests
                .entry((*name).to_owned())
                .or_default()
                .push(found);
        }
        results
    }

    #[test]
    fn a_family_is_whole_smaller_or_gone() {
        for (before, now, asked, expected) in [
            (vec!["a[1]", "a[2]"], vec!["a[3]", "a[4]"], "a[1]", "whole"),
            (vec!["a[x]", "a[y]"], vec!["a[x]"], "a[y]", "smaller"),
            (vec!["a[x]"], vec!["b[x]"], "a[x]", "gone"),
            (
                vec!["1 files checked"],
                vec!["3 files checked"],
                "1 files checked",
                "whole",
            ),
            (
                vec!["at 2026-11-16"],
                vec!["at 2026-11-17"],
                "at 2026-11-16",
                "whole",
            ),
            (vec!["adds"], vec!["doubles"], "adds", "gone"),
        ] {
            let (before, now) = (results(&before), results(&now));
            let seen = Measured {
                results: now,
                ..Measured::default()
            };
            let olds = tests_of(&before);
            let families = Families::of(&olds, &seen, &[]);
            let test = olds.iter().find(|test| test.0 == asked).expect("known");
            let fate = match families.fate(*test) {
                Fate::Whole => "whole",
                Fate::Smaller => "smaller",
                Fate::Gone => "gone",
            };
            assert_eq!(fate, expected, "{asked}");
        }
    }
}
