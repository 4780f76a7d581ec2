//! The engine without processes, git or a disk that matters: orders, crashes, whole scenarios.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "what was played is said")]

mod crash;
mod marks;
mod memory;
mod orders;
mod outside;
mod play;
mod rack;
mod scenario;
mod scenarios;
mod several;
mod world;
