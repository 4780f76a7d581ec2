//! The kernel seen from outside: tables of moves, and a seeded world that does its worst.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod flows;
mod limits;
mod moves;
mod reload;
mod support;
mod world;
