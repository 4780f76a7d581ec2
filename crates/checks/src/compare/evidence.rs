//! What was measured, and on which trees.

use serde::{Deserialize, Serialize};

use crate::results::{Format, Results};

/// Checks that run no tests: their exit code can fail a candidate, and never prove one.
const WITHOUT_TESTS: [&str; 6] = ["setup", "typecheck", "lint", "format", "fmt", "build"];

/// How often a red candidate is run again at most.
pub const RERUNS_MAX: usize = 2;

/// How often a base with new tests is run again in fresh checkouts at most, to learn whether what is red
/// there is so each time.
pub const RED_RERUNS_MAX: usize = 3;

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
    /// Files of the tree that it, or a command before it, changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
    /// Files of the tree that were written to and are what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched_files: Vec<String>,
    /// Processes that it left running and that were ended.
    #[serde(default)]
    pub n_left_running: u32,
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

/// Says whether a check of this name runs tests.
pub(super) fn has_tests(name: &str) -> bool {
    !WITHOUT_TESTS.contains(&name)
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

/// How often a base is run again at most, to learn whether it is stable.
pub const BASE_RERUNS_MAX: usize = 10;

/// Everything that is known of one candidate.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The story's base as it is.
    pub base: &'a Measurement,
    /// The same tree again, because a test was red or proved unstable.
    pub base_reruns: &'a [Measurement],
    /// The base with the writer's tests laid over it.
    pub base_with_tests: Option<&'a Measurement>,
    /// Its red checks once more in the same checkout, with the tests in question alone where the runner
    /// can.
    pub red_looks: &'a [Measurement],
    /// The same once more after the candidate was measured.
    pub late_looks: &'a [Measurement],
    /// The same tree again, in fresh checkouts, because something may be red by chance.
    pub red_reruns: &'a [Measurement],
    /// The candidate as it would land.
    pub candidate: &'a Measurement,
    /// The same tree again, in fresh checkouts, because something was red.
    pub candidate_reruns: &'a [Measurement],
    /// The story's tests once more in its checkout.
    pub candidate_looks: &'a [Measurement],
    /// The candidate's code with the base's tests and harness and exactly the writer's files; none
    /// where that is the candidate itself.
    pub proof: Option<&'a Measurement>,
    /// The proof's tree again, in fresh checkouts.
    pub proof_reruns: &'a [Measurement],
    /// The story's tests once more in its checkout.
    pub proof_looks: &'a [Measurement],
    /// The candidate's code with the base's tests and harness alone; needed where the writer changed
    /// older tests, or where something does not build.
    pub old_form: Option<&'a Measurement>,
    /// The old form's tree again.
    pub old_form_reruns: &'a [Measurement],
    /// What would land, with the base's tests and harness: measured where the candidate changes both
    /// the harness and what it reads, which could hide each other.
    pub mixed: Option<&'a Measurement>,
    /// What is known of the files.
    pub files: &'a ChangedFiles,
}

/// Who changed which files, and what they are.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub struct ChangedFiles {
    /// Whether somebody wrote tests for the story, so that one of them must prove it.
    pub demands_tests: bool,
    /// The files that the test writer made or changed.
    pub writer: Vec<String>,
    /// Those of them that the base has.
    pub writer_edited: Vec<String>,
    /// Those of them that it removed.
    pub writer_removed: Vec<String>,
    /// Those of them that hold single tests, so that a run of such a file which shows none was no
    /// run of it.
    pub suites: Vec<String>,
    /// Files with tests of the base that the implementor changed or removed. They explain why a test
    /// is gone.
    pub edited: Vec<String>,
    /// Those of them that are product code, so that the tree that proves has them changed as well.
    pub edited_code: Vec<String>,
    /// Test paths that the implementor changed or added.
    pub support: Vec<String>,
    /// Files of the writer's that decide by chance or by the time.
    pub shaky: Vec<String>,
    /// All test files of the tree that proves.
    pub tests: Vec<String>,
    /// Product files that the implementor changed or added.
    pub code: Vec<String>,
    /// Whether they differ in comments and blank lines alone, so that no code can have turned a test
    /// green.
    pub is_without_code: bool,
    /// Files of the implementor's that are not known as product code.
    pub suspects: Vec<String>,
    /// Those of them that belong to the harness, and not to what it reads.
    pub harness: Vec<String>,
    /// Older tests whose text the implementor changed or removed, by name.
    pub changed_tests: Vec<String>,
    /// Existing tests that the writer names as the story's own.
    pub acceptance: Vec<String>,
    /// Tests that the writer names as showing that behaviour stays.
    pub preserving: Vec<String>,
}

impl<'a> Evidence<'a> {
    /// The evidence of two trees.
    pub fn of(base: &'a Measurement, candidate: &'a Measurement, files: &'a ChangedFiles) -> Self {
        Self {
            base,
            base_reruns: &[],
            base_with_tests: None,
            red_looks: &[],
            late_looks: &[],
            red_reruns: &[],
            candidate,
            candidate_reruns: &[],
            candidate_looks: &[],
            proof: None,
            proof_reruns: &[],
            proof_looks: &[],
            old_form: None,
            old_form_reruns: &[],
            mixed: None,
            files,
        }
    }

    /// Says whether the candidate must be proven by tests.
    pub fn demands_tests(&self) -> bool {
        self.files.demands_tests
    }
}

/// One tree of a candidate beside its base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) base: &'a Measurement,
    pub(super) base_reruns: &'a [Measurement],
    pub(super) base_with_tests: Option<&'a Measurement>,
    pub(super) red_looks: &'a [Measurement],
    pub(super) late_looks: &'a [Measurement],
    pub(super) red_reruns: &'a [Measurement],
    pub(super) steady_looks: &'a [Measurement],
    pub(super) tree: &'a Measurement,
    pub(super) reruns: &'a [Measurement],
    pub(super) old_form: Option<&'a Measurement>,
    pub(super) old_form_reruns: &'a [Measurement],
    pub(super) files: &'a ChangedFiles,
    /// Whether the tree has the implementor's own tests and harness, while another one has the
    /// base's.
    pub(super) is_as_is: bool,
}

impl<'a> Evidence<'a> {
    /// The tree that must prove the story.
    pub(super) fn proving(&self) -> Side<'a> {
        Side {
            tree: self.proof.unwrap_or(self.candidate),
            reruns: if self.proof.is_some() {
                self.proof_reruns
            } else {
                self.candidate_reruns
            },
            steady_looks: if self.proof.is_some() {
                self.proof_looks
            } else {
                self.candidate_looks
            },
            is_as_is: false,
            ..self.as_is()
        }
    }

    /// The tree that would land, with the base's harness.
    pub(super) fn mixing(&self) -> Option<Side<'a>> {
        Some(Side {
            tree: self.mixed?,
            reruns: &[],
            is_as_is: false,
            ..self.as_is()
        })
    }

    /// The tree that would land.
    pub(super) fn as_is(&self) -> Side<'a> {
        Side {
            base: self.base,
            base_reruns: self.base_reruns,
            base_with_tests: self.base_with_tests,
            red_looks: self.red_looks,
            late_looks: self.late_looks,
            red_reruns: self.red_reruns,
            steady_looks: self.candidate_looks,
            tree: self.candidate,
            reruns: self.candidate_reruns,
            old_form: self.old_form,
            old_form_reruns: self.old_form_reruns,
            files: self.files,
            is_as_is: true,
        }
    }
}
