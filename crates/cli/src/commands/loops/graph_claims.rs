//! The claims of a loop: a `ralph` and a loop on one plan never do one task twice. What others work on is
//! left out of a loop, and what they have completed is not done again.

use std::path::Path;
use std::sync::Arc;

use home::Home;
use kernel::{LoopSpec, StorySpec, StoryStart};
use prd::Format;
use tasks::{LoopShare, Owner, OwnerKind, Place, Tasks, shell_word};

use crate::commands::task::failure_of;
use crate::failure::{Exit, Failure};

/// Whether a loop may do stories that another loop is at work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherLoops {
    /// Their stories are left out.
    Count,
    /// The person wants them done once more.
    DoNotCount,
}

/// The tasks of a loop that others have, as they were when the loop was planned.
#[derive(Debug, Default)]
pub(super) struct Others {
    complete: Vec<String>,
    held: Vec<(String, Owner)>,
}

/// Leaves out of a loop what others work on or have completed, and says so. Nothing is claimed yet, and
/// a repository without a claim store gets none.
pub(super) fn leave_out(
    home: &Home,
    spec: &mut LoopSpec,
    loops: OtherLoops,
    remarks: &mut Vec<String>,
) -> Result<Others, Failure> {
    let mut others = Others::default();
    let place = place_of(&spec.prd_path).filter(|place| Tasks::is_there(home, place));
    if let Some(place) = place {
        let tasks = Tasks::open(home, place).map_err(|error| failure_of(&error))?;
        let share = tasks.share_for_loop(&open_ids(&spec.stories));
        let share = share.map_err(|error| failure_of(&error))?;
        others.take(share, loops, &mut spec.stories, remarks);
    }
    Ok(others)
}

/// Takes the open stories of a loop that is about to be recorded, and records it without those that
/// somebody took meanwhile. Says what else is left out.
pub(super) fn record_with_claims(
    home: &Home,
    mut spec: LoopSpec,
    mut others: Others,
    loops: OtherLoops,
    record: impl FnOnce(LoopSpec) -> Result<(), Failure>,
) -> Result<Vec<String>, Failure> {
    let Some(place) = place_of(&spec.prd_path).filter(|place| is_shared(home, place)) else {
        return record(spec).map(|()| Vec::new());
    };
    let (ids, loop_id) = (open_ids(&spec.stories), spec.loop_id.clone());
    let claimed = Tasks::open(home, place).and_then(|tasks| {
        tasks.claim_for_loop(&ids, loop_id.as_str(), |share| {
            let mut remarks = Vec::new();
            others.take(share.clone(), loops, &mut spec.stories, &mut remarks);
            others.refuse_if_nothing_is_left(&spec)?;
            record(spec).map(|()| remarks)
        })
    });
    claimed.map_err(|error| failure_of(&error))?
}

/// Takes the stories that a loop at work gets to know, and records them without those that others have.
pub(super) fn reload_with_claims<T>(
    home: &Home,
    spec: &LoopSpec,
    mut told: Vec<Arc<StorySpec>>,
    record: impl FnOnce(Vec<Arc<StorySpec>>) -> Result<T, Failure>,
) -> Result<(T, Vec<String>), Failure> {
    let is_known = |story: &StorySpec| spec.stories.iter().any(|known| known.id == story.id);
    let place = place_of(&spec.prd_path).filter(|place| is_shared(home, place));
    let ids: Vec<String> = open_ids(&told);
    let is_new = |id: &String| {
        told.iter()
            .any(|story| story.id == id.as_str() && !is_known(story))
    };
    let new: Vec<String> = ids.into_iter().filter(is_new).collect();
    let Some(place) = place.filter(|_| !new.is_empty()) else {
        return Ok((record(told)?, Vec::new()));
    };
    let claimed = Tasks::open(home, place).and_then(|tasks| {
        tasks.claim_for_loop(&new, spec.loop_id.as_str(), |share| {
            let (mut others, mut remarks) = (Others::default(), Vec::new());
            others.take(share.clone(), OtherLoops::Count, &mut told, &mut remarks);
            Ok((record(told)?, remarks))
        })
    });
    claimed.map_err(|error| failure_of(&error))?
}

