//! One turn with one agent over the Agent Client Protocol: starts the agent, opens a session, sends
//! the prompt, and tells what happens as lines of JSON.
//!
//! It runs as a process of its own (`loopwright acp-client`) under the keeper of an agent's run,
//! because the protocol has requests in both directions and a run has only a prompt on standard
//! input and lines on standard output. It judges nothing: what the lines mean is for `agents` to
//! say. It offers the agent no files and no terminal, so the agent uses its own tools, and it kills
//! nothing: whatever is left when it ends is the keeper's to end.

mod choices;
mod client;
mod process;
mod report;
mod turn;
mod updates;

pub use client::{Fault, Orders, run};
