//! What is said of the tests in a product file, and how much of it is read.

/// Longest text that is read.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 20;
/// Most tests of one file, and most names of an answer.
pub(super) const ITEMS_MAX: usize = 5_000;

/// What becomes of the tests in a candidate's product file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Items {
    /// There are none, or they are the base's already.
    Same,
    /// The candidate's text with the base's tests in place of its own.
    Replaced(String),
    /// Syntax does not settle it. The base's tests that changed or vanished, by name.
    Unsure(Vec<String>),
}
