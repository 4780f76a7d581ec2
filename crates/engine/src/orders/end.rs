//! Clears away what a loop leaves and records its end.

use std::path::Path;

use kernel::{EndReason, Event, Order};

use crate::ports::Ports;
use crate::run::files::discard;
use crate::settings_of::settings_of;

/// Removes the folder that has the places of all loops, unless another loop has one.
fn remove_empty(folder: Option<&Path>) {
    let _ = folder.map(std::fs::remove_dir);
}

pub(crate) fn end(order: &Order, reason: &EndReason, ports: &Ports) -> Event {
    // Settings that cannot be read keep nobody from ending a loop.
    let keeps_checkouts = settings_of(order).is_ok_and(|settings| settings.keep_checkouts);
    if !keeps_checkouts {
        discard(&ports.home, &ports.home.checkouts(&order.loop_id));
    }
    discard(&ports.home, &ports.home.scratch(&order.loop_id));
    discard(&ports.home, &ports.home.trees(&order.loop_id));
    discard(&ports.home, &ports.home.rack(&order.loop_id));
    // What checks kept for the next one, and what one that was killed left behind.
    for lane in ports.home.lanes(&order.loop_id) {
        discard(&ports.home, &lane);
        remove_empty(lane.parent());
    }
    // No run is left that could need them.
    if let Err(error) = home::forget_keys(&ports.home, &order.loop_id) {
        tracing::warn!(%error, "the loop's keys are still there");
    }
    Event::LoopEnded {
        reason: reason.clone(),
    }
}
