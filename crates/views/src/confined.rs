//! What a run met at the walls of its jail, as a public event.

use kernel::{Event, JailLimit};
use serde_json::{Value, json};

/// The event's name.
pub(crate) const CONFINED: &str = "agent/loop.confined";

/// What a record tells of walls; nothing for most.
pub(crate) fn confined(event: &Event, loop_id: &str) -> Option<Value> {
    let Event::RunEnded { run, walls, .. } = event else {
        return None;
    };
    if walls.is_untouched() {
        return None;
    }
    Some(
        json!({ "loopId": loop_id, "storyId": run.story, "attempt": run.attempt, "stage": run.stage.word(),
            "limit": walls.limit.map(JailLimit::word), "refused": walls.refused }),
    )
}
