//! What a person wants of one story: another try, that it is set aside, that a candidate lands, or to
//! do it themselves.
//!
//! A wish waits in the story until it can be granted: its own runs must be over, and the branch may not
//! move under the feet of another story's attempt.

use std::sync::Arc;

use crate::apply::{Moved, Refused};
use crate::attempt::{Attempt, Code, Drafts, Step, TestsDraft};
use crate::commit::Commit;
use crate::event::{EndReason, Event};
use crate::flow::Flow;
use crate::ids::{AgentName, StoryId};
use crate::lane::RunState;
use crate::starting::Stance;
use crate::state::{State, StoryProgress, StoryStatus};
use crate::wishes::{Acceptance, PersonsWork, Rejected, Source, Wish};

impl StoryProgress {
    /// A candidate of this story, whatever became of it.
    pub fn proposed(&self, commit: &Commit) -> Option<Rejected> {
        let active = self.attempt().filter(|attempt| !attempt.is_recheck);
        let current = active.and_then(Attempt::as_rejected);
        let judged = active.and_then(Attempt::judged_as_rejected);
        let before = self.rejected.iter().rev().cloned();
        current
            .into_iter()
            .chain(judged)
            .chain(before)
            .find(|one| one.commit == *commit)
    }

    /// Hands a wish over to the attempt that grants it, with what the attempt begins with.
    pub(crate) fn take_wish(&mut self, attempt: &mut Attempt) -> Result<Drafts, Refused> {
        let mut drafts = Drafts::default();
        match self.wish.take() {
            None => return Ok(drafts),
            Some(Wish::Accept(acceptance)) => {
                let made = self.proposed(&acceptance.commit);
                attempt.made_in = made.map_or(attempt.number, |made| made.made_in);
                attempt.source = Source::Accepted(acceptance);
                self.acceptances += 1;
            }
            Some(Wish::HandIn(work)) => {
                attempt.source = Source::Person(work);
                drafts.code = Code::Written;
                drafts.tests = TestsDraft::Nothing;
            }
            Some(Wish::Skip { .. } | Wish::Take { .. }) => {
                return Err("a person wants no further attempt at it".into());
            }
        }
        self.extra_attempts += 1;
        Ok(drafts)
    }

    /// Forgets the tests that were written. Whatever comes of writers who are still at it has a name that
    /// nobody looks for any more.
    pub(crate) fn forget_tests(&mut self) {
        if self.tests.take().is_some() || self.rewrite.take().is_some() {
            self.earlier_writings += self.rewrites + 1;
            self.rounds += 1;
        }
        self.failing.clear();
    }

    /// Whether an attempt is owed that grants a wish.
    pub(crate) fn has_wished_attempt(&self) -> bool {
        self.status == StoryStatus::Pending
            && matches!(self.wish, Some(Wish::Accept(_) | Wish::HandIn(_)))
    }
}

impl Attempt {
    /// What was accepted before it was put onto what landed since, as it is remembered.
    fn judged_as_rejected(&self) -> Option<Rejected> {
        let judged = self.judged.as_ref()?;
        Some(judged.candidate.as_rejected(&judged.base, self.made_in))
    }
}

impl State {
    /// Takes what a person wants of a story.
    pub(crate) fn steer(&mut self, event: &Event, at_ms: i64) -> Moved {
        match event {
            Event::RetryRequested {
                story,
                hint,
                agent,
                flow,
            } => self.retry(story, hint.as_deref(), agent.as_ref(), *flow),
            Event::SkipRequested { story, reason } => {
                let reason = reason.clone();
                self.wish(story, Wish::Skip { reason })
            }
            Event::AcceptRequested {
                story,
                commit,
                by,
                reason,
            } => self.accept_by_person(story, commit, by, reason.as_deref(), at_ms),
            Event::TakeRequested { story, by, folder } => {
                let (by, folder) = (by.clone(), folder.clone());
                self.wish(story, Wish::Take { by, folder })
            }
            Event::HandedIn { story, commit, by } => self.hand_in(story, commit, by),
            _ => Err(format!("`{}` is no wish of a person", event.kind()).into()),
        }
    }

