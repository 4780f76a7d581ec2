//! One turn with one agent over the Agent Client Protocol: starts the agent, opens a session, sends
//! the prompt, and reports what happens as lines of JSON.
//!
//! It runs as a process of its own (`loopwright acp-client`) under the keeper of an agent's run.
//! The protocol has requests in both directions, while a run has only a prompt on standard input
//! and lines on standard output. The client judges nothing: `agents` interprets the lines. It
//! offers the agent no files and no terminal, so the agent uses its own tools. It kills nothing:
//! the keeper ends whatever is left.

mod choices;
mod client;
mod process;
mod report;
mod turn;
mod updates;

pub use client::{Fault, Orders, run};
