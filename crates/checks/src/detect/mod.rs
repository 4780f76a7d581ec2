//! Which checks a project has, told from its files.

mod ecosystem;

pub use ecosystem::Ecosystem;
