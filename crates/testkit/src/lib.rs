//! Helpers that the tests of several crates share: seeded randomness, samples of galleries, git as a person runs it, a
//! crash switch and a scripted model server.
//!
//! It depends on none of our crates, so that the tests of every crate can use it. None of it is
//! part of the product.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on should stop"
)]

mod crash;
mod git;
mod judge;
mod model_server;
mod moment;
mod random;
mod sample;

pub use crash::{CrashSwitch, Moments};
pub use git::{git, init, try_git};
pub use model_server::{Fault, ModelServer, Request, Step};
pub use moment::ms_of;
pub use random::{Random, number};
pub use sample::{is_soak, sample, sample_of, thrifty_sample};
