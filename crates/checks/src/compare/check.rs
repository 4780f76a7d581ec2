//! The comparison, check by check.

use kernel::ObligationKind;

use super::again::Again;
use super::draft::{Draft, Strength, said_by};
use super::evidence::{Measured, Measurement, Side, has_tests};
use super::facts::{Comparison, Wanted};
use super::measure;
use crate::results::{Results, fits, stands_in};

/// Compares one tree of a candidate with the base.
pub(super) fn compare_side(evidence: &Side<'_>) -> Comparison {
    let mut draft = Draft::new();
    if let Some(setup) = evidence
        .base
        .check("setup")
        .filter(|setup| !setup.is_green())
    {
        return draft.setup_failed(true, setup);
    }
    if let Some(setup) = evidence
        .tree
        .check("setup")
        .filter(|setup| !setup.is_green())
    {
        if !any_green(evidence.reruns, "setup") {
            return draft.setup_failed(false, setup);
        }
        draft.flaky("setup");
    }
    for name in names(evidence) {
        let check = Check::of(evidence, name);
        check.compare(&mut draft);
    }
    draft.finish(evidence)
}

/// Every check but `setup`, in the base's order.
fn names<'a>(evidence: &Side<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for check in evidence.base.checks.iter().chain(&evidence.tree.checks) {
        if check.name != "setup" && !names.contains(&check.name.as_str()) {
            names.push(&check.name);
        }
    }
    names
}

fn any_green(reruns: &[Measurement], name: &str) -> bool {
    reruns
        .iter()
        .filter_map(|rerun| rerun.check(name))
        .any(Measured::is_green)
}

/// One check on all trees.
pub(super) struct Check<'a> {
    pub(super) evidence: &'a Side<'a>,
    pub(super) name: &'a str,
    pub(super) base: Option<&'a Measured>,
    pub(super) base_reruns: Vec<&'a Measured>,
    pub(super) base_with_tests: Option<&'a Measured>,
    /// The base with the new tests, each time that it was run.
    pub(super) again: Again<'a>,
    /// The old form's runs.
    pub(super) old_forms: Vec<&'a Measured>,
    /// The candidate's own run and its repetitions.
    pub(super) runs: Vec<&'a Measured>,
}

impl<'a> Check<'a> {
    fn of(evidence: &'a Side<'a>, name: &'a str) -> Self {
        let find =
            |measurement: Option<&'a Measurement>| measurement.and_then(|found| found.check(name));
        let all = |reruns: &'a [Measurement]| reruns.iter().filter_map(|rerun| rerun.check(name));
        Self {
            evidence,
            name,
            base: evidence.base.check(name),
            base_reruns: all(evidence.base_reruns).collect(),
            base_with_tests: find(evidence.base_with_tests),
            again: Again {
                base: evidence.base.check(name),
                first: find(evidence.base_with_tests),
                looks: all(evidence.red_looks).collect(),
                late: all(evidence.late_looks).collect(),
                steady: all(evidence.steady_looks).collect(),
                reruns: all(evidence.red_reruns).collect(),
                files: evidence.files,
            },
            old_forms: find(evidence.old_form)
                .into_iter()
                .chain(all(evidence.old_form_reruns))
                .collect(),
            runs: evidence
                .tree
                .check(name)
                .into_iter()
                .chain(all(evidence.reruns))
                .collect(),
        }
    }

    pub(super) fn has_tests(&self) -> bool {
        has_tests(self.name)
    }

    fn compare(&self, draft: &mut Draft) {
        let Some(candidate) = self.main_run(draft) else {
            draft.failed_check(self.name, "it was not run on the candidate", "");
            return;
        };
        for (which, measured) in [("base", self.base), ("candidate", Some(candidate))] {
            if let Some(doubt) = measured.and_then(|measured| measured.results.doubt.as_deref()) {
                draft.note(&format!("{} on the {which}: {doubt}", self.name));
            }
        }
        let is_per_test =
            |measured: Option<&Measured>| measured.is_some_and(|found| found.results.is_per_test());
        if is_per_test(self.base)
            || is_per_test(Some(candidate))
            || is_per_test(self.base_with_tests)
        {
            measure::by_tests(self, candidate, draft);
        } else {
            self.by_exit_code(candidate, draft);
        }
    }

