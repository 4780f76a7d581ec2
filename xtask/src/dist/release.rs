//! What is released: version, commit, target, and where it goes.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::invocation::Invocation;
use crate::talk::say;

/// Where the finished files lie, below the target folder.
const FOLDER: &str = "dist";

/// What was made.
pub(super) struct Made {
    pub(super) release: Release,
    pub(super) archive: PathBuf,
    pub(super) deb: PathBuf,
}

/// One release for one target.
pub(super) struct Release {
    pub(super) version: String,
    /// As rustc names it.
    pub(super) target: String,
    /// Seconds since 1970 of the commit: the time stamp of everything that is made.
    pub(super) epoch_secs: String,
    /// The finished files.
    pub(super) folder: PathBuf,
    /// Everything that cargo knows about the program's package and what it is built from.
    pub(super) metadata: Value,
}

impl Release {
    pub(super) fn of(root: &Path) -> Result<Self> {
        let told = Invocation::program("rustc", &["-vV"]).read(root)?;
        let target = host_of(&told).context("`rustc -vV` names no host")?;
        let metadata = Invocation::cargo(&[
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            target,
        ]);
        let metadata: Value = serde_json::from_str(&metadata.read(root)?)
            .context("`cargo metadata` printed no valid JSON")?;
        let target_directory = metadata["target_directory"]
            .as_str()
            .context("`cargo metadata` tells no target folder")?;
        let folder = Path::new(target_directory).join(FOLDER);
        let release = Self {
            version: String::new(),
            target: target.to_owned(),
            epoch_secs: epoch_secs(root)?,
            folder,
            metadata,
        };
        let version = release.package()?["version"].as_str();
        let version = version.context("the package has no version")?.to_owned();
        Ok(Self { version, ..release })
    }

    /// What cargo tells about the package of the program.
    pub(super) fn package(&self) -> Result<&Value> {
        let packages = self.metadata["packages"].as_array();
        let mut packages = packages.into_iter().flatten();
        packages
            .find(|package| package["name"] == "loopwright")
            .context("`cargo metadata` knows no package `loopwright`")
    }

    /// The name of the archive without its ending, and of the folder inside: what `dist` and
    /// `cargo binstall` expect.
    pub(super) fn name(&self) -> String {
        format!("loopwright-{}", self.target)
    }
}

fn host_of(told: &str) -> Option<&str> {
    told.lines().find_map(|line| line.strip_prefix("host: "))
}

/// The variable first, by which distributions name the time of a source; then the commit.
fn epoch_secs(root: &Path) -> Result<String> {
    if let Ok(told) = env::var("SOURCE_DATE_EPOCH") {
        return Ok(told);
    }
    let state = Invocation::program("git", &["status", "--porcelain"]).read(root)?;
    if !state.trim().is_empty() {
        say(
            "the tree has changes that are in no commit: the program names a commit that it is not",
        );
    }
    let told = Invocation::program("git", &["log", "-1", "--format=%ct"]).read(root)?;
    Ok(told.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_read() {
        let told = "rustc 1.95.0\nbinary: rustc\nhost: aarch64-unknown-linux-gnu\nrelease: 1\n";
        assert_eq!(host_of(told), Some("aarch64-unknown-linux-gnu"));
        assert_eq!(host_of("rustc 1.95.0\n"), None);
    }
}
