//! The house rules that neither the compiler nor a linter knows: which crate and which
//! module may use which, how large a file may grow, which words, paths and types must not be there,
//! what must be documented.
//!
//! Each rule is a pure function over the files or over the declared dependencies, so it is tested
//! without git and without cargo. No rule mends anything: it complains, and says how to mend.

mod changelog;
mod complaint;
mod cycles;
mod debug_words;
mod decisions;
mod edges;
mod errors;
mod exceptions;
mod header;
mod homes;
mod lockfiles;
mod modules;
mod paths;
mod prose_branches;
mod run;
mod rust_source;
mod sizes;
mod string_errors;
mod toml_lines;
mod tree;
mod use_paths;
mod versions;
mod words;

pub(crate) use run::run;
