//! What the start and the end of a run lead to: the one table of an attempt's moves through its
//! flow.

use crate::apply::{Moved, Refused};
use crate::attempt::{
    Attempt, Author, Candidate, Code, Drafts, LastTry, Material, Step, TestsDraft,
};
use crate::commit::Commit;
use crate::event::{Event, RunKey};
use crate::flow::{FlowStep, Stage};
use crate::ids::StoryId;
use crate::lane::{Lane, Run, RunState};
use crate::outcome::{InterruptCause, RunOutcome, RunUsage};
use crate::state::{Rewrite, State, StoryProgress, Tests};
use crate::wishes::{Rejected, Source};

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
        wanted: impl Fn(&RunState) -> bool,
    ) -> Result<&mut Run, Refused> {
        let attempt = self.numbered_mut(&key.story, key.attempt)?;
        let mut lanes = attempt.lanes_mut().iter_mut();
        let Some(lane) = lanes.find(|lane| lane.stage == key.stage) else {
            return Err(format!("no {} run is owed", key.stage.word()).into());
        };
        let run = &mut lane.run;
        if run.try_number == key.try_number && wanted(&run.state) {
            return Ok(run);
        }
        let (stage, number) = (key.stage.word(), run.try_number);
        let stands = run.state.word();
        Err(format!("the run of {stage}, try {number}, is {stands}").into())
    }

    pub(crate) fn start_run(&mut self, key: &RunKey, at_ms: i64) -> Moved {
        if !self.can_afford(key.stage) {
            return Err("what is left of the budget is less than the run may take".into());
        }
        self.expect_turn_to_confirm(key)?;
        let run = self.run_mut(key, |state| *state == RunState::Owed)?;
        run.state = RunState::Running { since_ms: at_ms };
        let checkout_try = run
            .resume
            .as_ref()
            .map_or(key.try_number, |resume| resume.checkout_try);
        let tries = &mut self.attempt_mut(&key.story)?.tries;
        let before = tries.get(&key.stage);
        let started = LastTry {
            number: key.try_number,
            checkout_try,
            has_outgrown: before.is_some_and(|before| before.has_outgrown),
        };
        tries.insert(key.stage, started);
        Ok(())
    }

    pub(crate) fn end_run(
        &mut self,
        key: &RunKey,
        outcome: &RunOutcome,
        usage: Option<&RunUsage>,
        at_ms: i64,
    ) -> Moved {
        let first_wait = self.spec.retry_wait_ms;
        // A stop is asked for by a cancel, by what a person wants of the story, or because what it
        // builds on was taken back.
        let story = self.story_mut(&key.story)?;
        let is_overtaken = story.wish.is_some() || story.is_recalled;
        let is_asked_for = self.cancel.is_some() || is_overtaken;
        let limits_in_a_row = self.note_limit(key, outcome);
        let run = self.run_mut(key, |state| matches!(state, RunState::Running { .. }))?;
        // Whatever came of it, the time is spent.
        let spent_ms = match run.state {
            RunState::Running { since_ms } => (at_ms - since_ms).max(0),
            _ => 0,
        };
        run.take_session(usage);
        match outcome {
            RunOutcome::Infrastructure {
                why,
                until_ms,
                elsewhere,
                cause,
            } => {
                run.faults += 1;
                let faults = limits_in_a_row.unwrap_or(run.faults);
                let until_ms =
                    until_ms.unwrap_or(at_ms.saturating_add(wait_ms(first_wait, faults)));
                run.wait(at_ms, until_ms, *cause, why);
                if *elsewhere {
                    self.take_limit(key, until_ms);
                }
            }
            RunOutcome::Interrupted { why, cause } => {
                run.interrupt(why, first_wait, at_ms);
                if *cause == InterruptCause::Outgrown {
                    self.note_outgrown(key)?;
                }
            }
            RunOutcome::NeedsHuman { question, free } => run.ask(question, *free),
            RunOutcome::Stopped if is_asked_for => run.state = RunState::Owed,
            other => {
                run.state = RunState::Ended;
                self.take_outcome(key, other)?;
            }
        }
        self.spent_ms += spent_ms;
        self.leave_queue_if_held(&key.story)
    }

    /// A fresh session may help once. The next overflow is the story's own size, so the stage must
    /// remember the first.
    fn note_outgrown(&mut self, key: &RunKey) -> Moved {
        if let Some(last) = self.attempt_mut(&key.story)?.tries.get_mut(&key.stage) {
            last.has_outgrown = true;
        }
        Ok(())
    }

    /// What an outcome means for the stage that it is of.
    fn take_outcome(&mut self, key: &RunKey, outcome: &RunOutcome) -> Moved {
        let id = &key.story;
        match (key.stage, outcome) {
            (Stage::Baseline, RunOutcome::Checked { passed, report, .. }) => {
                self.take_baseline(key, *passed, report)
            }
            (Stage::Implement, RunOutcome::Worked { learned, .. }) => {
                self.drafts_mut(id)?.code = Code::Written;
                self.learn(id, learned)?;
                self.settle(id)
            }
            (Stage::Prove, RunOutcome::Worked { learned, proof }) => {
                self.learn(id, learned)?;
                self.candidate_mut(id)?.proof.clone_from(proof);
                self.settle(id)
            }
            (Stage::Implement, RunOutcome::Failed { why }) => {
                self.drafts_mut(id)?.code = Code::Failed(format!("the implementor failed: {why}"));
                self.settle(id)
            }
            (Stage::WriteTests, RunOutcome::TestsWritten(review)) => {
                self.drafts_mut(id)?.tests = TestsDraft::Written(review.clone());
                self.settle(id)
            }
            (
                Stage::Check,
                RunOutcome::Checked {
                    passed,
                    report,
                    facts,
                },
            ) => self.take_checked(id, *passed, report, facts.as_deref()),
            (
                Stage::Confirm,
                RunOutcome::Checked {
                    passed,
                    report,
                    facts,
                },
            ) => self.take_confirmation(id, *passed, report, facts.as_deref()),
            (Stage::Review, RunOutcome::Reviewed(review)) => {
                self.candidate_mut(id)?.review = Some(review.clone());
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
            (stage, outcome) => {
                let (stage, outcome) = (stage.word(), outcome.word());
                Err(format!("a run of {stage} cannot end as `{outcome}`").into())
            }
        }
    }

    /// Only a setup that fails is a reason to stop: no candidate could ever be checked.
    fn take_baseline(&mut self, key: &RunKey, passed: bool, report: &str) -> Moved {
        if passed {
            self.story_mut(&key.story)?.has_baseline = true;
            return self.settle(&key.story);
        }
        let question = format!(
            "`setup` fails on the base, so no candidate could ever be checked; mend that, then \
             answer `retry`\n{report}"
        );
        self.run_mut(key, |_| true)?.ask(&question, false);
        Ok(())
    }

    pub(crate) fn drafts_mut(&mut self, id: &StoryId) -> Result<&mut Drafts, Refused> {
        match &mut self.attempt_mut(id)?.step {
            Step::Runs {
                material: Material::Drafts(drafts),
                ..
            } => Ok(drafts),
            _ => Err("the attempt has its candidate already".into()),
        }
    }

    pub(crate) fn candidate_mut(&mut self, id: &StoryId) -> Result<&mut Candidate, Refused> {
        match &mut self.attempt_mut(id)?.step {
            Step::Runs {
                material: Material::Candidate(candidate),
                ..
            } => Ok(candidate),
            _ => Err("the attempt is not about a candidate".into()),
        }
    }

    fn learn(&mut self, id: &StoryId, learned: &[String]) -> Moved {
        let known = &mut self.story_mut(id)?.learned;
        let room = LEARNED_MAX.saturating_sub(known.len());
        known.extend(learned.iter().take(room).cloned());
        Ok(())
    }

    /// When nothing of this step runs any more, the next one is due.
    pub(crate) fn settle(&mut self, id: &StoryId) -> Moved {
        let attempt = self.attempt_mut(id)?;
        if attempt.lanes().iter().any(Lane::is_open) {
            return Ok(());
        }
        match take_step(attempt) {
            Step::Runs { at, material, .. } => self.enter(id, at + 1, material),
            _ => Err("the attempt is at no step of its flow".into()),
        }
    }

    /// Goes to the next step of the flow that has anything to do.
    pub(crate) fn enter(&mut self, id: &StoryId, from: usize, material: Material) -> Moved {
        if let Material::Drafts(Drafts {
            tests: TestsDraft::Failed(why),
            ..
        }) = &material
        {
            // Whose work could never be proven is not judged, and the implementor is not to blame
            // for it.
            let why = why.clone();
            return self.give_up(id, why);
        }
        let steps = self.attempt_mut(id)?.steps();
        for (at, step) in steps.iter().enumerate().skip(from) {
            match (step, &material) {
                (FlowStep::Runs(stages), _) => {
                    let story = self.story_mut(id)?;
                    let stages = needed(story, &material, stages);
                    if !stages.is_empty() {
                        return self.enter_runs(id, at, &stages, material);
                    }
                }
                (
                    FlowStep::Tests,
                    Material::Drafts(Drafts {
                        code,
                        tests: TestsDraft::Written(review),
                    }),
                ) => {
                    let (code, review) = (code.clone(), review.clone());
                    return self.step(id, Step::MakeTests { at, code, review });
                }
                (FlowStep::Tests, _) => {}
                (FlowStep::Candidate, _) => return self.enter_candidate(id, at, material),
            }
        }
        self.accept(id, material)
    }

    pub(crate) fn enter_runs(
        &mut self,
        id: &StoryId,
        at: usize,
        stages: &[Stage],
        material: Material,
    ) -> Moved {
        let mut lanes = Vec::with_capacity(stages.len());
        for stage in stages {
            lanes.push(self.lane(id, *stage)?);
        }
        let step = Step::Runs {
            at,
            lanes,
            material,
        };
        self.step(id, step)
    }

    fn enter_candidate(&mut self, id: &StoryId, at: usize, material: Material) -> Moved {
        let author = match material {
            Material::Drafts(Drafts {
                code: Code::Failed(why),
                ..
            }) => return self.reject(id, why),
            Material::Drafts(_) => match &self.attempt_mut(id)?.source {
                Source::Accepted(acceptance) => Author::Accepted(acceptance.clone()),
                Source::Agents | Source::Person(_) => Author::Implementor,
            },
            Material::Candidate(candidate) => Author::Prover(candidate),
        };
        self.step(id, Step::MakeCandidate { at, author })
    }

    /// The candidate went through its whole flow.
    fn accept(&mut self, id: &StoryId, material: Material) -> Moved {
        let Material::Candidate(candidate) = material else {
            return Err("the flow ended without a candidate".into());
        };
        if self.attempt_mut(id)?.is_recheck {
            // What a recheck finds good has been on the branch all along.
            let commit = candidate.commit;
            let landed = None;
            return self.step(id, Step::Announce { commit, landed });
        }
        self.accept_candidate(id, candidate)
    }

    pub(crate) fn step(&mut self, id: &StoryId, step: Step) -> Moved {
        let attempt = self.attempt_mut(id)?;
        attempt.step = step;
        attempt.hindered = None;
        Ok(())
    }

    /// Nothing more is done for an attempt until a person has answered. Runs ask for themselves.
    pub(crate) fn hinder(&mut self, id: &StoryId, number: u32, question: &str) -> Moved {
        let attempt = self.numbered_mut(id, number)?;
        if !attempt.lanes().is_empty() {
            return Err("the attempt's runs ask for themselves".into());
        }
        attempt.hindered = Some(question.to_owned());
        self.leave_queue_if_held(id)
    }

    /// The attempt failed by its own fault; what it taught is kept.
    pub(crate) fn reject(&mut self, id: &StoryId, feedback: String) -> Moved {
        if self.attempt_mut(id)?.judged.is_some() {
            // It was accepted where it was made.
            return self.send_back(id, &feedback);
        }
        let has_candidate = self.attempt_mut(id)?.candidate().is_some();
        self.set_candidate_aside(id)?;
        let story = self.story_mut(id)?;
        if has_candidate {
            story.found_wrong = Some(feedback.clone());
        }
        story.feedback.push(feedback);
        let is_alone = story.is_alone();
        self.step(id, Step::Rejected)?;
        if is_alone {
            self.take_ticket(id)
        } else {
            Ok(())
        }
    }

    /// No further attempt would help; a person must look.
    pub(crate) fn give_up(&mut self, id: &StoryId, why: String) -> Moved {
        self.set_candidate_aside(id)?;
        self.story_mut(id)?.ticket = None;
        self.step(id, Step::GivenUp { why })
    }

    /// A rejected candidate is remembered, so that the same files are not judged twice. What a
    /// recheck looks at is the branch itself, which nobody rejects.
    pub(crate) fn set_candidate_aside(&mut self, id: &StoryId) -> Moved {
        let attempt = self.attempt_mut(id)?;
        if attempt.is_recheck {
            return Ok(());
        }
        let rejected = attempt.as_rejected();
        self.story_mut(id)?.rejected.extend(rejected);
        Ok(())
    }

    pub(crate) fn take_tests(
        &mut self,
        id: &StoryId,
        number: u32,
        commit: Option<&Commit>,
        notes: &[String],
    ) -> Moved {
        let Step::MakeTests { at, code, review } = take_step(self.numbered_mut(id, number)?) else {
            return Err("no tests are owed".into());
        };
        let writer = self.attempt_mut(id)?.agent(Stage::WriteTests).cloned();
        let story = self.story_mut(id)?;
        story.rounds += 1;
        let round = story.rounds;
        story.tests = Some(Tests {
            commit: commit.cloned(),
            round,
            review,
            notes: notes.to_vec(),
            writer,
        });
        story.rewrite = None;
        let drafts = Drafts {
            code,
            tests: TestsDraft::Nothing,
        };
        self.enter(id, at + 1, Material::Drafts(drafts))
    }

    pub(crate) fn refuse_tests(&mut self, id: &StoryId, number: u32, why: &str) -> Moved {
        let Step::MakeTests { code, .. } = &self.numbered_mut(id, number)?.step else {
            return Err("no tests are owed".into());
        };
        let code = code.clone();
        self.rewrite(id, Rewrite::Better(why.to_owned()), code)
    }

    /// Has the tests written again. The implementor's work stays, and nothing counts against the
    /// story.
    pub(crate) fn rewrite(&mut self, id: &StoryId, rewrite: Rewrite, code: Code) -> Moved {
        let story = self.story_mut(id)?;
        story.rewrites += 1;
        if story.rewrites > REWRITES_MAX {
            let why = rewrite.why();
            return self.give_up(
                id,
                format!("the tests for this story cannot be used: {why}"),
            );
        }
        story.rewrite = Some(rewrite);
        let steps = self.attempt_mut(id)?.steps();
        let writes = |step: &FlowStep| matches!(step, FlowStep::Runs(stages) if stages.contains(&Stage::WriteTests));
        let Some(at) = steps.iter().position(writes) else {
            return Err("the flow has no test writer".into());
        };
        let drafts = Drafts {
            code,
            tests: TestsDraft::Nothing,
        };
        self.enter_runs(id, at, &[Stage::WriteTests], Material::Drafts(drafts))
    }

    pub(crate) fn take_candidate(
        &mut self,
        id: &StoryId,
        number: u32,
        mut candidate: Candidate,
    ) -> Moved {
        match take_step(self.numbered_mut(id, number)?) {
            Step::MakeCandidate { at, author } => {
                if let Author::Prover(before) = author {
                    candidate.proof = before.proof;
                    candidate.proof_missing = before.proof_missing;
                }
                self.enter(id, at + 1, Material::Candidate(Box::new(candidate)))
            }
            _ => Err("no candidate is owed".into()),
        }
    }

    /// Rejects a candidate that nobody may even look at. It is remembered like any rejected one, so
    /// that a person can accept it.
    pub(crate) fn set_refused_aside(&mut self, event: &Event, commit: &Commit) -> Moved {
        self.refuse_candidate(event)?;
        let Some((id, number, _)) = event.refusal() else {
            return Err("no candidate was refused".into());
        };
        let base = self.numbered_mut(id, number)?.base.clone();
        self.story_mut(id)?.rejected.push(Rejected {
            made_in: number,
            commit: commit.clone(),
            base,
            is_green: false,
            is_warm: false,
        });
        Ok(())
    }

    pub(crate) fn refuse_candidate(&mut self, event: &Event) -> Moved {
        let Some((id, number, why)) = event.refusal() else {
            return Err("no candidate was refused".into());
        };
        let attempt = self.numbered_mut(id, number)?;
        if !matches!(attempt.step, Step::MakeCandidate { .. }) {
            return Err("no candidate is owed".into());
        }
        self.reject(id, why.to_owned())
    }
}

