//! One check compared test by test.

mod whole;

use kernel::ObligationKind;

use super::again::{Redness, Retried};
use super::align::{Aligned, Test, align, tests_of};
use super::check::{Check, new_among};
use super::draft::{Draft, Strength};
use super::evidence::{BASE_RERUNS_MAX, Measured, RERUNS_MAX};
use super::facts::Wanted;
use super::families::{Families, Fate, is_number_alone, n_of_family};
use super::names::Names;
use crate::results::{Occurrence, Results, TestStatus, stands_in};

pub(super) fn by_tests(check: &Check<'_>, candidate: &Measured, draft: &mut Draft) {
    let nothing = Results::default();
    let before = check.base.map_or(&nothing, |base| &base.results);
    // Where the new tests keep the candidate from building, the old ones are compared without them.
    let spoiled = candidate.did_not_build() && check.blames_new_tests(candidate, draft);
    let seen = match check.old_forms.first() {
        Some(old) if spoiled => old,
        Some(_) | None => candidate,
    };
    if spoiled {
        draft.mismatch(candidate);
    }
    let files = &check.evidence.files.writer;
    let olds = tests_of(before);
    let on_base = check
        .base_with_tests
        .map(|found| align(&olds, &found.results, files));
    let news: Vec<Test<'_>> = on_base
        .as_ref()
        .map(|aligned| aligned.rest.clone())
        .unwrap_or_default();
    let known: Vec<Test<'_>> = olds.iter().chain(&news).copied().collect();
    let runs = runs(check, seen, spoiled);
    let aligned = |found: &&'_ Measured| -> Vec<Option<TestStatus>> {
        let run = align(&known, &found.results, files);
        run.matched
            .iter()
            .map(|found| found.map(|found| found.status))
            .collect()
    };
    let view = View {
        check,
        seen,
        newly_broken: new_among(check, seen, |results| &results.broken_files),
        newly_crashed: new_among(check, seen, |results| &results.crashed),
        names: Names::of(&known),
        families: Families::of(&olds, seen, files),
        families_of_news: Families::of_any(
            check.base_with_tests.map_or(before, |found| &found.results),
            seen,
        ),
        runs: runs
            .iter()
            .map(|run| align(&known, &run.results, files))
            .collect(),
        reruns: runs.into_iter().skip(1).collect(),
        old_forms: check.old_forms.iter().map(aligned).collect(),
        base_again: check.base_reruns.iter().map(aligned).collect(),
        retried: check.again.retried(&known),
        on_base,
        known,
        n_olds: olds.len(),
    };
    view.compare_olds(draft);
    if !spoiled {
        view.compare_news(draft);
        view.compare_others(draft);
    }
    view.compare_whole(draft);
}

/// The run that speaks for the candidate first, then the others of the same tree.
fn runs<'a>(check: &Check<'a>, seen: &'a Measured, spoiled: bool) -> Vec<&'a Measured> {
    let others = check
        .runs
        .iter()
        .copied()
        .filter(|run| !std::ptr::eq(*run, seen) && !spoiled);
    std::iter::once(seen).chain(others).collect()
}

struct View<'a> {
    check: &'a Check<'a>,
    seen: &'a Measured,
    known: Vec<Test<'a>>,
    n_olds: usize,
    names: Names,
    /// Files that the candidate cannot load and the base can.
    newly_broken: Vec<String>,
    /// Test programs that end too early on the candidate, and not on the base.
    newly_crashed: Vec<String>,
    reruns: Vec<&'a Measured>,
    on_base: Option<Aligned<'a>>,
    runs: Vec<Aligned<'a>>,
    /// How the known tests went in each run of the old form.
    old_forms: Vec<Vec<Option<TestStatus>>>,
    /// How they went in each further run of the base.
    base_again: Vec<Vec<Option<TestStatus>>>,
    /// How they went in further runs of the base with the new tests.
    retried: Retried,
    families: Families,
    families_of_news: Families,
}

/// How a test went over all runs of the candidate.
enum Now<'a> {
    Green,
    Red(&'a Occurrence),
    Skipped,
    Gone,
    Flaky,
}

