//! How an attempt moves through its flow: what each run's end leads to.

use crate::apply::Moved;
use crate::event::{Facts, Gate, Review, RunKey, RunOutcome, RunUsage, Verdict};
use crate::flow::{Flow, FlowStep, Stage};
use crate::spec::Commit;
use crate::state::{
    Attempt, Checked, Run, RunState, State, Step, StoryProgress, Tests, TestsOrder,
};

/// Answers that cannot be used, before whoever gave them counts as having said no.
const BAD_ANSWERS_MAX: u32 = 2;

/// The longest wait after an infrastructure fault, as a multiple of the first.
const WAIT_FACTOR_MAX: i64 = 10;

/// Interruptions in a row after which the next try waits.
const INTERRUPTIONS_AT_ONCE_MAX: u32 = 3;

/// How often a story's tests may be written again before a person must look.
const REWRITES_MAX: u32 = 3;

/// Lessons of one story that are kept.
const LEARNED_MAX: usize = 8;

impl State {
    /// The run that is spoken of, which must stand as given.
    pub(crate) fn run_mut(
        &mut self,
        key: &RunKey,
        wanted: impl Fn(RunState) -> bool,
    ) -> Result<&mut Run, String> {
        let attempt = self.attempt_mut(&key.story, Some(key.attempt))?;
        let Step::Runs { lanes, .. } = &mut attempt.step else {
            return Err("the attempt is at no run".to_owned());
        };
        let lane = lanes.iter_mut().find(|lane| lane.stage == key.stage);
        let run = &mut lane
            .ok_or_else(|| format!("no {} run is owed", key.stage.word()))?
            .run;
        if run.try_number == key.try_number && wanted(run.state) {
            return Ok(run);
        }
        Err(format!(
            "the run is {} try {} ({:?})",
            key.stage.word(),
            run.try_number,
            run.state
        ))
    }

    pub(crate) fn start_run(&mut self, key: &RunKey, at_ms: i64) -> Moved {
        if !self.can_afford(key.stage) {
            return Err("what is left of the budget is less than the run may take".to_owned());
        }
        let run = self.run_mut(key, |state| state == RunState::Owed)?;
        (run.state, run.began_at_ms) = (RunState::Running, Some(at_ms));
        let earlier = run.goes_on.as_ref().map(|goes_on| goes_on.checkout_try);
        let attempt = self.attempt_mut(&key.story, None)?;
        attempt.tries.insert(key.stage, key.try_number);
        match earlier {
            Some(earlier) => attempt.worked_in.insert(key.stage, earlier),
            None => attempt.worked_in.remove(&key.stage),
        };
        Ok(())
    }

    pub(crate) fn end_run(
        &mut self,
        key: &RunKey,
        outcome: &RunOutcome,
        usage: Option<&RunUsage>,
        at_ms: i64,
    ) -> Moved {
        let (first_wait, cancelled) = (self.spec.retry_wait_ms, self.cancel.is_some());
        let limits_in_a_row = match outcome {
            RunOutcome::Infrastructure {
                elsewhere: true, ..
            } => self.count_limit(key.stage),
            RunOutcome::Infrastructure { .. } | RunOutcome::Interrupted { .. } => None,
            _ => {
                self.forget_limits(key.stage);
                None
            }
        };
        let run = self.run_mut(key, |state| state == RunState::Running)?;
        // Whatever came of it, the time is spent.
        let spent = run
            .began_at_ms
            .take()
            .map_or(0, |began| (at_ms - began).max(0));
        run.take_session(usage);
        match outcome {
            RunOutcome::Infrastructure {
                why,
                until_ms,
                elsewhere,
            } => {
                run.faults += 1;
                let faults = limits_in_a_row.unwrap_or(run.faults);
                let until_ms =
                    until_ms.unwrap_or(at_ms.saturating_add(wait_ms(first_wait, faults)));
                run.wait(until_ms, why);
                if *elsewhere {
                    self.take_limit(key.stage, until_ms);
                }
            }
            RunOutcome::Interrupted { why } => {
                run.faults += 1;
                if run.faults >= INTERRUPTIONS_AT_ONCE_MAX {
                    // A session that ends like this again and again may itself be what is wrong.
                    run.goes_on = None;
                }
                if run.faults <= INTERRUPTIONS_AT_ONCE_MAX {
                    *run = run.again();
                } else {
                    // Whatever kills it again and again is not helped by haste, and every start may
                    // cost money.
                    let faults = run.faults - INTERRUPTIONS_AT_ONCE_MAX;
                    run.wait(at_ms.saturating_add(wait_ms(first_wait, faults)), why);
                }
            }
            RunOutcome::NeedsHuman { question, free } => run.ask(question, *free),
            RunOutcome::Stopped if cancelled => run.state = RunState::Owed,
            other => {
                run.state = RunState::Ended;
                self.take_outcome(key, other)?;
            }
        }
        self.spent_ms += spent;
        Ok(())
    }

