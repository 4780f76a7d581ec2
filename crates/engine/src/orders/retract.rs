//! Moves the loop's branch back from a commit that is red with everything built anew. The operator was
//! never shown it.

use kernel::{Event, Order, RetractOrder};

use super::move_branch::move_branch;
use crate::fault::Fault;
use crate::ports::Ports;
use crate::run::trees::commit_id;

pub(crate) fn retract(order: &Order, owed: &RetractOrder, ports: &Ports) -> Result<Event, Fault> {
    let repository = ports.repositories.open(&order.loop_id)?;
    let name = format!("refs/heads/{}", owed.branch);
    let (from, to) = (commit_id(&owed.from)?, commit_id(&owed.to)?);
    let there = repository.read_ref(&name)?;
    // A landing may have moved the branch and died before it was recorded. Its story is still queued,
    // and lands again on top of what stays.
    let unrecorded = match &there {
        Some(there) if *there != from && *there != to => {
            (repository.parent_of(there)? == from).then_some(there)
        }
        _ => None,
    };
    move_branch(&*repository, &name, Some(unrecorded.unwrap_or(&from)), &to)?;
    Ok(Event::Retracted {
        story: owed.story.clone(),
        attempt: owed.attempt,
        commit: owed.commit.clone(),
        onto: owed.to.clone(),
        why: owed.why.clone(),
    })
}
