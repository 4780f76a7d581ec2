//! The keeper as a worker sees it: real processes, real signals, one run folder per test.
//!
//! Nothing here measures time. Waiting means polling with a generous deadline, and every test ends
//! the processes that it started.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod containers;
mod ending;
mod engines;
mod escape;
mod jailed;
mod losing;
mod network;
mod outputs;
mod running;
mod scene;
mod wraps;
