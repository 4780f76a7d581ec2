//! Sets a story aside, in the PRD too.

use std::path::Path;

use home::{Ended, one_line, write_back_for_review};
use kernel::{Event, Order, StoryId, WriteBack};

use crate::fault::Fault;
use crate::orders::announce::note_progress;
use crate::ports::Ports;
use crate::settings_of::settings_of;

/// A story that is set aside.
pub(crate) struct GivenUp<'a> {
    pub(crate) story: &'a StoryId,
    pub(crate) attempts: u32,
    pub(crate) reason: &'a str,
    pub(crate) prd_path: &'a str,
    pub(crate) taught: &'a [String],
}

pub(crate) fn skip(order: &Order, given_up: &GivenUp<'_>, ports: &Ports) -> Result<Event, Fault> {
    let (story, reason) = (given_up.story, given_up.reason);
    let settings = settings_of(order)?;
    let prd = if settings.write_back {
        write_back_for_review(Path::new(given_up.prd_path), story, reason)
    } else {
        WriteBack::Off
    };
    if settings.write_progress {
        let ended = Ended {
            story: story.to_string(),
            at_ms: (ports.clock)(),
            how: "skipped",
            attempt: given_up.attempts,
            commit: None,
            reason: one_line(reason),
            taught: given_up.taught.to_vec(),
        };
        note_progress(order, &ended, ports);
    }
    Ok(Event::StorySkipped {
        story: story.clone(),
        reason: reason.to_owned(),
        prd,
    })
}