    fn retry(
        &mut self,
        id: &StoryId,
        hint: Option<&str>,
        agent: Option<&AgentName>,
        flow: Option<Flow>,
    ) -> Moved {
        let is_over = self.ended.is_some();
        let story = self.story_mut(id)?;
        let says_more = hint.is_some() || agent.is_some() || flow.is_some();
        match &story.status {
            StoryStatus::Passed(_) => return Err(format!("story `{id}` has passed").into()),
            StoryStatus::Active(attempt) if is_on_branch(attempt, is_over) => {
                return Err(format!("story `{id}` {HAS_LANDED}").into());
            }
            StoryStatus::Active(_) if !is_over => {
                let why = format!("story `{id}` is being worked on; wait for it, or skip it first");
                return Err(why.into());
            }
            StoryStatus::Blocked { on } => {
                let why = format!("story `{id}` waits for `{on}`; that one can be tried again");
                return Err(why.into());
            }
            StoryStatus::Pending if story.wish.is_some() => {
                return Err(format!("something else is wanted of story `{id}` already").into());
            }
            StoryStatus::Pending if !says_more && !is_over => {
                return Err(format!("the turn of story `{id}` will come").into());
            }
            StoryStatus::Pending
            | StoryStatus::Active(_)
            | StoryStatus::Skipped { .. }
            | StoryStatus::SetAside
            | StoryStatus::Taken { .. } => {}
        }
        let hint = hint.map(|hint| format!("For the next attempt:\n{hint}"));
        story.answers.extend(hint);
        let spec = Arc::make_mut(&mut story.spec);
        if let Some(agent) = agent {
            spec.assigned.implementor = Some(agent.clone());
        }
        if flow.is_some() {
            spec.flow = flow;
        }
        self.reopen()?;
        self.put_back(id)
    }

    fn accept_by_person(
        &mut self,
        id: &StoryId,
        commit: &Commit,
        by: &str,
        reason: Option<&str>,
        at_ms: i64,
    ) -> Moved {
        let story = self.story_mut(id)?;
        if story.has_passed() {
            return Err(format!("story `{id}` has passed").into());
        }
        let Some(proposed) = story.proposed(commit) else {
            return Err(format!("{commit} is no candidate of story `{id}`").into());
        };
        if !proposed.is_green && reason.is_none() {
            let why = "its checks are red or did not run, so a reason is needed";
            return Err(why.into());
        }
        let acceptance = Acceptance {
            commit: proposed.commit,
            base: proposed.base,
            by: by.to_owned(),
            reason: reason.map(str::to_owned),
            at_ms,
            warm: proposed.is_warm,
        };
        self.wish(id, Wish::Accept(acceptance))
    }

    fn hand_in(&mut self, id: &StoryId, commit: &Commit, by: &str) -> Moved {
        let story = self.story_mut(id)?;
        if !matches!(story.status, StoryStatus::Taken { .. }) {
            return Err(format!("nobody has taken story `{id}`").into());
        }
        let work = PersonsWork {
            commit: commit.clone(),
            by: by.to_owned(),
        };
        story.wish = Some(Wish::HandIn(work));
        self.reopen()?;
        self.put_back(id)
    }

    /// Notes a wish, and grants it where nothing stands in the way.
    fn wish(&mut self, id: &StoryId, wish: Wish) -> Moved {
        let is_over = self.ended.is_some();
        let head = self.head.clone();
        let story = self.story_mut(id)?;
        let is_skip = matches!(wish, Wish::Skip { .. });
        let refused = match &story.status {
            StoryStatus::Passed(_) => Some("has passed"),
            StoryStatus::Active(attempt) if is_on_branch(attempt, is_over) => Some(HAS_LANDED),
            // Nothing is done any more for what the end cut short.
            StoryStatus::Active(_) if is_over => None,
            StoryStatus::Active(attempt) if attempt.is_recheck => Some("is being looked at again"),
            StoryStatus::Active(attempt) if is_landing(attempt, &head) => Some("is landing"),
            StoryStatus::Skipped { .. } | StoryStatus::Blocked { .. } | StoryStatus::SetAside
                if is_skip =>
            {
                Some("is set aside already")
            }
            StoryStatus::Taken { .. } if matches!(wish, Wish::Take { .. }) => {
                Some("is with a person already; `take --done` hands it in")
            }
            _ if story.wish.is_some() && !is_skip && !is_another_yes(story, &wish) => {
                Some("has a person's wish to fulfil already")
            }
            _ => None,
        };
        if let Some(why) = refused {
            return Err(format!("story `{id}` {why}").into());
        }
        // What the end cut short is put away first, with the candidate that may be meant.
        self.reopen()?;
        self.story_mut(id)?.wish = Some(wish);
        if self.story_mut(id)?.attempt().is_some() {
            return self.grant_wish(id);
        }
        self.put_back(id)
    }

    /// Leaves an attempt that a person's wish has overtaken, once none of its runs is under way.
    pub(crate) fn grant_wish(&mut self, id: &StoryId) -> Moved {
        let story = self.story_mut(id)?;
        let Some(wish) = story.wish.clone() else {
            return Ok(());
        };
        let is_busy = story.attempt().is_some_and(is_running);
        if is_busy || story.attempt().is_none() {
            return Ok(());
        }
        match wish {
            Wish::Skip { reason } => self.give_up(id, reason),
            Wish::Accept(_) | Wish::Take { .. } | Wish::HandIn(_) => self.put_back(id),
        }
    }

