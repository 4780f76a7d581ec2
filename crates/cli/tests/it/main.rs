//! The program as a person runs it: exit code, stdout and stderr of whole commands.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod crash;
mod crash_writes;
mod demo;
mod docs;
mod full_disk;
mod loops;
mod many;
mod prd;
mod scene;
mod sigkill;
mod support;
