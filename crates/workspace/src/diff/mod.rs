//! What a judge is shown of a candidate: one line for every file that differs, then patches.
//!
//! An agent writes the files, so nothing in them may hide a change: no attribute, no byte that makes
//! a file look binary, no large file before the others. What is too much is counted, never dropped
//! in silence.

mod compare;
mod facts;
mod kinds;
mod listing;
mod patch;
mod patches;
mod shares;
mod show;
mod visible;

pub(crate) use visible::{Escapes, visible};
