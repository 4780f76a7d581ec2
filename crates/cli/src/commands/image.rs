//! The image that a loop's containers are made of: whether it has the programs that the loop needs. What
//! this machine has does not matter there.

use std::collections::BTreeSet;
use std::process::Command;

use super::programs::{Probe, probe};
use crate::config::Config;

/// Looks for every program that it is given, and says that it has looked: an image without a shell, or
/// one whose shell fails, tells nothing.
const LOOK: &str = "for program; do command -v -- \"$program\" > /dev/null && echo \"has $program\"; done; echo looked";

/// An image, and the program that runs it.
pub(super) struct Image {
    engine: String,
    pub(super) name: String,
}

impl Image {
    /// The image that this configuration asks for; none where loops run on the machine's own system.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let wanted = &config.sandbox;
        let engine = wanted.kind.as_deref();
        let engine = engine.filter(|kind| ["podman", "docker"].contains(kind))?;
        let name = wanted.image.as_deref().unwrap_or(sandbox::DEFAULT_IMAGE);
        Some(Self {
            engine: engine.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Which of these programs it has; none where it cannot be looked into. Nothing is fetched.
    pub(super) fn programs(&self, wanted: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        let mut command = Command::new(&self.engine);
        command.args(["run", "--rm", "--pull", "never", "--network", "none"]);
        command.args(["--entrypoint", "sh", &self.name, "-c", LOOK, "sh"]);
        match probe(command.args(wanted)) {
            Probe::Answered(Some(0), printed) if printed.lines().any(|line| line == "looked") => {
                let found = printed.lines().filter_map(|line| line.strip_prefix("has "));
                Some(found.map(str::to_owned).collect())
            }
            Probe::Answered(..) | Probe::Failed | Probe::TimedOut => None,
        }
    }
}

/// What is known of the programs in an image.
pub(super) struct Inside {
    pub(super) image: Image,
    found: Option<BTreeSet<String>>,
}

impl Inside {
    /// Looks for programs in the image of this configuration, if it has one.
    pub(super) fn look(config: &Config, wanted: BTreeSet<String>) -> Option<Self> {
        let image = Image::of(config)?;
        // A program with a path of its own is shown inside as it is here.
        let wanted: BTreeSet<String> = wanted
            .into_iter()
            .filter(|name| is_looked_up(name))
            .collect();
        let found = image.programs(&wanted);
        Some(Self { image, found })
    }

    /// Whether a program is there, as far as that is known; nothing of a program that is not looked up.
    pub(super) fn has(&self, program: &str) -> Option<Presence> {
        is_looked_up(program).then(|| match &self.found {
            Some(found) if found.contains(program) => Presence::There,
            Some(_) => Presence::Missing,
            None => Presence::Unknown,
        })
    }
}

/// Whether an image has a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Missing,
    /// It could not be looked into.
    Unknown,
}

fn is_looked_up(program: &str) -> bool {
    !program.is_empty() && !program.contains('/')
}