    /// Puts a story back to where an attempt can begin, or into a person's hands. What it depends on
    /// and what depends on it is looked at anew.
    fn put_back(&mut self, id: &StoryId) -> Moved {
        if self.story_mut(id)?.attempt().is_some() {
            self.set_candidate_aside(id)?;
        }
        let story = self.story_mut(id)?;
        let was_counted = matches!(story.status, StoryStatus::Skipped { .. });
        story.attempts = story.attempts.max(story.rechecked_as);
        story.extra_attempts = story.extra_attempts.max(story.attempts);
        story.returns = 0;
        story.ticket = None;
        story.is_recalled = false;
        story.is_asked_for = true;
        story.skipped_because = None;
        story.ruled = false;
        // Somebody may still be making tests under the next name.
        story.earlier_writings += story.rewrites + 1;
        story.rounds += 1;
        story.rewrites = 0;
        story.ended_at_ms = None;
        story.status = match story.wish.take() {
            Some(Wish::Take { by, folder }) => StoryStatus::Taken { by, folder },
            wish => {
                story.wish = wish;
                StoryStatus::Pending
            }
        };
        // It ends once more.
        self.iterations = self.iterations.saturating_sub(u32::from(was_counted));
        for story in &mut self.stories {
            if matches!(story.status, StoryStatus::Blocked { .. }) {
                story.status = StoryStatus::Pending;
            }
        }
        Ok(())
    }

    /// Makes a loop that is over go on. Attempts that its end cut short begin anew.
    pub(crate) fn reopen(&mut self) -> Moved {
        let Some(reason) = self.ended.take() else {
            return Ok(());
        };
        self.reopened_from = Some(reason);
        self.cancel = None;
        self.paused = false;
        // What is on the branch stays there, and is confirmed.
        let cut_short: Vec<StoryId> = self
            .attempts()
            .filter(|(_, attempt)| !attempt.has_landed())
            .map(|(story, _)| story.spec.id.clone())
            .collect();
        for id in cut_short {
            self.set_candidate_aside(&id)?;
            let story = self.story_mut(&id)?;
            // What was proven is what the end named, wherever it was being put.
            let judged = story.attempt().and_then(Attempt::judged_as_rejected);
            story.rejected.extend(judged);
            let was_recheck = story.attempt().is_some_and(|attempt| attempt.is_recheck);
            story.status = if was_recheck {
                StoryStatus::Skipped {
                    reason: story.skipped_because.clone().unwrap_or_default(),
                    rechecked: true,
                }
            } else {
                story.extra_attempts += 1;
                StoryStatus::Pending
            };
            story.ticket = None;
            story.is_recalled = false;
        }
        Ok(())
    }

    /// Why a loop that went on for a person's sake ends when that is done; none where it goes on as a
    /// whole.
    pub fn ends_again(&self) -> Option<&EndReason> {
        let reason = self.reopened_from.as_ref();
        let is_for_one = self.spec.first.as_ref().is_some_and(|first| first.only);
        reason.filter(|reason| **reason != EndReason::Completed || is_for_one)
    }

    /// Whether an attempt is under way at what a person accepted or made, and neither waits nor asks.
    pub(crate) fn is_steered_work_under_way(&self) -> bool {
        let mut steered = self
            .attempts()
            .filter(|(_, attempt)| attempt.source != Source::Agents);
        steered.any(|(story, attempt)| self.stance(story, attempt) == Stance::Works)
    }

    /// Whether a person does a story just now.
    pub fn is_with_person(&self) -> bool {
        let mut stories = self.stories.iter();
        stories.any(|story| matches!(story.status, StoryStatus::Taken { .. }))
    }
}

/// What a person is told who wants something of a story that is on the branch.
const HAS_LANDED: &str = "has landed and waits for its confirmation";

/// Whether somebody who said yes says it again with other words, such as a reason.
fn is_another_yes(story: &StoryProgress, wish: &Wish) -> bool {
    match (&story.wish, wish) {
        (Some(Wish::Accept(first)), Wish::Accept(second)) => {
            (&first.commit, &first.reason) != (&second.commit, &second.reason)
        }
        _ => false,
    }
}

/// Whether its candidate is on the branch and has to be confirmed, or to wait for another one that has.
fn is_on_branch(attempt: &Attempt, is_over: bool) -> bool {
    attempt.is_unconfirmed() || (is_over && attempt.has_landed())
}

/// Whether the branch may be moving to its candidate just now, or has.
fn is_landing(attempt: &Attempt, head: &Commit) -> bool {
    match attempt.step {
        Step::Queued { .. } => attempt.base == *head,
        Step::Confirm { .. } | Step::Retract { .. } | Step::Announce { .. } => true,
        _ => false,
    }
}

pub(crate) fn is_running(attempt: &Attempt) -> bool {
    let mut lanes = attempt.lanes().iter();
    lanes.any(|lane| matches!(lane.run.state, RunState::Running { .. }))
}
