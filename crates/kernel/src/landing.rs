//! The queue of proven candidates. They land one at a time, in the order in which they were proven.
//!
//! A candidate whose base is no longer the head is put onto the head (restacked), measured there, and
//! judged again where the verdict could have been another one. Whatever does not fit goes back to its
//! implementor. Whoever waits or asks leaves the queue, so that nobody is held up by it.

use crate::apply::{Moved, Refused};
use crate::attempt::{Attempt, Candidate, Drafts, Judged, Material, Step};
use crate::commit::Commit;
use crate::event::Event;
use crate::facts::Facts;
use crate::flow::{FlowStep, Stage};
use crate::gate::{Gate, Situation, gate};
use crate::ids::StoryId;
use crate::lane::RunState;
use crate::restacked::{RestackClass, Restackable};
use crate::run_end::{red, take_step};
use crate::state::{State, StoryProgress};
use crate::together::Rejudge;
use crate::wishes::Source;

/// How often a story may be sent back without its costing an attempt. From then on it runs alone.
pub(crate) const RETURNS_MAX: u32 = 2;

/// A piece of work that was put onto another commit.
struct Restacking<'a> {
    attempt: u32,
    round: u32,
    from: &'a Commit,
    onto: &'a Commit,
}

impl<'a> Restacking<'a> {
    fn of(attempt: u32, round: u32, from: &'a Commit, onto: &'a Commit) -> Self {
        Self {
            attempt,
            round,
            from,
            onto,
        }
    }
}

impl StoryProgress {
    /// Whether it was sent back so often that nothing else lands while it is tried again.
    pub(crate) fn is_alone(&self) -> bool {
        self.returns >= RETURNS_MAX
    }
}

impl Attempt {
    /// Whether it is landing: everything about its candidate is done but for the landing itself.
    pub fn is_queued(&self) -> bool {
        matches!(self.step, Step::Queued { .. })
    }
}

impl State {
    /// The story whose turn it is to land: the one with the smallest ticket, unless it owes a run that
    /// the budget has no room for, or that a question of another story keeps from starting.
    pub fn front(&self) -> Option<&StoryProgress> {
        let mut queued = self.queue().into_iter();
        queued.find(|story| {
            let attempt = story.attempt();
            !attempt.is_some_and(|attempt| self.is_stuck(story, attempt))
        })
    }

    fn is_stuck(&self, story: &StoryProgress, attempt: &Attempt) -> bool {
        let owed = attempt.lanes().iter();
        let mut owed = owed.filter(|lane| lane.run.state == RunState::Owed);
        owed.any(|lane| {
            !self.can_afford(lane.stage)
                || !self.leaves_enough_for(self.confirming(), lane.stage)
                || self.is_kept_back(story, attempt, lane.stage)
        })
    }

    /// The stories that have a ticket and have not landed, the next one first.
    pub fn queue(&self) -> Vec<&StoryProgress> {
        let has_landed = |story: &StoryProgress| {
            let attempt = story.attempt();
            attempt.is_some_and(Attempt::has_landed)
        };
        let mut queue: Vec<&StoryProgress> = self.stories.iter().collect();
        queue.retain(|story| story.ticket.is_some() && !has_landed(story));
        queue.sort_by_key(|story| story.ticket);
        queue
    }

    /// The proven candidates that have not landed. An end that leaves any says so.
    pub fn unlanded(&self) -> Vec<(&StoryId, &Commit)> {
        let proven = self.attempts().filter_map(|(story, attempt)| {
            let candidate = match (&attempt.judged, &attempt.step) {
                (Some(judged), _) => &judged.candidate,
                (None, Step::Queued { candidate } | Step::Approve { candidate, .. }) => candidate,
                (None, _) => return None,
            };
            (!attempt.has_landed()).then_some((&story.spec.id, &candidate.commit))
        });
        proven.collect()
    }

    pub(crate) fn is_front(&self, id: &StoryId) -> bool {
        self.front().is_some_and(|front| front.spec.id == *id)
    }

