//! The patches of all files that differ, in the room that there is.

use super::facts::{Changed, Content};
use super::kinds::is_data;
use super::listing::{precedence, words};
use super::patch::{Patch, cut};
use super::shares::shares;

/// The part of a heading that is shown.
const HEAD_BYTES_MAX: usize = 400;
/// Data gets this part of the room, even if source could use it all.
const DATA_PART: usize = 8;

/// A patch with its heading.
struct Section<'a> {
    changed: &'a Changed,
    head: String,
    patch: &'a Patch,
}

impl Section<'_> {
    fn bytes(&self) -> usize {
        self.head.len() + self.patch.shown_bytes
    }

    fn shown(&self, bytes_max: usize) -> String {
        let bytes_max = bytes_max.saturating_sub(self.head.len());
        format!("{}{}", self.head, self.patch.shown(bytes_max))
    }
}

/// Shows patches: those of source and tests first, then those of data.
pub(crate) fn patches(facts: &[Changed], bytes_max: usize) -> String {
    let mut sections: Vec<_> = facts.iter().filter_map(section).collect();
    sections.sort_by_cached_key(|section| precedence(section.changed));
    let n_source = sections.partition_point(|section| !is_data(&section.changed.path));
    let needs: Vec<_> = sections.iter().map(Section::bytes).collect();
    let (source, data) = needs.split_at(n_source);
    let for_data = data.iter().sum::<usize>().min(bytes_max / DATA_PART);
    let mut room = shares(source, bytes_max - for_data);
    let used: usize = room.iter().flatten().sum();
    room.extend(shares(data, bytes_max - used));
    let mut shown: Vec<_> = sections.iter().zip(room).collect();
    let n_left_out = shown.iter().filter(|(_, room)| room.is_none()).count();
    shown.sort_by_cached_key(|(section, _)| {
        let path = &section.changed.path;
        (is_data(path), path.clone())
    });
    let mut text = String::new();
    for (section, room) in shown {
        text.extend(room.map(|room| section.shown(room)));
    }
    match n_left_out {
        0 => {}
        1 => text.push_str("\nthe patch of 1 more file is not shown\n"),
        n => text.push_str(&format!("\nthe patches of {n} more files are not shown\n")),
    }
    text
}

fn section(changed: &Changed) -> Option<Section<'_>> {
    match &changed.content {
        Content::Text(patch) if patch.shown_bytes > 0 => Some(Section {
            changed,
            head: format!("\n=== {}\n", cut(words(changed), HEAD_BYTES_MAX)),
            patch,
        }),
        _ => None,
    }
}
