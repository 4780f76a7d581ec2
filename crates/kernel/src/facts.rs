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
    /// New tests that are green on the candidate and not surely red on the base. They prove nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<Doubted>,
    /// Whether tests are known only by an exit code that is red anyway, so that no test can prove
    /// anything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Whether no check speaks for the candidate: none is green, and none tells its tests apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Older tests that the change itself made red, removed or skipped, as journals kept them before
    /// there were typed obligations. Nothing new is written here.
    pub obliged: Vec<String>,
    /// What a PASS must answer, one by one, by naming the criterion that asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obligations: Vec<Obligation>,
    /// What only a judge can weigh, with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// Checks that decide nothing, since they are red on the base and known by their exit code alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_gating: Vec<String>,
    /// Tests that were stable on the base and are not on the candidate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<String>,
    /// Why the measurement itself cannot be trusted; any entry makes it red.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub voided: Vec<String>,
    /// How many small faults in the changed lines the story's own tests noticed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutants: Option<Mutants>,
    /// Whether the measurements reused outputs of an earlier build. What landed by them is measured
    /// once more, with everything built anew, before anybody is shown it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
    /// The results in words, for the next attempt.
    pub feedback: String,
    /// The results in words, for the test writer, where its tests are at fault.
    pub for_writer: String,
    /// The whole comparison as JSON. The kernel does not look inside.
    pub evidence: String,
}

/// A test that would prove a story, were it surely red before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Doubted {
    /// The test's name.
    pub test: String,
    /// Why it proves nothing.
    pub doubt: Doubt,
}

/// Why a test that was red on the base proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// It is green there in another run.
    RedByChance,
    /// No other run there says that it is red.
    NotSeenAgain,
    /// It is green on the candidate in one run, and not in another look there.
    NotGreenAgain,
    /// It is an older test that was green, and that only the new files made red.
    OlderTest,
    /// The change has no code, only comments and blank lines: the test looks at the text of the source.
    SourceText,
}

/// Something that the measurements cannot settle: a PASS must name the criterion that asks for it.
///
/// It is known by kind and subject. The numbers that a judge answers by live in the prompt alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Obligation {
    /// What kind of thing it is.
    pub kind: ObligationKind,
    /// The test or the file that it is about.
    pub subject: String,
}

/// The kinds of obligations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObligationKind {
    /// An older test is red in its old form on the candidate's code.
    OldTestRed,
    /// An older test is gone.
    OldTestRemoved,
    /// An older test no longer runs.
    OldTestSkipped,
    /// The implementor changed the text of an older test.
    OldTestChanged,
    /// The proof rests on a file that is not known as product code: configuration, a build script, a
    /// helper of the harness.
    Harness,
    /// The proof rests on a file of the implementor's that tests stand on.
    TestSupport,
    /// A test shows that behaviour stays, and no small fault of ours turned it red.
    Characterisation,
    /// A check is red on the base and known by its exit code alone, so that nothing proves the story.
    Unproven,
}

/// Something in a candidate that a judge should look at. It decides nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Flag {
    /// What kind of thing it is.
    pub kind: FlagKind,
    /// A path, with a line number where one is known (`src/a.py:3`).
    pub place: String,
    /// What is there, in words.
    pub text: String,
}

/// The kinds of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagKind {
    /// Product code asks whether it is being tested or checked.
    SeesTests,
    /// Product code reaches into a test runner or an assertion library.
    PatchesRunner,
    /// Product code overrides equality.
    OverridesEquality,
    /// Product code reads tests, or looks whether they are there.
    ReadsTests,
    /// Product code depends on the date or the time.
    WaitsForDate,
    /// Product code depends on chance.
    Random,
    /// Product code ends its process or takes over its output.
    EndsProcess,
    /// A file that a judge cannot read: binary, too large, or with bytes that hide text.
    Unreadable,
    /// A change of configuration, build scripts or other files that are not known as product code.
    Harness,
    /// A link.
    Link,
    /// A command changed tracked files on the candidate and not on the base.
    ChangesFiles,
    /// A command left something running.
    LeftRunning,
    /// The story's own tests noticed none of the small faults in the changed lines.
    NothingNoticed,
    /// Something else about how the measurement went.
    Measurement,
}

impl FlagKind {
    /// The kind in words, for judges and people.
    pub fn words(self) -> &'static str {
        match self {
            Self::SeesTests => "asks whether it is being tested",
            Self::PatchesRunner => "reaches into a test runner or an assertion library",
            Self::OverridesEquality => "overrides equality",
            Self::ReadsTests => "reads tests or looks for them",
            Self::WaitsForDate => "depends on the date or the time",
            Self::Random => "depends on chance",
            Self::EndsProcess => "ends its process or takes over its output",
            Self::Unreadable => "cannot be read",
            Self::Harness => "is not known as product code",
            Self::Link => "is a link",
            Self::ChangesFiles => "changed tracked files while it was measured",
            Self::LeftRunning => "left something running",
            Self::NothingNoticed => "no small fault was noticed",
            Self::Measurement => "about the measurement",
        }
    }
}

/// How the story's own tests did against small faults in the changed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mutants {
    /// How many were tried.
    pub tried: u32,
    /// How many were noticed.
    pub noticed: u32,
}

impl Mutants {
    /// The count in words, for judges and people.
    pub fn words(self) -> String {
        let Self { tried, noticed } = self;
        if tried == 0 {
            return "no small fault fitted the changed lines".to_owned();
        }
        format!(
            "{noticed} of {tried} small faults in the changed lines were noticed by the story's \
             tests"
        )
    }
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