    /// What landed after a commit of the branch was its head, oldest first. Whoever began on a commit
    /// that was taken back since stands on the one that the branch went back to.
    pub(crate) fn landed_since(&self, base: &Commit) -> &[(StoryId, Commit)] {
        let mut base = base;
        while let Some(onto) = self.guard.retracted.get(base) {
            base = onto;
        }
        let found = self.landed.iter().rposition(|(_, commit)| commit == base);
        &self.landed[found.map_or(0, |at| at + 1)..]
    }

    /// Whether a story has the smallest ticket of all that are still to be shown to the operator. Earlier
    /// versions went by that.
    pub(crate) fn is_first_ticket(&self, id: &StoryId) -> bool {
        let announcing = self.attempts().filter(|(_, attempt)| attempt.has_landed());
        let first = announcing.min_by_key(|(story, _)| story.ticket);
        first.is_none_or(|(story, _)| story.spec.id == *id)
    }

    /// Takes the next ticket, unless the story has one.
    pub(crate) fn take_ticket(&mut self, id: &StoryId) -> Moved {
        let next = self.next_ticket;
        let story = self.story_mut(id)?;
        if story.ticket.is_none() {
            story.ticket = Some(next);
            self.next_ticket += 1;
        }
        Ok(())
    }

    /// The candidate is accepted and waits for its turn to land.
    pub(crate) fn enqueue(&mut self, id: &StoryId, candidate: Box<Candidate>) -> Moved {
        self.take_ticket(id)?;
        self.step(id, Step::Queued { candidate })
    }

    /// Whoever waits or asks holds up nobody.
    pub(crate) fn leave_queue_if_held(&mut self, id: &StoryId) -> Moved {
        let story = self.story_mut(id)?;
        let is_held = story.attempt().is_some_and(|attempt| {
            let mut lanes = attempt.lanes().iter();
            let is_held = attempt.hindered.is_some()
                || matches!(attempt.step, Step::Approve { .. })
                || lanes.any(|lane| lane.run.state.is_held());
            is_held && !attempt.has_landed()
        });
        if is_held {
            story.ticket = None;
        }
        Ok(())
    }

    /// A story that waited or asked goes on. What was put onto another commit meanwhile begins anew
    /// from what was accepted: the branch may have moved.
    pub(crate) fn rejoin_queue(&mut self, id: &StoryId) -> Moved {
        let story = self.story_mut(id)?;
        let is_alone = story.is_alone();
        let attempt = self.attempt_mut(id)?;
        let mut lanes = attempt.lanes().iter();
        let is_held = attempt.hindered.is_some() || lanes.any(|lane| lane.run.state.is_held());
        if is_held || attempt.has_landed() {
            // Another run of it is still held up, or it has left the queue for good.
            return Ok(());
        }
        if let Some(judged) = attempt.judged.take() {
            attempt.base = judged.base;
            return self.enqueue(id, judged.candidate);
        }
        if attempt.is_queued() || is_alone {
            return self.take_ticket(id);
        }
        Ok(())
    }

    /// Takes what came of putting work onto the head.
    pub(crate) fn restack(&mut self, event: &Event) -> Moved {
        match event {
            Event::Restacked {
                story,
                attempt,
                round,
                what,
                from,
                onto,
                commit,
                class,
                notes,
                ask,
            } => {
                let restacking = Restacking::of(*attempt, *round, from, onto);
                match what {
                    Restackable::Tests => self.take_moved_tests(story, &restacking, commit),
                    Restackable::Candidate => {
                        let moved = Candidate::new(commit.clone(), notes.clone(), ask.clone());
                        self.take_restacked(story, &restacking, *class, moved)
                    }
                }
            }
            Event::RestackRefused {
                story,
                attempt,
                round,
                what,
                from,
                onto,
                paths,
            } => {
                let restacking = Restacking::of(*attempt, *round, from, onto);
                match what {
                    Restackable::Tests => self.refuse_moved_tests(story, &restacking),
                    Restackable::Candidate => self.refuse_restack(story, &restacking, paths),
                }
            }
            _ => Err(format!("`{}` is not about another base", event.kind()).into()),
        }
    }

