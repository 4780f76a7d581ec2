//! `cargo xtask dist`: everything that is handed out for this machine's target. A static program,
//! its manual pages and completions, an archive, a Debian package and their checksums.
//!
//! Releases for other targets are made by `dist` (`dist-workspace.toml`); this is what a person can
//! make and try on one machine. The same commit gives the same bytes: every time stamp is that of
//! the commit, and no path of the machine is in the program.

mod archive;
mod bare_root;
mod deb;
mod elf;
mod files;
mod licences;
mod make;
mod program;
mod release;

pub(crate) use make::{run, run_and_try};
