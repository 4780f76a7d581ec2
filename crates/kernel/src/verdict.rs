//! What reviewers and judges say, as the journal keeps it.

use serde::{Deserialize, Serialize};

use crate::commit::Commit;

/// What a judge decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Accepted or not.
    pub pass: bool,
    /// The commit that was judged.
    pub commit: Commit,
    /// The judge's reason.
    pub reason: String,
    /// The decision on each criterion.
    pub criteria: Vec<CriterionVerdict>,
    /// What to do better.
    pub guidance: Vec<String>,
    /// For each older test that the change made red, removed or skipped: the criterion that asks
    /// for that.
    #[serde(default)]
    pub obliged: Vec<Obliged>,
}

/// An older test that had to give way, and the criterion that asks for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obliged {
    /// The test's name.
    pub test: String,
    /// The criterion.
    pub criterion: String,
}

/// What a judge says of one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionVerdict {
    /// The criterion.
    pub criterion: String,
    /// Met or not.
    pub pass: bool,
    /// How one can tell.
    #[serde(default)]
    pub evidence: String,
}

/// What a reviewer says: at `write-tests` of its own tests, at `review` of the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    /// The review in a sentence or two.
    pub summary: String,
    /// How each criterion is tested.
    pub criteria: Vec<Coverage>,
    /// What the judge should look at.
    pub findings: Vec<String>,
}

/// How one criterion is tested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// The criterion.
    pub criterion: String,
    /// The tests that cover it.
    pub tests: Vec<String>,
    /// Those of them whose names and output no implementor is shown.
    pub held_back: Vec<String>,
    /// Why no machine can test it, where none can.
    pub untestable: Option<String>,
}

/// What a prover shows of its work: enough for somebody else to see the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Proof {
    /// What it checked.
    pub checked: Vec<String>,
    /// What it found wrong.
    pub found: Vec<String>,
    /// What it mended.
    pub mended: Vec<String>,
    /// How to see it: commands to run, places to look at.
    pub see: Vec<String>,
}

impl Verdict {
    /// What the next attempt is told: the whole judgment. What is met must stay so, and an
    /// implementor who does not know it may break it.
    pub(crate) fn feedback(&self) -> String {
        let mut lines = vec![self.reason.clone()];
        let (met, unmet): (Vec<_>, Vec<_>) =
            self.criteria.iter().partition(|criterion| criterion.pass);
        for (word, criteria) in [("not met", unmet), ("met", met)] {
            lines.extend(criteria.iter().map(|each| match each.evidence.as_str() {
                "" => format!("{word}: {}", each.criterion),
                evidence => format!("{word}: {} ({evidence})", each.criterion),
            }));
        }
        lines.extend(
            self.guidance
                .iter()
                .map(|guidance| format!("do: {guidance}")),
        );
        lines.join("\n")
    }
}

impl Review {
    /// Whether it gives for every criterion a reason why no machine can test it.
    pub fn nothing_is_testable(&self) -> bool {
        let is_untestable = |coverage: &Coverage| {
            let has_reason = coverage
                .untestable
                .as_ref()
                .is_some_and(|why| !why.trim().is_empty());
            has_reason && coverage.tests.is_empty()
        };
        !self.criteria.is_empty() && self.criteria.iter().all(is_untestable)
    }
}