    /// The story's tests stand on the head now.
    fn take_moved_tests(
        &mut self,
        id: &StoryId,
        restacking: &Restacking<'_>,
        commit: &Commit,
    ) -> Moved {
        let drafts = self.expect_moved_tests(id, restacking)?;
        let story = self.story_mut(id)?;
        story.rounds += 1;
        let round = story.rounds;
        if let Some(tests) = &mut story.tests {
            tests.commit = Some(commit.clone());
            tests.round = round;
        }
        self.enter(id, 0, Material::Drafts(drafts))
    }

    /// Tests that exclude what landed are written anew.
    fn refuse_moved_tests(&mut self, id: &StoryId, restacking: &Restacking<'_>) -> Moved {
        let drafts = self.expect_moved_tests(id, restacking)?;
        self.story_mut(id)?.forget_tests();
        self.enter(id, 0, Material::Drafts(drafts))
    }

    fn expect_moved_tests(
        &mut self,
        id: &StoryId,
        restacking: &Restacking<'_>,
    ) -> Result<Drafts, Refused> {
        let story = self.story_mut(id)?;
        let tests = story.tests.as_ref().and_then(|tests| tests.commit.as_ref());
        let is_its = tests == Some(restacking.from) && restacking.round == story.rounds + 1;
        let attempt = self.numbered_mut(id, restacking.attempt)?;
        let is_onto_base = *restacking.onto == attempt.base;
        match &attempt.step {
            Step::MoveTests { drafts } if is_its && is_onto_base => Ok(drafts.clone()),
            _ => Err("no tests are to be put onto another commit".into()),
        }
    }

