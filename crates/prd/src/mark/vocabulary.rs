//! How a file writes states: in which field, with which words. A story without a state field gets
//! the one that the other stories have.

use std::collections::BTreeMap;

use super::edit::Mark;
use crate::node::Map;
use crate::read::locate::Style;
use crate::read::state::{StateFields, status_meaning};
use crate::story::StoryState;

/// The field that a file keeps its states in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateField<'v> {
    Flag(&'v str),
    Status(&'v str),
}

/// The fields and words that most stories of a file use, with their counts.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    flag: Option<(String, usize)>,
    status: Option<(String, usize)>,
    passed_word: Option<String>,
    skipped_word: Option<String>,
    open_word: Option<String>,
    style: Style,
}

impl Vocabulary {
    pub(super) fn of<'a, 's: 'a>(stories: impl Iterator<Item = &'a Map<'s>>, style: Style) -> Self {
        let mut flags = BTreeMap::new();
        let mut statuses = BTreeMap::new();
        let mut passed = BTreeMap::new();
        let mut skipped = BTreeMap::new();
        let mut open = BTreeMap::new();
        for map in stories {
            let fields = StateFields::of(map);
            if let Some(flag) = fields.flag {
                *flags.entry(flag.key.as_ref()).or_insert(0) += 1;
            }
            let Some(status) = fields.status else {
                continue;
            };
            *statuses.entry(status.key.as_ref()).or_insert(0) += 1;
            let words = match status_meaning(&status.value) {
                Some(StoryState::Passed) => &mut passed,
                Some(StoryState::Skipped) => &mut skipped,
                Some(StoryState::Open) => &mut open,
                _ => continue,
            };
            if let Some(word) = status.value.as_word() {
                *words.entry(word).or_insert(0) += 1;
            }
        }
        Self {
            flag: most_common(flags),
            status: most_common(statuses),
            passed_word: most_common(passed).map(|(word, _)| word),
            skipped_word: most_common(skipped).map(|(word, _)| word),
            open_word: most_common(open).map(|(word, _)| word),
            style,
        }
    }

    /// The field to add to a story that has none. On a tie the flag wins.
    pub(super) fn field(&self) -> StateField<'_> {
        match (&self.flag, &self.status) {
            (Some((_, flags)), Some((status, statuses))) if statuses > flags => {
                StateField::Status(status)
            }
            (Some((flag, _)), _) => StateField::Flag(flag),
            (None, Some((status, _))) => StateField::Status(status),
            (None, None) if self.style == Style::TaskGraph => StateField::Status("status"),
            (None, None) => StateField::Flag("passes"),
        }
    }

    /// The file's own status word for a state.
    pub(super) fn word_for(&self, mark: Mark) -> &str {
        match mark {
            Mark::Passed => {
                let usual = match self.style {
                    Style::Beads | Style::GitHub => "closed",
                    // Other programs that read a graph know no other word: to them a task that waits
                    // for one that is `done` is never ready.
                    Style::TaskGraph => "complete",
                    Style::Plain | Style::TaskMaster => "done",
                };
                self.passed_word.as_deref().unwrap_or(usual)
            }
            Mark::Skipped => {
                let usual = match self.style {
                    Style::Beads | Style::TaskMaster => "deferred",
                    Style::Plain | Style::GitHub | Style::TaskGraph => "skipped",
                };
                self.skipped_word.as_deref().unwrap_or(usual)
            }
            Mark::Open => self.open_word.as_deref().unwrap_or("open"),
        }
    }
}

/// The most common word. The map is sorted, so that a tie is always decided the same way.
fn most_common(counts: BTreeMap<&str, usize>) -> Option<(String, usize)> {
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(word, count)| (word.to_owned(), count))
}
