//! The keeper on Linux: `/proc`, process groups, the child subreaper.
//!
//! Control groups and pid namespaces are not used, so that it works without any privilege.

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

pub use keep::keep;
pub use launch::launch;
pub use look::look;
pub use sweep::sweep;
