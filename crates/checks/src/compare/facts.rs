//! What a comparison found.

use serde::{Deserialize, Serialize};

/// Most names in any one list; what is left out is counted.
pub const NAMES_MAX: usize = 200;

/// What the facts allow.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", tag = "gate")]
pub enum Gate {
    /// Nothing that was green is red, and where tests are demanded at least one proves the change.
    Green,
    /// Something that was green is red, or a new test is.
    Red,
    /// The new tests do not build on the candidate, which builds without them. It is the tests that
    /// must be mended.
    SurfaceMismatch {
        /// What the compiler, the type checker or the runner said.
        excerpt: String,
    },
    /// No new test is red on the base and green on the candidate.
    NothingProven,
    /// The project could not be prepared, so nothing was measured.
    SetupFailed {
        /// It fails on the base as well, so it is not the candidate's fault.
        on_base: bool,
        /// The end of its output.
        excerpt: String,
    },
}

/// A test or a check that is red.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Its name.
    pub name: String,
    /// A bounded excerpt of what it said.
    pub message: String,
}

/// How an old test differs.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// As it stood on the base, it is red on the candidate.
    Red,
    /// It is gone.
    Removed,
    /// It no longer runs.
    Skipped,
}

/// An old test whose edit must be obliged by a criterion.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub how: How,
}

/// A measurement that would make the facts surer.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// The candidate once more, since a red may be flaky.
    Rerun,
    /// The candidate without the new tests, to tell whose fault it is that something does not
    /// build.
    CandidateWithoutTests,
}

/// Everything that the measurements say about one candidate.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What they allow.
    #[serde(flatten)]
    pub gate: Gate,
    /// New tests that are red on the base and green on the candidate.
    pub fail_to_pass: Vec<String>,
    /// None of them was red by what it asserts: on the base they did not build, or a whole command
    /// was red anyway.
    pub weak: bool,
    /// The proof is a whole command's exit code.
    pub by_exit_code: bool,
    /// New tests that are not red on the base. They prove nothing.
    pub vacuous: Vec<String>,
    /// How many tests (or checks, where only exit codes are known) were green and stayed so.
    pub pass_to_pass: usize,
    /// Green before, red, gone or skipped now.
    pub broken: Vec<Failing>,
    /// New tests that are not green on the candidate.
    pub new_failing: Vec<Failing>,
    /// Whole checks that are red on the candidate for no single test's fault.
    pub failed_checks: Vec<Failing>,
    /// Old tests that the candidate edited so that their old form no longer holds. The judge must
    /// name a criterion.
    pub obliged: Vec<Changed>,
    /// The old tests, in their old form, do not build on the candidate, so they could not be
    /// compared.
    pub old_tests_do_not_build: Option<String>,
    /// Red before and red now.
    pub known_red: Vec<String>,
    /// Red before and green now.
    pub fixed: Vec<String>,
    /// Red in one run and green in another of the same tree. They neither fail nor prove.
    pub flaky: Vec<String>,
    /// Checks that were red before and are known only by their exit code. They decide nothing,
    /// which must be said loudly.
    pub not_gating: Vec<String>,
    /// What else should be known.
    pub notes: Vec<String>,
    /// What to measure before this is taken as the last word.
    pub wanted: Vec<Wanted>,
    /// How many names the bounded lists left out.
    pub n_left_out: usize,
}

impl Facts {
    /// Says whether the facts allow a PASS. They never give one.
    pub fn is_green(&self) -> bool {
        self.gate == Gate::Green
    }
}