impl Others {
    /// Takes in what others have, beside what was known before.
    fn take(
        &mut self,
        share: LoopShare,
        loops: OtherLoops,
        stories: &mut [Arc<StorySpec>],
        remarks: &mut Vec<String>,
    ) {
        let is_loop = |owner: &Owner| matches!(owner.kind, OwnerKind::Loop { .. });
        let counts = |owner: &Owner| loops == OtherLoops::Count || !is_loop(owner);
        let mut complete = share.complete;
        // A story that was complete when the loop was planned and is open now is wanted once more.
        complete.retain(|id| !self.complete.contains(id));
        let mut held = share.held;
        held.retain(|(_, owner)| counts(owner));
        start_as(StoryStart::Passed, &complete, stories);
        let ids: Vec<String> = held.iter().map(|(id, _)| id.clone()).collect();
        start_as(StoryStart::SetAside, &ids, stories);
        if !complete.is_empty() {
            let ids = complete.join(", ");
            remarks.push(format!(
                "complete in the claim store, and not done again: {ids}"
            ));
        }
        if !held.is_empty() {
            let names = holders(&held);
            remarks.push(format!(
                "left out, because somebody else works on them: {names}"
            ));
        }
        self.complete.append(&mut complete);
        self.held.append(&mut held);
    }

    /// A loop without anything to do says who has it all.
    pub(super) fn refuse_if_nothing_is_left(&self, spec: &LoopSpec) -> Result<(), Failure> {
        if self.held.is_empty() || !open_ids(&spec.stories).is_empty() {
            return Ok(());
        }
        let named = place_of(&spec.prd_path).filter(|place| !place.is_usual());
        let plan = named.map(|_| format!(" --prd {}", shell_word(&spec.prd_path)));
        let plan = plan.unwrap_or_default();
        Err(Failure {
            exit: Exit::BadInput,
            message: format!(
                "somebody else works on every open task of `{}`: {}",
                spec.prd_path,
                holders(&self.held)
            ),
            hints: Vec::new(),
        }
        .hint(format!(
            "wait until they are done, or take a task away: `loopwright task reset ID{plan} --force`"
        )))
    }
}

fn start_as(start: StoryStart, ids: &[String], stories: &mut [Arc<StorySpec>]) {
    let is_meant = |story: &&mut Arc<StorySpec>| ids.iter().any(|id| story.id == id.as_str());
    for story in stories.iter_mut().filter(is_meant) {
        Arc::make_mut(story).start = start;
    }
}

fn holders(held: &[(String, Owner)]) -> String {
    let words = held
        .iter()
        .map(|(id, owner)| format!("{id} ({})", owner.words()));
    words.collect::<Vec<String>>().join(", ")
}

fn open_ids(stories: &[Arc<StorySpec>]) -> Vec<String> {
    let open = stories
        .iter()
        .filter(|story| story.start == StoryStart::Open);
    open.map(|story| story.id.to_string()).collect()
}

/// Where a plan lies. One outside of every repository is nobody else's.
fn place_of(prd_path: &str) -> Option<Place> {
    let path = Path::new(prd_path);
    Place::find(path.parent().unwrap_or(path), Some(path)).ok()
}

/// Whether others may take tasks of this plan: it is a task graph or a folder of tickets, or somebody
/// has taken tasks in this repository before. A PRD that only loops know needs no claims: one loop per
/// PRD is the rule of `same_prd`.
fn is_shared(home: &Home, place: &Place) -> bool {
    let is_of_tasks = || {
        let file = home::read_prd(&place.graph, &prd::Options::default());
        file.is_ok_and(|file| file.reading.is_task_graph || file.reading.format == Format::Tickets)
    };
    Tasks::is_there(home, place) || is_of_tasks()
}
