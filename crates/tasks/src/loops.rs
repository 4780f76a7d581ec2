//! What the journal says of a loop that holds tasks.

use home::Home;
use journal::{Journal, LoopHead};

/// Whether a loop is over. One that cannot be looked at may be live.
pub(crate) fn is_loop_over(home: &Home, loop_id: &str) -> bool {
    let Ok(journal) = Journal::open(home.root()) else {
        return false;
    };
    let Ok(heads) = journal.heads() else {
        return false;
    };
    let head = heads.into_iter().find(|head| head.row.loop_id == loop_id);
    // A loop that cannot be read does nothing any more.
    let is_over = |head: LoopHead| {
        head.row.quarantine.is_some() || head.last_kind.as_deref().is_some_and(kernel::is_over)
    };
    head.is_none_or(is_over)
}
