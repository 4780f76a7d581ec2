//! Public events of the queue: who waits to land, what was put onto what landed, and what was sent
//! back.

use kernel::{Attempt, Commit, Event, Restackable, State, StoryId};
use serde_json::json;

use crate::told::{Told, one};

/// What is queued now and was not before.
pub(crate) fn all_queued(before: Option<&State>, after: &State) -> Vec<Told> {
    let stories = after.stories().iter();
    let queued = stories.flat_map(|story| queued(&story.spec.id, before, after));
    queued.collect()
}

/// A proven candidate that has to wait for its turn to land, or for what landed meanwhile.
pub(crate) fn queued(story: &StoryId, before: Option<&State>, after: &State) -> Vec<Told> {
    let is_queued = |state: &State| {
        let attempt = state.attempt(story);
        attempt.is_some_and(Attempt::is_queued)
    };
    if !is_queued(after) || before.is_some_and(is_queued) {
        return Vec::new();
    }
    let Some((attempt, at)) = after.attempt(story).zip(queue_place(after, story)) else {
        return Vec::new();
    };
    if at == 1 && attempt.base == *after.head() {
        // It lands at once.
        return Vec::new();
    }
    let candidate = attempt.candidate();
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "attempt": attempt.number,
                       "commitSha": candidate.map(|candidate| &candidate.commit), "place": at });
    one("agent/loop.story.queued", data)
}

/// The place of a story among those that land, starting at 1.
pub(crate) fn queue_place(state: &State, story: &str) -> Option<usize> {
    let queue = state.queue();
    let at = queue.iter().position(|queued| queued.spec.id == *story);
    at.map(|at| at + 1)
}

/// What came of putting a candidate onto what landed since.
pub(crate) fn restack(event: &Event, after: &State) -> Vec<Told> {
    match event {
        Event::Restacked {
            story,
            attempt,
            what: Restackable::Candidate,
            from,
            onto,
            commit,
            class,
            ..
        } => {
            let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "attempt": attempt,
                               "fromSha": from, "ontoSha": onto, "commitSha": commit, "class": class });
            one("agent/loop.story.restacked", data)
        }
        Event::RestackRefused {
            story,
            attempt,
            what: Restackable::Candidate,
            ..
        } => {
            let progress = after.story(story);
            let reason = progress.and_then(|story| story.feedback.last());
            sent_back(story, *attempt, reason.map_or("", String::as_str), after)
        }
        _ => Vec::new(),
    }
}

/// Work that was proven and does not fit onto what landed since.
pub(crate) fn sent_back(story: &StoryId, attempt: u32, reason: &str, after: &State) -> Vec<Told> {
    let Some(progress) = after.story(story).filter(|story| story.former.is_some()) else {
        return Vec::new();
    };
    let data = json!({ "loopId": after.spec().loop_id, "storyId": story, "attempt": attempt,
                       "reason": reason, "returns": progress.returns });
    one("agent/loop.story.sent_back", data)
}

/// The commit that the judge of a story that lands has seen, where that is another one.
pub(crate) fn judged_commit(before: Option<&State>, story: &StoryId) -> Option<Commit> {
    let judged = before?.attempt(story)?.judged.as_ref()?;
    let verdict = judged.candidate.verdict.as_ref();
    Some(verdict.map_or_else(
        || judged.candidate.commit.clone(),
        |verdict| verdict.commit.clone(),
    ))
}
