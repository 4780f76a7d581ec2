//! The order in which a loop would take the stories, if every one passed: by priority, then as they
//! stand in the file, each after everything that it depends on.
//!
//! It looks at the PRD alone; a running loop also knows what was skipped on the way.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::story::{Prd, Story, StoryId, StoryState};

/// All stories of a PRD, by what would become of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Order<'p> {
    /// Those that would run, first to last.
    pub runs: Vec<&'p Story>,
    /// Those that can never begin, each with the dependencies that will not pass.
    pub held: Vec<(&'p Story, Vec<&'p StoryId>)>,
    /// Those that are neither open nor passed.
    pub set_aside: Vec<&'p Story>,
    /// Those that have passed.
    pub passed: Vec<&'p Story>,
}

/// Puts the stories in order. Takes time linear in stories and dependencies, but for the heap's
/// logarithm.
pub fn order(prd: &Prd) -> Order<'_> {
    let stories = &prd.stories;
    let index_of: HashMap<&str, usize> = stories
        .iter()
        .zip(0..)
        .map(|(story, index)| (story.id.as_str(), index))
        .collect();
    let state_of = |id: &StoryId| index_of.get(id.as_str()).map(|index| stories[*index].state);
    let mut waiting_for: Vec<usize> = vec![0; stories.len()];
    let mut releases: Vec<Vec<usize>> = vec![Vec::new(); stories.len()];
    for (index, story) in stories.iter().enumerate() {
        for on in story
            .depends_on
            .iter()
            .filter(|on| state_of(on) != Some(StoryState::Passed))
        {
            waiting_for[index] += 1;
            if let Some(on) = index_of.get(on.as_str()) {
                releases[*on].push(index);
            }
        }
    }
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
    };
    let held_by = |story: &'_ Story| story.depends_on.iter().filter(|on| !passes(on)).count() > 0;
    let open_held = stories
        .iter()
        .zip(&will_run)
        .filter(|(story, runs)| story.state == StoryState::Open && !**runs);
    Order {
        runs,
        held: open_held
            .filter(|(story, _)| held_by(story))
            .map(|(story, _)| {
                (
                    story,
                    story.depends_on.iter().filter(|on| !passes(on)).collect(),
                )
            })
            .collect(),
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
