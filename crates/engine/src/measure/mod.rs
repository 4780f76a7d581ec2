//! Measures trees: the project's commands in fresh checkouts that we made, each under a keeper of
//! its own.
//!
//! It runs as a process of its own (`loopwright measure RUN_FOLDER`) under the keeper of a check's
//! run, so that a worker never waits for a command. What it finds lies in `measured.json` beside
//! its plan; what that means for a candidate is decided elsewhere.

mod command;
mod confined;
mod lane;
mod make_root;
mod meter;
mod outputs;
mod own_tier;
mod plan_run;
mod probe;
mod tracked;
mod tree;
mod warm_state;
mod warmth;

pub use plan_run::measure;
