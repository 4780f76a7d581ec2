//! What somebody wants to start, whether they typed it or sent it as an event.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::graph_claims::OtherLoops;
use crate::args::StartArgs;
use crate::config::Flag;
use crate::failure::Failure;
use crate::project_folder::project_folder;

/// One loop that is wanted.
#[derive(Debug, Default)]
pub(super) struct StartRequest {
    pub(super) project: PathBuf,
    pub(super) prd: PathBuf,
    /// The last layer of the configuration.
    pub(super) flags: Vec<Flag>,
    /// The revision to start from.
    pub(super) base: Option<String>,
    /// The id that it should have; a new one where there is none.
    pub(super) loop_id: Option<String>,
    /// Agents by story.
    pub(super) assignments: BTreeMap<String, Assignment>,
    pub(super) passed: Passed,
    /// The story to begin with.
    pub(super) first: Option<kernel::FirstStory>,
    pub(super) write_progress: bool,
    /// Whether another loop on the same PRD is no reason to stop.
    pub(super) again: bool,
    pub(super) preflight: Preflight,
    pub(super) mode: StartMode,
}

/// Whether to look first if everything is there that the loop needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preflight {
    /// Look, and refuse what would not get far.
    #[default]
    Look,
    /// Start all the same.
    Skip,
}

/// The agents that one story should have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) implementor: Option<String>,
    pub(super) reviewer: Option<String>,
    pub(super) judge: Option<String>,
}

/// What to do with stories that are marked as passed and whose commits are elsewhere.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// Stop, and let a person choose.
    #[default]
    Ask,
    /// Do them again.
    Rerun,
    /// Believe the PRD.
    Trust,
}

/// How to go about it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartMode {
    /// The loop goes on without us.
    #[default]
    Background,
    /// We do the work, or follow it.
    Foreground,
    /// Only show what would be started.
    Dry,
}

impl StartRequest {
    /// Whether stories of other loops are left out.
    pub(super) fn other_loops(&self) -> OtherLoops {
        if self.again {
            OtherLoops::DoNotCount
        } else {
            OtherLoops::Count
        }
    }

    /// The flags as the loop keeps them, for when the files below them are read again.
    pub(super) fn kept_flags(&self) -> Vec<home::FlagSettings> {
        let kept = |flag: &Flag| home::FlagSettings {
            name: flag.name.clone(),
            key: flag.key.clone(),
            value: flag.value.clone(),
        };
        self.flags.iter().map(kept).collect()
    }

    pub(super) fn typed(arguments: &StartArgs) -> Result<Self, Failure> {
        let project = project_folder(arguments.project.as_deref());
        Ok(Self {
            prd: prd_of(arguments, &project),
            project,
            flags: flags(arguments)?,
            base: arguments.onto.clone().or_else(|| arguments.base.clone()),
            loop_id: None,
            assignments: BTreeMap::new(),
            passed: match (arguments.passed.rerun_passed, arguments.passed.trust_passed) {
                (true, _) => Passed::Rerun,
                (false, true) => Passed::Trust,
                (false, false) => Passed::Ask,
            },
            first: None,
            write_progress: arguments.write_progress,
            again: arguments.guard.again,
            preflight: if arguments.guard.no_preflight {
                Preflight::Skip
            } else {
                Preflight::Look
            },
            mode: match (arguments.dry_run, arguments.foreground) {
                (true, _) => StartMode::Dry,
                (false, true) => StartMode::Foreground,
                (false, false) => StartMode::Background,
            },
        })
    }
}

/// The PRD where it is: in the project that was named, or else in the current folder. Whoever named no
/// project and stands below it means the file beside them first.
fn prd_of(arguments: &StartArgs, project: &Path) -> PathBuf {
    let named = arguments.file.as_ref().or(arguments.prd.as_ref());
    let named = named.cloned().unwrap_or_default();
    let inside = project.join(&named);
    let is_here = arguments.project.is_none() && named.exists();
    if inside.exists() && !is_here {
        inside
    } else {
        named
    }
}

/// What was typed, as the last layer of the configuration.
fn flags(arguments: &StartArgs) -> Result<Vec<Flag>, Failure> {
    let number = |name: &str, key: &str, value: Option<u32>| {
        value.map(|value| Flag {
            name: name.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
        })
    };
    let mut flags = crate::commands::config::flags(&arguments.set)?;
    flags.extend(arguments.flow.as_ref().map(|flow| Flag {
        name: "--flow".to_owned(),
        key: "loop.flow".to_owned(),
        value: flow.clone(),
    }));
    flags.extend(arguments.sandbox.as_ref().map(|kind| Flag {
        name: "--sandbox".to_owned(),
        key: "sandbox.kind".to_owned(),
        value: kind.clone(),
    }));
    flags.extend(number(
        "--max-retries",
        "loop.max_retries",
        arguments.max_retries,
    ));
    flags.extend(number(
        "--max-iterations",
        "loop.max_iterations",
        arguments.max_iterations,
    ));
    flags.extend(number("--parallel", "loop.parallel", arguments.parallel));
    Ok(flags)
}
