//! The test kit seen by a client.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod model_server;
