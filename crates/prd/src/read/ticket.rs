//! Tells a ticket, which is one story with front matter, from a plan, which holds many.

use crate::keys::{self, Fields};
use crate::limits::{FILE_BYTES_MAX, YAML_BYTES_MAX};
use crate::parse::front_matter::{Split, is_about_acceptance, split};
use crate::parse::{Findings, Piece, yaml};
use crate::plan::{Plan, PlanStory, check_box};
use crate::read::Format;

/// How a Markdown file is read. Front matter with an id is a ticket's; other front matter may stand
/// over a plan too, so the text below it decides.
pub(super) fn format_of(bytes: &[u8]) -> Format {
    // What is too large or not UTF-8 is refused before it is read, in whatever format.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= FILE_BYTES_MAX => text,
        _ => return Format::Markdown,
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let piece = Piece {
        file: 0,
        text,
        base: 0,
    };
    let ticket = match split(piece) {
        Split::Ticket(ticket) => ticket,
        // A line of dashes that is never closed is a slip of a ticket's author, unless the text
        // holds tasks.
        Split::NeverClosed(_) if !has_boxes(bytes) => return Format::Tickets,
        Split::NeverClosed(_) | Split::NoFrontMatter(_) => return Format::Markdown,
    };
    if ticket.front.text.len() > YAML_BYTES_MAX {
        return Format::Tickets;
    }
    let front = yaml::parse(ticket.front, &mut Findings::default());
    let map = front.as_ref().ok().and_then(Option::as_ref);
    let fields = map.and_then(|node| node.as_map()).map(Fields::of);
    let plan = Plan::of(ticket.body.text, 0, "");
    if fields.is_some_and(|fields| fields.first(keys::ID).is_some()) {
        // Three task ids in the text make a plan of it all the same.
        let tasks = plan.stories.iter().filter(|story| story.has_task_id());
        return if tasks.count() >= 3 {
            Format::Markdown
        } else {
            Format::Tickets
        };
    }
    let is_own = |story: &&PlanStory| {
        let group = story.group.as_deref().unwrap_or_default();
        !is_about_acceptance(group)
    };
    if plan.stories.iter().filter(is_own).count() > 1 {
        Format::Markdown
    } else {
        Format::Tickets
    }
}

/// Says whether any line is a list item with a check box.
pub(super) fn has_boxes(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    text.lines().any(|line| check_box(line, 0).is_some())
}
