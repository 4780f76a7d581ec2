//! What people see of loops, from the records of small loops that are played here.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod asked;
mod confirming;
mod loop_view;
mod public_events;
mod rejected_by;
mod restacked;
mod steering;
mod story_report;
mod support;
