//! How a check's command looks from where it runs: on the host as it is, in a jail at the paths that
//! are the same for every tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sandbox::{JailSpec, Network};

use super::lane::{Lane, REPORTS};
use crate::fault::Fault;
use crate::run::downloads::{Downloads, configure_clients};
use crate::run::jail::{Ground, inside};
use crate::run::measurement::CheckPlan;
use crate::run::roots::Root;

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It gets the project ready, and may reach the registries.
    Setup,
    /// It measures, and reaches nothing.
    Measure,
}

impl Purpose {
    /// The purpose of a check.
    pub(super) fn of(check: &str) -> Self {
        if check == "setup" {
            Self::Setup
        } else {
            Self::Measure
        }
    }
}

/// The paths of a command as its program sees them.
pub(super) struct Seen {
    /// The checkout.
    pub(super) checkout: PathBuf,
    /// The project's folder in it.
    pub(super) inner: PathBuf,
    /// Where the runner writes its report.
    pub(super) report: PathBuf,
}

impl Seen {
    pub(super) fn of(plan: &CheckPlan, lane: &Lane) -> Self {
        let subdir = Path::new(&plan.subdir);
        match plan.jail {
            Some(_) => Self {
                checkout: PathBuf::from(sandbox::WORKSPACE),
                inner: inside(subdir),
                report: Path::new(REPORTS).join("r"),
            },
            None => Self {
                checkout: lane.tree(),
                inner: lane.tree().join(subdir),
                report: lane.report(),
            },
        }
    }
}

/// The environment of a command.
pub(super) fn environment(
    plan: &CheckPlan,
    lane: &Lane,
    purpose: Purpose,
) -> BTreeMap<String, String> {
    let Some(jail) = &plan.jail else {
        return lane.environment(&plan.env);
    };
    let mut env = plan.env.clone();
    let ground = Ground::of(&jail.settings, &jail.state_folder);
    ground.environment(&mut env);
    match purpose {
        Purpose::Setup => env.extend(sandbox::proxy_environment()),
        // Where there is no network, cargo should not look for one.
        Purpose::Measure => drop(env.insert("CARGO_NET_OFFLINE".to_owned(), "true".to_owned())),
    }
    env
}

/// The jail of a command with this environment, if there is one. The environment is led to what the jail
/// shows elsewhere than the host has it.
pub(super) fn jail(
    plan: &CheckPlan,
    lane: &Lane,
    purpose: Purpose,
    env: &mut BTreeMap<String, String>,
) -> Result<Option<JailSpec>, Fault> {
    let Some(jail) = &plan.jail else {
        return Ok(None);
    };
    let ground = Ground::of(&jail.settings, &jail.state_folder);
    let network = match purpose {
        Purpose::Setup => ground.registries(),
        Purpose::Measure => Network::None,
    };
    // The lane's come first: a place that the person shows may lie below `/tmp`.
    let mut mounts = lane.mounts();
    mounts.extend(ground.mounts(env)?);
    Ok(ground.jail(mounts, network))
}

/// Whether a home may see what was fetched before in a layer below its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetched {
    Shown,
    /// Whoever takes the home's folder along needs all of it there, and layers are not everywhere.
    Copied,
}

/// Gives a fresh home what package managers need, in a jail; on the host they use the operator's. What
/// was fetched for a root belongs to it.
pub(super) fn fill_home(
    plan: &CheckPlan,
    lane: &Lane,
    root: Option<&Root>,
    fetched: Fetched,
) -> Result<(), Fault> {
    let Some(jail) = &plan.jail else {
        return Ok(());
    };
    let downloads = Downloads::of(&jail.loop_folder);
    let below = match root {
        Some(root) => Some(root.downloads()),
        None => downloads.kept().filter(|_| fetched == Fetched::Shown),
    };
    let is_shown = match below {
        Some(below) => lane.show_downloads(below)?,
        None => false,
    };
    if is_shown {
        configure_clients(&lane.home());
    } else {
        downloads.fill(&lane.home(), None, &[lane.tree()]);
    }
    Ok(())
}

/// Keeps what the base's setup fetched, for all trees after it.
pub(super) fn keep_downloads(plan: &CheckPlan, lane: &Lane) {
    if let Some(jail) = &plan.jail {
        Downloads::of(&jail.loop_folder).keep(&lane.home());
    }
}
