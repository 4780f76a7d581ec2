//! What begins next: a story, a second look at a skipped one, or the loop's end.

use crate::event::EndReason;
use crate::flow::Stage;
use crate::ids::StoryId;
use crate::order::{Deed, Plan};
use crate::spec::StorySpec;
use crate::state::{State, StoryProgress, StoryStatus};

/// The first story for which a person wants an attempt of its own kind.
pub(crate) fn wished(state: &State) -> Option<&StoryProgress> {
    let mut stories = state.stories.iter();
    stories.find(|story| story.has_wished_attempt())
}

/// The next attempt at a story.
pub(crate) fn plan_attempt(state: &State, story: &StoryProgress) -> Plan {
    let flow = state.spec.flow_of(&story.spec);
    let has_moved = story.tried_on.as_ref().is_some_and(|on| *on != state.head);
    Plan {
        story: story.spec.id.clone(),
        attempt: story.attempts + 1,
        flow,
        cast: state.spec.cast_for(&story.spec, story.ladder_place()),
        is_recheck: false,
        base: state.head.clone(),
        keeps_tests: has_moved && story.has_tests_for(flow),
    }
}

/// The next story to begin. When nothing else goes on and none is left: the rechecks, the blocked
/// ones, the end.
pub(crate) fn plan(state: &State) -> Vec<Deed> {
    let n_active = u32::try_from(state.attempts().count()).unwrap_or(u32::MAX);
    // A story that a person does keeps the loop open, and so does one that is under way.
    let end = |reason| {
        let is_open = state.is_with_person() || n_active > 0;
        let ends = (!is_open).then_some(Deed::End { reason });
        ends.into_iter().collect::<Vec<Deed>>()
    };
    if !state.has_room() {
        return Vec::new();
    }
    if let Some(story) = wished(state) {
        return vec![Deed::Plan(plan_attempt(state, story))];
    }
    if let Some(reason) = state.ends_again() {
        return plan_asked_for(state).map_or_else(|| end(reason.clone()), |deed| vec![deed]);
    }
    let begun = state.iterations.saturating_add(n_active);
    if state.spec.max_iterations.is_some_and(|max| begun >= max) {
        return end(EndReason::MaxIterationsReached);
    }
    if let Some(first) = &state.spec.first {
        match state.pending().find(|story| story.spec.id == first.id) {
            Some(story) => return vec![Deed::Plan(plan_attempt(state, story))],
            None if first.only => return end(EndReason::Completed),
            None => {}
        }
    }
    if let Some(next) = next_ready(state) {
        return vec![Deed::Plan(plan_attempt(state, next))];
    }
    if state.attempts().any(|(_, attempt)| !attempt.asks()) {
        return Vec::new();
    }
    // What it finds good is shown at once, so that everything on the branch must be confirmed.
    let mut skipped = state.stories.iter().filter(|_| !state.has_unconfirmed());
    if let Some(story) = skipped.find(|story| may_recheck(state, story)) {
        return vec![Deed::Plan(Plan {
            is_recheck: true,
            keeps_tests: false,
            ..plan_attempt(state, story)
        })];
    }
    if state.is_with_person() || n_active > 0 {
        return Vec::new();
    }
    // A pending story that is left when nothing is ready waits for something that will not pass.
    let blocked: Vec<Deed> = state
        .pending()
        .filter_map(|story| blocking(state, story))
        .collect();
    if blocked.is_empty() {
        end(EndReason::Completed)
    } else {
        blocked
    }
}

/// The first story by rank that may begin now. One that is passed over keeps its files, so that it
/// does not starve.
fn next_ready(state: &State) -> Option<&StoryProgress> {
    let mut ready: Vec<&StoryProgress> = state
        .pending()
        .filter(|story| blocking(state, story).is_none())
        .collect();
    ready.sort_by_key(|story| story.spec.rank);
    let mut passed_over: Vec<&StorySpec> = Vec::new();
    for story in ready {
        if state.may_begin_beside(story, &passed_over) {
            return Some(story);
        }
        passed_over.push(&story.spec);
    }
    None
}

/// The next of the stories that a person asked for after the loop's end, or what keeps it from
/// beginning.
fn plan_asked_for(state: &State) -> Option<Deed> {
    let asked_for = || state.pending().filter(|story| story.is_asked_for);
    let ready = asked_for().filter(|story| blocking(state, story).is_none());
    match ready.min_by_key(|story| story.spec.rank) {
        Some(next) => Some(Deed::Plan(plan_attempt(state, next))),
        None if state.attempts().next().is_some() => None,
        None => asked_for().find_map(|story| blocking(state, story)),
    }
}

/// Whether a second look at a skipped story could pass it rightly.
fn may_recheck(state: &State, story: &StoryProgress) -> bool {
    let flow = state.spec.flow_of(&story.spec);
    // Without a judge, or without the tests that its flow asks for, it could only pass falsely.
    let has_tests = !flow.has(Stage::WriteTests) || story.tests.is_some();
    let is_provable = flow.has(Stage::Judge) && has_tests;
    // A branch that has not moved since cannot hold what the story asks for.
    let has_moved = story.tried_on.as_ref() != Some(&state.head);
    let is_skipped = matches!(
        story.status,
        StoryStatus::Skipped {
            rechecked: false,
            ..
        }
    );
    is_skipped && is_provable && has_moved
}

/// The first dependency of a story that has not passed, as the order that would block it.
fn blocking(state: &State, story: &StoryProgress) -> Option<Deed> {
    let has_passed = |on: &StoryId| {
        let passed = state.story(on).is_some_and(StoryProgress::has_passed);
        passed || state.is_on_branch(on)
    };
    let on = story.spec.depends_on.iter().find(|on| !has_passed(on))?;
    Some(Deed::Block {
        story: story.spec.id.clone(),
        on: on.clone(),
    })
}
