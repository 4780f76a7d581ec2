//! The status word of a story as it is written, and the word that its file has for work in progress.
//!
//! Whoever works on a story for a while writes that word and later puts back, byte by byte, the one
//! that stood there. A story without a status word, such as one with a check box or a flag, gets none.

use super::edit::Edit;
use super::{Marked, Marker, apply, no_place, read_again, refusal, unknown_story, with_marker};
use crate::diagnostic::Diagnostic;
use crate::read::state::{StateFields, status_meaning};
use crate::read::{Format, Options, Reading};
use crate::story::Prd;

/// Words as they stand in the text, quotes included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusWords {
    /// The story's own.
    pub now: String,
    /// What stands there while somebody works on it.
    pub in_progress: String,
}

/// The words of one story, if it has a status word that can be replaced.
pub fn status_words(reading: &Reading, id: &str, options: &Options) -> Option<StatusWords> {
    let before = marked_in_a_tree(reading)?;
    let words = with_marker(reading, before, id, options, |marker| {
        let Some((_, now)) = marker.status_word() else {
            return Err(no_status(id));
        };
        Ok(StatusWords {
            in_progress: marker.in_progress(&now),
            now,
        })
    });
    words.ok()
}

/// Puts one status word in the place of another, if that one stands there; nothing else changes.
pub fn swap_word(
    reading: &Reading,
    id: &str,
    from: &str,
    to: &str,
    options: &Options,
) -> Result<Marked, Box<Diagnostic>> {
    let Some(before) = marked_in_a_tree(reading) else {
        // A file that cannot be read may have the word.
        return Err(match &reading.prd {
            Some(_) => no_status(id),
            None => unknown_story(id, None),
        });
    };
    let marked = with_marker(reading, before, id, options, |marker| {
        let found = marker.status_word().filter(|(_, now)| now == from);
        let (range, _) = found.ok_or_else(|| no_status(id))?;
        let file = marker.found.node.span.file as usize;
        let edit = Edit {
            range,
            text: to.to_owned(),
        };
        let text = apply(reading.sources.files()[file].text(), vec![edit]);
        Ok(Marked { file, text })
    })?;
    if differs_in_its_state_only(reading, before, id, &marked, options) {
        return Ok(marked);
    }
    let message = format!("the status of `{id}` cannot be written without changing something else");
    Err(refusal(message, None, "set it by hand".to_owned()))
}

fn marked_in_a_tree(reading: &Reading) -> Option<&Prd> {
    let has_tree = reading.format != Format::Markdown && reading.read_only.is_none();
    reading.prd.as_ref().filter(|_| has_tree)
}

fn no_status(id: &str) -> Box<Diagnostic> {
    no_place(id, None, "it has no such status word")
}

fn differs_in_its_state_only(
    reading: &Reading,
    before: &Prd,
    id: &str,
    marked: &Marked,
    options: &Options,
) -> bool {
    let Some(mut after) = read_again(reading, marked, options) else {
        return false;
    };
    for (new, old) in after.stories.iter_mut().zip(&before.stories) {
        if new.id.as_str() == id {
            new.state = old.state;
        }
    }
    after == *before
}

impl Marker<'_, '_, '_> {
    /// Where the story's status word stands, and what it is. Only one that is understood, and
    /// written in this place, may be replaced.
    fn status_word(&self) -> Option<(std::ops::Range<usize>, String)> {
        let entry = StateFields::of(self.found.map).status?;
        status_meaning(&entry.value)?;
        let range = entry.value.span.range();
        let is_replaceable = self.is_own(entry) && self.is_one_token(entry) && !range.is_empty();
        let text = self.sources.text(entry.value.span).to_owned();
        is_replaceable.then_some((range, text))
    }

    /// The word for work in progress, written as `now` is.
    fn in_progress(&self, now: &str) -> String {
        let plain = now.trim_matches(['"', '\'']);
        let word = self.vocabulary.in_progress(plain);
        // A plain scalar of YAML may hold all of our words.
        self.literal(&word, now)
    }
}
