//! The kinds of project that are known.

use serde::{Deserialize, Serialize};

/// A kind of project. One tree may be several.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Ecosystem {
    /// Rust.
    Cargo,
    /// JavaScript and TypeScript, whatever the package manager.
    Node,
    /// Python.
    Python,
    /// Go.
    Go,
    /// Java, Kotlin and others with Maven or Gradle.
    Jvm,
    /// A Makefile.
    Make,
    /// A justfile.
    Just,
}