    /// What an outcome means for the stage that it is of.
    fn take_outcome(&mut self, key: &RunKey, outcome: &RunOutcome) -> Moved {
        let id = key.story.as_str();
        match (key.stage, outcome) {
            (Stage::Baseline, RunOutcome::Checked { passed: true, .. }) => self.settle(id),
            (
                Stage::Baseline,
                RunOutcome::Checked {
                    passed: false,
                    report,
                    ..
                },
            ) => {
                let question = format!(
                    "`setup` fails on the base, so no candidate could ever be checked; mend that, then answer `retry`\n{report}"
                );
                self.run_mut(key, |_| true)?.ask(&question, false);
                Ok(())
            }
            (Stage::Implement | Stage::Prove, RunOutcome::Worked { learned }) => {
                self.attempt_mut(id, None)?.implemented = true;
                let index = self.index_of(id)?;
                let room = LEARNED_MAX.saturating_sub(self.stories[index].learned.len());
                self.stories[index]
                    .learned
                    .extend(learned.iter().take(room).cloned());
                self.settle(id)
            }
            (Stage::Implement, RunOutcome::Failed { why }) => {
                self.attempt_mut(id, None)?.failure =
                    Some(format!("the implementor failed: {why}"));
                self.settle(id)
            }
            (Stage::WriteTests, RunOutcome::TestsWritten(review)) => {
                self.attempt_mut(id, None)?.written = Some(review.clone());
                self.settle(id)
            }
            (
                Stage::Check,
                RunOutcome::Checked {
                    passed,
                    report,
                    facts,
                },
            ) => {
                self.attempt_mut(id, None)?.checked = Some(Checked {
                    report: report.clone(),
                    facts: facts.clone(),
                });
                self.take_checks(id, *passed, report, facts.as_deref())
            }
            (Stage::Review, RunOutcome::Reviewed(review)) => {
                self.attempt_mut(id, None)?.review = Some(review.clone());
                self.settle(id)
            }
            (Stage::Judge, RunOutcome::Judged(verdict)) => self.take_verdict(id, verdict),
            (
                Stage::Arbitrate,
                RunOutcome::Ruled {
                    fresh_tests,
                    reason,
                },
            ) => self.take_ruling(id, *fresh_tests, reason),
            (stage, RunOutcome::BadAnswer { why } | RunOutcome::Failed { why })
                if !stage.is_check() && stage != Stage::Implement =>
            {
                self.take_bad_answer(key, why)
            }
            (stage, outcome) => Err(format!(
                "a {} run cannot end like {outcome:?}",
                stage.word()
            )),
        }
    }

    /// When nothing of this step runs any more, the next one is due.
    fn settle(&mut self, id: &str) -> Moved {
        let attempt = self.attempt_mut(id, None)?;
        if attempt
            .lanes()
            .iter()
            .any(|lane| lane.run.state != RunState::Ended)
        {
            return Ok(());
        }
        // Whose work could never be proven is not judged, and the implementor is not to blame for
        // it.
        match attempt.unwritten.take() {
            Some(why) => self.give_up(id, why),
            None => self.advance(id),
        }
    }