    /// The run that speaks for the candidate: its first one, or, where that broke off as a whole, a
    /// later one that did not.
    fn main_run(&self, draft: &mut Draft) -> Option<&'a Measured> {
        let first = *self.runs.first()?;
        let is_bad = |run: &Measured| run.is_cut_short() || run.is_red_without_reason();
        if !is_bad(first) {
            return Some(first);
        }
        match self.runs.iter().find(|run| !is_bad(run)) {
            Some(later) => {
                draft.flaky(self.name);
                Some(later)
            }
            None => Some(first),
        }
    }

    /// Says whether the whole check is flaky, so that its exit code proves nothing.
    fn is_flaky(&self) -> bool {
        self.runs.iter().any(|run| run.is_green()) && self.runs.iter().any(|run| !run.is_green())
    }

    fn by_exit_code(&self, candidate: &Measured, draft: &mut Draft) {
        let was_green = self.base.is_none_or(Measured::is_green);
        if !was_green {
            return self.red_before(candidate, draft);
        }
        if !candidate.is_green() {
            return self.red_now(candidate, draft);
        }
        draft.stayed_green();
        if let Some(red) = self.base_with_tests.filter(|found| !found.is_green()) {
            self.prove(
                draft,
                if red.results.build_failure.is_some() {
                    Strength::Weak
                } else {
                    Strength::Strong
                },
            );
        }
        let old_is_red =
            !self.old_forms.is_empty() && !self.old_forms.iter().any(|old| old.is_green());
        if self.has_tests() && old_is_red && !self.evidence.files.writer_edited.is_empty() {
            draft.obliged(ObligationKind::OldTestRed, self.name);
        }
    }

    /// An exit code proves something only where tests run and all runs agree.
    fn prove(&self, draft: &mut Draft, strength: Strength) {
        if self.has_tests() && !self.is_flaky() {
            let n_green_reruns = self.runs.iter().skip(1).filter(|run| run.is_green());
            let redness = self.again.whole_redness(n_green_reruns.count());
            draft.proven_by_exit_code(self.name, redness, strength);
        }
    }

    fn red_before(&self, candidate: &Measured, draft: &mut Draft) {
        if !candidate.is_green() {
            draft.not_gating(self.name);
            return;
        }
        draft.fixed(self.name);
        if self.base_with_tests.is_some_and(|found| !found.is_green()) {
            self.prove(draft, Strength::Weak);
        }
    }

    fn red_now(&self, candidate: &Measured, draft: &mut Draft) {
        if self.blames_new_tests(candidate, draft) {
            draft.mismatch(candidate);
            return;
        }
        draft.failed_check(self.name, &why_red(candidate), said_by(candidate));
    }

    /// Says whether the check is red only because the new tests do not build or do not type-check.
    pub(super) fn blames_new_tests(&self, candidate: &Measured, draft: &mut Draft) -> bool {
        let is_of_form = !self.has_tests() || candidate.results.build_failure.is_some();
        if !self.evidence.files.demands_tests || !is_of_form || candidate.timed_out {
            return false;
        }
        let Some(without) = self.old_forms.first() else {
            draft.want(Wanted::OldForm);
            return false;
        };
        if self.has_tests() {
            !without.is_cut_short()
        } else {
            without.is_green()
        }
    }

    pub(super) fn is_writers(&self, place: &str) -> bool {
        stands_in(place, &self.evidence.files.writer)
    }
}

/// Why a whole check is red, in a few words.
pub(super) fn why_red(measured: &Measured) -> String {
    if measured.timed_out {
        return "it took too long".to_owned();
    }
    if measured.results.build_failure.is_some() {
        return "something does not build or load".to_owned();
    }
    match measured.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    }
}

/// What a red candidate has in a list and the base has not.
pub(super) fn new_among(
    check: &Check<'_>,
    seen: &Measured,
    list: impl Fn(&Results) -> &[String],
) -> Vec<String> {
    if seen.is_green() {
        return Vec::new();
    }
    let before = check.base.map_or(&[][..], |base| list(&base.results));
    let is_new = |file: &&String| !before.iter().any(|old| fits(old, file));
    list(&seen.results).iter().filter(is_new).cloned().collect()
}

/// What a program prints can look like another runner's report, and would then hide the real one.
pub(super) fn speaks_otherwise(before: &Measured, now: &Measured) -> bool {
    let are_known = before.results.is_per_test() && now.results.is_per_test();
    are_known
        && before
            .format
            .zip(now.format)
            .is_some_and(|(before, now)| before != now)
}
