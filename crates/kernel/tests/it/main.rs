//! The kernel seen from outside: tables of moves, and a seeded world that does its worst.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod confirming;
mod failover;
mod flows;
mod landing;
mod meeting;
mod moves;
mod oracle;
mod orders;
mod proof_of_work;
mod publishing;
mod questions;
mod queue;
mod records;
mod reload;
mod several;
mod steering;
mod support;
mod world;