    /// Goes to the next step of the flow that has anything to do.
    pub(crate) fn advance(&mut self, id: &str) -> Moved {
        let index = self.index_of(id)?;
        let attempt = self.attempt_mut(id, None)?;
        let from = match attempt.step {
            Step::Runs { at, .. } => at.map_or(0, |at| at + 1),
            Step::MakeTests { at } | Step::MakeCandidate { at } => at + 1,
            _ => return Err("the attempt is at no step of its flow".to_owned()),
        };
        let attempt = attempt.clone();
        for (at, step) in attempt.steps().iter().enumerate().skip(from) {
            match step {
                FlowStep::Runs(stages) => {
                    let stages = needed(&self.stories[index], &attempt, stages);
                    if !stages.is_empty() {
                        let lanes = stages
                            .into_iter()
                            .map(|stage| self.lane(id, stage))
                            .collect::<Result<_, _>>()?;
                        return self.step(
                            id,
                            Step::Runs {
                                at: Some(at),
                                lanes,
                            },
                        );
                    }
                }
                FlowStep::Tests if attempt.written.is_some() => {
                    return self.step(id, Step::MakeTests { at });
                }
                FlowStep::Tests => {}
                FlowStep::Candidate => {
                    return match attempt.failure {
                        Some(why) => self.reject(id, why),
                        None => self.step(id, Step::MakeCandidate { at }),
                    };
                }
            }
        }
        self.accept(id)
    }

    /// The candidate went through its whole flow.
    fn accept(&mut self, id: &str) -> Moved {
        let attempt = self.attempt_mut(id, None)?;
        let commit = attempt.candidate.clone().ok_or("there is no candidate")?;
        let step = match (attempt.recheck, &attempt.ask) {
            (true, _) => Step::Announce(commit),
            (false, Some(_)) => Step::Approve(commit),
            (false, None) => Step::Integrate(commit),
        };
        self.step(id, step)
    }

    fn step(&mut self, id: &str, step: Step) -> Moved {
        self.attempt_mut(id, None)?.step = step;
        Ok(())
    }

    /// The attempt failed by its own fault; what it taught is kept.
    fn reject(&mut self, id: &str, feedback: String) -> Moved {
        self.set_candidate_aside(id)?;
        let index = self.index_of(id)?;
        self.stories[index].feedback.push(feedback);
        self.step(id, Step::Rejected)
    }

    /// No further attempt would help; a person must look.
    fn give_up(&mut self, id: &str, why: String) -> Moved {
        self.set_candidate_aside(id)?;
        self.step(id, Step::GivenUp(why))
    }

    fn set_candidate_aside(&mut self, id: &str) -> Moved {
        let index = self.index_of(id)?;
        let attempt = self.attempt_mut(id, None)?;
        let candidate = attempt.candidate.clone().filter(|_| !attempt.recheck);
        self.stories[index].rejected.extend(candidate);
        Ok(())
    }

    pub(crate) fn take_tests(
        &mut self,
        id: &str,
        number: u32,
        commit: Option<&Commit>,
        notes: &[String],
    ) -> Moved {
        let index = self.index_of(id)?;
        let attempt = self.attempt_mut(id, Some(number))?;
        if !matches!(attempt.step, Step::MakeTests { .. }) {
            return Err("no tests are owed".to_owned());
        }
        let review = attempt.written.take().unwrap_or_default();
        let story = &mut self.stories[index];
        let round = story.tests.as_ref().map_or(0, |tests| tests.round) + 1;
        story.tests = Some(Tests {
            commit: commit.cloned(),
            round,
            review,
            notes: notes.to_vec(),
        });
        story.tests_order = None;
        self.advance(id)
    }

    pub(crate) fn refuse_tests(&mut self, id: &str, number: u32, why: &str) -> Moved {
        let attempt = self.attempt_mut(id, Some(number))?;
        if !matches!(attempt.step, Step::MakeTests { .. }) {
            return Err("no tests are owed".to_owned());
        }
        self.rewrite(id, TestsOrder::Better(why.to_owned()))
    }

