//! The keeper on Linux, built on `/proc`, process groups and the child subreaper.
//!
//! It does not use control groups or pid namespaces, so it needs no privileges.

mod capture;
mod keep;
mod keeping;
mod launch;
mod lock;
mod look;
mod processes;
mod program;
mod sweep;
mod tree;
mod watcher;

pub use keep::keep;
pub use launch::launch;
pub use look::look;
pub use sweep::sweep;
