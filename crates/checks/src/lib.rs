//! The project's own commands: finds them, reads their results test by test, compares them with the
//! baseline.
//!
//! Pure: no file is opened here, no process started, no clock read. A project is seen through
//! [`Tree`], outputs come in as text, and what comes out is values. Everything that is read was
//! written by code that nobody trusts, so every reader is bounded and takes any bytes without a
//! panic.

pub mod canary;
pub mod compare;
pub mod detect;
mod dice;
pub mod flags;
mod fresh;
pub mod instrument;
pub mod items;
mod lex;
pub mod mutants;
pub mod results;
pub mod rules;
mod runner;
mod shell;
pub mod surface;
mod text;
mod tree;
pub mod warm;
pub mod wording;

pub use shell::program_of;
pub use text::{EXCERPT_BYTES_MAX, MESSAGE_BYTES_MAX, excerpt};
pub use tree::{MapTree, Tree};
