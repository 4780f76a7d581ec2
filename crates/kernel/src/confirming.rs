//! What landed by a measurement that reused an earlier build is confirmed before anybody is shown it:
//! measured again, with everything built anew, while other stories go on.
//!
//! Confirmations go in the order of the landings, one at a time. A red one takes its commit and
//! everything above it back from the loop's own branch. Nothing that was shown is ever taken back.

use crate::apply::{Moved, Refused};
use crate::attempt::{Attempt, Candidate, Step};
use crate::commit::Commit;
use crate::event::{Event, RunKey};
use crate::facts::{Facts, ObligationKind};
use crate::flow::Stage;
use crate::gate::{Finding, Gate, Situation, gate, without_criterion};
use crate::ids::StoryId;
use crate::run_end::{red, take_step};
use crate::state::{State, StoryProgress, StoryStatus};
use crate::steer::is_running;
use crate::wishes::Source;

/// Landings that may wait for their confirmation before it goes before all other checks.
const UNCONFIRMED_MAX: usize = 3;

/// A landing that is taken back.
struct Retraction<'a> {
    story: &'a StoryId,
    attempt: u32,
    commit: &'a Commit,
    /// The commit that the branch goes back to.
    onto: &'a Commit,
}

impl Attempt {
    /// Whether its candidate is on the loop's own branch and nobody was shown it yet.
    pub fn has_landed(&self) -> bool {
        match self.step {
            Step::Confirm { .. } | Step::Retract { .. } => true,
            Step::Announce { .. } => !self.is_recheck,
            _ => false,
        }
    }

    /// Whether its candidate is on the loop's own branch and was not measured with everything built
    /// anew.
    pub fn is_unconfirmed(&self) -> bool {
        matches!(self.step, Step::Confirm { .. } | Step::Retract { .. })
    }

    /// Whether a candidate that lands must be confirmed.
    fn owes_confirmation(&self, candidate: &Candidate) -> bool {
        let facts = candidate.facts();
        let is_warm = facts.is_some_and(|facts| facts.warm);
        match &self.source {
            // Their reason covers whatever is red.
            Source::Accepted(acceptance) if acceptance.reason.is_some() => false,
            Source::Accepted(acceptance) => is_warm || (facts.is_none() && acceptance.warm),
            Source::Agents | Source::Person(_) => is_warm,
        }
    }

    /// Why a measurement with everything built anew does not confirm a candidate; none where it does.
    fn refutation(
        &self,
        candidate: &Candidate,
        criteria: &[String],
        measured: Measured<'_>,
    ) -> Option<String> {
        let Some(facts) = measured.facts else {
            return (!measured.passed).then(|| red(measured.report));
        };
        let situation = Situation {
            flow: self.flow,
            is_recheck: false,
        };
        let is_green = match self.source {
            Source::Accepted(_) => !matches!(facts.finding(), Finding::Red | Finding::Unfit),
            Source::Agents | Source::Person(_) => gate(facts, situation) == Gate::Open,
        };
        if !is_green {
            let words = Some(facts.feedback.clone()).filter(|words| !words.is_empty());
            return Some(words.unwrap_or_else(|| red(measured.report)));
        }
        // What nobody has weighed so far. Whether small faults are noticed is no result of the build.
        let known = candidate.facts().map(Facts::owed).unwrap_or_default();
        let verdict = candidate.verdict.as_ref();
        let mut owed = facts.owed();
        owed.retain(|one| one.kind != ObligationKind::Characterisation && !known.contains(one));
        owed.retain(|one| verdict.is_some_and(|said| said.answer_to(one, criteria).is_none()));
        (!owed.is_empty()).then(|| without_criterion(&owed))
    }
}

/// What a run of the checks showed.
#[derive(Clone, Copy)]
struct Measured<'a> {
    passed: bool,
    report: &'a str,
    facts: Option<&'a Facts>,
}

