//! The keeper on Linux, built on `/proc`, process groups and the child subreaper.
//!
//! It needs no privileges. Where a run has a jail, that gives it namespaces, and control groups where
//! we may make them.

mod capture;
mod cgroup;
mod container;
mod disk;
mod jailed;
mod keep;
mod keeping;
mod launch;
mod layers;
mod lifeline;
mod limits;
mod lock;
mod look;
mod mark;
mod processes;
mod program;
mod raw;
mod secrets;
mod shim;
mod sweep;
mod tree;
mod watcher;
mod words;

pub use container::{Stray, remove_stray, strays};
pub use keep::keep;
pub use launch::launch;
pub use layers::{enter_namespace, layers_command, mount_layers, try_layers, unmount_layers};
pub use look::look;
pub use mark::{is_alive, is_at_work, our_mark};
pub use shim::shim;
pub use sweep::sweep;
