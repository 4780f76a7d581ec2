//! Stories that are marked as passed: is what they made in the commit that the loop would start
//! from?
//!
//! A commit of ours names its story in a trailer. One that is found on a branch `agent-loop/…`, on
//! the branch that the PRD names, or in the repository of a loop that could not publish it, and not
//! in the base means that the loop would start without accepted work, and a person has to say
//! what they want. A story without any known commit was marked by hand, or before our time, and is
//! believed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use home::Home;
use journal::Journal;
use kernel::{State, StorySpec, StoryStart};
use workspace::{BranchTrailers, CommitId, trailers_beyond, trailers_of};

use super::lookup::{load, newest_first};
use super::publishing::{
    Withheld, landed, publish_earlier, removed_since, root_of, unpublished_earlier,
};
use super::start_request::{Passed, StartMode, StartRequest};
use crate::failure::Failure;
use crate::output::{NextAction, Output};

const TRAILER: &str = "Story-Id";
const BRANCHES: &str = "agent-loop/";

/// What a loop would start from, and where accepted work may be beside it.
pub(super) struct Ground<'a> {
    /// The top of the operator's work tree.
    pub(super) root: &'a Path,
    /// The commit.
    pub(super) base: &'a CommitId,
    /// The branch that the PRD names.
    pub(super) named_branch: Option<&'a str>,
}

/// Looks at the stories that are marked as passed, and opens those again that the person wants done
/// again.
pub(super) fn settle(
    home: &Home,
    request: &StartRequest,
    ground: &Ground<'_>,
    stories: &mut [Arc<StorySpec>],
    remarks: &mut Vec<String>,
    output: &mut Output,
) -> Result<(), Failure> {
    let Ground {
        root,
        base,
        named_branch,
    } = *ground;
    let marked: BTreeSet<String> = stories
        .iter()
        .filter(|story| story.start == StoryStart::Passed)
        .map(|story| story.id.to_string())
        .collect();
    if marked.is_empty() {
        return Ok(());
    }
    let fault =
        |error| Failure::environment("cannot look for the commits of passed stories", &error);
    let here = trailers_of(root, base, TRAILER).map_err(fault)?;
    let absent: BTreeSet<String> = marked.difference(&here).cloned().collect();
    let mut withheld = match (absent.is_empty(), request.mode) {
        (true, _) => Vec::new(),
        (false, StartMode::Dry) => unpublished_earlier(&super::lookup::open(home)?, root)?,
        (false, _) => publish_earlier(home, &super::lookup::open(home)?, root)?,
    };
    let mut branches = trailers_beyond(root, base, BRANCHES, TRAILER).map_err(fault)?;
    if let Some(named) = named_branch {
        branches.extend(trailers_beyond(root, base, named, TRAILER).map_err(fault)?);
    }
    let is_on_branch = |id: &&String| branches.iter().any(|branch| branch.values.contains(*id));
    let unseen: Vec<&String> = absent.iter().filter(|id| !is_on_branch(id)).collect();
    if !unseen.is_empty() {
        let mut removed = removed_since(&super::lookup::open(home)?, root, &unseen)?;
        removed.retain(|held| !withheld.iter().any(|known| known.loop_id == held.loop_id));
        withheld.extend(removed);
    }
    let is_withheld = |id: &String| withheld.iter().any(|held| held.stories.contains(id));
    let is_elsewhere = |id: &&String| is_withheld(id) || is_on_branch(id);
    let (elsewhere, unknown): (Vec<&String>, Vec<&String>) = absent.iter().partition(is_elsewhere);
    if !unknown.is_empty() {
        let names = joined(&unknown);
        remarks.push(format!(
            "marked as passed, with no commit of ours; the PRD is believed: {names}"
        ));
    }
    match (elsewhere.is_empty(), request.passed) {
        (true, _) => {}
        (false, Passed::Trust) => {
            remarks.push(format!(
                "passed elsewhere, and the PRD is believed: {}",
                joined(&elsewhere)
            ));
        }
        (false, Passed::Rerun) => {
            remarks.push(format!(
                "passed elsewhere, and done again: {}",
                joined(&elsewhere)
            ));
            for story in stories
                .iter_mut()
                .filter(|story| elsewhere.iter().any(|id| story.id == id.as_str()))
            {
                Arc::make_mut(story).start = StoryStart::Open;
            }
        }
        (false, Passed::Ask) => {
            let failure = choices(request, &elsewhere, &branches, output);
            return Err(told_where(failure, &withheld, output));
        }
    }
    Ok(())
}

