//! The public event of what a person asks for one story.

use kernel::Event;
use serde_json::{Value, json};

use crate::told::{Told, one};

/// What a person asked for one story; all other records tell nothing. Every action has the same keys.
pub(crate) fn steered(loop_id: &str, event: &Event) -> Vec<Told> {
    let mut data = json!({ "loopId": loop_id, "storyId": null, "action": null, "by": null,
                           "reason": null, "hint": null, "tool": null, "flow": null,
                           "commitSha": null, "folder": null });
    let Some(values) = asked_for(event) else {
        return Vec::new();
    };
    for (key, value) in values {
        data[key] = value;
    }
    one("agent/loop.steered", data)
}

fn skip(story: &kernel::StoryId, reason: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("storyId", json!(story)),
        ("action", json!("skip")),
        ("reason", json!(reason)),
    ]
}

/// What was asked for, by key.
fn asked_for(event: &Event) -> Option<Vec<(&'static str, Value)>> {
    Some(match event {
        Event::RetryRequested {
            story,
            hint,
            agent,
            flow,
        } => vec![
            ("storyId", json!(story)),
            ("action", json!("retry")),
            ("hint", json!(hint)),
            ("tool", json!(agent)),
            ("flow", json!(flow.map(kernel::Flow::word))),
        ],
        Event::SkipRequested { story, reason } => skip(story, reason),
        Event::AcceptRequested {
            story,
            commit,
            by,
            reason,
        } => vec![
            ("storyId", json!(story)),
            ("action", json!("accept")),
            ("commitSha", json!(commit)),
            ("by", json!(by)),
            ("reason", json!(reason)),
        ],
        Event::TakeRequested { story, by, folder } => vec![
            ("storyId", json!(story)),
            ("action", json!("take")),
            ("by", json!(by)),
            ("folder", json!(folder)),
        ],
        Event::HandedIn { story, commit, by } => vec![
            ("storyId", json!(story)),
            ("action", json!("hand-in")),
            ("commitSha", json!(commit)),
            ("by", json!(by)),
        ],
        Event::LoopStarted { .. }
        | Event::StoryPlanned { .. }
        | Event::RunEnded { .. }
        | Event::CandidateMade { .. }
        | Event::NothingNew { .. }
        | Event::CandidateRefused { .. }
        | Event::Restacked { .. }
        | Event::RestackRefused { .. }
        | Event::Retracted { .. }
        | Event::Announced { .. }
        | Event::StorySkipped { .. }
        | Event::Hindered { .. }
        | Event::CancelRequested { .. }
        | Event::ResumeRequested
        | Event::WaitEnded { .. }
        | Event::AgentSwitched { .. }
        | Event::LoopEnded { .. }
        | Event::Answered { .. }
        | Event::LoopPrepared
        | Event::RecheckPlanned { .. }
        | Event::RunStarted { .. }
        | Event::TestsMade { .. }
        | Event::TestsRefused { .. }
        | Event::Integrated { .. }
        | Event::StoryBlocked { .. }
        | Event::PauseRequested
        | Event::PublishTried { .. }
        | Event::PublishRequested
        | Event::Reloaded { .. } => return None,
    })
}