    /// Has the tests written again. The implementor's work stays, and nothing counts against the
    /// story.
    fn rewrite(&mut self, id: &str, order: TestsOrder) -> Moved {
        let index = self.index_of(id)?;
        self.stories[index].rewrites += 1;
        if self.stories[index].rewrites > REWRITES_MAX {
            let (TestsOrder::Repair(why) | TestsOrder::Better(why) | TestsOrder::Fresh(why)) =
                order;
            return self.give_up(
                id,
                format!("the tests for this story cannot be used: {why}"),
            );
        }
        self.stories[index].tests_order = Some(order);
        let attempt = self.attempt_mut(id, None)?;
        attempt.written = None;
        let writes = |step: &FlowStep| matches!(step, FlowStep::Runs(stages) if stages.contains(&Stage::WriteTests));
        let at = attempt
            .steps()
            .iter()
            .position(writes)
            .ok_or("the flow has no test writer")?;
        let lanes = vec![self.lane(id, Stage::WriteTests)?];
        self.step(
            id,
            Step::Runs {
                at: Some(at),
                lanes,
            },
        )
    }

    pub(crate) fn take_candidate(
        &mut self,
        id: &str,
        number: u32,
        commit: &Commit,
        notes: &[String],
        ask: Option<&String>,
    ) -> Moved {
        let attempt = self.attempt_mut(id, Some(number))?;
        if !matches!(attempt.step, Step::MakeCandidate { .. }) {
            return Err("no candidate is owed".to_owned());
        }
        (attempt.candidate, attempt.notes, attempt.ask) =
            (Some(commit.clone()), notes.to_vec(), ask.cloned());
        self.advance(id)
    }

    pub(crate) fn refuse_candidate(&mut self, id: &str, number: u32, why: &str) -> Moved {
        if !matches!(
            self.attempt_mut(id, Some(number))?.step,
            Step::MakeCandidate { .. }
        ) {
            return Err("no candidate is owed".to_owned());
        }
        self.reject(id, why.to_owned())
    }

    fn take_checks(
        &mut self,
        id: &str,
        passed: bool,
        report: &str,
        facts: Option<&Facts>,
    ) -> Moved {
        let index = self.index_of(id)?;
        let attempt = self.attempt_mut(id, None)?;
        let (flow, recheck) = (attempt.flow, attempt.recheck);
        let Some(facts) = facts else {
            return if passed {
                self.settle(id)
            } else {
                self.reject(id, red(report))
            };
        };
        let feedback = if facts.feedback.is_empty() {
            red(report)
        } else {
            facts.feedback.clone()
        };
        match facts.gate {
            // Where nobody judges, nobody can name the criterion that an older test had to give way
            // to.
            Gate::Green if !flow.has(Stage::Judge) && !facts.obliged.is_empty() => {
                self.reject(id, gave_way(&facts.obliged))
            }
            Gate::Green => self.settle(id),
            // Who saw the tests and does not fit them is at fault, and so is a branch that a story
            // is rechecked on.
            Gate::SurfaceMismatch if flow == Flow::Quartet && !recheck => {
                self.rewrite(id, TestsOrder::Repair(facts.for_writer.clone()))
            }
            Gate::NothingProven if flow.has(Stage::WriteTests) && !recheck => {
                self.rewrite(id, TestsOrder::Better(facts.for_writer.clone()))
            }
            Gate::Red | Gate::SurfaceMismatch | Gate::NothingProven => {
                let story = &mut self.stories[index];
                let same = !facts.failing.is_empty() && facts.failing == story.failing;
                story.failing.clone_from(&facts.failing);
                if same && !story.ruled && !recheck && flow.has(Stage::WriteTests) {
                    return self.ask_the_arbiter(id, feedback);
                }
                self.reject(id, feedback)
            }
        }
    }

    /// The same tests are red again: is it the work, or do the tests ask for too much?
    fn ask_the_arbiter(&mut self, id: &str, feedback: String) -> Moved {
        self.attempt_mut(id, None)?.failure = Some(feedback);
        let lanes = vec![self.lane(id, Stage::Arbitrate)?];
        self.step(id, Step::Runs { at: None, lanes })
    }

