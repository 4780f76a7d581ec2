//! What becomes of a story that a person gives to the agents again. A loop that was over goes on for its
//! sake, and perhaps not for long.

use home::now_ms;
use kernel::{Deed, EndReason, Event, Stamped, State, StoryId, decide};

/// What is true of the story once a request is recorded, in words; `usual` where its loop goes on as a
/// whole.
pub(super) fn words(state: &State, request: &Event, story: &StoryId, usual: &str) -> String {
    let stamped = Stamped {
        at_ms: now_ms(),
        event: request.clone(),
    };
    // One that is refused is told by whoever asks for it.
    let Ok(after) = state.clone().after(&stamped) else {
        return usual.to_owned();
    };
    let orders = decide(&after);
    let blocked = orders.iter().find_map(|order| match &order.deed {
        Deed::Block { story: of, on } if of == story => Some(on),
        _ => None,
    });
    match (blocked, after.ends_again()) {
        (Some(on), Some(reason)) => format!(
            "no agent begins it, since it depends on `{on}`, which has not passed; the loop is over again ({})",
            word(reason)
        ),
        (Some(on), None) => {
            format!("no agent begins it, since it depends on `{on}`, which has not passed")
        }
        (None, Some(reason)) => format!(
            "the loop was over ({}); the agents go on with this story alone, then it is over again",
            word(reason)
        ),
        (None, None) if after.is_paused() => format!("{usual} once the loop is resumed"),
        (None, None) => usual.to_owned(),
    }
}

/// That a story is tried again, and which attempts it has left.
pub(super) fn tried_again(state: &State, request: &Event, story: &StoryId) -> String {
    let stamped = Stamped {
        at_ms: now_ms(),
        event: request.clone(),
    };
    let after = state.clone().after(&stamped).ok();
    let left = after.as_ref().and_then(|after| {
        let progress = after.story(story)?;
        Some((progress.attempts + 1, progress.attempts_max(after.spec())))
    });
    match left {
        Some((next, last)) => format!("it is tried again, as attempt {next} of at most {last}"),
        None => "it is tried again".to_owned(),
    }
}

fn word(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Completed => "completed",
        EndReason::Cancelled { .. } => "cancelled",
        EndReason::MaxIterationsReached => "its limit of stories was reached",
        EndReason::BudgetExhausted => "its budget was used up",
        EndReason::Failed { .. } => "failed",
    }
}