impl State {
    /// The stories that are on the loop's own branch and that nobody was shown yet, with their commits,
    /// in the order of their landings.
    fn unannounced(&self) -> impl Iterator<Item = (&StoryId, &Commit, &Attempt)> {
        self.landed.iter().filter_map(|(story, commit)| {
            let attempt = self.attempt(story)?;
            let at = match &attempt.step {
                Step::Confirm { candidate, .. } | Step::Retract { candidate, .. } => {
                    &candidate.commit
                }
                Step::Announce { commit, .. } if !attempt.is_recheck => commit,
                _ => return None,
            };
            (at == commit).then_some((story, commit, attempt))
        })
    }

    /// Whether something on the loop's own branch is not confirmed.
    pub fn has_unconfirmed(&self) -> bool {
        self.attempts().any(|(_, attempt)| attempt.is_unconfirmed())
    }

    /// The attempts that are to be confirmed: the budget is kept for them.
    pub(crate) fn confirming(&self) -> impl Iterator<Item = &Attempt> {
        let attempts = self.attempts().map(|(_, attempt)| attempt);
        attempts.filter(|attempt| matches!(attempt.step, Step::Confirm { .. }))
    }

    /// What is on the loop's own branch and not confirmed, or stands on such a commit, oldest first.
    /// An end that leaves any says so.
    pub fn unconfirmed(&self) -> Vec<(&StoryId, &Commit)> {
        let tail = self
            .unannounced()
            .skip_while(|(_, _, attempt)| !attempt.is_unconfirmed());
        tail.map(|(story, commit, _)| (story, commit)).collect()
    }

    /// The last commit of the loop's own branch that may be shown to anybody: everything up to it is
    /// confirmed.
    pub fn confirmed(&self) -> &Commit {
        if !self.has_unconfirmed() {
            return &self.head;
        }
        match self.unconfirmed().first() {
            None => &self.head,
            Some((_, first)) => {
                let at = self.landed.iter().position(|(_, commit)| commit == *first);
                let before = at.and_then(|at| at.checked_sub(1));
                before.map_or(&self.spec.base, |at| &self.landed[at].1)
            }
        }
    }

    /// Whether somebody asked for what an end left unconfirmed: it is confirmed whatever became of the
    /// budget.
    pub fn was_asked_to_confirm(&self) -> bool {
        self.guard.confirms_anyway
    }

    /// Why no build may be reused any more, if none may.
    pub fn warm_off(&self) -> Option<&str> {
        self.guard.warm_off.as_deref()
    }

    /// Whether a story landed, is no longer worked on, and waits for its own confirmation or for that
    /// of an earlier one. It holds no place, and others may build on it.
    pub(crate) fn waits_for_confirmation(&self, attempt: &Attempt) -> bool {
        attempt.is_unconfirmed() || (attempt.has_landed() && self.has_unconfirmed())
    }

    /// Whether a story that has not passed is on the branch all the same.
    pub(crate) fn is_on_branch(&self, id: &StoryId) -> bool {
        self.attempt(id).is_some_and(|attempt| {
            self.waits_for_confirmation(attempt) && !matches!(attempt.step, Step::Retract { .. })
        })
    }

    /// Whether something is about to be taken back from the branch, so that nothing begins there.
    pub(crate) fn owes_retraction(&self) -> bool {
        let mut attempts = self.attempts();
        attempts.any(|(_, attempt)| matches!(attempt.step, Step::Retract { .. }))
    }

    /// Whether so much waits to be confirmed that nothing else is more urgent.
    pub(crate) fn is_confirming_urgent(&self) -> bool {
        let unconfirmed = self.attempts().filter(|(_, one)| one.is_unconfirmed());
        unconfirmed.count() > UNCONFIRMED_MAX
    }

    /// Whether it is this story's turn to be confirmed: whatever landed before it is.
    pub(crate) fn is_next_to_confirm(&self, id: &StoryId) -> bool {
        let mut landed = self.unannounced();
        let first = landed.find(|(_, _, attempt)| attempt.is_unconfirmed());
        first.is_some_and(|(story, ..)| story == id)
    }

