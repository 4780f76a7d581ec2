//! Whether what was red on the base with the new tests is red there each time. What is red by chance
//! proves nothing (I8).
//!
//! A *look* is cheap: the same command once more in the same checkout, the tests in question alone
//! where the runner can. It can confirm and never condemn: a test that is green alone, or after the
//! first run left something behind, may be red in a fresh checkout each time. Only whole runs in fresh
//! checkouts (*reruns*) can tell that.

use super::align::{Test, align};
use super::evidence::{ChangedFiles, Measured, Measurement, RED_RERUNS_MAX, has_tests};
use super::families::n_alike;
use crate::results::{TestStatus, fits, stands_in};

/// How surely a test is red on the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redness {
    /// It was seen red again.
    Sure,
    /// Nobody can tell yet.
    Unsure,
    /// It was seen green as well.
    Chance,
}

/// How a test that was red on the base went there in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Red,
    Green,
    /// The run says nothing of it.
    Nothing,
}

/// How some tests went in further runs of the base with the new tests.
pub(super) struct Retried {
    looks: Vec<Vec<Heard>>,
    reruns: Vec<Vec<Heard>>,
}

impl Retried {
    /// How surely one of the tests is red. A doubtful one must be so in every rerun.
    pub(super) fn redness(&self, index: usize, is_doubtful: bool) -> Redness {
        let of = |runs: &[Vec<Heard>]| runs.iter().map(|run| run[index]).collect::<Vec<_>>();
        redness(&of(&self.looks), &of(&self.reruns), is_doubtful)
    }
}

fn redness(looks: &[Heard], reruns: &[Heard], is_doubtful: bool) -> Redness {
    if reruns.contains(&Heard::Green) {
        return Redness::Chance;
    }
    let is_seen = looks.contains(&Heard::Red) && !looks.contains(&Heard::Green);
    let n_red = reruns.iter().filter(|heard| **heard == Heard::Red).count();
    if (is_seen && !is_doubtful) || n_red >= RED_RERUNS_MAX {
        Redness::Sure
    } else {
        Redness::Unsure
    }
}

/// One check on the base with the new tests, each time that it was run there.
pub(super) struct Again<'a> {
    /// The base as it is.
    pub(super) base: Option<&'a Measured>,
    /// The run that shows what is red.
    pub(super) first: Option<&'a Measured>,
    pub(super) looks: Vec<&'a Measured>,
    pub(super) reruns: Vec<&'a Measured>,
    pub(super) files: &'a ChangedFiles,
}

