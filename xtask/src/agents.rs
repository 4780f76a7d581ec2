//! The real agent CLIs that tests drive against a scripted model: installed once, at pinned
//! versions, below the target folder. The tests look for them there
//! (`crates/loopwright/tests/it/real_agents.rs`).

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::invocation::Invocation;
use crate::metadata::Metadata;
use crate::talk::Talk;

/// Skips the installation, and the tests skip themselves.
const SKIP: &str = "LOOPWRIGHT_SKIP_REAL_AGENTS";

/// Node first, for the others are installed with it: an older one makes npm take older versions
/// without a word.
const PACKAGES: [(&str, &str); 8] = [
    ("node22", "node@22.23.3"),
    ("codex", "@openai/codex@0.166.0"),
    ("claude", "@anthropic-ai/claude-code@2.1.325"),
    ("pi", "@earendil-works/pi-coding-agent@0.87.1"),
    ("opencode", "opencode-ai@1.18.33"),
    ("gemini", "@google/gemini-cli@0.61.0"),
    (
        "claude-agent-acp",
        "@agentclientprotocol/claude-agent-acp@0.99.1",
    ),
    ("codex-acp", "@agentclientprotocol/codex-acp@2.6.0"),
];

/// Those that bring a whole CLI along as an optional package. The tests give them the one that is
/// installed already, which spares 700 MB.
const WITHOUT_OPTIONAL: [&str; 2] = ["claude-agent-acp", "codex-acp"];

/// Written last: where it names the same packages, all of them are there.
const MARKER: &str = "installed.txt";

/// Installs what is not there.
pub(crate) fn prepare(talk: &mut Talk, root: &Path) -> Result<()> {
    if env::var_os(SKIP).is_some_and(|value| value == "1") {
        talk.say(format!(
            "{SKIP}=1: the tests with real agents are skipped, and nothing is installed for them"
        ));
        return Ok(());
    }
    let folder = Metadata::load(root)?
        .target_directory
        .join("tools")
        .join("agents");
    let marker = folder.join(MARKER);
    if fs::read_to_string(&marker).is_ok_and(|found| found == inventory()) {
        talk.say(format!(
            "found {}",
            inventory().trim_end().replace('\n', ", ")
        ));
        return Ok(());
    }
    install(talk, root, &folder).with_context(|| {
        format!("cannot install the real agents: it needs npm; {SKIP}=1 goes on without them")
    })?;
    fs::write(&marker, inventory()).with_context(|| format!("cannot write `{}`", marker.display()))
}

fn inventory() -> String {
    PACKAGES
        .iter()
        .map(|(_, package)| format!("{package}\n"))
        .collect()
}

fn install(talk: &mut Talk, root: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    let node = folder.join("node22").join("node_modules").join(".bin");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(node).chain(env::split_paths(&path)))?;
    for (name, package) in PACKAGES {
        let prefix = folder.join(name);
        fs::create_dir_all(&prefix)
            .with_context(|| format!("cannot create `{}`", prefix.display()))?;
        let arguments = ["install", "--no-fund", "--no-audit", "--no-package-lock"];
        let optional = if WITHOUT_OPTIONAL.contains(&name) {
            &["--omit=optional"][..]
        } else {
            &[]
        };
        let prefix = prefix.to_string_lossy();
        let named = ["--prefix", &prefix, package];
        let install = Invocation::program("npm", &[&arguments[..], optional, &named].concat());
        install
            .with_env("PATH", path.to_string_lossy())
            .run_in(talk, root)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        for (name, package) in PACKAGES {
            let version = package.rsplit('@').next().unwrap_or_default();
            assert_eq!(version.split('.').count(), 3, "{name}: {package}");
        }
    }
}
