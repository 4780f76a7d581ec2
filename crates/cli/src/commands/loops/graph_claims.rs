//! The claims of a loop: a `ralph` and a loop on one plan never do one task twice.

use std::path::Path;

use home::Home;
use kernel::{LoopSpec, StoryStart};
use tasks::{Place, Refusal, TaskError, Tasks};

use crate::commands::task::failure_of;
use crate::failure::{Exit, Failure};

/// Takes the open stories of a loop that is about to be recorded, and records it.
pub(super) fn record_with_claims(
    home: &Home,
    spec: &LoopSpec,
    record: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let path = Path::new(&spec.prd_path);
    // A plan outside of every repository is nobody else's.
    let Ok(place) = Place::find(path.parent().unwrap_or(path), Some(path)) else {
        return record();
    };
    if !is_shared(home, &place) {
        return record();
    }
    let stories = spec.stories.iter();
    let open = stories.filter(|story| story.start == StoryStart::Open);
    let ids: Vec<String> = open.map(|story| story.id.to_string()).collect();
    let claimed = Tasks::open(home, place)
        .and_then(|tasks| tasks.claim_for_loop(&ids, spec.loop_id.as_str(), record));
    match claimed {
        Ok(recorded) => recorded,
        Err(TaskError::Refused(refusal @ Refusal::Held { .. })) => Err(Failure {
            exit: Exit::BadInput,
            ..failure_of(&TaskError::Refused(refusal))
        }
        .hint("a loop takes all open tasks of its plan: start it when nobody works on them")),
        Err(error) => Err(failure_of(&error)),
    }
}

/// Whether others may take tasks of this plan: it is a task graph or a folder of tickets, or somebody
/// has taken tasks in this repository before. A PRD that only loops know needs no claims: one loop per
/// PRD is the rule of `same_prd`.
fn is_shared(home: &Home, place: &Place) -> bool {
    let name = place.graph.file_name().unwrap_or_default();
    let is_graph = name.to_string_lossy().contains("graph");
    is_graph || place.is_usual() || place.graph.is_dir() || Tasks::is_there(home, place)
}
