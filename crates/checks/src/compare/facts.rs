//! What a comparison found.

use kernel::Obligation;
use serde::{Deserialize, Serialize};

/// Most names in any one list; what is left out is counted.
pub const NAMES_MAX: usize = 200;

/// A project that could not be prepared, so that nothing was measured.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct SetupFailed {
    /// It fails on the base as well, so it is not the candidate's fault.
    pub on_base: bool,
    /// The end of its output.
    pub excerpt: String,
}

/// A test or a check that is red.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Its name.
    pub name: String,
    /// A bounded excerpt of what it said.
    pub message: String,
}

/// A measurement that would make the facts surer.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// The tree that proves once more in a fresh checkout, since a red may be chance.
    Rerun,
    /// The tree that would land once more, for the same reason.
    RerunAsIs,
    /// The base once more, since a test that was stable there is not on the candidate.
    BaseRerun,
    /// The base with the new tests once more, since what is red there may be so by chance.
    RedAgain,
    /// The candidate's code with the base's tests alone, to tell whose fault it is that something
    /// does not build.
    OldForm,
}

/// Everything that the measurements say about one candidate. What follows from it is the kernel's to
/// decide, by its gate.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Comparison {
    /// The setup that failed, if one did.
    pub setup_failed: Option<SetupFailed>,
    /// What the build said of new tests that do not build on the candidate, which builds without
    /// them.
    pub unfit_tests: Option<String>,
    /// Whether tests were written for the story, so that one of them must prove it.
    pub demands_tests: bool,
    /// New tests that are red on the base and green on the candidate.
    pub fail_to_pass: Vec<String>,
    /// New tests that were red on the base once and were not yet seen so again. They prove nothing.
    pub unconfirmed: Vec<String>,
    /// New tests that are red in one run of the base and green in another. They prove nothing.
    pub by_chance: Vec<String>,
    /// New tests that are red on the base each time, and were green on the candidate in one run and not in
    /// another look. They prove nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsteady: Vec<String>,
    /// Older tests that nobody changed, red on the base with the new tests alone. They prove nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_red: Vec<String>,
    /// Tests that turned green although the change has no code: they look at the text of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_text: Vec<String>,
    /// None of them was red by what it asserts: on the base they did not build, or a whole command
    /// was red anyway.
    pub weak: bool,
    /// The proof is a whole command's exit code.
    pub by_exit_code: bool,
    /// New tests that are not red on the base. They prove nothing.
    pub vacuous: Vec<String>,
    /// Tests that the writer names as showing that behaviour stays, green on base and candidate.
    pub preserved: Vec<String>,
    /// How many tests (or checks, where only exit codes are known) were green and stayed so.
    pub pass_to_pass: usize,
    /// Green before, red, gone or skipped now.
    pub broken: Vec<Failing>,
    /// New tests that are not green on the candidate.
    pub new_failing: Vec<Failing>,
    /// Whole checks that are red on the candidate for no single test's fault.
    pub failed_checks: Vec<Failing>,
    /// What a PASS must answer.
    pub obligations: Vec<Obligation>,
    /// Tests that were stable on the base and are red in one run and green in another of the
    /// candidate.
    pub unstable: Vec<String>,
    /// Red before and red now.
    pub known_red: Vec<String>,
    /// Red before and green now.
    pub fixed: Vec<String>,
    /// Red in one run and green in another, on the base as well. They neither fail nor prove.
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

impl Comparison {
    /// The same in the kernel's words, as far as single lists go.
    pub fn facts(&self) -> kernel::Facts {
        let names = |failing: &[Failing]| {
            let names = failing.iter().map(|failing| failing.name.clone());
            names.collect()
        };
        kernel::Facts {
            measured: true,
            setup: match self.setup_failed {
                Some(_) => kernel::Setup::Failed,
                None => kernel::Setup::Fine,
            },
            unfit_tests: self.unfit_tests.is_some(),
            broken: names(&self.broken),
            failing: names(&self.new_failing),
            failed_checks: names(&self.failed_checks),
            demands_proof: self.demands_tests,
            proven: self.fail_to_pass.clone(),
            doubted: self.doubted(),
            obligations: self.obligations.clone(),
            not_gating: self.not_gating.clone(),
            unstable: self.unstable.clone(),
            ..kernel::Facts::default()
        }
    }

    fn doubted(&self) -> Vec<kernel::Doubted> {
        let doubted = |doubt| {
            move |test: &String| kernel::Doubted {
                test: test.clone(),
                doubt,
            }
        };
        let by_chance = self.by_chance.iter();
        let by_chance = by_chance.map(doubted(kernel::Doubt::RedByChance));
        let unconfirmed = self.unconfirmed.iter();
        let unconfirmed = unconfirmed.map(doubted(kernel::Doubt::NotSeenAgain));
        let unsteady = self.unsteady.iter();
        let unsteady = unsteady.map(doubted(kernel::Doubt::NotGreenAgain));
        let made_red = self.made_red.iter();
        let made_red = made_red.map(doubted(kernel::Doubt::OlderTest));
        let unsure = by_chance.chain(unconfirmed).chain(unsteady);
        let by_text = self.by_text.iter();
        let by_text = by_text.map(doubted(kernel::Doubt::SourceText));
        unsure.chain(made_red).chain(by_text).collect()
    }

    /// What was found, in one word.
    pub fn finding(&self) -> kernel::Finding {
        self.facts().finding()
    }
}
