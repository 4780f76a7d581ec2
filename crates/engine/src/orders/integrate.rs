//! Moves the loop's branch to the accepted commit, by compare-and-swap.

use kernel::{Commit, Event, Order, StoryId};

use super::move_branch::move_branch;
use crate::fault::Fault;
use crate::ports::Ports;
use crate::run::trees::commit_id;

/// A move of the branch.
pub(crate) struct BranchMove<'a> {
    pub(crate) branch: &'a str,
    /// The head that the branch must be at.
    pub(crate) from: &'a Commit,
    /// The commit that the loop began at.
    pub(crate) base: &'a Commit,
    pub(crate) to: &'a Commit,
}

pub(crate) fn integrate(
    order: &Order,
    story: &StoryId,
    attempt: u32,
    branch: &BranchMove<'_>,
    ports: &Ports,
) -> Result<Event, Fault> {
    let repository = ports.repositories.open(&order.loop_id)?;
    let name = format!("refs/heads/{}", branch.branch);
    let (from, to) = (commit_id(branch.from)?, commit_id(branch.to)?);
    if repository.parent_of(&to)? != from {
        // The law of landing, once more where it can still be kept: nothing has moved yet.
        return Err(Fault::NeedsPerson {
            what: format!("{to} does not stand on {from}, where the loop's branch is"),
            remedy: "skip the story and try it again".to_owned(),
        });
    }
    let there = repository.read_ref(&name)?;
    // The first landing makes the branch.
    let is_first = there.is_none() && branch.from == branch.base;
    let expected = if is_first { None } else { Some(&from) };
    move_branch(&*repository, &name, expected, &to)?;
    Ok(Event::Integrated {
        story: story.clone(),
        attempt,
        commit: branch.to.clone(),
    })
}
