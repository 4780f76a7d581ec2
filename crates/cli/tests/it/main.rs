//! The program as a person runs it: exit code, stdout and stderr of whole commands.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod demo;
mod docs;
mod prd;
mod support;
