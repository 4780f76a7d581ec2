//! The orders of a landing: putting work onto the head, measuring it there, and taking it back.

use crate::attempt::Candidate;
use crate::decide::Active;
use crate::flow::Stage;
use crate::order::{AcceptedOrder, Deed, LandingCheck, RestackOrder, RetractOrder};
use crate::restacked::{RestackClass, Restackable};
use crate::wishes::{Acceptance, Source};

impl Active<'_> {
    /// What a judge must know of a candidate that was put onto what landed since.
    pub(crate) fn landed_meanwhile(&self) -> Option<String> {
        let judged = self.attempt.judged.as_ref()?;
        let landed = self.state.landed_since(&judged.base).iter();
        let landed: Vec<String> = landed.map(|(story, _)| format!("`{story}`")).collect();
        let how = match judged.class {
            RestackClass::Disjoint => "no file was changed by both",
            RestackClass::Mixed => "files that both changed were merged",
        };
        let was = &judged.candidate.commit;
        Some(format!(
            "it was accepted as {was} and then put onto what landed meanwhile ({}); {how}",
            landed.join(", ")
        ))
    }

    /// What the checks of a candidate on top of what landed must find.
    pub(crate) fn landing(&self, stage: Stage) -> Option<LandingCheck> {
        let judged = self.attempt.judged.as_ref();
        let is_measured = matches!(stage, Stage::Check | Stage::Confirm);
        let facts = judged.filter(|_| is_measured)?.candidate.facts();
        let proven = facts.map(|facts| facts.proven.clone());
        Some(LandingCheck {
            proven: proven.unwrap_or_default(),
        })
    }

    pub(crate) fn retract(&self, candidate: &Candidate, why: &str) -> Deed {
        Deed::Retract(Box::new(RetractOrder {
            story: self.story.spec.id.clone(),
            attempt: self.attempt.number,
            branch: self.state.spec.own_branch(),
            from: self.state.head.clone(),
            commit: candidate.commit.clone(),
            to: self.attempt.base.clone(),
            why: why.to_owned(),
        }))
    }

    pub(crate) fn restack(&self, candidate: &Candidate) -> Deed {
        let (story, attempt) = (self.story, self.attempt);
        Deed::Restack(Box::new(RestackOrder {
            story: story.spec.id.clone(),
            attempt: attempt.number,
            round: attempt.restacks + 1,
            what: Restackable::Candidate,
            from: candidate.commit.clone(),
            onto: self.state.head.clone(),
            planned_at_ms: attempt.planned_at_ms,
            notes: candidate.notes.clone(),
            tests: story.tests.clone(),
            is_accepted: matches!(attempt.source, Source::Accepted(_)),
        }))
    }

    pub(crate) fn move_tests(&self) -> Vec<Deed> {
        let (story, attempt) = (self.story, self.attempt);
        let tests = story.tests.as_ref();
        let from = tests.and_then(|tests| tests.commit.clone());
        let order = from.map(|from| RestackOrder {
            story: story.spec.id.clone(),
            attempt: attempt.number,
            round: story.rounds + 1,
            what: Restackable::Tests,
            from,
            onto: attempt.base.clone(),
            planned_at_ms: attempt.planned_at_ms,
            notes: Vec::new(),
            tests: story.tests.clone(),
            is_accepted: false,
        });
        let deed = |order| Deed::Restack(Box::new(order));
        order.map(deed).into_iter().collect()
    }

    pub(crate) fn make_accepted(&self, acceptance: &Acceptance) -> Deed {
        Deed::MakeAccepted(Box::new(AcceptedOrder {
            story: self.story.spec.id.clone(),
            attempt: self.attempt.number,
            acceptance: acceptance.clone(),
            onto: self.attempt.base.clone(),
        }))
    }
}
