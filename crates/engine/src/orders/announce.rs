//! Shows the operator what landed: their branch, their PRD, their progress file.

use std::path::Path;

use home::{Ended, append_progress, one_line, write_back};
use kernel::{Commit, Event, Order, StoryId, WriteBack};
use prd::Mark;

use crate::fault::Fault;
use crate::orders::publish::{BranchUpdate, publish_branch};
use crate::ports::Ports;
use crate::settings_of::settings_of;

/// What landed.
pub(crate) struct Landed<'a> {
    pub(crate) story: &'a StoryId,
    pub(crate) title: &'a str,
    pub(crate) attempts: u32,
    pub(crate) branch: &'a str,
    pub(crate) published: Option<&'a Commit>,
    pub(crate) to: &'a Commit,
    pub(crate) prd_path: &'a str,
    pub(crate) taught: &'a [String],
}

pub(crate) fn announce(order: &Order, landed: &Landed<'_>, ports: &Ports) -> Result<Event, Fault> {
    let settings = settings_of(order)?;
    let update = BranchUpdate {
        branch: landed.branch,
        published: landed.published,
        to: landed.to,
        may_recreate: false,
    };
    let branch = publish_branch(order, &update, ports)?;
    let prd = if settings.write_back {
        write_back(Path::new(landed.prd_path), landed.story, Mark::Passed)
    } else {
        WriteBack::Off
    };
    note_completed(order, landed, ports);
    if settings.write_progress {
        let ended = Ended {
            story: landed.story.to_string(),
            at_ms: (ports.clock)(),
            how: "passed",
            attempt: landed.attempts,
            commit: Some(landed.to.to_string()),
            reason: one_line(landed.title),
            taught: landed.taught.to_vec(),
        };
        note_progress(order, &ended, ports);
    }
    Ok(Event::Announced {
        story: landed.story.clone(),
        branch,
        prd,
    })
}

/// Tells the claim store of the plan's repository, where the loop holds the task. Whatever goes wrong
/// never fails a story: when the loop is over, its claims are nobody's, and the file says that the
/// task is complete.
fn note_completed(order: &Order, landed: &Landed<'_>, ports: &Ports) {
    let path = Path::new(landed.prd_path);
    let Ok(place) = tasks::Place::find(path.parent().unwrap_or(path), Some(path)) else {
        return;
    };
    if !tasks::Tasks::is_there(&ports.home, &place) {
        return;
    }
    let noted = tasks::Tasks::open(&ports.home, place)
        .and_then(|tasks| tasks.complete_for_loop(landed.story.as_str(), &order.loop_id));
    if let Err(error) = noted {
        tracing::warn!(?error, "claim store not told");
    }
}

/// Notes in the project's file that a story ended. Whatever goes wrong never fails a story: it is
/// said in the loop's folder.
pub(crate) fn note_progress(order: &Order, ended: &Ended, ports: &Ports) {
    let folder = ports.home.loop_folder(&order.loop_id);
    let fault_file = folder.join("progress-fault");
    match append_progress(Path::new(&order.project), &order.loop_id, ended) {
        Ok(()) => drop(std::fs::remove_file(fault_file)),
        Err(why) => {
            let words = format!("progress.txt was left alone: {why}");
            drop(std::fs::write(fault_file, words));
        }
    }
}
