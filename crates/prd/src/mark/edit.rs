//! What a mark is made of: the new state, and replacements of bytes.

use std::ops::Range;

use crate::story::StoryState;

/// The new state of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The story was accepted.
    Passed,
    /// The story was set aside.
    Skipped,
    /// The story is to be done.
    Open,
}

impl Mark {
    pub(crate) fn state(self) -> StoryState {
        match self {
            Self::Passed => StoryState::Passed,
            Self::Skipped => StoryState::Skipped,
            Self::Open => StoryState::Open,
        }
    }
}

/// A replacement of some bytes. An empty range inserts.
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}
