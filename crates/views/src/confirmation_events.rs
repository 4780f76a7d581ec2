//! Public events of what landed and is not shown to anybody yet: it is being confirmed, it is
//! confirmed, or it was taken back.

use kernel::{Event, RunKey, Stage, State, StoryId};
use serde_json::{Value, json};

use crate::landing_events::all_queued;
use crate::told::{Told, one};

/// A story has landed by a build that reused earlier outputs, and must be confirmed.
pub(crate) fn confirming(story: &StoryId, after: &State) -> Vec<Told> {
    match after.attempt(story) {
        Some(attempt) if attempt.is_unconfirmed() => {
            one("agent/loop.story.confirming", about(story, after))
        }
        _ => Vec::new(),
    }
}

/// A confirmation is over, and the story may be shown.
pub(crate) fn confirmed(run: &RunKey, before: Option<&State>, after: &State) -> Vec<Told> {
    let is_open = |state: &State| {
        let attempt = state.attempt(&run.story);
        attempt.is_some_and(kernel::Attempt::is_unconfirmed)
    };
    if run.stage != Stage::Confirm || is_open(after) {
        return Vec::new();
    }
    let before = before.filter(|before| is_open(before));
    before.map_or_else(Vec::new, |before| {
        one("agent/loop.story.confirmed", about(&run.story, before))
    })
}

/// A story was taken back from the branch, with everything that had landed after it.
pub(crate) fn retracted(event: &Event, before: Option<&State>, after: &State) -> Vec<Told> {
    let Event::Retracted {
        story,
        attempt,
        commit,
        onto,
        why,
    } = event
    else {
        return Vec::new();
    };
    let tail = before.map(State::unconfirmed).unwrap_or_default();
    let later: Vec<&StoryId> = tail.iter().map(|(id, _)| *id).skip(1).collect();
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "attempt": attempt,
                       "commitSha": commit, "ontoSha": onto, "reason": why, "alsoBack": later,
                       "warmOff": after.warm_off() });
    let mut told = one("agent/loop.story.retracted", data);
    told.extend(all_queued(before, after));
    told
}

fn about(story: &StoryId, state: &State) -> Value {
    let attempt = state.attempt(story);
    let candidate = attempt.and_then(|attempt| attempt.candidate());
    json!({ "loopId": state.spec().loop_id, "storyId": story,
            "attempt": attempt.map(|attempt| attempt.number),
            "commitSha": candidate.map(|candidate| &candidate.commit) })
}
