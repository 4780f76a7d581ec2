//! What the tests of several crates need: seeded randomness, git as a person runs it, the crash
//! switch.
//!
//! It uses no crate of ours, so that every crate's tests may use it, and nothing of it is ever in
//! the product.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on should stop"
)]

mod crash;
mod git;
mod model_server;
mod random;

pub use crash::{CrashSwitch, Moments};
pub use git::{git, init, try_git};
pub use model_server::{Fault, ModelServer, Request, Step};
pub use random::{Random, number};
