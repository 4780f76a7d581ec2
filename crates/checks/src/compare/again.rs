//! Whether what was red on the base with the new tests is red there each time. What is red by chance
//! proves nothing (I8).
//!
//! A *look* is cheap: the same command once more in the same checkout, the tests in question alone
//! where the runner can. It can confirm and never condemn: a test that is green alone, or after the
//! first run left something behind, may be red in a fresh checkout each time. Only whole runs in fresh
//! checkouts (*reruns*) can tell that.
//!
//! A test that waits for a moment is red before it and green after it, whatever the code says. So the
//! base is looked at once more after the candidate (a *late* look), and the candidate itself a second
//! time (a *steady* look). What does not build needs neither: a compiler knows no moment.

use super::align::{Test, align};
use super::evidence::{ChangedFiles, Measured, Measurement, RED_RERUNS_MAX, RERUNS_MAX, has_tests};
use super::families::n_alike;
use crate::results::{TestStatus, fits, stands_in};

/// How surely a test is red on the base, and green on the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redness {
    /// It was seen red again, and green again.
    Sure,
    /// Nobody can tell yet.
    Unsure,
    /// It was seen green on the base as well.
    Chance,
    /// It is red each time, and nobody saw it green on the candidate again.
    Unsteady,
}

/// How a test went in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Red,
    Green,
    /// The run says nothing of it.
    Nothing,
}

/// How some tests went in further runs of the base with the new tests, and in further looks at the
/// candidate.
pub(super) struct Retried {
    looks: Vec<Vec<Heard>>,
    late: Vec<Vec<Heard>>,
    reruns: Vec<Vec<Heard>>,
    steady: Vec<Vec<Heard>>,
    is_settled: bool,
}

impl Retried {
    /// How surely one of the tests is red, and green after. A doubtful one must be red in every rerun.
    /// What is not green in the steady look must be so in every rerun of the candidate.
    pub(super) fn redness(
        &self,
        index: usize,
        is_doubtful: bool,
        n_green_reruns: usize,
    ) -> Redness {
        let of = |runs: &[Vec<Heard>]| runs.iter().map(|run| run[index]).collect::<Vec<_>>();
        Row {
            looks: of(&self.looks),
            late: of(&self.late),
            reruns: of(&self.reruns),
            steady: of(&self.steady),
            is_settled: self.is_settled,
        }
        .redness(is_doubtful, n_green_reruns)
    }
}

/// How one test, or a check as a whole, went in all these runs.
struct Row {
    looks: Vec<Heard>,
    late: Vec<Heard>,
    reruns: Vec<Heard>,
    steady: Vec<Heard>,
    /// Whether the base did not even build, so that no moment decides.
    is_settled: bool,
}

impl Row {
    fn redness(&self, is_doubtful: bool, n_green_reruns: usize) -> Redness {
        let redness = self.redness_on_base(is_doubtful);
        let is_steady = self.is_settled
            || is_always(&self.steady, Heard::Green)
            || n_green_reruns >= RERUNS_MAX;
        match redness {
            Redness::Sure if !is_steady => Redness::Unsteady,
            redness => redness,
        }
    }

    fn redness_on_base(&self, is_doubtful: bool) -> Redness {
        let is_seen = is_always(&self.looks, Heard::Red);
        // Red alone before the candidate was measured, and green alone after it.
        let has_turned = is_seen && self.late.contains(&Heard::Green);
        if self.reruns.contains(&Heard::Green) || has_turned {
            return Redness::Chance;
        }
        let is_seen_late = self.is_settled || is_always(&self.late, Heard::Red);
        let n_red = self.reruns.iter().filter(|heard| **heard == Heard::Red);
        if (is_seen && is_seen_late && !is_doubtful) || n_red.count() >= RED_RERUNS_MAX {
            Redness::Sure
        } else {
            Redness::Unsure
        }
    }
}

/// Says whether all looks that heard of a test heard this, and at least one did.
fn is_always(looks: &[Heard], wanted: Heard) -> bool {
    looks.contains(&wanted)
        && looks
            .iter()
            .all(|heard| [wanted, Heard::Nothing].contains(heard))
}

/// One check on the base with the new tests, each time that it was run there.
pub(super) struct Again<'a> {
    /// The base as it is.
    pub(super) base: Option<&'a Measured>,
    /// The run that shows what is red.
    pub(super) first: Option<&'a Measured>,
    pub(super) looks: Vec<&'a Measured>,
    /// Looks after the candidate was measured.
    pub(super) late: Vec<&'a Measured>,
    pub(super) reruns: Vec<&'a Measured>,
    /// Second looks at the candidate.
    pub(super) steady: Vec<&'a Measured>,
    pub(super) files: &'a ChangedFiles,
}

impl Again<'_> {
    /// How tests went in the further runs of the base with the new tests.
    pub(super) fn retried(&self, tests: &[Test<'_>]) -> Retried {
        let on_base = |run: &&Measured| -> Vec<Heard> {
            let found = align(tests, &run.results, &self.files.writer);
            let found = found.matched.into_iter();
            found
                .zip(tests)
                .map(|(found, test)| match found.map(|found| found.status) {
                    None => self.heard_without_name(run, *test),
                    Some(status) => heard(status),
                })
                .collect()
        };
        let on_candidate = |run: &&Measured| -> Vec<Heard> {
            let found = align(tests, &run.results, &self.files.writer);
            let found = found.matched.into_iter();
            found
                .zip(tests)
                .map(|(found, test)| match found.map(|found| found.status) {
                    // A name that varies: its family is green there, and none of it is red.
                    None if n_alike(&run.results, *test, TestStatus::Passed) > 0
                        && n_alike(&run.results, *test, TestStatus::Failed) == 0 =>
                    {
                        Heard::Green
                    }
                    None => Heard::Nothing,
                    Some(status) => heard(status),
                })
                .collect()
        };
        Retried {
            looks: self.looks.iter().map(on_base).collect(),
            late: self.late.iter().map(on_base).collect(),
            reruns: self.reruns.iter().map(on_base).collect(),
            steady: self.steady.iter().map(on_candidate).collect(),
            is_settled: self.is_settled(),
        }
    }

    /// Whether the base did not build with the new tests, which no moment and no chance decides.
    fn is_settled(&self) -> bool {
        self.first.is_some_and(Measured::did_not_build)
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
    pub(super) fn whole_redness(&self, n_green_reruns: usize) -> Redness {
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
        let row = Row {
            looks: of(&self.looks),
            late: of(&self.late),
            reruns: of(&self.reruns),
            steady: of(&self.steady),
            is_settled: self.is_settled(),
        };
        row.redness(!self.files.shaky.is_empty(), n_green_reruns)
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

fn heard(status: TestStatus) -> Heard {
    match status {
        TestStatus::Failed => Heard::Red,
        TestStatus::Passed => Heard::Green,
        TestStatus::Skipped => Heard::Nothing,
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

/// The same without what did not build: what may be decided by a moment, so that the candidate is
/// looked at a second time, and the base once more after it.
pub fn moment_looks(
    base: &Measurement,
    with_tests: &Measurement,
    files: &ChangedFiles,
) -> Vec<RedLook> {
    let builds = |look: &RedLook| {
        let check = with_tests.check(&look.check);
        check.is_some_and(|check| !check.did_not_build())
    };
    let mut looks = red_looks(base, with_tests, files);
    looks.retain(builds);
    looks
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
