//! Sets a story aside, in the PRD too.

use std::path::Path;

use home::{Ended, one_line, write_back};
use kernel::{Event, Order, StoryId, WriteBack};
use prd::Mark;

use crate::fault::Fault;
use crate::orders::announce::note_progress;
use crate::ports::Ports;
use crate::settings_of::settings_of;

pub(crate) fn skip(
    order: &Order,
    story: &StoryId,
    attempts: u32,
    reason: &str,
    prd_path: &str,
    ports: &Ports,
) -> Result<Event, Fault> {
    let settings = settings_of(order)?;
    let prd = if settings.write_back {
        write_back(Path::new(prd_path), story, Mark::Skipped)
    } else {
        WriteBack::Off
    };
    if settings.write_progress {
        let ended = Ended {
            story: story.to_string(),
            at_ms: (ports.clock)(),
            how: "skipped",
            attempt: attempts,
            commit: None,
            reason: one_line(reason),
        };
        note_progress(order, &ended, ports);
    }
    Ok(Event::StorySkipped {
        story: story.clone(),
        reason: reason.to_owned(),
        prd,
    })
}
