//! Which files are what: tests, check configuration, shadows of programs, configuration of agents,
//! tests that read source text.
//!
//! Rules look at paths and texts; what is done about a file is the caller's business.

mod agents;
mod commands;
mod computed;
mod declared;
mod for_tests;
mod glob;
mod harness;
mod judging;
mod kinds;
mod manifest;
mod shadows;
mod source_text;
mod support;
mod suspicion;
mod test_paths;

pub use agents::{is_agent_config, is_agent_guidance};
pub use declared::declared;
pub use glob::{BadPattern, Pattern};
pub use manifest::{is_manifest, with_new_dependencies};
pub use shadows::{Shadow, shadows};
pub use source_text::reads_source_text;
pub use suspicion::{Changed, Class, Suspicion, Why};
pub use test_paths::{TestPaths, is_test_support};
