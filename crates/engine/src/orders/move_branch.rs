//! One move of the loop's branch in its own repository, forwards or back.

use workspace::{CommitId, Moved};

use crate::fault::Fault;
use crate::ports::Repository;

/// Moves the branch from where it must be; `None` is for a branch that must not exist yet. It is well
/// if the branch is there already: an earlier try may have died before its move was recorded.
pub(super) fn move_branch(
    repository: &dyn Repository,
    name: &str,
    from: Option<&CommitId>,
    to: &CommitId,
) -> Result<(), Fault> {
    let Moved::Refused { found } = repository.move_ref(name, from, to)? else {
        return Ok(());
    };
    let found = match found {
        Some(found) => format!("at {found}"),
        None => "missing".to_owned(),
    };
    let (wanted, remedy) = match from {
        Some(from) => (format!("be at {from}"), format!("put it back to {from}")),
        None => ("not exist yet".to_owned(), "delete it".to_owned()),
    };
    Err(Fault::NeedsPerson {
        what: format!("the loop's branch is {found} in its own repository, and should {wanted}"),
        remedy: format!("{remedy}, or cancel the loop"),
    })
}
