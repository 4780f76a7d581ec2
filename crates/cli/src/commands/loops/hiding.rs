//! What takes secrets out of everything that is shown of a loop.

use home::{Home, Known, Redactor};

/// Knows the secrets of one loop. Where its keys cannot be read, what looks like a secret is still
/// hidden.
pub(super) fn redactor_of(home: &Home, loop_id: &str) -> Redactor {
    Redactor::new(&Known::of_loop(home, loop_id).unwrap_or_default())
}

/// Knows the secrets of every loop that is not over.
pub(super) fn redactor_of_all(home: &Home) -> Redactor {
    Redactor::new(&Known::of_all(home))
}
