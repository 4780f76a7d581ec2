//! The form of a story's report.

use kernel::{Facts, Flag, Mutants, ObligationKind, Proof, Review, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::form::{moment, moment_or_null};
use crate::rejected_by::RejectedBy;

/// One story with all its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryReport {
    /// The loop.
    pub loop_id: String,
    /// The story's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The way that it goes.
    pub flow: &'static str,
    /// `pending`, `running`, `passed`, `skipped` or `blocked`.
    pub status: &'static str,
    /// In the words of the `proof` flow: pending, implementing, proving, judging, done or blocked.
    pub phase: &'static str,
    /// What failed, in one line, where the last attempt that ended was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// Why it ended so, where it did not pass.
    pub reason: String,
    /// The accepted commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// Criterion by criterion, with what is known from the last attempt.
    pub criteria: Vec<CriterionReport>,
    /// What a judge should look at in the last attempt's candidate.
    pub flags: Vec<Flag>,
    /// What a PASS for the last attempt's candidate must answer.
    pub obligations: Vec<ObligationReport>,
    /// How the story's tests did against small faults in the changed lines of that candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutants: Option<Mutants>,
    /// Every attempt.
    pub attempts: Vec<AttemptReport>,
    /// Every question that a person was asked, oldest first, with what became of it.
    pub questions: Vec<AskedReport>,
    /// Tokens of all its runs, as far as they were told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What its runs cost in dollars, as far as it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Runs of agents that did not tell their cost.
    pub runs_of_unknown_cost: u32,
}

impl StoryReport {
    /// The attempt that decided how the story stands: the last one that was rejected. A second look
    /// at the branch comes later and says less.
    pub fn rejected(&self) -> Option<&AttemptReport> {
        rejected(&self.attempts)
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedReport {
    /// The attempt that asked.
    pub attempt: u32,
    /// The stage whose run asked; none where the loop itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
    /// The agent that asked; checks have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What was asked.
    pub text: String,
    /// When, in milliseconds since 1970.
    #[serde(rename = "askedAt", serialize_with = "moment")]
    pub asked_at_ms: i64,
    /// What was answered, in the person's own words or by one of the choices. A question that was
    /// overtaken, such as by a cancel, has none.
    pub answer: Option<String>,
    /// When it was answered, in milliseconds since 1970.
    #[serde(
        rename = "answeredAt",
        serialize_with = "moment_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub answered_at_ms: Option<i64>,
    /// Whether it can be answered now.
    #[serde(rename = "open")]
    pub is_open: bool,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionReport {
    /// Its words.
    pub criterion: String,
    /// The tests that cover it.
    pub tests: Vec<String>,
    /// Why no machine can test it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// How it stands: `proven` by its own tests, `judged`, only `checked` where nobody judges, or
    /// `passed` before the loop; `met`, `not met` or `open` while its story has not passed. Of a story
    /// that was skipped nothing is `met`.
    pub standing: &'static str,
    /// Whether the last rejected attempt failed it, by its own tests or by the judge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether the judge found it met; nothing while nobody judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// How one can tell.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// Something that a PASS must answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObligationReport {
    /// The number in the judge's prompt; obligations that are answered together share one.
    pub id: String,
    /// What kind of thing it is.
    pub kind: ObligationKind,
    /// The test or the file that it is about.
    pub subject: String,
    /// The judge's answer, where it names a criterion of the story.
    pub answer: Option<AnswerReport>,
    /// The same in a sentence, for people; those who read JSON have kind and subject.
    #[serde(skip)]
    pub words: String,
}

/// A judge's answer to an obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerReport {
    /// The criterion that asks for it.
    pub criterion: String,
    /// Why it does.
    pub why: String,
}

/// One attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptReport {
    /// From 1.
    pub number: u32,
    /// Whether it only looked again at a skipped story.
    pub recheck: bool,
    /// Who implemented.
    pub implementor: String,
    /// Who judged.
    pub judge: String,
    /// The commit that it began at.
    pub base_sha: String,
    /// What it proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_sha: Option<String>,
    /// The commit that was judged, where the candidate was put onto what landed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_sha: Option<String>,
    /// What happened to the tests: written, mended, refused.
    pub tests: Vec<String>,
    /// How the candidate met what landed since it was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub landing: Vec<String>,
    /// What is to be known of how the candidate was made.
    pub notes: Vec<String>,
    /// What the checks showed on the commit that it began at, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checks: String,
    /// What the checks showed, as data.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub evidence: Value,
    /// The facts that the gate decided on. What people need of them is shown with the story.
    #[serde(skip)]
    pub facts: Option<Box<Facts>>,
    /// The candidate on top of what landed since it was made, and what was measured there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restacked: Option<RestackReport>,
    /// What the prover checked, found and mended, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What the reviewer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// What the judge said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What the arbiter said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<String>,
    /// The attempt whose candidate a person accepted here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_attempt: Option<u32>,
    /// Who accepted it, and why, where a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// The candidate that they accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_sha: Option<String>,
    /// `passed`, `rejected`, `set aside`, `not finished` where the loop ended first, or nothing while
    /// it is under way.
    pub ended: &'static str,
    /// Who or what rejected it, where it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_by: Option<RejectedBy>,
    /// Why it was rejected, in one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// Why it was rejected: what the next attempt was told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feedback: String,
}

/// A candidate that was put onto what landed since it was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestackReport {
    /// The commit that it stands on now.
    pub base_sha: String,
    /// The commit that it is now.
    pub commit_sha: String,
    /// What the checks showed there, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checks: String,
    /// What the checks showed there, as data.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub evidence: Value,
    /// The facts that the gate decided on.
    #[serde(skip)]
    pub facts: Option<Box<Facts>>,
}

impl AttemptReport {
    /// The commit that the candidate stands on: its own parent.
    pub fn parent_sha(&self) -> &str {
        let restacked = self.restacked.as_ref();
        restacked.map_or(&self.base_sha, |restacked| &restacked.base_sha)
    }

    /// What was measured last.
    pub(crate) fn last_facts(&self) -> Option<&Facts> {
        let restacked = self.restacked.as_ref();
        let restacked = restacked.and_then(|restacked| restacked.facts.as_deref());
        restacked.or(self.facts.as_deref())
    }

    /// What the verdict is about: a judge may have been asked again on top of what landed.
    pub(crate) fn judged_facts(&self) -> Option<&Facts> {
        let is_judged_there = |restacked: &&RestackReport| {
            let verdict = self.verdict.as_ref();
            verdict.is_some_and(|verdict| verdict.commit.as_str() == restacked.commit_sha)
        };
        let restacked = self.restacked.as_ref().filter(is_judged_there);
        let restacked = restacked.and_then(|restacked| restacked.facts.as_deref());
        restacked.or(self.facts.as_deref()).or(self.last_facts())
    }
}

pub(crate) fn rejected(attempts: &[AttemptReport]) -> Option<&AttemptReport> {
    let mut last_first = attempts.iter().rev();
    last_first.find(|attempt| attempt.ended == "rejected" && !attempt.recheck)
}
