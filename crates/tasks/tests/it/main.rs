//! The tasks of a plan, as several work trees see them through one store.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod board;
mod round_trip;
mod store;
mod support;
mod words;
