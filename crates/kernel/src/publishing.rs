//! Publishing: accepted work is owed to the operator's repository until it is there, also after the
//! loop's end. A lock on a ref or a branch that somebody looks at delays it and never loses it.

use crate::apply::Moved;
use crate::attempt::{Attempt, Step};
use crate::commit::Commit;
use crate::event::{Event, PublishResult};
use crate::order::PublishOrder;
use crate::state::{State, StoryProgress, Unpublished};

/// The kinds of records at and after the end: something is owed, or nothing any more.
const UNPUBLISHED: &str = "ended-unpublished";
const SETTLED: &str = "ended-settled";

/// The kinds of a last record after which nothing is owed.
const OVER: [&str; 2] = ["loop-ended", SETTLED];

/// The kind under which an event is filed, given the state after it. Whoever looks at nothing but
/// the kind of a loop's last record must see whether something is still owed, so an end that leaves
/// accepted work unpublished has another kind than one that does not.
pub fn record_kind(event: &Event, after: &State) -> &'static str {
    match (after.ended(), event) {
        (None, event) => event.kind(),
        (Some(_), _) if after.owes_publishing() => UNPUBLISHED,
        (Some(_), Event::LoopEnded { .. }) => event.kind(),
        (Some(_), _) => SETTLED,
    }
}

/// Whether a record of this kind may hold the event.
pub fn may_be_filed_as(event: &Event, kind: &str) -> bool {
    let is_after_end = matches!(
        event,
        Event::LoopEnded { .. } | Event::PublishTried { .. } | Event::PublishRequested
    );
    kind == event.kind() || (is_after_end && [UNPUBLISHED, SETTLED].contains(&kind))
}

/// Whether a loop whose last record has this kind is over and owes nothing.
pub fn is_over(last_kind: &str) -> bool {
    OVER.contains(&last_kind)
}

impl State {
    /// Whether a person moved or removed the branch, so that nothing is published unless they ask.
    pub fn is_branch_taken(&self) -> bool {
        self.unpublished.as_ref().is_some_and(|left| left.is_taken)
    }

    /// Whether the operator's repository lacks accepted commits that it can be given.
    pub fn owes_publishing(&self) -> bool {
        // A story that can be announced now is announced first, with everything that belongs to it. One that
        // waits until those before it are confirmed holds up nobody.
        let can_be_announced = |(story, attempt): (&StoryProgress, &Attempt)| {
            let is_turn = attempt.is_recheck || self.is_next_to_announce(&story.spec.id);
            matches!(attempt.step, Step::Announce { .. }) && is_turn
        };
        let is_announced = self.ended.is_some() || !self.attempts().any(can_be_announced);
        is_announced && !self.is_branch_taken() && self.is_behind()
    }

    /// Whether the operator's repository lacks commits that it may be given. Nothing that is not
    /// confirmed is among them, nor anything that stands on such a commit.
    fn is_behind(&self) -> bool {
        let confirmed = self.confirmed();
        *confirmed != self.spec.base && self.published.as_ref() != Some(confirmed)
    }

    /// Why the operator's repository does not have the head of the branch, if it has not.
    pub fn unpublished(&self) -> Option<&str> {
        match &self.unpublished {
            Some(left) => Some(&left.why),
            // Between landing and the first try, or if the worker died there.
            None if self.owes_publishing() => Some("it is about to be published"),
            None if self.ended.is_some() && self.has_unconfirmed() => {
                Some("landed, not confirmed, not published")
            }
            None => None,
        }
    }

    /// The order that publishes what is behind, if something is.
    pub(crate) fn publish_order(&self) -> Option<PublishOrder> {
        self.owes_publishing().then(|| PublishOrder {
            branch: self.spec.branch.clone(),
            published: self.published.clone(),
            to: self.confirmed().clone(),
            known: self.unpublished.as_ref().map(|left| left.why.clone()),
            may_recreate: self.may_recreate,
            prd_path: self.spec.prd_path.clone(),
            unmarked: self.unmarked.clone(),
        })
    }

    /// Whether the operator was shown something that landed after this commit. Others may have landed
    /// while a skipped story was looked at again.
    pub(crate) fn is_older_than_published(&self, commit: &Commit) -> bool {
        let at = |wanted: &Commit| self.landed.iter().position(|(_, one)| one == wanted);
        let published = self.published.as_ref().and_then(at);
        published.is_some_and(|published| at(commit).is_none_or(|commit| commit < published))
    }

    /// Takes in what came of moving the operator's branch to a commit.
    pub(crate) fn take_published(&mut self, commit: &Commit, result: &PublishResult) {
        let left = |why: &String, is_taken| {
            Some(Unpublished {
                why: why.clone(),
                is_taken,
            })
        };
        self.unpublished = match result {
            PublishResult::Done => {
                self.published = Some(commit.clone());
                self.may_recreate = false;
                None
            }
            PublishResult::LeftAlone { why } => left(why, false),
            PublishResult::Taken { why } => left(why, true),
        };
    }

    pub(crate) fn take_late_publish(&mut self, commit: &Commit, result: &PublishResult) -> Moved {
        let is_owed = self.owes_publishing() || std::mem::take(&mut self.guard.showed_older);
        if !is_owed || *commit != *self.confirmed() {
            return Err(format!("{commit} is not owed to the repository").into());
        }
        let known = self.unpublished.as_ref().map(|left| &left.why);
        if matches!(result, PublishResult::LeftAlone { why } if Some(why) == known) {
            return Err("people know that already".into());
        }
        self.take_published(commit, result);
        if *result == PublishResult::Done {
            // They were marked with it.
            for story in std::mem::take(&mut self.unmarked) {
                self.unwritten.remove(&story);
            }
        }
        Ok(())
    }

    /// Somebody wants it tried again: also where a person moved or removed the branch. What an end left
    /// unconfirmed is confirmed first, whatever became of the budget.
    pub(crate) fn ask_to_publish(&mut self) -> Moved {
        let has_unconfirmed = self.has_unconfirmed();
        if !self.is_behind() && !has_unconfirmed {
            return Err("all accepted commits are in the repository".into());
        }
        if let Some(left) = &mut self.unpublished {
            left.is_taken = false;
        }
        self.may_recreate = true;
        if has_unconfirmed {
            self.guard.confirms_anyway = true;
            self.reopen()?;
        }
        Ok(())
    }
}