impl Run {
    /// The next try begins at once, or waits where interruptions repeat.
    fn interrupt(&mut self, why: &str, first_wait: i64, at_ms: i64) {
        self.faults += 1;
        if self.faults >= INTERRUPTIONS_AT_ONCE_MAX {
            // A session that ends like this again and again may itself be what is wrong.
            self.resume = None;
        }
        if self.faults <= INTERRUPTIONS_AT_ONCE_MAX {
            *self = self.again();
            return;
        }
        // Whatever kills it again and again is not helped by haste, and every start may cost money.
        let faults = self.faults - INTERRUPTIONS_AT_ONCE_MAX;
        let until_ms = at_ms.saturating_add(wait_ms(first_wait, faults));
        self.wait(at_ms, until_ms, crate::outcome::FaultCause::Ours, why);
    }
}

/// Takes the step out of an attempt that is about to get its next one.
pub(crate) fn take_step(attempt: &mut Attempt) -> Step {
    std::mem::replace(&mut attempt.step, Step::Rejected)
}

/// The stages of a step that have anything to do for this attempt.
fn needed(story: &StoryProgress, material: &Material, stages: &[Stage]) -> Vec<Stage> {
    let attempt = story.attempt();
    let is_wanted = |stage: &Stage| match stage {
        // Attempts at a story share their base, unless something landed in between.
        Stage::Baseline => attempt.is_some_and(|attempt| attempt.is_first_here),
        Stage::Implement => {
            matches!(material, Material::Drafts(drafts) if drafts.code == Code::Owed)
        }
        // Tests are written once, and stay hidden from every attempt, unless they are at fault.
        Stage::WriteTests => story.tests.is_none() || story.rewrite.is_some(),
        Stage::Check => attempt.is_none_or(|attempt| match &attempt.source {
            // On the commit that it was made for it has been measured.
            Source::Accepted(acceptance) => acceptance.base != attempt.base,
            Source::Agents | Source::Person(_) => true,
        }),
        Stage::Review | Stage::Prove | Stage::Judge | Stage::Arbitrate | Stage::Confirm => true,
    };
    stages.iter().copied().filter(is_wanted).collect()
}

pub(crate) fn red(report: &str) -> String {
    format!("the checks are red:\n{report}")
}

/// How long to wait after so many faults in a row.
fn wait_ms(first_wait: i64, faults: u32) -> i64 {
    let doublings = faults.saturating_sub(1);
    let factor = 1_i64.checked_shl(doublings).unwrap_or(WAIT_FACTOR_MAX);
    first_wait.saturating_mul(factor.clamp(1, WAIT_FACTOR_MAX))
}
