//! The state folder as faces use it: reading loops, writing requests, waiting beside a worker.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod load;
mod requests;
mod support;
mod waiting;
