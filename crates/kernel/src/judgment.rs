//! What the checks' facts, the arbiter's ruling and the judge's verdict lead to.

use crate::apply::Moved;
use crate::attempt::{Checked, Code, Material, Step, TestsDraft};
use crate::event::RunKey;
use crate::facts::Facts;
use crate::flow::Stage;
use crate::gate::{Closed, Finding, Gate, Situation, gate, without_criterion};
use crate::ids::StoryId;
use crate::obliged::unanswered;
use crate::run_end::{red, take_step};
use crate::state::{Rewrite, State};
use crate::verdict::Verdict;
use crate::wishes::{Acceptance, Source};

/// Answers that cannot be used, before whoever gave them counts as having said no.
const BAD_ANSWERS_MAX: u32 = 2;

impl State {
    /// What the checks of a candidate lead to.
    pub(crate) fn take_checked(
        &mut self,
        id: &StoryId,
        passed: bool,
        report: &str,
        facts: Option<&Facts>,
    ) -> Moved {
        let candidate = self.candidate_mut(id)?;
        candidate.checked = Some(Checked {
            commit: candidate.commit.clone(),
            report: report.to_owned(),
            facts: facts.cloned().map(Box::new),
        });
        if let Source::Accepted(acceptance) = self.attempt_mut(id)?.source.clone() {
            return self.take_checked_acceptance(id, &acceptance, passed, report, facts);
        }
        if self.attempt_mut(id)?.judged.is_some() {
            return self.take_landing_check(id, passed, report, facts);
        }
        match facts {
            Some(facts) => self.take_facts(id, facts, report),
            // Commands that are known by their exit code alone, as in the first loops.
            None if passed => self.settle(id),
            None => self.reject(id, red(report)),
        }
    }

    /// What a person accepted is measured again because the branch has moved. Their reason covers what
    /// is red; without one they have not seen it.
    fn take_checked_acceptance(
        &mut self,
        id: &StoryId,
        acceptance: &Acceptance,
        passed: bool,
        report: &str,
        facts: Option<&Facts>,
    ) -> Moved {
        let is_red = match facts {
            Some(facts) => matches!(facts.finding(), Finding::Red | Finding::Unfit),
            None => !passed,
        };
        if !is_red || acceptance.reason.is_some() {
            return self.settle(id);
        }
        let by = &acceptance.by;
        let words = facts.map_or(report, |facts| &facts.feedback);
        self.give_up(
            id,
            format!(
                "{by} accepted it, but on top of what landed since it is red, which takes a reason:\n\
                 {words}"
            ),
        )
    }

    pub(crate) fn take_facts(&mut self, id: &StoryId, facts: &Facts, report: &str) -> Moved {
        let attempt = self.attempt_mut(id)?;
        let situation = Situation {
            flow: attempt.flow,
            is_recheck: attempt.is_recheck,
        };
        let for_writer = facts.for_writer.clone();
        match gate(facts, situation) {
            Gate::Open => self.settle(id),
            Gate::RepairTests => self.rewrite(id, Rewrite::Repair(for_writer), Code::Written),
            Gate::BetterTests => self.rewrite(id, Rewrite::Better(for_writer), Code::Written),
            Gate::Closed(closed) => {
                let feedback = closed
                    .words(facts)
                    .or_else(|| Some(facts.feedback.clone()).filter(|words| !words.is_empty()))
                    .unwrap_or_else(|| red(report));
                self.take_red(id, facts, closed, situation, feedback)
            }
        }
    }

    /// A closed gate rejects the attempt, unless the same tests were red before: then the arbiter
    /// is asked, once per story.
    fn take_red(
        &mut self,
        id: &StoryId,
        facts: &Facts,
        closed: Closed,
        situation: Situation,
        feedback: String,
    ) -> Moved {
        if closed == Closed::Unexplained {
            return self.reject(id, feedback);
        }
        let story = self.story_mut(id)?;
        let is_same = !facts.failing.is_empty() && facts.failing == story.failing;
        story.failing.clone_from(&facts.failing);
        let has_writer = situation.flow.has(Stage::WriteTests) && !situation.is_recheck;
        if !is_same || story.ruled || !has_writer {
            return self.reject(id, feedback);
        }
        let lane = self.lane(id, Stage::Arbitrate)?;
        match take_step(self.attempt_mut(id)?) {
            Step::Runs {
                material: Material::Candidate(candidate),
                ..
            } => self.step(
                id,
                Step::Arbitrate {
                    lane,
                    candidate,
                    feedback,
                },
            ),
            _ => Err("the attempt is not about a candidate".into()),
        }
    }

    pub(crate) fn take_ruling(&mut self, id: &StoryId, fresh_tests: bool, reason: &str) -> Moved {
        let Step::Arbitrate { feedback, .. } = &self.attempt_mut(id)?.step else {
            return Err("no ruling is owed".into());
        };
        let feedback = feedback.clone();
        let story = self.story_mut(id)?;
        story.ruled = true;
        if !fresh_tests {
            return self.reject(id, feedback);
        }
        story.failing.clear();
        self.rewrite(id, Rewrite::Fresh(reason.to_owned()), Code::Written)
    }

    pub(crate) fn take_verdict(&mut self, id: &StoryId, verdict: &Verdict) -> Moved {
        let candidate = self.candidate_mut(id)?;
        if verdict.commit != candidate.commit {
            let (judged, commit) = (&verdict.commit, &candidate.commit);
            return Err(
                format!("the verdict is about {judged}, and the candidate is {commit}").into(),
            );
        }
        candidate.verdict = Some(verdict.clone());
        if !verdict.pass {
            return self.reject(id, verdict.feedback());
        }
        // That a PASS names every criterion is not asked here but where the answer is read, in
        // `roles`: journals hold verdicts from before that law, nothing in a record tells them
        // apart, and a replay must lead where it led.
        let owed = candidate.facts().map(Facts::owed).unwrap_or_default();
        let criteria = &self.story_mut(id)?.spec.criteria;
        let missing = unanswered(owed, criteria, verdict);
        if missing.is_empty() {
            self.settle(id)
        } else {
            self.reject(id, without_criterion(&missing))
        }
    }

    /// Whoever cannot be understood never says yes: it is asked once more, and a second unusable
    /// answer is a no.
    pub(crate) fn take_bad_answer(&mut self, key: &RunKey, why: &str) -> Moved {
        let id = &key.story;
        let run = self.run_mut(key, |_| true)?;
        run.bad_answers += 1;
        run.bad_answer = Some(why.to_owned());
        if run.bad_answers < BAD_ANSWERS_MAX {
            *run = run.again();
            return Ok(());
        }
        match key.stage {
            Stage::WriteTests => {
                let failed = TestsDraft::Failed(format!("the test writer failed: {why}"));
                self.drafts_mut(id)?.tests = failed;
                self.settle(id)
            }
            // No ruling: the tests stand.
            Stage::Arbitrate => self.take_ruling(id, false, why),
            Stage::Judge => self.reject(id, format!("the judge gave no usable verdict: {why}")),
            Stage::Review => self.reject(id, format!("the reviewer gave no usable review: {why}")),
            // The prover gives no verdict, so its silence rejects nobody's work: what it left is
            // checked and judged, and the judge knows that it showed nothing.
            Stage::Prove => {
                self.candidate_mut(id)?.proof_missing = Some(why.to_owned());
                self.settle(id)
            }
            Stage::Baseline | Stage::Implement | Stage::Check | Stage::Confirm => {
                Err(format!("a {} run gives no answers", key.stage.word()).into())
            }
        }
    }
}
