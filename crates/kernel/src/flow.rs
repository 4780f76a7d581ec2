//! The flows as data: which stages a story goes through, who does each, on what, and what it must
//! answer.
//!
//! Nothing else in the product branches on a flow's name; who wants to know something asks this
//! table.

use serde::{Deserialize, Serialize};

/// The stages that a story goes through.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// Implementor and test writer at the same time, neither sees the other; then checks, review,
    /// judge.
    Quartet,
    /// Tests first, and the implementor sees them.
    Tdd,
    /// A prover checks the implementor's work and may mend it; no independent tests.
    Proof,
    /// One agent per story; the check results are the judge.
    Solo,
    /// Implementor, checks, judge: for projects that name no reviewer.
    Judged,
    /// What loops ran that were started before there were flows: `Judged` without a look at the
    /// base.
    #[default]
    Legacy,
}

/// A stage of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The project's commands run on the story's base, before any agent is paid.
    Baseline,
    /// The implementor writes code.
    Implement,
    /// The reviewer writes tests from the criteria, without any candidate.
    WriteTests,
    /// The project's commands run on the candidate.
    Check,
    /// The reviewer looks at candidate and results.
    Review,
    /// The prover looks for faults in the candidate and mends them.
    Prove,
    /// The judge decides.
    Judge,
    /// The judge says whether a test asks for what no criterion says.
    Arbitrate,
    /// What landed by a measurement that reused an earlier build is measured again, with everything
    /// built anew. It is in no flow: it follows the landing.
    Confirm,
}

/// Who does a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// No agent: the project's own commands.
    Checker,
    /// Writes the code.
    Implementor,
    /// Writes the tests and reviews.
    Reviewer,
    /// Proves and mends.
    Prover,
    /// Decides.
    Judge,
}

/// What a stage's checkout holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The commit that the story began at.
    Story,
    /// That, and the tests that were written for the story.
    StoryWithTests,
    /// What the attempt proposes.
    Candidate,
}

/// What a stage may change; everything else that it does to its checkout is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// Anything but what is reserved.
    Code,
    /// Test files.
    Tests,
    /// Nothing.
    Nothing,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRow {
    /// The role that does the stage.
    pub role: Role,
    /// What its checkout holds.
    pub base: Base,
    /// What it may change.
    pub writes: Writes,
}

/// One step of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowStep {
    /// Runs that may be under way at the same time.
    Runs(&'static [Stage]),
    /// What the test writer left becomes a commit.
    Tests,
    /// What the writers left becomes the candidate.
    Candidate,
}

use FlowStep::{Candidate, Runs, Tests};
use Stage::{Arbitrate, Baseline, Check, Confirm, Implement, Judge, Prove, Review, WriteTests};

const QUARTET: &[FlowStep] = &[
    Runs(&[Baseline]),
    Runs(&[Implement, WriteTests]),
    Tests,
    Candidate,
    Runs(&[Check]),
    Runs(&[Review]),
    Runs(&[Judge]),
];
const TDD: &[FlowStep] = &[
    Runs(&[Baseline]),
    Runs(&[WriteTests]),
    Tests,
    Runs(&[Implement]),
    Candidate,
    Runs(&[Check]),
    Runs(&[Review]),
    Runs(&[Judge]),
];
const PROOF: &[FlowStep] = &[
    Runs(&[Baseline]),
    Runs(&[Implement]),
    Candidate,
    Runs(&[Prove]),
    Candidate,
    Runs(&[Check]),
    Runs(&[Judge]),
];
const SOLO: &[FlowStep] = &[
    Runs(&[Baseline]),
    Runs(&[Implement]),
    Candidate,
    Runs(&[Check]),
];
const JUDGED: &[FlowStep] = &[
    Runs(&[Baseline]),
    Runs(&[Implement]),
    Candidate,
    Runs(&[Check]),
    Runs(&[Judge]),
];
const LEGACY: &[FlowStep] = &[
    Runs(&[Implement]),
    Candidate,
    Runs(&[Check]),
    Runs(&[Judge]),
];

/// A person has accepted a candidate: it is put onto the branch as it is now, and measured there
/// again where the branch has moved.
const ACCEPTANCE: &[FlowStep] = &[Candidate, Runs(&[Check])];

/// A skipped story is looked at again: its own tests on the branch as it is, and the judge.
const RECHECK: &[FlowStep] = &[Runs(&[Check]), Runs(&[Judge])];

impl Flow {
    /// The flows that people may choose.
    pub const CHOICES: [Self; 5] = [
        Self::Quartet,
        Self::Tdd,
        Self::Proof,
        Self::Solo,
        Self::Judged,
    ];

    /// The flow of that name.
    pub fn named(word: &str) -> Option<Self> {
        Self::CHOICES.into_iter().find(|flow| flow.word() == word)
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quartet => "quartet",
            Self::Tdd => "tdd",
            Self::Proof => "proof",
            Self::Solo => "solo",
            Self::Judged | Self::Legacy => "judged",
        }
    }

    /// Its steps; after the last one the candidate lands.
    pub fn steps(self) -> &'static [FlowStep] {
        match self {
            Self::Quartet => QUARTET,
            Self::Tdd => TDD,
            Self::Proof => PROOF,
            Self::Solo => SOLO,
            Self::Judged => JUDGED,
            Self::Legacy => LEGACY,
        }
    }

    /// The steps of a second look at a skipped story.
    pub(crate) fn recheck_steps() -> &'static [FlowStep] {
        RECHECK
    }

    /// The steps of a candidate that a person accepted.
    pub(crate) fn acceptance_steps() -> &'static [FlowStep] {
        ACCEPTANCE
    }

    /// Whether the flow has a stage.
    pub fn has(self, stage: Stage) -> bool {
        self.steps()
            .iter()
            .any(|step| matches!(step, Runs(stages) if stages.contains(&stage)))
    }

    /// A stage's row in this flow.
    pub fn row(self, stage: Stage) -> StageRow {
        let row = |role, base, writes| StageRow { role, base, writes };
        match stage {
            Baseline => row(Role::Checker, Base::Story, Writes::Nothing),
            // The implementor sees the tests only where they come first.
            Implement if self == Self::Tdd => {
                row(Role::Implementor, Base::StoryWithTests, Writes::Code)
            }
            Implement => row(Role::Implementor, Base::Story, Writes::Code),
            WriteTests => row(Role::Reviewer, Base::Story, Writes::Tests),
            Check | Confirm => row(Role::Checker, Base::Candidate, Writes::Nothing),
            Review => row(Role::Reviewer, Base::Candidate, Writes::Nothing),
            Prove => row(Role::Prover, Base::Candidate, Writes::Code),
            Judge => row(Role::Judge, Base::Candidate, Writes::Nothing),
            Arbitrate => row(Role::Judge, Base::StoryWithTests, Writes::Nothing),
        }
    }
}

impl Stage {
    /// The stage's word, as agents see it.
    pub fn word(self) -> &'static str {
        match self {
            Baseline => "baseline",
            Implement => "implement",
            WriteTests => "write-tests",
            Check => "check",
            Review => "review",
            Prove => "prove",
            Judge => "judge",
            Arbitrate => "arbitrate",
            Confirm => "confirm",
        }
    }

    /// Whether the project's commands run, and no agent.
    pub fn is_check(self) -> bool {
        matches!(self, Baseline | Check | Confirm)
    }
}

impl Role {
    /// The role's word, as agents see it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Checker => "check",
            Self::Implementor => "implementor",
            Self::Reviewer => "reviewer",
            Self::Prover => "prover",
            Self::Judge => "judge",
        }
    }
}