    /// Takes a candidate that was put onto the head.
    fn take_restacked(
        &mut self,
        id: &StoryId,
        restacking: &Restacking<'_>,
        class: RestackClass,
        restacked: Candidate,
    ) -> Moved {
        self.expect_restack(id, restacking)?;
        let attempt = self.numbered_mut(id, restacking.attempt)?;
        let Step::Queued { candidate } = take_step(attempt) else {
            return Err("nothing waits to be put onto the head".into());
        };
        let base = std::mem::replace(&mut attempt.base, restacking.onto.clone());
        attempt.restacks = restacking.round;
        let mut restacked = restacked;
        restacked.review.clone_from(&candidate.review);
        restacked.proof.clone_from(&candidate.proof);
        restacked.proof_missing.clone_from(&candidate.proof_missing);
        let is_carried = candidate
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.commit != candidate.commit);
        attempt.judged = Some(match attempt.judged.take() {
            // Its PASS is that of an earlier commit, so it is carried on from there.
            Some(judged) if is_carried => Judged {
                class: judged.class.then(class),
                ..judged
            },
            _ => Judged {
                base,
                candidate,
                class,
            },
        });
        self.enter_stage(id, Stage::Check, restacked)
    }

    /// Takes it that a candidate cannot be put onto the head.
    fn refuse_restack(
        &mut self,
        id: &StoryId,
        restacking: &Restacking<'_>,
        paths: &[String],
    ) -> Moved {
        self.expect_restack(id, restacking)?;
        let attempt = self.numbered_mut(id, restacking.attempt)?;
        let Source::Accepted(acceptance) = &attempt.source else {
            let why = format!(
                "What landed meanwhile changes the same lines or files: {}.",
                paths.join(", ")
            );
            return self.send_back(id, &why);
        };
        let by = acceptance.by.clone();
        let paths = paths.join(", ");
        self.give_up(
            id,
            format!(
                "{by} accepted it, but it and what landed since exclude each other: {paths}; `retry` \
                 or `take` makes it anew on top of that"
            ),
        )
    }

    fn expect_restack(&mut self, id: &StoryId, restacking: &Restacking<'_>) -> Moved {
        let (is_front, head) = (self.is_front(id), self.head.clone());
        let attempt = self.numbered_mut(id, restacking.attempt)?;
        let is_its = matches!(
            &attempt.step,
            Step::Queued { candidate } if candidate.commit == *restacking.from
        );
        let is_onto_head = *restacking.onto == head && attempt.base != head;
        if !is_its || !is_onto_head || !is_front || restacking.round != attempt.restacks + 1 {
            let from = restacking.from;
            return Err(format!("{from} is not to be put onto {}", restacking.onto).into());
        }
        Ok(())
    }

    fn enter_stage(&mut self, id: &StoryId, stage: Stage, candidate: Candidate) -> Moved {
        let steps = self.attempt_mut(id)?.steps();
        let has_stage =
            |step: &FlowStep| matches!(step, FlowStep::Runs(stages) if stages.contains(&stage));
        let Some(at) = steps.iter().position(has_stage) else {
            return Err(format!("the flow has no {}", stage.word()).into());
        };
        self.enter_runs(id, at, &[stage], Material::Candidate(Box::new(candidate)))
    }

    /// What the checks of a candidate on top of what landed lead to.
    pub(crate) fn take_landing_check(
        &mut self,
        id: &StoryId,
        passed: bool,
        report: &str,
        facts: Option<&Facts>,
    ) -> Moved {
        let attempt = self.attempt_mut(id)?;
        let situation = Situation {
            flow: attempt.flow,
            is_recheck: false,
        };
        let is_green = facts.map_or(passed, |facts| gate(facts, situation) == Gate::Open);
        if !is_green {
            let words = facts.map(|facts| facts.feedback.clone());
            let words = words.filter(|words| !words.is_empty());
            let words = words.unwrap_or_else(|| red(report));
            let why = format!("On top of what landed meanwhile it is red.\n{words}");
            return self.send_back(id, &why);
        }
        let is_judged = attempt.flow.has(Stage::Judge);
        let rejudge = self.spec.together.rejudge;
        let Step::Runs {
            material: Material::Candidate(candidate),
            ..
        } = take_step(self.attempt_mut(id)?)
        else {
            return Err("the attempt is not about a candidate".into());
        };
        let mut candidate = candidate;
        if is_judged {
            let criteria = self.story_mut(id)?.spec.criteria.clone();
            let judged = self.attempt_mut(id)?.judged.as_ref();
            let carried = judged
                .filter(|judged| {
                    rejudge == Rejudge::WhenNeeded && judged.is_carried_to(&candidate, &criteria)
                })
                .and_then(|judged| judged.candidate.verdict.clone());
            if carried.is_none() {
                return self.enter_stage(id, Stage::Judge, *candidate);
            }
            candidate.verdict = carried;
        }
        self.accept_candidate(id, candidate)
    }

    /// The candidate went through everything that its flow asks for: it waits for its turn, or a
    /// person must agree first.
    pub(crate) fn accept_candidate(&mut self, id: &StoryId, candidate: Box<Candidate>) -> Moved {
        let judged = self.attempt_mut(id)?.judged.as_ref();
        // What was merged is nothing that anybody has agreed to.
        let answered = judged.filter(|judged| judged.class == RestackClass::Disjoint);
        let answered = answered.and_then(|judged| judged.candidate.ask.clone());
        match candidate.ask.clone() {
            Some(question) if answered.as_ref() != Some(&question) => {
                let step = Step::Approve {
                    candidate,
                    question,
                };
                self.step(id, step)?;
                self.leave_queue_if_held(id)
            }
            _ => self.enqueue(id, candidate),
        }
    }

    /// A person agreed.
    pub(crate) fn take_approval(&mut self, id: &StoryId) -> Moved {
        let head = self.head.clone();
        let attempt = self.attempt_mut(id)?;
        let Step::Approve { candidate, .. } = &attempt.step else {
            return Err("nothing is to be approved".into());
        };
        let candidate = candidate.clone();
        if attempt.base == head {
            return self.enqueue(id, candidate);
        }
        match attempt.judged.take() {
            // The branch has moved meanwhile. What they agreed to is not asked again.
            Some(mut judged) => {
                attempt.base = judged.base;
                judged.candidate.ask = candidate.ask;
                self.enqueue(id, judged.candidate)
            }
            None => self.enqueue(id, candidate),
        }
    }

    /// The work does not fit onto what landed meanwhile: its implementor does it again on top of that.
    /// The first returns are nobody's fault.
    pub(crate) fn send_back(&mut self, id: &StoryId, why: &str) -> Moved {
        let attempt = self.attempt_mut(id)?;
        let number = attempt.number;
        let began_at = match &attempt.judged {
            Some(judged) => judged.base.clone(),
            None => attempt.base.clone(),
        };
        let landed = self.landed_since(&began_at).iter();
        let landed: Vec<String> = landed.map(|(story, _)| format!("`{story}`")).collect();
        self.set_candidate_aside(id)?;
        let story = self.story_mut(id)?;
        story.former = Some(number);
        let since = if landed.is_empty() {
            "a story that it was built on was taken back".to_owned()
        } else {
            format!("other stories landed first: {}", landed.join(", "))
        };
        let words = format!("It was proven and then sent back, since {since}. {why}");
        story.found_wrong = Some(words.clone());
        story.feedback.push(words);
        story.ticket = None;
        if story.returns < RETURNS_MAX {
            story.returns += 1;
        }
        let is_alone = story.is_alone();
        self.step(id, Step::Rejected)?;
        if is_alone {
            self.take_ticket(id)
        } else {
            Ok(())
        }
    }

    /// The law of landing: what lands is the accepted candidate, it is its turn, it is a child of the
    /// branch's head, it was measured itself, and the PASS is about it, or about the commit that it is
    /// a disjoint restack of. A candidate whose base the branch has left behind would silently undo
    /// what landed since.
    pub(crate) fn integrate(&mut self, id: &StoryId, number: u32, commit: &Commit) -> Moved {
        let (head, is_front) = (self.head.clone(), self.is_front(id));
        let attempt = self.numbered_mut(id, number)?;
        let candidate = match &attempt.step {
            Step::Queued { candidate } if candidate.commit == *commit => candidate,
            _ => return Err(format!("{commit} has no verdict that lets it land").into()),
        };
        if attempt.base != head {
            let base = &attempt.base;
            return Err(format!("{commit} stands on {base}, and the branch is at {head}").into());
        }
        if !is_front {
            return Err(format!("it is not the turn of {commit} to land").into());
        }
        attempt.expect_measured(candidate)?;
        attempt.expect_verdict(candidate)?;
        let candidate = candidate.clone();
        self.head = commit.clone();
        self.landed.push((id.clone(), commit.clone()));
        self.enter_landed(id, candidate)
    }
}

