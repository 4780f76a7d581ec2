//! What is compared of a check beyond its single tests: whether it is red as a whole, and which files could
//! not be loaded.

use super::View;
use crate::compare::check::{speaks_otherwise, why_red};
use crate::compare::draft::{Draft, said_by};

impl View<'_> {
    /// What the command as a whole says beyond its tests.
    pub(super) fn compare_whole(&self, draft: &mut Draft) {
        let (seen, base) = (self.seen, self.check.base);
        if seen.results.truncated && base.is_none_or(|base| !base.results.truncated) {
            draft.failed_check(
                self.check.name,
                "its output is too long or was cut off, so it cannot be compared",
                "",
            );
        }
        let earlier = [base, self.check.base_with_tests].into_iter().flatten();
        if earlier
            .into_iter()
            .any(|before| speaks_otherwise(before, seen))
        {
            draft.failed_check(
                self.check.name,
                "its output is another runner's than before, so it cannot be compared",
                said_by(seen),
            );
        }
        // A runner whose own counts do not agree was not the only one that spoke.
        let was_sound = base.is_none_or(|base| base.results.doubt.is_none());
        if let Some(doubt) = seen.results.doubt.as_deref().filter(|_| was_sound) {
            draft.failed_check(self.check.name, doubt, "");
        }
        if seen.is_green() {
            return;
        }
        if !self.newly_crashed.is_empty() {
            let places = self
                .newly_crashed
                .iter()
                .take(10)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            draft.failed_check(
                self.check.name,
                &format!("ended before all its tests were run: {places}"),
                said_by(seen),
            );
        } else if self.is_red_alike() {
            draft.not_gating(self.check.name);
        } else if seen.is_cut_short() || seen.is_red_without_reason() {
            let why = why_red(seen);
            let why = if seen.is_red_without_reason() && seen.results.is_per_test() {
                format!("{why}, although no test that it lists failed")
            } else {
                why
            };
            draft.failed_check(self.check.name, &why, said_by(seen));
        } else {
            self.compare_broken_files(draft);
        }
    }

    /// Says whether the base's command is red as a whole in the same way.
    pub(super) fn is_red_alike(&self) -> bool {
        let seen = self.seen;
        self.check.base.is_some_and(|base| {
            (seen.timed_out && base.timed_out)
                || (seen.did_not_build() && base.did_not_build())
                || (seen.is_red_without_reason()
                    && base.is_red_without_reason()
                    && seen.results.is_per_test() == base.results.is_per_test())
        })
    }

    /// Some files could not be loaded while others ran.
    pub(super) fn compare_broken_files(&self, draft: &mut Draft) {
        let seen = &self.seen.results;
        if seen.build_failure.is_none() {
            return;
        }
        let spoils_others = self
            .check
            .old_forms
            .first()
            .is_some_and(|old| old.did_not_build());
        let (writers, others): (Vec<&str>, Vec<&str>) = self
            .newly_broken
            .iter()
            .map(String::as_str)
            .partition(|file| self.check.is_writers(file) && !spoils_others);
        if !writers.is_empty() {
            draft.mismatch(self.seen);
        }
        let is_unnamed = seen.broken_files.is_empty()
            && self
                .check
                .base
                .is_none_or(|base| base.results.build_failure.is_none());
        if !others.is_empty() || is_unnamed {
            let files = others.into_iter().take(10).collect::<Vec<_>>().join(", ");
            draft.failed_check(
                self.check.name,
                &format!("cannot be built or loaded: {files}"),
                said_by(self.seen),
            );
        }
        for file in seen
            .broken_files
            .iter()
            .filter(|file| !self.newly_broken.contains(file))
        {
            draft.known_red(file);
        }
    }
}
