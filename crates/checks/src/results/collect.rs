//! Gathers results within bounds. What failed is kept longest.

use super::model::{Occurrence, Results, TestStatus};
use crate::text::{EXCERPT_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, clip};

/// Most tests of one check. Failing ones are kept up to twice as many.
pub(super) const TESTS_MAX: usize = 50_000;
/// Most files named as broken.
const BROKEN_FILES_MAX: usize = 200;

#[derive(Default)]
pub(super) struct Collector {
    results: Results,
    n_tests: usize,
}

impl Collector {
    /// Adds one test. An empty name is no test.
    pub(super) fn add(
        &mut self,
        name: &str,
        place: Option<&str>,
        status: TestStatus,
        message: Option<&str>,
    ) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        let most = if status == TestStatus::Failed {
            2 * TESTS_MAX
        } else {
            TESTS_MAX
        };
        if self.n_tests >= most {
            self.results.truncated = true;
            return;
        }
        self.n_tests += 1;
        let message = message.map(str::trim).filter(|text| !text.is_empty());
        self.results
            .tests
            .entry(clip(name, NAME_BYTES_MAX))
            .or_default()
            .push(Occurrence {
                place: place
                    .filter(|place| !place.is_empty())
                    .map(|place| clip(place, NAME_BYTES_MAX)),
                status,
                message: message.map(|text| clip(text, MESSAGE_BYTES_MAX)),
            });
    }

    /// Makes sure that a name counts as failed, though perhaps no line said so.
    pub(super) fn ensure_failed(&mut self, name: &str, place: Option<&str>, message: Option<&str>) {
        if self.results.status(name.trim()) != Some(TestStatus::Failed) {
            self.add(name, place, TestStatus::Failed, message);
        }
    }

    pub(super) fn broken_file(&mut self, path: &str) {
        let path = clip(path.trim().trim_start_matches("./"), NAME_BYTES_MAX);
        let files = &mut self.results.broken_files;
        if !path.is_empty() && files.len() < BROKEN_FILES_MAX && !files.contains(&path) {
            files.push(path);
        }
    }

    pub(super) fn crashed(&mut self, place: &str) {
        let place = clip(place, NAME_BYTES_MAX);
        if self.results.crashed.len() < BROKEN_FILES_MAX && !self.results.crashed.contains(&place) {
            self.results.crashed.push(place);
        }
    }

    /// Records that something did not build; the first word on it is kept.
    pub(super) fn build_failure(&mut self, excerpt: &str) {
        if self.results.build_failure.is_none() {
            self.results.build_failure = Some(clip(excerpt.trim(), EXCERPT_BYTES_MAX));
        }
    }

    pub(super) fn doubt(&mut self, why: &str) {
        self.results
            .doubt
            .get_or_insert_with(|| clip(why, NAME_BYTES_MAX));
    }

    pub(super) fn truncated(&mut self) {
        self.results.truncated = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_tests == 0
    }

    pub(super) fn has_build_failure(&self) -> bool {
        self.results.build_failure.is_some()
    }

    pub(super) fn finish(self) -> Results {
        self.results
    }
}
