//! The house rules that neither the compiler nor a linter knows: which crate may use which, how
//! large a file may grow, which words and paths must not be there, what must be documented.
//!
//! Each rule is a pure function over the files or over the declared dependencies, so it is tested
//! without git and without cargo. No rule mends anything: it complains, and says how to mend.

mod complaint;
mod decisions;
mod edges;
mod errors;
mod exceptions;
mod header;
mod homes;
mod lockfiles;
mod paths;
mod run;
mod rust_source;
mod sizes;
mod toml_lines;
mod tree;
mod versions;
mod words;

pub(crate) use run::run;