    /// Whether the operator may be shown this story now: they were shown all that landed before it.
    pub(crate) fn is_next_to_announce(&self, id: &StoryId) -> bool {
        let first = self.unannounced().next();
        first.is_none_or(|(story, ..)| story == id)
    }

    pub(crate) fn expect_turn_to_confirm(&self, key: &RunKey) -> Moved {
        if key.stage == Stage::Confirm && !self.is_next_to_confirm(&key.story) {
            return Err("what landed before it is not confirmed".into());
        }
        Ok(())
    }

    /// What follows a landing: the confirmation, or the operator is shown at once.
    pub(crate) fn enter_landed(&mut self, id: &StoryId, candidate: Box<Candidate>) -> Moved {
        if !self.attempt_mut(id)?.owes_confirmation(&candidate) {
            return self.show(id, candidate);
        }
        let lane = self.lane(id, Stage::Confirm)?;
        self.step(id, Step::Confirm { lane, candidate })
    }

    fn show(&mut self, id: &StoryId, landed: Box<Candidate>) -> Moved {
        let step = Step::Announce {
            commit: landed.commit.clone(),
            landed: Some(landed),
        };
        self.step(id, step)
    }

    /// What a measurement with everything built anew leads to.
    pub(crate) fn take_confirmation(
        &mut self,
        id: &StoryId,
        passed: bool,
        report: &str,
        facts: Option<&Facts>,
    ) -> Moved {
        let criteria = self.story_mut(id)?.spec.criteria.clone();
        let attempt = self.attempt_mut(id)?;
        let Step::Confirm { candidate, .. } = take_step(attempt) else {
            return Err("nothing is to be confirmed".into());
        };
        let measured = Measured {
            passed,
            report,
            facts,
        };
        let Some(why) = attempt.refutation(&candidate, &criteria, measured) else {
            return self.show(id, candidate);
        };
        let first = why.lines().next().unwrap_or_default();
        let off = format!("`{id}` was green with a reused build and is red without: {first}");
        self.guard.warm_off.get_or_insert(off);
        self.step(id, Step::Retract { candidate, why })
    }

    /// Takes a commit that was not confirmed, and everything above it, back from the branch. Its story
    /// is sent back, the others return to the queue, and whoever builds on it waits for it again.
    pub(crate) fn retract(&mut self, event: &Event) -> Moved {
        let Event::Retracted {
            story,
            attempt,
            commit,
            onto,
            why,
        } = event
        else {
            return Err(format!("`{}` takes nothing back", event.kind()).into());
        };
        let retraction = &Retraction {
            story,
            attempt: *attempt,
            commit,
            onto,
        };
        let at = self.expect_retraction(retraction)?;
        let dropped = self.landed.split_off(at);
        for (_, commit) in &dropped {
            self.guard.retracted.insert(commit.clone(), onto.clone());
        }
        self.head = onto.clone();
        for (later, _) in &dropped[1..] {
            self.return_to_queue(later)?;
        }
        self.send_back_retracted(story, *attempt, why)?;
        for rejected in &mut self.story_mut(story)?.rejected {
            // Its checks said otherwise, and are known to be wrong.
            rejected.is_green &= rejected.commit != *commit;
        }
        self.recall_dependents(story)
    }

    fn expect_retraction(&mut self, retraction: &Retraction<'_>) -> Result<usize, Refused> {
        let Retraction {
            story: id,
            attempt: number,
            commit,
            onto,
            ..
        } = *retraction;
        let refused = || Refused::from(format!("{commit} is not to be taken back to {onto}"));
        let is_first = self.is_next_to_confirm(id);
        let mut landed = self.landed.iter();
        let at = landed.position(|(story, landed)| story == id && landed == commit);
        let attempt = self.numbered_mut(id, number)?;
        let is_it = matches!(
            &attempt.step,
            Step::Retract { candidate, .. } if candidate.commit == *commit
        );
        if !is_it || attempt.base != *onto || !is_first {
            return Err(refused());
        }
        at.ok_or_else(refused)
    }

