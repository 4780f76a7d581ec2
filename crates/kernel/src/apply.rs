//! Takes what happened into the state. A move that is not in this table is an error, on write and on replay.

use std::fmt;

use crate::event::{EndReason, Event, PublishResult, RunKey, RunOutcome, Stage, Stamped, Verdict};
use crate::spec::{Commit, LoopSpec, StoryStart};
use crate::state::{Attempt, Question, Run, RunState, State, Step, StoryProgress, StoryStatus};

/// Answers that are no verdicts, before the judge counts as having said no.
const BAD_ANSWERS_MAX: u32 = 2;

/// The longest wait after an infrastructure fault, as a multiple of the first.
const WAIT_FACTOR_MAX: i64 = 10;

/// Interruptions in a row after which the next try waits.
const INTERRUPTIONS_AT_ONCE_MAX: u32 = 3;

/// An event that cannot happen in this state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IllegalMove {
    /// The event's name.
    pub event: &'static str,
    /// Why it cannot be.
    pub why: String,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` cannot happen now: {}", self.event, self.why)
    }
}

impl std::error::Error for IllegalMove {}

type Moved = Result<(), String>;

impl State {
    /// A loop's first state, from its first record.
    pub fn begin(first: &Stamped) -> Result<Self, IllegalMove> {
        match &first.event {
            Event::LoopStarted { spec } => {
                Self::of_spec(spec, first.at_ms).map_err(|why| IllegalMove { event: first.event.kind(), why })
            }
            other => {
                Err(IllegalMove { event: other.kind(), why: "a loop begins with loop-started".to_owned() })
            }
        }
    }

    fn of_spec(spec: &LoopSpec, at_ms: i64) -> Result<Self, String> {
        if let Some(double) = spec
            .stories
            .iter()
            .enumerate()
            .find(|(at, story)| spec.stories[..*at].iter().any(|before| before.id == story.id))
        {
            return Err(format!("two stories have the id `{}`", double.1.id));
        }
        let progress = |story: &crate::spec::StorySpec| StoryProgress {
            spec: story.clone(),
            status: match story.start {
                StoryStart::Open => StoryStatus::Pending,
                StoryStart::Passed => StoryStatus::Passed(None),
                StoryStart::SetAside => StoryStatus::SetAside,
            },
            attempts: 0,
            feedback: Vec::new(),
            rejected: Vec::new(),
            began_at_ms: None,
            ended_at_ms: None,
        };
        Ok(Self {
            spec: spec.clone(),
            prepared: false,
            stories: spec.stories.iter().map(progress).collect(),
            head: spec.base.clone(),
            published: None,
            unpublished: None,
            iterations: 0,
            spent_ms: 0,
            run_began_at_ms: None,
            paused: false,
            cancel: None,
            question: None,
            fault: None,
            ended: None,
            started_at_ms: at_ms,
            last_at_ms: at_ms,
        })
    }

    /// Replays a whole loop.
    pub fn replay<'e>(records: impl IntoIterator<Item = &'e Stamped>) -> Result<Self, IllegalMove> {
        let mut records = records.into_iter();
        let nothing = || IllegalMove { event: "nothing", why: "the loop has no records".to_owned() };
        let first = Self::begin(records.next().ok_or_else(nothing)?)?;
        records.try_fold(first, Self::after)
    }

    /// The state after one more event; the old one is used up, which makes a long replay cheap.
    pub fn after(mut self, record: &Stamped) -> Result<Self, IllegalMove> {
        self.take(record).map_err(|why| IllegalMove { event: record.event.kind(), why })?;
        self.last_at_ms = record.at_ms;
        Ok(self)
    }

    /// Takes one event in, or refuses it and stays as it was.
    pub fn apply(&mut self, record: &Stamped) -> Result<(), IllegalMove> {
        *self = self.clone().after(record)?;
        Ok(())
    }

    fn take(&mut self, record: &Stamped) -> Moved {
        let at_ms = record.at_ms;
        if self.ended.is_some() {
            return Err("the loop is over".to_owned());
        }
        match &record.event {
            Event::LoopStarted { .. } => Err("the loop has begun already".to_owned()),
            Event::LoopPrepared => self.prepare(),
            Event::StoryPlanned { story, attempt, implementor, base } => {
                self.plan(story, *attempt, implementor, base, at_ms)
            }
            Event::RecheckPlanned { story, attempt, head } => self.plan_recheck(story, *attempt, head, at_ms),
            Event::RunStarted { run } => self.start_run(run, at_ms),
            Event::RunEnded { run, outcome } => self.end_run(run, outcome, at_ms),
            Event::WaitEnded { run } => self.end_wait(run),
            Event::CandidateMade { story, attempt, commit } => self.take_candidate(story, *attempt, commit),
            Event::NothingNew { story, attempt, why } => self.refuse_candidate(story, *attempt, why),
            Event::Integrated { story, attempt, commit } => self.integrate(story, *attempt, commit),
            Event::Announced { story, branch, .. } => self.announce(story, branch, at_ms),
            Event::StorySkipped { story, reason, .. } => self.skip(story, reason, at_ms),
            Event::StoryBlocked { story, on } => self.block(story, on),
            Event::CancelRequested { reason } => {
                self.cancel.get_or_insert_with(|| reason.clone());
                Ok(())
            }
            Event::PauseRequested => {
                self.paused = true;
                Ok(())
            }
            Event::ResumeRequested => self.resume(),
            Event::Reloaded { settings, stories } => self.reload(settings, stories, at_ms),
            Event::Answered { choice } => self.answer(choice),
            Event::LoopEnded { reason } => self.end(reason),
        }
    }

    fn prepare(&mut self) -> Moved {
        if self.prepared {
            return Err("the loop's repository is there already".to_owned());
        }
        self.prepared = true;
        Ok(())
    }

    fn index_of(&self, id: &str) -> Result<usize, String> {
        self.stories
            .iter()
            .position(|story| story.spec.id == id)
            .ok_or_else(|| format!("there is no story `{id}`"))
    }

    /// The attempt of the active story, checked to be the one that is spoken of.
    fn attempt_mut(&mut self, id: &str, number: Option<u32>) -> Result<&mut Attempt, String> {
        let index = self.index_of(id)?;
        match &mut self.stories[index].status {
            StoryStatus::Active(attempt) => match number {
                Some(number) if attempt.number != number => {
                    Err(format!("story `{id}` is at attempt {}", attempt.number))
                }
                _ => Ok(attempt),
            },
            _ => Err(format!("story `{id}` is not being worked on")),
        }
    }

    fn plan(&mut self, id: &str, number: u32, implementor: &str, base: &Commit, at_ms: i64) -> Moved {
        let index = self.index_of(id)?;
        let story = &self.stories[index];
        let again = matches!(&story.status, StoryStatus::Active(attempt) if attempt.step == Step::Rejected && !attempt.recheck);
        if !again && (story.status != StoryStatus::Pending || self.active().is_some()) {
            return Err(format!("story `{id}` cannot begin an attempt"));
        }
        if number != story.attempts + 1 || number > self.spec.attempts_max() {
            return Err(format!("attempt {number} does not follow attempt {}", story.attempts));
        }
        if *base != self.head {
            return Err("an attempt begins at the head of the branch".to_owned());
        }
        let (step, base) = (Step::Implement(Run::first()), base.clone());
        let story = &mut self.stories[index];
        story.attempts = number;
        story.began_at_ms.get_or_insert(at_ms);
        story.status = StoryStatus::Active(Attempt {
            number,
            implementor: implementor.to_owned(),
            base,
            recheck: false,
            step,
            planned_at_ms: at_ms,
        });
        Ok(())
    }

    fn plan_recheck(&mut self, id: &str, number: u32, head: &Commit, at_ms: i64) -> Moved {
        let index = self.index_of(id)?;
        let skipped = matches!(self.stories[index].status, StoryStatus::Skipped { rechecked: false, .. });
        if !skipped
            || self.active().is_some()
            || *head != self.head
            || number != self.stories[index].attempts + 1
        {
            return Err(format!("story `{id}` cannot be looked at again"));
        }
        let (step, base, implementor) =
            (Step::Check(head.clone(), Run::first()), head.clone(), String::new());
        self.stories[index].status = StoryStatus::Active(Attempt {
            number,
            implementor,
            base,
            recheck: true,
            step,
            planned_at_ms: at_ms,
        });
        Ok(())
    }

    /// The active run, which must be the one that is spoken of and stand as given.
    fn run_mut(&mut self, key: &RunKey, wanted: impl Fn(RunState) -> bool) -> Result<&mut Run, String> {
        let attempt = self.attempt_mut(&key.story, Some(key.attempt))?;
        match attempt.run_mut() {
            Some((stage, run))
                if stage == key.stage && run.try_number == key.try_number && wanted(run.state) =>
            {
                Ok(run)
            }
            Some((stage, run)) => {
                Err(format!("the run is {} try {} ({:?})", stage.word(), run.try_number, run.state))
            }
            None => Err("the attempt is at no run".to_owned()),
        }
    }

    fn start_run(&mut self, key: &RunKey, at_ms: i64) -> Moved {
        if !self.can_afford(key.stage) {
            return Err("what is left of the budget is less than the run may take".to_owned());
        }
        self.run_mut(key, |state| state == RunState::Owed)?.state = RunState::Running;
        self.run_began_at_ms = Some(at_ms);
        Ok(())
    }

    fn end_wait(&mut self, key: &RunKey) -> Moved {
        let run = self.run_mut(key, |state| matches!(state, RunState::Waiting { .. }))?;
        *run = run.again();
        self.fault = None;
        Ok(())
    }

    fn end_run(&mut self, key: &RunKey, outcome: &RunOutcome, at_ms: i64) -> Moved {
        let (first_wait, cancelled) = (self.spec.retry_wait_ms, self.cancel.is_some());
        self.run_mut(key, |state| state == RunState::Running)?;
        // Whatever came of it, the time is spent.
        self.spent_ms += self.run_began_at_ms.take().map_or(0, |began| (at_ms - began).max(0));
        let run = self.run_mut(key, |state| state == RunState::Running)?;
        match (key.stage, outcome) {
            (_, RunOutcome::Infrastructure { why, until_ms }) => {
                run.faults += 1;
                let until_ms = until_ms.unwrap_or(at_ms.saturating_add(wait_ms(first_wait, run.faults)));
                run.state = RunState::Waiting { until_ms };
                self.fault = Some(why.clone());
                Ok(())
            }
            (_, RunOutcome::Interrupted { why }) => {
                run.faults += 1;
                if run.faults <= INTERRUPTIONS_AT_ONCE_MAX {
                    *run = run.again();
                    return Ok(());
                }
                // Whatever kills it again and again is not helped by haste, and every start may cost money.
                let until_ms =
                    at_ms.saturating_add(wait_ms(first_wait, run.faults - INTERRUPTIONS_AT_ONCE_MAX));
                run.state = RunState::Waiting { until_ms };
                self.fault = Some(why.clone());
                Ok(())
            }
            (_, RunOutcome::NeedsHuman { question }) => {
                run.state = RunState::Asking;
                let choices = vec!["retry", "cancel"];
                self.question = Some(Question { run: key.clone(), text: question.clone(), choices });
                Ok(())
            }
            (_, RunOutcome::Stopped) if cancelled => {
                run.state = RunState::Owed;
                Ok(())
            }
            (Stage::Implement, RunOutcome::Worked) => self.step(&key.story, Step::MakeCandidate),
            (Stage::Implement, RunOutcome::Failed { why }) => {
                self.reject(&key.story, format!("the implementor failed: {why}"))
            }
            (Stage::Check, RunOutcome::Checked { passed, report }) => {
                self.take_checks(&key.story, *passed, report)
            }
            (Stage::Judge, RunOutcome::Judged(verdict)) => self.take_verdict(&key.story, verdict),
            (Stage::Judge, RunOutcome::BadAnswer { why } | RunOutcome::Failed { why }) => {
                self.take_bad_answer(key, why)
            }
            (stage, outcome) => Err(format!("a {} run cannot end like {outcome:?}", stage.word())),
        }
    }

    fn step(&mut self, id: &str, step: Step) -> Moved {
        self.fault = None;
        self.attempt_mut(id, None)?.step = step;
        Ok(())
    }

    /// The attempt failed by its own fault; what it taught is kept.
    fn reject(&mut self, id: &str, feedback: String) -> Moved {
        let index = self.index_of(id)?;
        let candidate = self.attempt_mut(id, None)?.candidate().cloned();
        let recheck = self.attempt_mut(id, None)?.recheck;
        self.stories[index].rejected.extend(candidate.filter(|_| !recheck));
        self.stories[index].feedback.push(feedback);
        self.step(id, Step::Rejected)
    }

    fn take_candidate(&mut self, id: &str, number: u32, commit: &Commit) -> Moved {
        let attempt = self.attempt_mut(id, Some(number))?;
        if attempt.step != Step::MakeCandidate {
            return Err("no candidate is owed".to_owned());
        }
        attempt.step = Step::Check(commit.clone(), Run::first());
        Ok(())
    }

    fn refuse_candidate(&mut self, id: &str, number: u32, why: &str) -> Moved {
        if self.attempt_mut(id, Some(number))?.step != Step::MakeCandidate {
            return Err("no candidate is owed".to_owned());
        }
        self.reject(id, why.to_owned())
    }

    fn take_checks(&mut self, id: &str, passed: bool, report: &str) -> Moved {
        if !passed {
            return self.reject(id, format!("the checks are red:\n{report}"));
        }
        let attempt = self.attempt_mut(id, None)?;
        let Step::Check(commit, _) = &attempt.step else { return Err("no check is under way".to_owned()) };
        attempt.step = Step::Judge(commit.clone(), Run::first(), report.to_owned());
        Ok(())
    }

    fn take_verdict(&mut self, id: &str, verdict: &Verdict) -> Moved {
        let attempt = self.attempt_mut(id, None)?;
        let Step::Judge(commit, _, _) = &attempt.step else { return Err("no judge is at work".to_owned()) };
        let commit = commit.clone();
        if verdict.commit != commit {
            return Err(format!("the verdict is about {}, and the candidate is {commit}", verdict.commit));
        }
        if !verdict.pass {
            return self.reject(id, feedback_of(verdict));
        }
        let step = if attempt.recheck { Step::Announce(commit) } else { Step::Integrate(commit) };
        self.step(id, step)
    }

    /// A judge that cannot be understood never says yes: it is asked once more, and then it has said no.
    fn take_bad_answer(&mut self, key: &RunKey, why: &str) -> Moved {
        let run = self.run_mut(key, |_| true)?;
        run.bad_answers += 1;
        if run.bad_answers < BAD_ANSWERS_MAX {
            *run = run.again();
            return Ok(());
        }
        self.reject(&key.story, format!("the judge gave no usable verdict: {why}"))
    }

    fn integrate(&mut self, id: &str, number: u32, commit: &Commit) -> Moved {
        let attempt = self.attempt_mut(id, Some(number))?;
        if attempt.step != Step::Integrate(commit.clone()) {
            return Err(format!("{commit} has no verdict that lets it land"));
        }
        attempt.step = Step::Announce(commit.clone());
        self.head = commit.clone();
        Ok(())
    }

    fn announce(&mut self, id: &str, branch: &PublishResult, at_ms: i64) -> Moved {
        let index = self.index_of(id)?;
        let Step::Announce(commit) = self.attempt_mut(id, None)?.step.clone() else {
            return Err("nothing is to be announced".to_owned());
        };
        let recheck = self.attempt_mut(id, None)?.recheck;
        self.unpublished = match branch {
            PublishResult::Done => None,
            PublishResult::LeftAlone { why } => Some(why.clone()),
        };
        if *branch == PublishResult::Done {
            self.published = Some(commit.clone());
        }
        self.stories[index].status = StoryStatus::Passed(Some(commit));
        self.stories[index].ended_at_ms = Some(at_ms);
        // A recheck that passes ends no further story: it was counted when it was skipped.
        self.iterations += u32::from(!recheck);
        Ok(())
    }

    fn skip(&mut self, id: &str, reason: &str, at_ms: i64) -> Moved {
        let index = self.index_of(id)?;
        let attempts_max = self.spec.attempts_max();
        let attempt = self.attempt_mut(id, None)?;
        let (rejected, recheck) = (attempt.step == Step::Rejected, attempt.recheck);
        if !rejected || (!recheck && self.stories[index].attempts < attempts_max) {
            return Err(format!("story `{id}` has attempts left"));
        }
        self.stories[index].status = StoryStatus::Skipped { reason: reason.to_owned(), rechecked: recheck };
        self.stories[index].ended_at_ms = Some(at_ms);
        self.iterations += u32::from(!recheck);
        Ok(())
    }

    fn block(&mut self, id: &str, on: &str) -> Moved {
        let index = self.index_of(id)?;
        let will_pass = self.story(on).is_some_and(|story| matches!(story.status, StoryStatus::Passed(_)));
        if self.stories[index].status != StoryStatus::Pending || will_pass {
            return Err(format!("story `{id}` is not blocked by `{on}`"));
        }
        self.stories[index].status = StoryStatus::Blocked { on: on.to_owned() };
        Ok(())
    }

    /// Goes on after a pause, and cuts a wait short.
    fn resume(&mut self) -> Moved {
        self.paused = false;
        if let Some((run, RunState::Waiting { .. })) = self.active_run() {
            return self.end_wait(&run);
        }
        Ok(())
    }

    fn answer(&mut self, choice: &str) -> Moved {
        let question = self.question.clone().ok_or("nobody asked")?;
        if !question.choices.contains(&choice) {
            return Err(format!("`{choice}` is none of {}", question.choices.join(", ")));
        }
        self.question = None;
        let run = self.run_mut(&question.run, |state| state == RunState::Asking)?;
        *run = run.again();
        if choice == "cancel" {
            self.cancel = Some("cancelled by an answer".to_owned());
        }
        Ok(())
    }

    fn end(&mut self, reason: &EndReason) -> Moved {
        let busy = self.active_run().is_some_and(|(_, state)| state == RunState::Running);
        if busy {
            return Err("a run is under way".to_owned());
        }
        if matches!(reason, EndReason::Completed | EndReason::MaxIterationsReached) && self.active().is_some()
        {
            return Err("a story is being worked on".to_owned());
        }
        self.ended = Some(reason.clone());
        Ok(())
    }
}

/// How long to wait after so many faults in a row.
fn wait_ms(first_wait: i64, faults: u32) -> i64 {
    let factor = 1_i64.checked_shl(faults.saturating_sub(1)).unwrap_or(WAIT_FACTOR_MAX);
    first_wait.saturating_mul(factor.clamp(1, WAIT_FACTOR_MAX))
}

/// What the next attempt is told.
fn feedback_of(verdict: &Verdict) -> String {
    let mut lines = vec![verdict.reason.clone()];
    let failed = verdict.criteria.iter().filter(|criterion| !criterion.pass);
    lines
        .extend(failed.map(|criterion| format!("not met: {} ({})", criterion.criterion, criterion.evidence)));
    lines.extend(verdict.guidance.iter().map(|guidance| format!("do: {guidance}")));
    lines.join("\n")
}
