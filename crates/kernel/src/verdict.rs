//! What reviewers and judges say, as the journal keeps it.

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::criterion::criteria_left_out;
use crate::facts::ObligationKind;

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
    /// For each obligation: the criterion that asks for it.
    #[serde(default)]
    pub obliged: Vec<Obliged>,
}

/// An answer to an obligation: the criterion that asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Obliged {
    /// The obligation's subject. Old journals know tests only, and the key keeps their name.
    pub test: String,
    /// The obligation's kind; old journals have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ObligationKind>,
    /// The criterion.
    pub criterion: String,
    /// Why the criterion asks for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
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
    /// Whether it says that behaviour stays: then its tests are green before and after.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preserves: bool,
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
    /// Says whether it names existing tests for the criteria: each has some, or a reason why no machine
    /// can test it. Whether they are red now only a measurement can tell.
    pub fn names_tests_for(&self, criteria: &[String]) -> bool {
        let is_covered = |each: &&Coverage| {
            let why = each.untestable.as_ref();
            !each.tests.is_empty() || why.is_some_and(|why| !why.trim().is_empty())
        };
        let covered = self.criteria.iter().filter(is_covered);
        let has_tests = self.criteria.iter().any(|each| !each.tests.is_empty());
        has_tests
            && criteria_left_out(criteria, covered.map(|each| each.criterion.as_str())).is_empty()
    }

    /// Says whether it gives for every criterion of the story a reason why no machine can test it.
    ///
    /// What is no criterion of the story counts as nothing. A story without criteria has none that
    /// could be quoted; any reason must do there.
    pub fn nothing_is_testable(&self, criteria: &[String]) -> bool {
        if self.criteria.iter().any(|each| !each.tests.is_empty()) {
            return false;
        }
        let has_reason = |each: &&Coverage| {
            let why = each.untestable.as_ref();
            why.is_some_and(|why| !why.trim().is_empty())
        };
        let mut untestable = self.criteria.iter().filter(has_reason);
        if criteria.is_empty() {
            return untestable.next().is_some();
        }
        criteria_left_out(criteria, untestable.map(|each| each.criterion.as_str())).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_criteria_of_the_story_can_be_untestable() {
        let says = |criterion: &str, untestable: Option<&str>, tests: &[&str]| Coverage {
            criterion: criterion.to_owned(),
            tests: tests.iter().map(ToString::to_string).collect(),
            untestable: untestable.map(str::to_owned),
            ..Coverage::default()
        };
        let two = ["it works", "it is pretty"].map(str::to_owned);
        let works = || says("1. It works.", Some("no hardware"), &[]);
        let pretty = || says("it is pretty", Some("taste"), &[]);
        for (what, review, criteria, expected) in [
            ("all of them", vec![works(), pretty()], &two[..], true),
            ("one is left out", vec![works()], &two, false),
            ("one twice", vec![works(), works()], &two, false),
            (
                "one is made up",
                vec![works(), says("it is fast", Some("clocks"), &[])],
                &two,
                false,
            ),
            (
                "one more is made up",
                vec![works(), pretty(), says("it is fast", None, &[])],
                &two,
                true,
            ),
            (
                "no reason",
                vec![works(), says("it is pretty", None, &[])],
                &two,
                false,
            ),
            (
                "a blank reason",
                vec![works(), says("it is pretty", Some(" "), &[])],
                &two,
                false,
            ),
            (
                "with a test",
                vec![works(), pretty(), says("it works", None, &["t"])],
                &two,
                false,
            ),
            ("nothing said", vec![], &two, false),
            ("no criteria, a reason", vec![pretty()], &[], true),
            ("no criteria, nothing said", vec![], &[], false),
        ] {
            let review = Review {
                criteria: review,
                ..Review::default()
            };
            assert_eq!(review.nothing_is_testable(criteria), expected, "{what}");
        }
    }
}
