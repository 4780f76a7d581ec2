//! What the checks measured, as types. What follows from it is decided in `gate` and nowhere else.

use serde::{Deserialize, Serialize};

/// What the project's commands showed of a candidate, beside the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent thing that was measured"
)]
pub struct Facts {
    /// The decision that was stored with the facts before the kernel made it itself. Only records
    /// of old journals have one, and it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<StoredGate>,
    /// Whether the fields below were measured. Facts that say nothing are never green.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub measured: bool,
    /// Whether the project could be prepared.
    #[serde(skip_serializing_if = "Setup::is_fine")]
    pub setup: Setup,
    /// Whether the new tests do not build on the candidate, which builds without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfit_tests: bool,
    /// Older tests that were green and are red, gone or skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
    /// New tests that are red on the candidate.
    pub failing: Vec<String>,
    /// Whole checks that are red for no single test's fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<String>,
    /// Whether new tests were written for the story, so that one of them must prove it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub demands_proof: bool,
    /// New tests that are red on the base and green on the candidate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proven: Vec<String>,
    /// Whether tests are known only by an exit code that is red anyway, so that no test can prove
    /// anything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Whether no check speaks for the candidate: none is green, and none tells its tests apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Older tests that the change itself made red, removed or skipped.
    pub obliged: Vec<String>,
    /// The results in words, for the next attempt.
    pub feedback: String,
    /// The results in words, for the test writer, where its tests are at fault.
    pub for_writer: String,
    /// The whole comparison as JSON. The kernel does not look inside.
    pub evidence: String,
}

/// Whether the project could be prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setup {
    /// It could, or needs no preparation.
    #[default]
    Fine,
    /// Its setup fails with the candidate.
    Failed,
}

impl Setup {
    // Serde hands a reference to whatever decides on skipping.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the form that serde asks for"
    )]
    fn is_fine(&self) -> bool {
        *self == Self::Fine
    }
}

/// A decision as old journals store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoredGate {
    /// The candidate may be judged.
    Green,
    /// It may not.
    Red,
    /// The new tests do not fit the candidate's names.
    SurfaceMismatch,
    /// No new test is red on the base.
    NothingProven,
}
