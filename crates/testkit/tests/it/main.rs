//! Tests of the test kit itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod model_server;
