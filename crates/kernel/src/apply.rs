//! Takes what happened into the state. A move that is not in this table is an error, on write and
//! on replay.

use std::collections::BTreeMap;
use std::fmt;

use crate::budget::Assumed;
use crate::event::{EndReason, Event, PublishResult, RunUsage, Stamped};
use crate::flow::{Flow, Role, Stage};
use crate::spec::{Cast, Commit, LoopSpec, StorySpec, StoryStart};
use crate::state::{Attempt, RunState, Spent, State, Step, StoryProgress, StoryStatus};

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

pub(crate) type Moved = Result<(), String>;

impl State {
    /// A loop's first state, from its first record.
    pub fn begin(first: &Stamped) -> Result<Self, IllegalMove> {
        match &first.event {
            Event::LoopStarted { spec } => {
                Self::of_spec(spec, first.at_ms).map_err(|why| IllegalMove {
                    event: first.event.kind(),
                    why,
                })
            }
            other => Err(IllegalMove {
                event: other.kind(),
                why: "a loop begins with loop-started".to_owned(),
            }),
        }
    }

    fn of_spec(spec: &LoopSpec, at_ms: i64) -> Result<Self, String> {
        if let Some(double) = spec.stories.iter().enumerate().find(|(at, story)| {
            spec.stories[..*at]
                .iter()
                .any(|before| before.id == story.id)
        }) {
            return Err(format!("two stories have the id `{}`", double.1.id));
        }
        let mut state = Self {
            spec: spec.clone(),
            prepared: false,
            stories: spec.stories.iter().map(StoryProgress::of_spec).collect(),
            head: spec.base.clone(),
            published: None,
            unpublished: None,
            iterations: 0,
            spent_ms: 0,
            spent: Spent::default(),
            spent_by: BTreeMap::new(),
            assumed: Assumed::default(),
            limits: BTreeMap::new(),
            limits_in_a_row: BTreeMap::new(),
            paused: false,
            cancel: None,
            ended: None,
            started_at_ms: at_ms,
            last_at_ms: at_ms,
        };
        if let Some(first) = &spec.first {
            let index = state.index_of(&first.id)?;
            state.stories[index].attempts = first.attempt.saturating_sub(1).min(spec.max_retries);
            state.stories[index].feedback.extend(first.judgment.clone());
        }
        Ok(state)
    }

