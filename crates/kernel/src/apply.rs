//! Takes what happened into the state. A move that is not in this table is an error, on write and on
//! replay.

use std::fmt;
use std::sync::Arc;

use crate::attempt::{Attempt, Candidate, Material, Step};
use crate::commit::Commit;
use crate::event::{EndReason, Event, PublishResult, RunKey, Stamped, WriteBack};
use crate::flow::{Flow, Stage};
use crate::ids::{AgentName, StoryId};
use crate::lane::RunState;
use crate::outcome::{RunOutcome, RunUsage};
use crate::spec::Cast;
use crate::state::{State, StoryProgress, StoryStatus};
use crate::together::Together;
use crate::wishes::{Source, Wish};

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
        write!(out, "{} (`{}`)", self.why, self.event)
    }
}

impl std::error::Error for IllegalMove {}

/// Why a move is not in the table, in words. Nothing branches on them.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl From<&str> for Refused {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl Refused {
    pub(crate) fn of(self, event: &'static str) -> IllegalMove {
        IllegalMove { event, why: self.0 }
    }
}

pub(crate) type Moved = Result<(), Refused>;

impl State {
    /// Replays a whole loop.
    pub fn replay<'e>(records: impl IntoIterator<Item = &'e Stamped>) -> Result<Self, IllegalMove> {
        let mut records = records.into_iter();
        let Some(first) = records.next() else {
            return Err(Refused::from("the loop has no records").of("nothing"));
        };
        records.try_fold(Self::begin(first)?, Self::after)
    }

    /// The state after one more event. The old one is used up, which makes a long replay cheap.
    pub fn after(mut self, record: &Stamped) -> Result<Self, IllegalMove> {
        self.last_at_ms = record.at_ms;
        match self.take(record) {
            Ok(()) => Ok(self),
            Err(refused) => Err(refused.of(record.event.kind())),
        }
    }

    /// Takes one event in, or refuses it and stays as it was.
    pub fn apply(&mut self, record: &Stamped) -> Result<(), IllegalMove> {
        *self = self.clone().after(record)?;
        Ok(())
    }

    fn take(&mut self, record: &Stamped) -> Moved {
        let at_ms = record.at_ms;
        if self.ended.is_some() && !may_follow_end(&record.event) {
            return Err("the loop is over".into());
        }
        match &record.event {
            Event::LoopStarted { .. } => Err("the loop has begun already".into()),
            Event::LoopPrepared => self.prepare(),
            Event::CancelRequested { reason } => {
                self.cancel.get_or_insert_with(|| reason.clone());
                Ok(())
            }
            Event::PauseRequested => {
                self.paused = true;
                Ok(())
            }
            Event::ResumeRequested => self.resume(),
            Event::Reloaded {
                settings,
                stories,
                together,
            } => {
                self.work_together(together.as_ref());
                self.reload(settings, stories, at_ms)
            }
            Event::Answered { choice, story } => self.answer(choice, story.as_ref()),
            Event::LoopEnded { reason } => self.end(reason),
            Event::PublishTried { commit, branch } => self.take_late_publish(commit, branch),
            Event::PublishRequested => self.ask_to_publish(),
            Event::RunStarted { run } => self.start_run(run, at_ms),
            Event::RunEnded {
                run,
                outcome,
                usage,
                ..
            } => self.take_end(run, outcome, usage.as_ref(), at_ms),
            Event::WaitEnded { run } => self.end_wait(run),
            Event::AgentSwitched { run, from, to } => self.switch_agent(run, from, to),
            Event::Hindered {
                story,
                attempt,
                question,
            } => self.hinder(story, *attempt, question),
            Event::RetryRequested { .. }
            | Event::SkipRequested { .. }
            | Event::AcceptRequested { .. }
            | Event::TakeRequested { .. }
            | Event::HandedIn { .. } => self.steer(&record.event, at_ms),
            Event::StoryPlanned { .. }
            | Event::RecheckPlanned { .. }
            | Event::TestsMade { .. }
            | Event::TestsRefused { .. }
            | Event::CandidateMade { .. }
            | Event::CandidateRefused { .. }
            | Event::NothingNew { .. }
            | Event::Restacked { .. }
            | Event::RestackRefused { .. }
            | Event::Integrated { .. }
            | Event::Retracted { .. }
            | Event::Announced { .. }
            | Event::StorySkipped { .. }
            | Event::StoryBlocked { .. } => self.take_of_story(&record.event, at_ms),
        }
    }

    /// Takes over how many stories are worked on at once, where a reload says so.
    fn work_together(&mut self, together: Option<&Together>) {
        if let Some(together) = together {
            Arc::make_mut(&mut self.spec).together = together.clone();
        }
    }

    /// The moves of a story beside its runs.
    fn take_of_story(&mut self, event: &Event, at_ms: i64) -> Moved {
        match event {
            Event::StoryPlanned {
                story,
                attempt,
                implementor,
                base,
                flow,
                cast,
                keeps_tests,
            } => {
                let cast = cast.clone();
                let cast = cast.unwrap_or_else(|| self.early_cast(implementor));
                let attempt = Attempt::new(*attempt, *flow, cast, base.clone(), at_ms);
                self.plan(story, attempt, *keeps_tests)
            }
            Event::RecheckPlanned {
                story,
                attempt,
                head,
                judge,
            } => self.plan_recheck(story, *attempt, head, judge.as_ref(), at_ms),
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
            } => {
                let candidate = Candidate::new(commit.clone(), notes.clone(), ask.clone());
                self.take_candidate(story, *attempt, candidate)
            }
            Event::CandidateRefused { commit, .. } => self.set_refused_aside(event, commit),
            Event::NothingNew { .. } => self.refuse_candidate(event),
            Event::Restacked { .. } | Event::RestackRefused { .. } => self.restack(event),
            Event::Integrated {
                story,
                attempt,
                commit,
            } => self.integrate(story, *attempt, commit),
            Event::Retracted { .. } => self.retract(event),
            Event::Announced { story, branch, prd } => self.announce(story, branch, prd, at_ms),
            Event::StorySkipped { story, reason, prd } => self.skip(story, reason, prd, at_ms),
            Event::StoryBlocked { story, on } => self.block(story, on),
            _ => Err(format!("`{}` is no move of a story", event.kind()).into()),
        }
    }

    /// Takes in the end of a run and counts what it used.
    fn take_end(
        &mut self,
        run: &RunKey,
        outcome: &RunOutcome,
        usage: Option<&RunUsage>,
        at_ms: i64,
    ) -> Moved {
        // Who did the run is asked first: its end may move the attempt on.
        let agent = self.agent_of(run).cloned();
        let flow = self.attempt_of(run)?.flow;
        self.end_run(run, outcome, usage, at_ms)?;
        self.assume(run, outcome, usage);
        self.count(run, flow, agent, usage)?;
        self.grant_wish(&run.story)?;
        self.leave_if_recalled(&run.story)
    }

    /// Whatever came of a run, what it used is used.
    fn count(
        &mut self,
        run: &RunKey,
        flow: Flow,
        agent: Option<AgentName>,
        usage: Option<&RunUsage>,
    ) -> Moved {
        self.spent.add(usage);
        self.story_mut(&run.story)?.spent.add(usage);
        if let Some(agent) = agent {
            let who = (flow.row(run.stage).role, agent);
            self.spent_by.entry(who).or_default().add(usage);
        }
        Ok(())
    }

    fn prepare(&mut self) -> Moved {
        if self.prepared {
            return Err("the loop's repository is there already".into());
        }
        self.prepared = true;
        Ok(())
    }

    pub(crate) fn story_mut(&mut self, id: &StoryId) -> Result<&mut StoryProgress, Refused> {
        let found = self.stories.iter_mut().find(|story| story.spec.id == *id);
        found.ok_or_else(|| format!("there is no story `{id}`").into())
    }

    /// The attempt that is under way at a story.
    pub(crate) fn attempt_mut(&mut self, id: &StoryId) -> Result<&mut Attempt, Refused> {
        match &mut self.story_mut(id)?.status {
            StoryStatus::Active(attempt) => Ok(Arc::make_mut(attempt)),
            _ => Err(format!("story `{id}` is not being worked on").into()),
        }
    }

    /// The same, which must be the attempt of this number.
    pub(crate) fn numbered_mut(
        &mut self,
        id: &StoryId,
        number: u32,
    ) -> Result<&mut Attempt, Refused> {
        let attempt = self.attempt_mut(id)?;
        if attempt.number != number {
            return Err(format!("story `{id}` is at attempt {}", attempt.number).into());
        }
        Ok(attempt)
    }

    fn attempt_of(&self, run: &RunKey) -> Result<&Attempt, Refused> {
        self.attempt(&run.story)
            .ok_or_else(|| format!("story `{}` is not being worked on", run.story).into())
    }

    /// Who took part in attempts of loops that were started before there were flows.
    fn early_cast(&self, implementor: &AgentName) -> Cast {
        Cast {
            implementor: implementor.clone(),
            judge: self.spec.judge.clone(),
            ..Cast::default()
        }
    }

    fn plan(&mut self, id: &StoryId, mut attempt: Attempt, keeps_tests: bool) -> Moved {
        let is_at_head = attempt.base == self.head;
        let number = attempt.number;
        let at_ms = attempt.planned_at_ms;
        let is_front = self.is_front(id);
        let spec = self.spec.attempts_max();
        let story = self.story_mut(id)?;
        let drafts = story.take_wish(&mut attempt)?;
        let attempts_max = story.attempts_max_of(spec);
        if !may_begin(story) || (story.ticket.is_some() && !is_front) {
            return Err(format!("story `{id}` cannot begin an attempt").into());
        }
        if number != story.attempts + 1 || number > attempts_max {
            let before = story.attempts;
            return Err(format!("attempt {number} does not follow attempt {before}").into());
        }
        if !is_at_head {
            return Err("an attempt begins at the head of the branch".into());
        }
        let has_moved = story
            .tried_on
            .as_ref()
            .is_some_and(|on| *on != attempt.base);
        story.has_baseline &= !has_moved;
        let was_overtaken = story.extra_attempts > 0 && !story.has_baseline;
        attempt.is_first_here = story.attempts == 0 || has_moved || was_overtaken;
        let moves_tests = keeps_tests && has_moved && story.has_tests_for(attempt.flow);
        if (has_moved && !moves_tests) || !attempt.flow.has(Stage::WriteTests) {
            // They stand on another commit and would undo what landed since, or nobody asked for them.
            story.forget_tests();
        }
        story.attempts = number;
        story.made_in = attempt.made_in;
        story.tried_on = Some(attempt.base.clone());
        story.began_at_ms.get_or_insert(at_ms);
        story.is_recalled = false;
        story.status = StoryStatus::Active(Arc::new(attempt));
        if moves_tests {
            return self.step(id, Step::MoveTests { drafts });
        }
        self.enter(id, 0, Material::Drafts(drafts))
    }

    fn plan_recheck(
        &mut self,
        id: &StoryId,
        number: u32,
        head: &Commit,
        judge: Option<&AgentName>,
        at_ms: i64,
    ) -> Moved {
        // A recheck judges the branch as a whole, so nothing may be about to move it.
        let is_alone =
            self.attempts().all(|(_, attempt)| attempt.asks()) && !self.has_unconfirmed();
        let is_at_head = *head == self.head;
        let judge = judge.unwrap_or(&self.spec.judge).clone();
        let spec = Arc::clone(&self.story_mut(id)?.spec);
        let flow = self.spec.flow_of(&spec);
        let story = self.story_mut(id)?;
        let is_skipped = matches!(
            story.status,
            StoryStatus::Skipped {
                rechecked: false,
                ..
            }
        );
        if !is_skipped || !is_alone || !is_at_head || number != story.attempts + 1 {
            return Err(format!("story `{id}` cannot be rechecked").into());
        }
        let cast = Cast {
            judge,
            ..Cast::default()
        };
        story.rechecked_as = number;
        let mut attempt = Attempt::new(number, flow, cast, head.clone(), at_ms);
        attempt.is_recheck = true;
        story.status = StoryStatus::Active(Arc::new(attempt));
        let candidate = Candidate::new(head.clone(), Vec::new(), None);
        self.enter(id, 0, Material::Candidate(Box::new(candidate)))
    }

    fn announce(
        &mut self,
        id: &StoryId,
        branch: &PublishResult,
        prd: &WriteBack,
        at_ms: i64,
    ) -> Moved {
        self.note_write_back(id, prd);
        let attempt = self.attempt_mut(id)?;
        let is_recheck = attempt.is_recheck;
        let Step::Announce { commit, .. } = attempt.step.clone() else {
            return Err("nothing is to be announced".into());
        };
        let is_next =
            self.is_next_to_announce(id) || (!self.has_unconfirmed() && self.is_first_ticket(id));
        if !is_recheck && !is_next {
            return Err("another story landed before it and is not announced".into());
        }
        let is_older = is_recheck && self.is_older_than_published(&commit);
        if is_older && *branch == PublishResult::Done {
            self.guard.showed_older = true;
        } else {
            self.take_published(&commit, branch);
        }
        if matches!(prd, WriteBack::LeftAlone { .. }) {
            self.unmarked.push(id.clone());
        }
        self.finish(id, StoryStatus::Passed(Some(commit)), is_recheck, at_ms)
    }

    /// A state that is not in the PRD fails no story; people are told.
    fn note_write_back(&mut self, id: &StoryId, prd: &WriteBack) {
        match prd {
            WriteBack::Done | WriteBack::Off => drop(self.unwritten.remove(id)),
            WriteBack::LeftAlone { why } => drop(self.unwritten.insert(id.clone(), why.clone())),
        }
    }

    fn skip(&mut self, id: &StoryId, reason: &str, prd: &WriteBack, at_ms: i64) -> Moved {
        self.note_write_back(id, prd);
        let spec = self.spec.attempts_max();
        let story = self.story_mut(id)?;
        let attempts_max = story.attempts_max_of(spec);
        let is_wanted = matches!(story.wish, Some(Wish::Skip { .. }));
        let (is_recheck, may_skip) = match (&story.status, story.attempt()) {
            (StoryStatus::Pending, _) => (false, is_wanted),
            (_, Some(attempt)) => {
                let is_recheck = attempt.is_recheck;
                let may_skip = match attempt.step {
                    Step::GivenUp { .. } => true,
                    Step::Rejected => {
                        let is_last = story.attempts >= attempts_max;
                        is_recheck || is_last || attempt.source != Source::Agents
                    }
                    _ => false,
                };
                (is_recheck, may_skip)
            }
            (_, None) => return Err(format!("story `{id}` is not being worked on").into()),
        };
        if !may_skip {
            return Err(format!("story `{id}` has attempts left").into());
        }
        story
            .skipped_because
            .get_or_insert_with(|| reason.to_owned());
        let skipped = StoryStatus::Skipped {
            reason: reason.to_owned(),
            // Nobody looks again at what a person does not want.
            rechecked: is_recheck || is_wanted,
        };
        self.finish(id, skipped, is_recheck, at_ms)
    }

    /// Ends a story. A recheck ends no further one: it was counted when it was skipped.
    fn finish(&mut self, id: &StoryId, status: StoryStatus, is_recheck: bool, at_ms: i64) -> Moved {
        let story = self.story_mut(id)?;
        story.status = status;
        story.wish = None;
        story.is_asked_for = false;
        story.ended_at_ms = Some(at_ms);
        story.ticket = None;
        story.is_recalled = false;
        self.iterations += u32::from(!is_recheck);
        Ok(())
    }

    fn block(&mut self, id: &StoryId, on: &StoryId) -> Moved {
        let has_passed = self.story(on).is_some_and(StoryProgress::has_passed);
        let story = self.story_mut(id)?;
        if story.status != StoryStatus::Pending || has_passed {
            return Err(format!("story `{id}` is not blocked by `{on}`").into());
        }
        story.status = StoryStatus::Blocked { on: on.clone() };
        Ok(())
    }

    /// Goes on after a pause, and cuts waits short.
    fn resume(&mut self) -> Moved {
        self.paused = false;
        // Whoever asks to go on knows better than what was reported of a limit.
        self.limits.clear();
        for wait in self.waits() {
            self.end_wait(&wait.run)?;
        }
        Ok(())
    }

    fn end(&mut self, reason: &EndReason) -> Moved {
        let is_running = self
            .runs()
            .any(|(_, state)| matches!(state, RunState::Running { .. }));
        if is_running {
            return Err("a run is under way".into());
        }
        let is_whole = matches!(
            reason,
            EndReason::Completed | EndReason::MaxIterationsReached
        );
        if is_whole && self.attempts().next().is_some() {
            return Err("a story is being worked on".into());
        }
        self.ended = Some(reason.clone());
        for story in &mut self.stories {
            // Whoever still wants something says so again, and only that is done then.
            story.wish = None;
            story.is_asked_for = false;
        }
        Ok(())
    }
}

/// Whether an event may come after the loop's end.
fn may_follow_end(event: &Event) -> bool {
    matches!(
        event,
        Event::PublishTried { .. }
            | Event::PublishRequested
            | Event::RetryRequested { .. }
            | Event::AcceptRequested { .. }
            | Event::TakeRequested { .. }
            | Event::HandedIn { .. }
    )
}

/// A story begins when its turn comes, and again after each rejected attempt.
fn may_begin(story: &StoryProgress) -> bool {
    match &story.status {
        StoryStatus::Pending => true,
        StoryStatus::Active(attempt) => attempt.step == Step::Rejected && !attempt.is_recheck,
        _ => false,
    }
}