    fn take_ruling(&mut self, id: &str, fresh_tests: bool, reason: &str) -> Moved {
        let index = self.index_of(id)?;
        self.stories[index].ruled = true;
        let failure = self
            .attempt_mut(id, None)?
            .failure
            .take()
            .unwrap_or_default();
        if fresh_tests {
            self.stories[index].failing.clear();
            return self.rewrite(id, TestsOrder::Fresh(reason.to_owned()));
        }
        self.reject(id, failure)
    }

    fn take_verdict(&mut self, id: &str, verdict: &Verdict) -> Moved {
        let index = self.index_of(id)?;
        let attempt = self.attempt_mut(id, None)?;
        let commit = attempt.candidate.clone().ok_or("there is no candidate")?;
        if verdict.commit != commit {
            return Err(format!(
                "the verdict is about {}, and the candidate is {commit}",
                verdict.commit
            ));
        }
        attempt.verdict = Some(verdict.clone());
        if !verdict.pass {
            return self.reject(id, feedback_of(verdict));
        }
        let attempt = attempt.clone();
        match unexplained(&self.stories[index], &attempt, verdict) {
            Some(why) => self.reject(id, why),
            None => self.settle(id),
        }
    }

    /// Whoever cannot be understood never says yes: it is asked once more, and then it has said no.
    fn take_bad_answer(&mut self, key: &RunKey, why: &str) -> Moved {
        let id = key.story.as_str();
        let run = self.run_mut(key, |_| true)?;
        run.bad_answers += 1;
        if run.bad_answers < BAD_ANSWERS_MAX {
            *run = run.again();
            return Ok(());
        }
        match key.stage {
            Stage::WriteTests => {
                self.attempt_mut(id, None)?.unwritten =
                    Some(format!("the test writer failed: {why}"));
                self.settle(id)
            }
            // No ruling: the tests stand.
            Stage::Arbitrate => self.take_ruling(id, false, why),
            Stage::Judge => self.reject(id, format!("the judge gave no usable verdict: {why}")),
            Stage::Review => self.reject(id, format!("the reviewer gave no usable review: {why}")),
            Stage::Prove => self.reject(id, format!("the prover failed: {why}")),
            Stage::Baseline | Stage::Implement | Stage::Check => {
                Err(format!("a {} run gives no answers", key.stage.word()))
            }
        }
    }

    pub(crate) fn answer(&mut self, choice: &str) -> Moved {
        let question = self.question().ok_or("nobody asked")?;
        let index = self.index_of(&question.story)?;
        match choice {
            "cancel" => {
                self.cancel = Some("cancelled by an answer".to_owned());
                Ok(())
            }
            "skip" if question.choices.contains(&"skip") => {
                if !self.running().is_empty() {
                    return Err(
                        "another run of the story is under way; cancel, or wait for it".to_owned(),
                    );
                }
                self.give_up(
                    &question.story,
                    format!("set aside by a person, asked: {}", question.text),
                )
            }
            "approve" if question.choices.contains(&"approve") => {
                let attempt = self.attempt_mut(&question.story, None)?;
                let commit = attempt.candidate.clone().ok_or("there is no candidate")?;
                self.step(&question.story, Step::Integrate(commit))
            }
            "reject" if question.choices.contains(&"reject") => self.reject(
                &question.story,
                format!("a person refused it, asked: {}", question.text),
            ),
            "retry" if question.choices.contains(&"retry") => self.retry_asking(&question.story),
            words if question.free => {
                self.stories[index]
                    .answers
                    .push(format!("{}\n{words}", question.text));
                self.retry_asking(&question.story)
            }
            other => Err(format!(
                "`{other}` is none of {}",
                question.choices.join(", ")
            )),
        }
    }

    fn retry_asking(&mut self, id: &str) -> Moved {
        if let Step::Runs { lanes, .. } = &mut self.attempt_mut(id, None)?.step {
            for lane in lanes
                .iter_mut()
                .filter(|lane| lane.run.state == RunState::Asking)
            {
                lane.run = lane.run.again();
            }
        }
        Ok(())
    }
}

