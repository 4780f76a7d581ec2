//! What was measured, and on which trees.

use serde::{Deserialize, Serialize};

use crate::results::{Format, Results};

/// How often a red candidate is run again at most.
pub const RERUNS_MAX: usize = 2;

/// One check, run once.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// `setup`, `typecheck`, `lint`, `test`.
    pub name: String,
    /// `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// It was ended because it took too long.
    pub timed_out: bool,
    /// What it said, test by test.
    pub results: Results,
    /// The bounded end of its output.
    pub excerpt: String,
    /// In whose words it was read, where that is known.
    #[serde(default)]
    pub format: Option<Format>,
}

impl Measured {
    /// Says whether the command itself was content.
    pub fn is_green(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    /// Says whether it is red because something did not compile, import or collect, and no test
    /// ran.
    pub fn did_not_build(&self) -> bool {
        !self.is_green()
            && !self.timed_out
            && self.results.build_failure.is_some()
            && !self.results.is_per_test()
    }

    /// Says whether it is red although nothing that it listed explains that.
    pub(super) fn is_red_without_reason(&self) -> bool {
        !self.is_green()
            && !self.timed_out
            && !self.results.has_failed()
            && self.results.build_failure.is_none()
    }

    /// Says whether it ended before its tests could all be heard.
    pub(super) fn is_cut_short(&self) -> bool {
        self.timed_out || self.did_not_build() || (!self.is_green() && !self.results.is_per_test())
    }
}

/// All checks of one tree, in their order.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    /// The checks that ran.
    pub checks: Vec<Measured>,
}

impl Measurement {
    /// The check of this name.
    pub fn check(&self, name: &str) -> Option<&Measured> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// Everything that is known of one candidate. Tests are demanded where `base_with_tests` is given
/// or `writer_files` is not empty; a flow without a test writer leaves both out.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The story's base as it is.
    pub base: &'a Measurement,
    /// The base with the writer's tests laid over it.
    pub base_with_tests: Option<&'a Measurement>,
    /// The candidate with the writer's tests laid over it.
    pub candidate: &'a Measurement,
    /// The same tree again, because something was red.
    pub candidate_reruns: &'a [Measurement],
    /// The candidate without the writer's tests; needed only where something does not build or
    /// type-check.
    pub candidate_without_tests: Option<&'a Measurement>,
    /// The candidate with all test files as they are on the base; needed only where the implementor
    /// edited such files.
    pub candidate_with_base_tests: Option<&'a Measurement>,
    /// The files that the test writer made or changed.
    pub writer_files: &'a [String],
    /// Those of them that hold single tests, so that a run of such a file which shows none was no
    /// run of it.
    pub suite_files: &'a [String],
    /// The files of the base that the implementor changed or removed. They explain why a test is
    /// gone.
    pub edited_files: &'a [String],
}

impl<'a> Evidence<'a> {
    /// The evidence of a flow without a test writer.
    pub fn without_writer(base: &'a Measurement, candidate: &'a Measurement) -> Self {
        Self {
            base,
            base_with_tests: None,
            candidate,
            candidate_reruns: &[],
            candidate_without_tests: None,
            candidate_with_base_tests: None,
            writer_files: &[],
            suite_files: &[],
            edited_files: &[],
        }
    }

    /// Says whether the candidate must be proven by new tests.
    pub fn demands_tests(&self) -> bool {
        self.base_with_tests.is_some() || !self.writer_files.is_empty()
    }
}