impl<'a> View<'a> {
    fn now(&self, index: usize) -> Now<'a> {
        let statuses: Vec<Option<&Occurrence>> =
            self.runs.iter().map(|run| run.matched[index]).collect();
        let has = |status| {
            statuses
                .iter()
                .flatten()
                .any(|found| found.status == status)
        };
        if has(TestStatus::Failed) && has(TestStatus::Passed) {
            return Now::Flaky;
        }
        match statuses.first().copied().flatten() {
            None if has(TestStatus::Passed) && !self.is_varying(index) => Now::Flaky,
            None => Now::Gone,
            Some(found) => match found.status {
                TestStatus::Passed => Now::Green,
                TestStatus::Failed => Now::Red(found),
                TestStatus::Skipped => Now::Skipped,
            },
        }
    }

    /// Whether a new test only has another name in the run that speaks for the candidate.
    fn is_varying(&self, index: usize) -> bool {
        let fate = self.families_of_news.fate(self.known[index]);
        index >= self.n_olds && matches!(fate, Fate::Whole)
    }

    fn label(&self, index: usize) -> String {
        self.names.label(self.known[index])
    }

    fn compare_olds(&self, draft: &mut Draft) {
        for index in 0..self.n_olds {
            let label = self.label(index);
            match self.known[index].1.status {
                TestStatus::Passed => self.compare_green(index, draft),
                TestStatus::Failed => match self.now(index) {
                    Now::Green => self.compare_fixed(index, &label, draft),
                    Now::Flaky => draft.flaky(&label),
                    Now::Red(found) if self.base_again_has(index, TestStatus::Passed) => {
                        self.compare_sometimes_red(index, found, draft);
                    }
                    Now::Red(_) | Now::Skipped | Now::Gone => draft.known_red(&label),
                },
                TestStatus::Skipped => match self.now(index) {
                    Now::Red(found) => draft.new_failing(&label, message(found)),
                    Now::Flaky => draft.flaky(&label),
                    Now::Green | Now::Skipped | Now::Gone => {}
                },
            }
        }
    }

    /// A test that was red on the base and is green now. It may be the story's own.
    fn compare_fixed(&self, index: usize, label: &str, draft: &mut Draft) {
        let is_own = self.is_named(index, &self.check.evidence.files.acceptance);
        let with_tests = self.on_base.as_ref().and_then(|run| run.matched[index]);
        let is_green_with_tests =
            with_tests.is_some_and(|found| found.status == TestStatus::Passed);
        let is_by_chance = self.base_again_has(index, TestStatus::Passed);
        if is_by_chance {
            draft.flaky(label);
        } else {
            draft.fixed(label);
        }
        if is_own && is_green_with_tests {
            draft.vacuous(label);
        } else if is_own {
            let is_red = |run: &&Vec<Option<TestStatus>>| run[index] == Some(TestStatus::Failed);
            let n_red = self.base_again.iter().filter(is_red).count();
            let redness = match (is_by_chance, n_red) {
                (true, _) => Redness::Chance,
                (false, 0) => Redness::Unsure,
                (false, _) => Redness::Sure,
            };
            draft.proven_by_old(label, redness);
        }
    }

    /// A test that is red on the base now and then is not excused by that if it is red here always.
    fn compare_sometimes_red(&self, index: usize, found: &Occurrence, draft: &mut Draft) {
        if self.reruns.len() < RERUNS_MAX {
            draft.want(Wanted::Rerun);
            draft.flaky(&self.label(index));
        } else {
            let why = format!(
                "it is red in every run, and on the base only now and then\n{}",
                message(found)
            );
            draft.broken(&self.label(index), &why);
        }
    }

    /// A test that was green must be green in its old form, or somebody must answer for it.
    fn compare_green(&self, index: usize, draft: &mut Draft) {
        let label = self.label(index);
        let was_edited_by_writer = self
            .on_base
            .as_ref()
            .is_some_and(|run| is_red(run.matched[index]));
        match self.now(index) {
            Now::Green => {
                draft.stayed_green();
                if was_edited_by_writer && !self.may_be_changed_by_writer(index) {
                    // Something that the writer added broke it, which says nothing of the story.
                    draft.made_red(&label);
                } else if was_edited_by_writer {
                    // Nobody changed the text of a test that stands elsewhere.
                    let is_doubtful = !self.is_in_writers_file(index) || self.is_shaky(index);
                    let n_green = self.n_green_reruns(index);
                    let redness = self.retried.redness(index, is_doubtful, n_green);
                    draft.proven(&label, redness, Strength::Strong);
                }
                if self.is_in_writers_file(index) && !self.old_form_is_green(index) {
                    draft.obliged(ObligationKind::OldTestRed, &label);
                }
            }
            Now::Flaky => self.compare_shaky(index, draft),
            Now::Red(found) if was_edited_by_writer => draft.new_failing(&label, message(found)),
            Now::Red(found) => draft.broken(&label, message(found)),
            Now::Skipped if self.is_skipped_by_author(index) => {
                draft.obliged(ObligationKind::OldTestSkipped, &label);
            }
            Now::Skipped => draft.broken(&label, "it is skipped now"),
            // A run that broke off says nothing of what it did not reach; the check itself is red
            // then.
            Now::Gone if self.is_unheard() || self.stands_in_broken(index) => {}
            Now::Gone => self.compare_gone(index, &label, draft),
        }
    }

    fn compare_gone(&self, index: usize, label: &str, draft: &mut Draft) {
        let is_removed_by_writer = self
            .on_base
            .as_ref()
            .is_some_and(|run| run.matched[index].is_none());
        if is_removed_by_writer && self.is_in_writers_file(index) {
            // Whoever wrote the story's tests may rename and regroup older ones, as long as what
            // they said still holds.
            if self.old_form_is_green(index) && !self.went_with_its_file(index) {
                draft.stayed_green();
            } else {
                draft.obliged(ObligationKind::OldTestRemoved, label);
            }
            return;
        }
        // What the implementor took out of a test file is told by the texts, test by test.
        let place = self.known[index].1.place.as_deref();
        let files = self.check.evidence.files;
        let edited = if self.check.evidence.is_as_is {
            &files.edited
        } else {
            &files.edited_code
        };
        if !edited.is_empty() && place.is_none_or(|place| stands_in(place, edited)) {
            return;
        }
        match self.families.fate(self.known[index]) {
            Fate::Whole => draft.stayed_green(),
            Fate::Smaller => draft.obliged(ObligationKind::OldTestRemoved, label),
            Fate::Gone => draft.broken(label, "it is gone"),
        }
    }

    /// A test that was green on the base and is red in one run and green in another here. Only a
    /// base that is no better excuses that.
    fn compare_shaky(&self, index: usize, draft: &mut Draft) {
        let label = self.label(index);
        if self.base_again_has(index, TestStatus::Failed) {
            draft.flaky(&label);
        } else if self.base_again.len() < BASE_RERUNS_MAX {
            draft.want(Wanted::BaseRerun);
            draft.unstable(&label);
        } else {
            draft.unstable(&label);
        }
    }

    fn base_again_has(&self, index: usize, status: TestStatus) -> bool {
        self.base_again.iter().any(|run| run[index] == Some(status))
    }

    /// Whether the writer of the story's tests changed the file that a test stands in.
    fn is_in_writers_file(&self, index: usize) -> bool {
        let edited = &self.check.evidence.files.writer_edited;
        let place = self.known[index].1.place.as_deref();
        !edited.is_empty() && place.is_none_or(|place| stands_in(place, edited))
    }

    /// Whether the writer changed what a test says: its file, data that older tests may read, or which
    /// test it is.
    fn may_be_changed_by_writer(&self, index: usize) -> bool {
        let edited = &self.check.evidence.files.writer_edited;
        self.is_in_writers_file(index)
            || edited.iter().any(|path| is_data(path))
            || self.may_have_moved(index)
    }

    /// Whether a number stands for another test since the writer's came.
    fn may_have_moved(&self, index: usize) -> bool {
        is_number_alone(self.known[index]) && !self.is_renamed_on_base(index)
    }

    /// Whether a test is an older one under another name: its family has no more members than it had
    /// on the base.
    fn is_renamed(&self, test: Test<'_>, run: &Results) -> bool {
        let before = self
            .check
            .base
            .map_or(0, |base| n_of_family(&base.results, test));
        before > 0 && n_of_family(run, test) <= before
    }

    /// Whether the writer removed the file of a test that stands nowhere else under its name.
    fn went_with_its_file(&self, index: usize) -> bool {
        let removed = &self.check.evidence.files.writer_removed;
        let (name, found) = self.known[index];
        let place = found.place.as_deref();
        let is_green_twin = |(known, seen): &Test<'_>| {
            *known == name && seen.place != found.place && seen.status == TestStatus::Passed
        };
        !removed.is_empty()
            && place.is_none_or(|place| stands_in(place, removed))
            && !tests_of(&self.seen.results).iter().any(is_green_twin)
    }

    /// Whatever does not load, build, report or end is red in its old form.
    fn old_form_is_green(&self, index: usize) -> bool {
        self.old_forms
            .iter()
            .any(|run| run[index] == Some(TestStatus::Passed))
    }

    /// Whether somebody names a test, by its name or with its place.
    fn is_named(&self, index: usize, names: &[String]) -> bool {
        let name = self.known[index].0;
        let label = self.label(index);
        let ends = |known: &String| {
            let bare = known.rsplit("::").next().unwrap_or(known);
            name == known
                || label == *known
                || name == bare
                || name.ends_with(&format!("::{bare}"))
                || name.ends_with(&format!(" > {bare}"))
                || name.ends_with(&format!(" {bare}"))
        };
        names.iter().any(ends)
    }

    /// Says whether what is missing may only not have been reached or read.
    fn is_unheard(&self) -> bool {
        // Where the base broke off in the same way the check itself decides nothing, so its tests
        // must.
        (self.seen.is_cut_short() && !self.is_red_alike()) || self.seen.results.truncated
    }

    /// Says whether an edit of the test's own file explains that it is skipped.
    fn is_skipped_by_author(&self, index: usize) -> bool {
        let place = self.known[index].1.place.as_deref();
        let edited = &self.check.evidence.files.edited;
        let by_implementor =
            self.check.evidence.is_as_is && place.is_some_and(|place| stands_in(place, edited));
        let by_writer = self.on_base.as_ref().is_some_and(|run| {
            run.matched[index].is_some_and(|now| now.status == TestStatus::Skipped)
        });
        by_implementor || by_writer
    }

    /// Tests that the base did not have and the base with the writer's tests shows.
    fn compare_news(&self, draft: &mut Draft) {
        for index in self.n_olds..self.known.len() {
            let label = self.label(index);
            let was_red = self.known[index].1.status == TestStatus::Failed;
            match self.now(index) {
                Now::Green if was_red && self.is_renamed_on_base(index) => draft.made_red(&label),
                Now::Green if was_red => {
                    draft.proven(&label, self.redness(index), Strength::Strong);
                }
                Now::Red(found) => draft.new_failing(&label, message(found)),
                // Nobody knows such a test but by this candidate: it must hold.
                Now::Flaky => draft.unstable(&label),
                Now::Skipped if was_red => {
                    draft.new_failing(&label, "it is skipped on the candidate");
                }
                Now::Gone if self.is_unheard() || self.stands_in_broken(index) => {}
                // A runner may list a failing test twice, as with an error while it is torn down.
                Now::Gone if self.has_green_twin(index) => {}
                Now::Gone => match self.families_of_news.fate(self.known[index]) {
                    Fate::Whole if was_red && self.is_renamed_on_base(index) => {
                        draft.made_red(&label);
                    }
                    Fate::Whole if was_red => {
                        draft.proven(&label, self.redness(index), Strength::Weak);
                    }
                    Fate::Whole => {}
                    Fate::Smaller | Fate::Gone => {
                        draft.new_failing(&label, "it did not run on the candidate");
                    }
                },
                Now::Green if self.is_named(index, &self.check.evidence.files.preserving) => {
                    draft.preserved(&label);
                }
                Now::Green | Now::Skipped => draft.vacuous(&label),
            }
        }
    }

    fn is_renamed_on_base(&self, index: usize) -> bool {
        let found = self.check.base_with_tests;
        found.is_some_and(|found| self.is_renamed(self.known[index], &found.results))
    }

    /// How surely a new test is red on the base.
    fn redness(&self, index: usize) -> Redness {
        let n_green = self.n_green_reruns(index);
        self.retried.redness(index, self.is_shaky(index), n_green)
    }

    /// In how many further runs of the candidate a test is green. Where the first one broke off, another
    /// speaks for the candidate.
    fn n_green_reruns(&self, index: usize) -> usize {
        let first = self.check.runs.first();
        let is_first = first.is_some_and(|first| std::ptr::eq(*first, self.seen));
        let reruns = self.runs.iter().skip(usize::from(is_first));
        let found = reruns.filter_map(|run| run.matched[index]);
        found
            .filter(|found| found.status == TestStatus::Passed)
            .count()
    }

    fn is_shaky(&self, index: usize) -> bool {
        self.check
            .again
            .is_shaky(self.known[index].1.place.as_deref())
    }

    /// Says whether another entry of the same test, name and place, is green.
    fn has_green_twin(&self, index: usize) -> bool {
        let (name, found) = self.known[index];
        let is_twin = |(other, (known, seen)): (usize, &Test<'_>)| {
            other != index
                && *known == name
                && seen.place == found.place
                && matches!(self.now(other), Now::Green)
        };
        self.known.iter().enumerate().any(is_twin)
    }

    /// Says whether the test's file cannot be loaded now, which is told once, of the file.
    fn stands_in_broken(&self, index: usize) -> bool {
        match self.known[index].1.place.as_deref() {
            Some(place) => {
                stands_in(place, &self.newly_broken) || stands_in(place, &self.newly_crashed)
            }
            None => !self.newly_broken.is_empty(),
        }
    }

    /// Tests that only the candidate shows: the writer's, if they could not be loaded on the base,
    /// else the implementor's own, which prove nothing and may not be red.
    fn compare_others(&self, draft: &mut Draft) {
        let Some(others) = self.runs.first().map(|run| &run.rest) else {
            return;
        };
        let again: Vec<_> = self
            .reruns
            .iter()
            .map(|run| align(others, &run.results, &[]))
            .collect();
        let names = Names::of(others);
        let retried = self.check.again.retried(others);
        for (index, (name, found)) in others.iter().enumerate() {
            let label = names.label((name, found));
            let has = |status| {
                again
                    .iter()
                    .filter_map(|run| run.matched[index])
                    .any(|seen| seen.status == status)
            };
            // A name with the time in it is another in each run, and the test is an old one.
            let is_weak = self.was_unloadable_on_base(found.place.as_deref())
                && !self.is_renamed((name, found), &self.seen.results);
            match found.status {
                TestStatus::Failed if has(TestStatus::Passed) => draft.unstable(&label),
                TestStatus::Passed if has(TestStatus::Failed) => draft.unstable(&label),
                TestStatus::Failed => draft.new_failing(&label, message(found)),
                // Some runners list a file that ended without running any test as one.
                TestStatus::Passed
                    if is_weak
                        && name.contains(['/', '.'])
                        && stands_in(name, &self.check.evidence.files.suites) =>
                {
                    draft.new_failing(&label, "it ended without any of its tests having run");
                }
                TestStatus::Passed if is_weak => {
                    let is_doubtful = self.check.again.is_shaky(found.place.as_deref());
                    let n_green = again
                        .iter()
                        .filter_map(|run| run.matched[index])
                        .filter(|seen| seen.status == TestStatus::Passed)
                        .count();
                    let redness = retried.redness(index, is_doubtful, n_green);
                    draft.proven(&label, redness, Strength::Weak);
                }
                TestStatus::Skipped if is_weak => {
                    draft.new_failing(&label, "it is skipped on the candidate");
                }
                TestStatus::Passed | TestStatus::Skipped => {}
            }
        }
    }

    /// Says whether a test of this place is the writer's and could not be loaded on the base.
    fn was_unloadable_on_base(&self, place: Option<&str>) -> bool {
        let found = self.check.base_with_tests;
        found.is_some_and(|found| self.check.again.is_unloadable(found, place))
    }
}

fn is_red(found: Option<&Occurrence>) -> bool {
    found.is_some_and(|found| found.status == TestStatus::Failed)
}

/// Says whether a file is no source: tests that read it say something else when it changes.
fn is_data(path: &str) -> bool {
    crate::lex::Language::of(path, "").is_none()
}

fn message(found: &Occurrence) -> &str {
    found.message.as_deref().unwrap_or("")
}