impl Run {
    pub(crate) fn wait(&mut self, until_ms: i64, why: &str) {
        (self.state, self.fault) = (RunState::Waiting { until_ms }, Some(why.to_owned()));
    }

    fn ask(&mut self, question: &str, free: bool) {
        (self.state, self.question) = (RunState::Asking, Some((question.to_owned(), free)));
    }
}

/// The stages of a step that have anything to do for this attempt.
fn needed(story: &StoryProgress, attempt: &Attempt, stages: &[Stage]) -> Vec<Stage> {
    let wanted = |stage: &&Stage| match stage {
        // The base is the same for every attempt at a story.
        Stage::Baseline => attempt.number == 1,
        Stage::Implement => !attempt.implemented,
        // Tests are written once, and stay hidden from every attempt, unless they are at fault.
        Stage::WriteTests => story.tests.is_none() || story.tests_order.is_some(),
        Stage::Check | Stage::Review | Stage::Prove | Stage::Judge | Stage::Arbitrate => true,
    };
    stages.iter().filter(wanted).copied().collect()
}

/// A PASS counts only if it says for every older test that gave way which criterion asks for that.
fn unexplained(story: &StoryProgress, attempt: &Attempt, verdict: &Verdict) -> Option<String> {
    let facts = attempt.checked.as_ref()?.facts.as_deref()?;
    let criteria = &story.spec.criteria;
    let named = |test: &String| {
        verdict.obliged.iter().any(|obliged| {
            let said = plain_words(&obliged.criterion);
            let known = criteria
                .iter()
                .any(|known| quotes(&said, &plain_words(known)));
            let is_it = obliged.test == *test || test.starts_with(&format!("{} (", obliged.test));
            is_it && !said.is_empty() && (known || criteria.is_empty())
        })
    };
    let missing: Vec<String> = facts
        .obliged
        .iter()
        .filter(|test| !named(test))
        .cloned()
        .collect();
    (!missing.is_empty()).then(|| gave_way(&missing))
}

fn gave_way(tests: &[String]) -> String {
    format!(
        "the change made older tests red, removed or skipped them, and no criterion asks for that: {}",
        tests.join(", ")
    )
}

/// The words of a sentence, whatever stands between them.
fn plain_words(text: &str) -> Vec<String> {
    let words = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether words are a criterion's own; a number or a mark may stand before them.
fn quotes(said: &[String], criterion: &[String]) -> bool {
    const MARK_WORDS_MAX: usize = 2;
    !criterion.is_empty()
        && said.ends_with(criterion)
        && said.len() - criterion.len() <= MARK_WORDS_MAX
}

fn red(report: &str) -> String {
    format!("the checks are red:\n{report}")
}

/// How long to wait after so many faults in a row.
fn wait_ms(first_wait: i64, faults: u32) -> i64 {
    let factor = 1_i64
        .checked_shl(faults.saturating_sub(1))
        .unwrap_or(WAIT_FACTOR_MAX);
    first_wait.saturating_mul(factor.clamp(1, WAIT_FACTOR_MAX))
}

/// What the next attempt is told.
fn feedback_of(verdict: &Verdict) -> String {
    let mut lines = vec![verdict.reason.clone()];
    let failed = verdict.criteria.iter().filter(|criterion| !criterion.pass);
    lines.extend(
        failed
            .map(|criterion| format!("not met: {} ({})", criterion.criterion, criterion.evidence)),
    );
    lines.extend(
        verdict
            .guidance
            .iter()
            .map(|guidance| format!("do: {guidance}")),
    );
    lines.join("\n")
}

impl Review {
    /// Whether it gives for every criterion a reason why no machine can test it.
    pub fn nothing_is_testable(&self) -> bool {
        let untestable = |coverage: &crate::event::Coverage| {
            coverage
                .untestable
                .as_ref()
                .is_some_and(|why| !why.trim().is_empty())
                && coverage.tests.is_empty()
        };
        !self.criteria.is_empty() && self.criteria.iter().all(untestable)
    }
}