impl Again<'_> {
    /// How tests went in the further runs of the base with the new tests.
    pub(super) fn retried(&self, tests: &[Test<'_>]) -> Retried {
        let heard = |run: &&Measured| -> Vec<Heard> {
            let found = align(tests, &run.results, &self.files.writer);
            let found = found.matched.into_iter();
            found
                .zip(tests)
                .map(|(found, test)| match found.map(|found| found.status) {
                    Some(TestStatus::Failed) => Heard::Red,
                    Some(TestStatus::Passed) => Heard::Green,
                    Some(TestStatus::Skipped) => Heard::Nothing,
                    None => self.heard_without_name(run, *test),
                })
                .collect()
        };
        Retried {
            looks: self.looks.iter().map(heard).collect(),
            reruns: self.reruns.iter().map(heard).collect(),
        }
    }

    /// A test that a run does not list: it could not be loaded there, or its name varies.
    fn heard_without_name(&self, run: &Measured, test: Test<'_>) -> Heard {
        let Some(first) = self.first else {
            return Heard::Nothing;
        };
        if run.timed_out == first.timed_out && self.is_unloadable(run, test.1.place.as_deref()) {
            return Heard::Red;
        }
        let n = |measured: &Measured, status| n_alike(&measured.results, test, status);
        let n_red = n(first, TestStatus::Failed);
        if n_red > 0 && n(run, TestStatus::Failed) >= n_red {
            Heard::Red
        } else if n(run, TestStatus::Passed) > n(first, TestStatus::Passed) {
            Heard::Green
        } else {
            Heard::Nothing
        }
    }

    /// How surely the check as a whole is red with the new tests on the base.
    pub(super) fn whole_redness(&self) -> Redness {
        let Some(first) = self.first else {
            return Redness::Unsure;
        };
        let heard = |run: &&Measured| {
            let is_alike = run.timed_out == first.timed_out && run.exit_code == first.exit_code;
            match (run.is_green(), is_alike) {
                (true, _) => Heard::Green,
                (false, true) => Heard::Red,
                (false, false) => Heard::Nothing,
            }
        };
        let of = |runs: &[&Measured]| runs.iter().map(heard).collect::<Vec<_>>();
        let is_doubtful = !self.files.shaky.is_empty();
        redness(&of(&self.looks), &of(&self.reruns), is_doubtful)
    }

    /// Says whether a test of this place is the writer's and could not be loaded in a run of the base
    /// with the new tests.
    pub(super) fn is_unloadable(&self, run: &Measured, place: Option<&str>) -> bool {
        if run.is_green() {
            return false;
        }
        let is_writers = place.is_none_or(|place| self.is_writers(place));
        let silent = run.results.broken_files.iter().chain(&run.results.crashed);
        let is_it =
            |file: &String| place.is_none_or(|place| fits(place, file)) && self.is_writers(file);
        // A runner that dies of the first exception, as tape does, lists neither that test nor
        // those after it.
        let broke_off = run.is_red_without_reason()
            && self
                .base
                .is_some_and(|base| !base.is_red_without_reason() && !base.timed_out);
        // Where a base has no tests at all, new ones cannot even be looked for.
        let was_mute = !run.results.is_per_test()
            && self
                .base
                .is_none_or(|base| !base.is_green() && !base.results.is_per_test());
        // Whatever else befell a later run looks the same, but for how it ended.
        let ended_alike = self
            .first
            .is_some_and(|first| first.exit_code == run.exit_code);
        let was_broken = run.did_not_build()
            || (ended_alike && (broke_off || was_mute))
            || silent.into_iter().any(is_it);
        is_writers && was_broken
    }

    fn is_writers(&self, place: &str) -> bool {
        stands_in(place, &self.files.writer)
    }

    /// Says whether a test stands in a file whose text depends on chance or the time.
    pub(super) fn is_shaky(&self, place: Option<&str>) -> bool {
        let shaky = &self.files.shaky;
        !shaky.is_empty() && place.is_none_or(|place| stands_in(place, shaky))
    }
}

/// A check that may prove something, if it is seen red again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedLook {
    /// The check's name.
    pub check: String,
    /// The files whose tests are in question; none where only the whole command can tell.
    pub files: Vec<String>,
}

/// What is red on the base with the new tests and was not red before: what may prove the story.
pub fn red_looks(
    base: &Measurement,
    with_tests: &Measurement,
    files: &ChangedFiles,
) -> Vec<RedLook> {
    let may_prove = |check: &&Measured| {
        files.demands_tests && has_tests(&check.name) && !check.is_green() && !check.timed_out
    };
    with_tests
        .checks
        .iter()
        .filter(may_prove)
        .filter_map(|check| red_look(base.check(&check.name), check))
        .collect()
}

fn red_look(base: Option<&Measured>, now: &Measured) -> Option<RedLook> {
    let look = |files| RedLook {
        check: now.name.clone(),
        files,
    };
    if now.is_cut_short() || now.is_red_without_reason() {
        return Some(look(Vec::new()));
    }
    let was_red = |name: &str, place: Option<&str>| {
        let before = base.and_then(|base| base.results.tests.get(name));
        before
            .into_iter()
            .flatten()
            .any(|found| found.status == TestStatus::Failed && found.place.as_deref() == place)
    };
    let was_silent = |file: &String| {
        base.is_some_and(|base| {
            let silent = base
                .results
                .broken_files
                .iter()
                .chain(&base.results.crashed);
            silent.into_iter().any(|old| fits(old, file))
        })
    };
    let mut places: Vec<Option<String>> = Vec::new();
    for (name, found) in &now.results.tests {
        let is_new = |found: &&crate::results::Occurrence| {
            found.status == TestStatus::Failed && !was_red(name, found.place.as_deref())
        };
        places.extend(found.iter().filter(is_new).map(|found| found.place.clone()));
    }
    let silent = now.results.broken_files.iter().chain(&now.results.crashed);
    places.extend(silent.filter(|file| !was_silent(file)).cloned().map(Some));
    if places.is_empty() {
        return None;
    }
    places.sort();
    places.dedup();
    // Where one place is not known, nothing less than the whole command will do.
    Some(look(
        places
            .into_iter()
            .collect::<Option<_>>()
            .unwrap_or_default(),
    ))
}
