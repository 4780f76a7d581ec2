//! Who rejected an attempt, by what was recorded and never by its words.

use kernel::{Event, RunOutcome, Stage};
use serde::Serialize;

/// Who or what rejected an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectedBy {
    /// What was measured.
    Checks,
    /// The judge, by its verdict or because it gave none that can be used.
    Judge,
    /// The reviewer, who gave no review that can be used.
    Reviewer,
    /// What landed meanwhile: the work was proven and does not fit onto it.
    Landing,
    /// A person who was asked.
    Person,
    /// Nobody: the work itself came to nothing that anybody could look at.
    Author,
}

impl RejectedBy {
    /// Whoever rejected the attempt whose feedback this record made.
    pub(crate) fn of(event: &Event, story: &str, is_sent_back: bool) -> Self {
        match event {
            // It was measured again after it had landed.
            Event::Retracted { story: of, .. } if *of == *story => Self::Checks,
            // A judge that says no to the restacked work says more than that it had to be restacked.
            Event::RunEnded {
                outcome: RunOutcome::Judged(verdict),
                ..
            } if !verdict.pass => Self::Judge,
            Event::Answered { .. } => Self::Person,
            _ if is_sent_back => Self::Landing,
            Event::RunEnded { run, .. } => Self::of_stage(run.stage),
            _ => Self::Author,
        }
    }

    fn of_stage(stage: Stage) -> Self {
        match stage {
            // An arbiter is asked about red tests, and lets them stand.
            Stage::Baseline | Stage::Check | Stage::Confirm | Stage::Arbitrate => Self::Checks,
            Stage::Judge => Self::Judge,
            Stage::Review => Self::Reviewer,
            Stage::WriteTests | Stage::Implement | Stage::Prove => Self::Author,
        }
    }

    /// Who caught what would have landed otherwise; an author catches nothing.
    pub(crate) fn catches(self) -> Option<&'static str> {
        match self {
            Self::Checks => Some("checks"),
            Self::Judge => Some("judge"),
            Self::Reviewer => Some("reviewer"),
            Self::Landing => Some("landing"),
            Self::Person => Some("person"),
            Self::Author => None,
        }
    }
}
