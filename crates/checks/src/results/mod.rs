//! What a check said, test by test.
//!
//! A test is known by its name; where it stands is a note beside it, so that a moved test is the
//! same test. Readers never decide whether a check passed: a runner can crash after its last line,
//! so callers look at the exit code too.

mod bun;
mod cargo;
mod collect;
mod go;
mod jest;
mod junit;
mod mocha;
mod model;
mod nextest;
mod outline;
mod place;
mod pytest;
mod read;
mod sniff;
mod tap;
mod trouble;
mod vitest;
mod xml;

pub use model::{Counts, Occurrence, Results, TestStatus};
pub use place::without_root;
pub(crate) use place::{fits, stands_in};
pub use read::{Format, read_results};
pub use sniff::sniff;
