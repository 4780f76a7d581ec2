//! Publishes accepted work into the operator's repository: when it lands, and again until it is
//! there.

use std::path::Path;

use home::write_back;
use kernel::{Commit, Event, Order, PublishOrder, PublishResult, WriteBack};
use prd::Mark;
use workspace::Published;

use crate::fault::Fault;
use crate::ports::Ports;
use crate::run::trees::commit_id;
use crate::settings_of::settings_of;

/// A branch of the operator's that should show a commit.
pub(crate) struct BranchUpdate<'a> {
    pub(crate) branch: &'a str,
    pub(crate) published: Option<&'a Commit>,
    pub(crate) to: &'a Commit,
    /// Whether a branch that was removed may be made again.
    pub(crate) may_recreate: bool,
}

/// Tries what could not be done when the work landed. A reason that people know already is no news:
/// the order stays owed and is tried again later.
pub(crate) fn publish(order: &Order, owed: &PublishOrder, ports: &Ports) -> Result<Event, Fault> {
    let update = BranchUpdate {
        branch: &owed.branch,
        published: owed.published.as_ref(),
        to: &owed.to,
        may_recreate: owed.may_recreate,
    };
    let branch = publish_branch(order, &update, ports)?;
    match &branch {
        PublishResult::LeftAlone { why } if owed.known.as_deref() == Some(why) => {
            return Err(Fault::Delayed { why: why.clone() });
        }
        PublishResult::Done => mark_again(order, owed)?,
        PublishResult::LeftAlone { .. } | PublishResult::Taken { .. } => {}
    }
    Ok(Event::PublishTried {
        commit: owed.to.clone(),
        branch,
    })
}

/// Moves the operator's branch. Whatever stands in the way is told and never fails a story.
pub(crate) fn publish_branch(
    order: &Order,
    update: &BranchUpdate<'_>,
    ports: &Ports,
) -> Result<PublishResult, Fault> {
    let settings = settings_of(order)?;
    let repository = ports.repositories.open(&order.loop_id)?;
    let (root, to) = (Path::new(&settings.root), commit_id(update.to)?);
    let published = update.published.map(commit_id).transpose()?;
    let mut result = repository.publish(root, update.branch, published.as_ref(), &to);
    let is_gone = matches!(&result, Ok(Published::MovedBySomebody { found: None }));
    if is_gone && update.may_recreate {
        result = repository.publish(root, update.branch, None, &to);
    }
    let taken = |why| Ok(PublishResult::Taken { why });
    let left_alone = |why| Ok(PublishResult::LeftAlone { why });
    match result {
        Ok(Published::Done | Published::AlreadyThere) => Ok(PublishResult::Done),
        Ok(Published::MovedBySomebody { found: Some(found) }) => {
            taken(format!("somebody moved the branch to {found}"))
        }
        Ok(Published::MovedBySomebody { found: None }) => {
            taken("somebody removed the branch".to_owned())
        }
        Ok(Published::CheckedOut { at }) => {
            left_alone(format!("the branch is checked out at {}", at.display()))
        }
        Err(Fault::Aborted) => Err(Fault::Aborted),
        Err(fault) => left_alone(fault.words()),
    }
}

/// The project's folder may have been away when its stories passed: they are marked now. A PRD that
/// cannot be written for another reason stays as it is, as at the story's own end.
fn mark_again(order: &Order, owed: &PublishOrder) -> Result<(), Fault> {
    if settings_of(order)?.write_back {
        for story in &owed.unmarked {
            let _: WriteBack = write_back(Path::new(&owed.prd_path), story, Mark::Passed);
        }
    }
    Ok(())
}