/// Adds where the accepted work is and how to get it.
fn told_where(failure: Failure, withheld: &[Withheld], output: &mut Output) -> Failure {
    for held in withheld.iter().filter(|held| held.is_gone) {
        output.next(NextAction::new(
            format!("loopwright resume {}", held.loop_id),
            "make the branch again that has them",
        ));
    }
    withheld.iter().map(where_held).fold(failure, Failure::hint)
}

/// Where accepted work is that the project does not have, and how to get it.
fn where_held(held: &Withheld) -> String {
    let (id, stories) = (&held.loop_id, held.stories.join(", "));
    match &held.why {
        Some(_) if held.is_gone => format!(
            "loop {id} holds {stories}, and somebody removed its branch; `loopwright resume {id}` makes its branch again"
        ),
        Some(why) => format!(
            "loop {id} holds {stories}, which it could not publish: {why}; once it can, start again"
        ),
        None => format!(
            "loop {id} holds {stories}; `--onto {}` makes its branch again and starts there",
            held.branch
        ),
    }
}

fn joined(ids: &[&String]) -> String {
    const SHOWN_MAX: usize = 10;
    let more = ids.len().saturating_sub(SHOWN_MAX);
    let shown: Vec<&str> = ids.iter().take(SHOWN_MAX).map(|id| id.as_str()).collect();
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}

/// The branch that a new loop on the PRD of this one has to start from, so that it has what was accepted:
/// that of the last loop on it. None where what is checked out has it, or nothing was accepted.
pub(super) fn onto(journal: &Journal, state: &State) -> Option<String> {
    let spec = state.spec();
    let ids = newest_first(journal).unwrap_or_default().into_iter();
    let newer = ids.take_while(|id| *id != spec.loop_id);
    let mut newer = newer.filter_map(|id| Some(load(journal, &id).ok()?.state));
    let is_on_it =
        |other: &State| other.spec().prd_path == spec.prd_path && other.published().is_some();
    let newer = newer.find(is_on_it);
    let last = newer.as_ref().unwrap_or(state);
    let root = last.published().and_then(|_| root_of(last))?;
    let head = workspace::look_at_project(&root, None).ok()?.head;
    let here = trailers_of(&root, &head, TRAILER).ok()?;
    let is_absent = landed(last).iter().any(|id| !here.contains(id));
    // `start` makes a branch again that somebody removed.
    is_absent.then(|| last.spec().branch.clone())
}

fn choices(
    request: &StartRequest,
    elsewhere: &[&String],
    branches: &[BranchTrailers],
    output: &mut Output,
) -> Failure {
    let has = |branch: &BranchTrailers| {
        elsewhere
            .iter()
            .filter(|id| branch.values.contains(**id))
            .count()
    };
    // The newest of those that have the most: they come newest first, and the first of equals is
    // kept.
    let best = branches
        .iter()
        .filter(|branch| has(branch) > 0)
        .rev()
        .max_by_key(|branch| has(branch));
    let start = format!(
        "loopwright start --project {} --prd {}",
        request.project.display(),
        request.prd.display()
    );
    let mut failure = Failure::bad_input(format!(
        "marked as passed, and their commits are not in what the loop would start from: {}",
        joined(elsewhere)
    ));
    if let Some(best) = best {
        let all = if has(best) == elsewhere.len() {
            "them"
        } else {
            "most of them"
        };
        failure = failure.hint(format!(
            "`--onto {}` starts from the branch that has {all}",
            best.branch
        ));
        output.next(NextAction::new(
            format!("{start} --onto {}", best.branch),
            format!("start from the branch that has {all}"),
        ));
    }
    output.next(NextAction::new(
        format!("{start} --rerun-passed"),
        "do them again",
    ));
    output.next(NextAction::new(
        format!("{start} --trust-passed"),
        "believe the PRD",
    ));
    failure
        .hint("`--rerun-passed` does them again")
        .hint("`--trust-passed` believes the PRD, as after a merge that dropped their trailers")
}
