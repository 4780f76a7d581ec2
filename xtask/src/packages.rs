//! The system's packages that tests need: programs that make jails, and those that recipes and cases
//! start. Installed with the system's own package manager where we may use it; elsewhere the step says
//! what to install.

use std::env;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::invocation::Invocation;
use crate::talk::Talk;
use crate::tools;

/// Programs that tests start, and the Debian packages that have them.
const PROGRAMS: [(&str, &str); 9] = [
    ("bwrap", "bubblewrap"),
    ("podman", "podman"),
    ("runc", "runc"),
    ("dockerd", "docker.io"),
    // Runs a program as another user.
    ("setpriv", "util-linux"),
    // Make networks and certificates of a test's own, and the runner's image.
    ("ip", "iproute2"),
    ("openssl", "openssl"),
    ("mmdebstrap", "mmdebstrap"),
    // Reads what the program prints, in the cases of `ralph/cases`.
    ("jq", "jq"),
];

/// Installs what is not there. `just` plays the recipes that `init --just` writes.
pub(crate) fn prepare(talk: &mut Talk, root: &Path) -> Result<()> {
    install_missing(talk, root)?;
    tools::just(talk, root).map(drop)
}

fn install_missing(talk: &mut Talk, root: &Path) -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        talk.say("all are there");
        return Ok(());
    }
    let names = missing.join(" ");
    if !is_there("apt-get") {
        bail!("these packages are missing, and there is no apt-get to install them: {names}");
    }
    let help = || format!("install them as root: apt-get install {names}");
    Invocation::program("apt-get", &["update", "-q"])
        .run_in(talk, root)
        .with_context(help)?;
    let install = ["install", "-q", "-y", "--no-install-recommends"];
    Invocation::program("apt-get", &[&install[..], &missing[..]].concat())
        .run_in(talk, root)
        .with_context(help)
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
