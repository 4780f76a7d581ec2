//! Where a story stands in a plan.

/// The place of one story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    /// A heading with its section.
    Head(usize),
    /// An item with a box.
    Box(usize),
    /// An item whose state is a word in brackets, or that of its section.
    Bullet(usize),
    /// A row of a table: which table, which row.
    Row(usize, usize),
}
