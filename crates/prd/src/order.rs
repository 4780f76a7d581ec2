//! The order in which a loop would take the stories if every one passed: by priority, then by
//! position in the file, each after everything that it depends on.
//!
//! It looks at the PRD alone. A running loop also knows which stories it has skipped.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use crate::story::{Prd, Story, StoryId, StoryState};

/// All stories of a PRD, by what a loop would do with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Order<'p> {
    /// The stories that would run, first to last.
    pub runs: Vec<&'p Story>,
    /// The stories that can never start, each with the dependencies that will not pass.
    pub held: Vec<(&'p Story, Vec<&'p StoryId>)>,
    /// The stories that are neither open nor passed.
    pub set_aside: Vec<&'p Story>,
    /// The stories that have passed.
    pub passed: Vec<&'p Story>,
}

/// Puts the stories in order, in time linear in stories and dependencies apart from the heap's
/// logarithm.
pub fn order(prd: &Prd) -> Order<'_> {
    let stories = &prd.stories;
    let index_of: HashMap<&str, usize> = stories
        .iter()
        .zip(0..)
        .map(|(story, index)| (story.id.as_str(), index))
        .collect();
    let outside: HashSet<&str> = prd.outside.iter().map(String::as_str).collect();
    let (mut waiting_for, releases) = open_dependencies(stories, &index_of, &outside);
    // The heap pops its largest item, so reverse the rank. A story without a priority comes after
    // all that have one.
    let rank = |index: usize| {
        Reverse((
            stories[index].priority.is_none(),
            stories[index].priority,
            index,
        ))
    };
    let is_open = |index: usize| stories[index].state == StoryState::Open;
    let mut ready: BinaryHeap<_> = (0..stories.len())
        .filter(|&index| waiting_for[index] == 0 && is_open(index))
        .map(rank)
        .collect();
    let mut will_run = vec![false; stories.len()];
    let mut runs = Vec::new();
    // A story in a cycle, or behind one that is set aside, never becomes ready and ends up in
    // `held`.
    while let Some(Reverse((_, _, index))) = ready.pop() {
        will_run[index] = true;
        runs.push(&stories[index]);
        for &next in &releases[index] {
            waiting_for[next] -= 1;
            if waiting_for[next] == 0 && is_open(next) {
                ready.push(rank(next));
            }
        }
    }
    let passes = |id: &StoryId| {
        index_of
            .get(id.as_str())
            .is_some_and(|&on| will_run[on] || stories[on].state == StoryState::Passed)
            || outside.contains(id.as_str())
    };
    let held = stories
        .iter()
        .zip(&will_run)
        .filter(|(story, will_run)| story.state == StoryState::Open && !**will_run)
        .map(|(story, _)| {
            let missing: Vec<&StoryId> = story.depends_on.iter().filter(|on| !passes(on)).collect();
            (story, missing)
        })
        .filter(|(_, missing)| !missing.is_empty())
        .collect();
    Order {
        runs,
        held,
        set_aside: stories
            .iter()
            .filter(|story| !matches!(story.state, StoryState::Open | StoryState::Passed))
            .collect(),
        passed: stories
            .iter()
            .filter(|story| story.state == StoryState::Passed)
            .collect(),
    }
}

/// For each story, how many dependencies have not passed yet, and which stories wait for it.
fn open_dependencies(
    stories: &[Story],
    index_of: &HashMap<&str, usize>,
    outside: &HashSet<&str>,
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut waiting_for = vec![0; stories.len()];
    let mut releases = vec![Vec::new(); stories.len()];
    for (index, story) in stories.iter().enumerate() {
        for on in &story.depends_on {
            match index_of.get(on.as_str()) {
                Some(&on) if stories[on].state == StoryState::Passed => {}
                Some(&on) => {
                    waiting_for[index] += 1;
                    releases[on].push(index);
                }
                None if outside.contains(on.as_str()) => {}
                // Nothing can release a story from a dependency that does not exist.
                None => waiting_for[index] += 1,
            }
        }
    }
    (waiting_for, releases)
}
