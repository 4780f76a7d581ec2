//! A place for a fault.

use std::ops::Range;

/// Longest line that is changed.
pub(super) const LINE_BYTES_MAX: usize = 2_000;

/// A place where a fault can be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) at: Range<usize>,
    pub(super) becomes: String,
    pub(super) rank: Rank,
}

/// How likely a fault is to change what the program does, likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Operator,
    Number,
    Return,
    Text,
}