    /// Replays a whole loop.
    pub fn replay<'e>(records: impl IntoIterator<Item = &'e Stamped>) -> Result<Self, IllegalMove> {
        let mut records = records.into_iter();
        let nothing = || IllegalMove {
            event: "nothing",
            why: "the loop has no records".to_owned(),
        };
        let first = Self::begin(records.next().ok_or_else(nothing)?)?;
        records.try_fold(first, Self::after)
    }

    /// The state after one more event; the old one is used up, which makes a long replay cheap.
    pub fn after(mut self, record: &Stamped) -> Result<Self, IllegalMove> {
        self.last_at_ms = record.at_ms;
        self.take(record).map_err(|why| IllegalMove {
            event: record.event.kind(),
            why,
        })?;
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
            Event::StoryPlanned {
                story,
                attempt,
                implementor,
                base,
                flow,
                cast,
            } => {
                let cast = cast.clone().unwrap_or_else(|| self.early_cast(implementor));
                self.plan(story, *attempt, (*flow, cast), base, at_ms)
            }
            Event::RecheckPlanned {
                story,
                attempt,
                head,
                judge,
            } => self.plan_recheck(story, *attempt, head, judge.as_ref(), at_ms),
            Event::RunStarted { run } => self.start_run(run, at_ms),
            Event::RunEnded {
                run,
                outcome,
                usage,
            } => {
                let who = self.who(run.stage);
                self.end_run(run, outcome, usage.as_ref(), at_ms)?;
                self.assume(run, outcome, usage.as_ref());
                self.count(&run.story, who, usage.as_ref())
            }
            Event::WaitEnded { run } => self.end_wait(run),
            Event::AgentSwitched { run, from, to } => self.switch_agent(run, from, to),
            Event::TestsMade {
                story,
                attempt,
                commit,
                notes,
            } => self.take_tests(story, *attempt, commit.as_ref(), notes),
            Event::TestsRefused {
                story,
                attempt,
                why,
            } => self.refuse_tests(story, *attempt, why),
            Event::CandidateMade {
                story,
                attempt,
                commit,
                notes,
                ask,
            } => self.take_candidate(story, *attempt, commit, notes, ask.as_ref()),
            Event::NothingNew {
                story,
                attempt,
                why,
            } => self.refuse_candidate(story, *attempt, why),
            Event::Integrated {
                story,
                attempt,
                commit,
            } => self.integrate(story, *attempt, commit),
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

    /// Whatever came of a run, what it used is used.
    fn count(
        &mut self,
        story: &str,
        who: Option<(Role, String)>,
        usage: Option<&RunUsage>,
    ) -> Moved {
        let index = self.index_of(story)?;
        let by = who.map(|who| self.spent_by.entry(who).or_default());
        for spent in by
            .into_iter()
            .chain([&mut self.spent, &mut self.stories[index].spent])
        {
            spent.add(usage);
        }
        Ok(())
    }

    /// The role and the agent of a stage; our own hands use nothing that is counted.
    fn who(&self, stage: Stage) -> Option<(Role, String)> {
        let (_, attempt) = self.active()?;
        Some((
            attempt.flow.row(stage).role,
            attempt.agent(stage)?.to_owned(),
        ))
    }

    fn prepare(&mut self) -> Moved {
        if self.prepared {
            return Err("the loop's repository is there already".to_owned());
        }
        self.prepared = true;
        Ok(())
    }

    pub(crate) fn index_of(&self, id: &str) -> Result<usize, String> {
        self.stories
            .iter()
            .position(|story| story.spec.id == id)
            .ok_or_else(|| format!("there is no story `{id}`"))
    }

    /// The attempt of the active story, checked to be the one that is spoken of.
    pub(crate) fn attempt_mut(
        &mut self,
        id: &str,
        number: Option<u32>,
    ) -> Result<&mut Attempt, String> {
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

    /// Who took part in attempts of loops that were started before there were flows.
    fn early_cast(&self, implementor: &str) -> Cast {
        let judge = self.spec.judge.clone();
        Cast {
            implementor: implementor.to_owned(),
            judge,
            ..Cast::default()
        }
    }

    fn plan(
        &mut self,
        id: &str,
        number: u32,
        (flow, cast): (Flow, Cast),
        base: &Commit,
        at_ms: i64,
    ) -> Moved {
        let index = self.index_of(id)?;
        let story = &self.stories[index];
        let again = matches!(&story.status, StoryStatus::Active(attempt) if attempt.step == Step::Rejected && !attempt.recheck);
        if !again && (story.status != StoryStatus::Pending || self.active().is_some()) {
            return Err(format!("story `{id}` cannot begin an attempt"));
        }
        if number != story.attempts + 1 || number > self.spec.attempts_max() {
            return Err(format!(
                "attempt {number} does not follow attempt {}",
                story.attempts
            ));
        }
        if *base != self.head {
            return Err("an attempt begins at the head of the branch".to_owned());
        }
        let story = &mut self.stories[index];
        story.attempts = number;
        story.tried_on = Some(base.clone());
        story.began_at_ms.get_or_insert(at_ms);
        story.status = StoryStatus::Active(Box::new(Attempt::new(number, flow, cast, base, at_ms)));
        self.advance(id)
    }

    fn plan_recheck(
        &mut self,
        id: &str,
        number: u32,
        head: &Commit,
        judge: Option<&String>,
        at_ms: i64,
    ) -> Moved {
        let index = self.index_of(id)?;
        let skipped = matches!(
            self.stories[index].status,
            StoryStatus::Skipped {
                rechecked: false,
                ..
            }
        );
        if !skipped
            || self.active().is_some()
            || *head != self.head
            || number != self.stories[index].attempts + 1
        {
            return Err(format!("story `{id}` cannot be looked at again"));
        }
        let flow = self.spec.flow_of(&self.stories[index].spec);
        let judge = judge.unwrap_or(&self.spec.judge).clone();
        let mut attempt = Attempt::new(
            number,
            flow,
            Cast {
                judge,
                ..Cast::default()
            },
            head,
            at_ms,
        );
        (attempt.recheck, attempt.candidate) = (true, Some(head.clone()));
        self.stories[index].status = StoryStatus::Active(Box::new(attempt));
        self.advance(id)
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
        let recheck = attempt.recheck;
        let may = match attempt.step {
            Step::GivenUp(_) => true,
            Step::Rejected => recheck || self.stories[index].attempts >= attempts_max,
            _ => false,
        };
        if !may {
            return Err(format!("story `{id}` has attempts left"));
        }
        self.stories[index].status = StoryStatus::Skipped {
            reason: reason.to_owned(),
            rechecked: recheck,
        };
        self.stories[index]
            .skipped_because
            .get_or_insert_with(|| reason.to_owned());
        self.stories[index].ended_at_ms = Some(at_ms);
        self.iterations += u32::from(!recheck);
        Ok(())
    }

    fn block(&mut self, id: &str, on: &str) -> Moved {
        let index = self.index_of(id)?;
        let will_pass = self
            .story(on)
            .is_some_and(|story| matches!(story.status, StoryStatus::Passed(_)));
        if self.stories[index].status != StoryStatus::Pending || will_pass {
            return Err(format!("story `{id}` is not blocked by `{on}`"));
        }
        self.stories[index].status = StoryStatus::Blocked { on: on.to_owned() };
        Ok(())
    }

    /// Goes on after a pause, and cuts waits short.
    fn resume(&mut self) -> Moved {
        self.paused = false;
        // Whoever asks to go on knows better than what was told of a limit.
        self.limits.clear();
        let waiting = |state: &RunState| matches!(state, RunState::Waiting { .. });
        for (run, state) in self.active_runs() {
            if waiting(&state) {
                self.end_wait(&run)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, reason: &EndReason) -> Moved {
        if !self.running().is_empty() {
            return Err("a run is under way".to_owned());
        }
        if matches!(
            reason,
            EndReason::Completed | EndReason::MaxIterationsReached
        ) && self.active().is_some()
        {
            return Err("a story is being worked on".to_owned());
        }
        self.ended = Some(reason.clone());
        Ok(())
    }
}

impl StoryProgress {
    fn of_spec(story: &StorySpec) -> Self {
        Self {
            spec: story.clone(),
            status: match story.start {
                StoryStart::Open => StoryStatus::Pending,
                StoryStart::Passed => StoryStatus::Passed(None),
                StoryStart::SetAside => StoryStatus::SetAside,
            },
            attempts: 0,
            tried_on: None,
            feedback: Vec::new(),
            rejected: Vec::new(),
            tests: None,
            tests_order: None,
            rewrites: 0,
            failing: Vec::new(),
            ruled: false,
            skipped_because: None,
            answers: Vec::new(),
            learned: Vec::new(),
            spent: Spent::default(),
            began_at_ms: None,
            ended_at_ms: None,
        }
    }
}

impl Attempt {
    /// An attempt before its first step.
    fn new(number: u32, flow: Flow, cast: Cast, base: &Commit, at_ms: i64) -> Self {
        Self {
            number,
            flow,
            cast,
            base: base.clone(),
            planned_at_ms: at_ms,
            recheck: false,
            implemented: false,
            failure: None,
            unwritten: None,
            written: None,
            candidate: None,
            notes: Vec::new(),
            ask: None,
            checked: None,
            review: None,
            verdict: None,
            tries: BTreeMap::new(),
            stand_ins: BTreeMap::new(),
            worked_in: BTreeMap::new(),
            step: Step::Runs {
                at: None,
                lanes: Vec::new(),
            },
        }
    }

    /// The number of a stage's next try.
    pub(crate) fn next_try(&self, stage: Stage) -> u32 {
        self.tries.get(&stage).copied().unwrap_or_default() + 1
    }
}
