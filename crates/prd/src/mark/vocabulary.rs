//! How a file writes states: in which field, with which words. A story without a state field gets
//! the one that the other stories have.

use std::collections::BTreeMap;

use super::edit::Mark;
use crate::keys::{self, Squashed};
use crate::letter_case::in_case_of;
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
    progress_word: Option<String>,
    /// What stands between the parts of the file's words, where it shows one: `-`, `_` or a blank.
    separator: Option<char>,
    style: Style,
}

impl Vocabulary {
    pub(super) fn of<'a, 's: 'a>(stories: impl Iterator<Item = &'a Map<'s>>, style: Style) -> Self {
        let mut flags = BTreeMap::new();
        let mut statuses = BTreeMap::new();
        let mut passed = BTreeMap::new();
        let mut skipped = BTreeMap::new();
        let mut open = BTreeMap::new();
        let mut in_progress = BTreeMap::new();
        let mut separator = None;
        for map in stories {
            let fields = StateFields::of(map);
            if let Some(flag) = fields.flag {
                *flags.entry(flag.key.as_ref()).or_insert(0) += 1;
            }
            let Some(status) = fields.status else {
                continue;
            };
            *statuses.entry(status.key.as_ref()).or_insert(0) += 1;
            let Some(word) = status.value.as_word() else {
                continue;
            };
            let words = match status_meaning(&status.value) {
                Some(StoryState::Passed) => &mut passed,
                Some(StoryState::Skipped) => &mut skipped,
                Some(StoryState::Open) if keys::is_in_progress(word) => &mut in_progress,
                Some(StoryState::Open) => &mut open,
                _ => continue,
            };
            *words.entry(word).or_insert(0) += 1;
            separator = separator.or_else(|| word.chars().find(|letter| "-_ ".contains(*letter)));
        }
        Self {
            flag: most_common(flags),
            status: most_common(statuses),
            passed_word: most_common(passed).map(|(word, _)| word),
            skipped_word: most_common(skipped).map(|(word, _)| word),
            open_word: most_common(open).map(|(word, _)| word),
            progress_word: most_common(in_progress).map(|(word, _)| word),
            separator,
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
            (None, None) => match self.style {
                Style::TaskGraph | Style::Tickets => StateField::Status("status"),
                Style::Plain | Style::Beads | Style::GitHub | Style::TaskMaster => {
                    StateField::Flag("passes")
                }
            },
        }
    }

    /// The file's own status word for a state, or else the word of its family.
    pub(super) fn word_for(&self, mark: Mark) -> &str {
        let (own, usual) = match mark {
            Mark::Passed => (&self.passed_word, self.usual_passed()),
            Mark::Skipped => (&self.skipped_word, self.usual_skipped()),
            Mark::Open => (&self.open_word, self.usual_open()),
        };
        own.as_deref().unwrap_or(usual)
    }

    /// The word for a story that somebody works on, in place of a word of the file's.
    pub(super) fn in_progress(&self, instead_of: &str) -> String {
        let usual = match (self.separator, self.style) {
            (Some('-'), _) | (None, Style::TaskMaster) => "in-progress",
            (Some(' '), _) if instead_of.starts_with(char::is_uppercase) => "In Progress",
            (Some(' '), _) => "in progress",
            (_, _) => "in_progress",
        };
        in_case_of(instead_of, self.progress_word.as_deref().unwrap_or(usual))
    }

    fn usual_passed(&self) -> &'static str {
        match self.style {
            Style::Beads | Style::GitHub => "closed",
            // Other programs that read a graph know no other word: to them a task that waits for one
            // that is `done` is never ready.
            Style::TaskGraph => "complete",
            Style::Tickets if !self.is_a_board() => "complete",
            Style::Plain | Style::TaskMaster | Style::Tickets => "done",
        }
    }

    fn usual_skipped(&self) -> &'static str {
        match self.style {
            Style::Beads | Style::TaskMaster => "deferred",
            Style::Plain | Style::GitHub | Style::TaskGraph | Style::Tickets => "skipped",
        }
    }

    fn usual_open(&self) -> &'static str {
        match self.style {
            Style::Tickets if self.is_a_board() => "To Do",
            // What was begun once waits for nothing.
            Style::TaskGraph | Style::Tickets => "ready",
            Style::TaskMaster => "pending",
            Style::Plain | Style::Beads | Style::GitHub => "open",
        }
    }

    /// Whether tickets have the columns of a board, `To Do`, `In Progress` and `Done`, as Backlog.md
    /// keeps them.
    pub(super) fn is_a_board(&self) -> bool {
        let is_to_do = |word: &String| Squashed::new(word).is_squashed("to-do");
        self.separator == Some(' ') || self.open_word.as_ref().is_some_and(is_to_do)
    }
}

/// The most common word. The map is sorted, so that a tie is always decided the same way.
fn most_common(counts: BTreeMap<&str, usize>) -> Option<(String, usize)> {
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(word, count)| (word.to_owned(), count))
}
