//! The adapters seen from outside: recorded streams in, outcomes out; tasks in, command lines out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::too_many_lines, reason = "tables of cases are long")]

mod acp;
mod activities;
mod commands;
mod fuzz;
mod recorded;
mod replay;
mod unseen;
mod variations;
