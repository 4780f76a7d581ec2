//! Which checks a project has, told from its files.
//!
//! Only what the tree shows is proposed: a script, a configuration file, a dependency. What a
//! person configured always wins over this. Of several languages the first that has a check gives
//! it, and the others are named in the notes. A program that neither the machine has nor the setup
//! installs is not proposed.

mod ecosystem;
mod node;
mod node_scripts;
mod others;
mod propose;
mod python;
mod python_needs;
mod python_tests;
mod rust;
mod tasks;

pub use ecosystem::Ecosystem;
pub use propose::{Proposal, Proposed, propose, propose_on};