    /// What landed above a commit that is taken back was proven, and lands again on top of what stays.
    fn return_to_queue(&mut self, id: &StoryId) -> Moved {
        let (Step::Confirm { candidate, .. }
        | Step::Announce {
            landed: Some(candidate),
            ..
        }) = take_step(self.attempt_mut(id)?)
        else {
            return Err(format!("story `{id}` has not landed").into());
        };
        self.enqueue(id, candidate)?;
        if self.is_only_asked_for(id) {
            return self.put_off(id);
        }
        Ok(())
    }

    /// The retracted story failed like any other attempt.
    fn send_back_retracted(&mut self, id: &StoryId, number: u32, why: &str) -> Moved {
        let attempt = self.attempt_mut(id)?;
        attempt.judged = None;
        if let Source::Accepted(acceptance) = &attempt.source {
            let by = &acceptance.by;
            let why = format!(
                "{by} accepted it, but with everything built anew it is red, which takes a \
                 reason:\n{why}"
            );
            return self.give_up(id, why);
        }
        let feedback = format!(
            "It landed, green by a build that reused earlier outputs, and was taken back: with \
             everything built anew it is red.\n{why}"
        );
        let story = self.story_mut(id)?;
        story.former = Some(number);
        story.found_wrong = Some(feedback.clone());
        if self.is_only_asked_for(id) {
            self.story_mut(id)?.feedback.push(feedback);
            return self.put_off(id);
        }
        self.story_mut(id)?.ticket = None;
        self.reject(id, feedback)
    }

    /// Whether a loop that is over went on for something else than this story, so that no attempt at it
    /// begins.
    fn is_only_asked_for(&self, id: &StoryId) -> bool {
        let is_wanted = self.story(id).is_some_and(|story| story.is_asked_for);
        self.ends_again().is_some() && !is_wanted
    }

    /// Whoever was begun because a story had landed waits for it again.
    fn recall_dependents(&mut self, retracted: &StoryId) -> Moved {
        let mut gone = vec![retracted.clone()];
        let mut at = 0;
        while let Some(on) = gone.get(at).cloned() {
            let builds_on_it = |story: &&StoryProgress| {
                let attempt = story.attempt();
                story.spec.depends_on.contains(&on)
                    && !gone.contains(&story.spec.id)
                    && attempt.is_some_and(|one| one.source == Source::Agents && !one.is_recheck)
            };
            let found = self.stories.iter().filter(builds_on_it);
            let found: Vec<StoryId> = found.map(|story| story.spec.id.clone()).collect();
            gone.extend(found);
            at += 1;
        }
        for id in &gone[1..] {
            self.story_mut(id)?.is_recalled = true;
            self.leave_if_recalled(id)?;
        }
        Ok(())
    }

    /// Leaves an attempt that builds on what was taken back, once none of its runs is under way.
    pub(crate) fn leave_if_recalled(&mut self, id: &StoryId) -> Moved {
        let story = self.story_mut(id)?;
        let is_idle = story.attempt().is_some_and(|attempt| !is_running(attempt));
        if story.is_recalled && is_idle {
            return self.put_off(id);
        }
        Ok(())
    }

    /// Puts a story back to where an attempt can begin, at nobody's cost.
    fn put_off(&mut self, id: &StoryId) -> Moved {
        self.set_candidate_aside(id)?;
        let story = self.story_mut(id)?;
        story.extra_attempts += 1;
        story.ticket = None;
        story.is_recalled = false;
        // Somebody may still be making tests under the next name.
        story.earlier_writings += story.rewrites + 1;
        story.rounds += 1;
        story.rewrites = 0;
        story.status = StoryStatus::Pending;
        Ok(())
    }
}