impl Attempt {
    fn expect_measured(&self, candidate: &Candidate) -> Moved {
        let commit = &candidate.commit;
        match (&candidate.checked, &self.source) {
            (Some(checked), _) if checked.commit == *commit => Ok(()),
            // On the commit that it was made for it has been measured.
            (None, Source::Accepted(acceptance)) if acceptance.base == self.base => Ok(()),
            _ => Err(format!("{commit} was not measured itself").into()),
        }
    }

    fn expect_verdict(&self, candidate: &Candidate) -> Moved {
        let is_accepted = matches!(self.source, Source::Accepted(_));
        if is_accepted || !self.flow.has(Stage::Judge) {
            return Ok(());
        }
        let commit = &candidate.commit;
        let refused = || Refused::from(format!("no PASS lets {commit} land"));
        let verdict = candidate.verdict.as_ref().ok_or_else(refused)?;
        let is_carried = self.judged.as_ref().is_some_and(|judged| {
            judged.class == RestackClass::Disjoint && judged.candidate.commit == verdict.commit
        });
        if verdict.pass && (verdict.commit == *commit || is_carried) {
            Ok(())
        } else {
            Err(refused())
        }
    }
}

impl Judged {
    /// Whether the PASS holds for the restacked candidate too: the same files changed in the same way,
    /// tests prove the story, and nothing new would have to be weighed.
    fn is_carried_to(&self, restacked: &Candidate, criteria: &[String]) -> bool {
        let Some((verdict, facts)) = self.candidate.verdict.as_ref().zip(restacked.facts()) else {
            return false;
        };
        let Some(before) = self.candidate.facts() else {
            return false;
        };
        let is_answered = |obligation| verdict.answer_to(obligation, criteria).is_some();
        let is_known = |flag| before.flags.contains(flag);
        self.class == RestackClass::Disjoint
            && !facts.proven.is_empty()
            && facts.not_gating.is_empty()
            && facts.owed().iter().all(is_answered)
            && facts.flags.iter().all(is_known)
            && restacked.notes == self.candidate.notes
            && restacked.ask == self.candidate.ask
    }
}
