//! What a run met at the walls of its jail, in words for people.

use kernel::{JailLimit, RefusedHost, Walls};
use views::PublicEvent;

/// What a run met, one text for each wall.
pub(super) fn words(walls: &Walls) -> Vec<String> {
    let limit = walls.limit.map(JailLimit::word);
    let limit = limit.map(|limit| format!("hit the sandbox's limit of {limit}"));
    let refused = walls
        .refused
        .iter()
        .map(|host| format!("was not let through to {}", refusal(host)));
    limit.into_iter().chain(refused).collect()
}

/// The hosts that the run of an event was not let through to, and why; none for most events.
pub(super) fn refusals_of(event: &PublicEvent) -> Vec<String> {
    let refused = event.data.get("refused").cloned().unwrap_or_default();
    let refused: Vec<RefusedHost> = serde_json::from_value(refused).unwrap_or_default();
    refused.iter().map(refusal).collect()
}

fn refusal(RefusedHost { host, port, why }: &RefusedHost) -> String {
    format!("{host}:{port} ({why})")
}
