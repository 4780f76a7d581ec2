//! `loopwright doctor`: whether a project and a machine are ready.

use std::path::Path;

use home::{Home, WorkerState};
use journal::Journal;
use serde_json::json;

use super::finding::{Finding, failure_of};
use super::jail;
use super::loops::found_checks::{self, Base};
use super::preflight;
use super::programs::find_program;
use super::system;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;
use crate::worker_trouble::{Trouble, trouble};

/// Where a loop would begin that is started now.
pub(super) fn base_of(view: &workspace::ProjectView) -> Base<'_> {
    Base {
        repository: &view.root,
        commit: &view.head,
        subdir: &view.subdir,
    }
}

pub(crate) fn doctor(
    project: &Path,
    long_version: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("doctor");
    let home = home()?;
    let mut findings = vec![system::finding(long_version)];
    findings.extend(preflight::of_machine(&home));
    findings.push(preflight::trees(&home));
    findings.push(preflight::repository(project));
    findings.push(preflight::clock(&home));
    findings.extend(damage(&home));
    findings.push(worker(&home));
    findings.extend(asking(&home));
    findings.extend(configuration(project));
    output.data(&findings.iter().map(Finding::text).collect::<String>())?;
    let all: Vec<_> = findings.iter().map(Finding::json).collect();
    output.result(|| json!({ "findings": all }))?;
    let Some(failure) = failure_of(&findings) else {
        return Ok(Exit::Done);
    };
    let bad = findings.iter().filter(|finding| finding.is_bad()).count();
    output.bad_news(Failure {
        message: format!("{bad} of {} are not well", findings.len()),
        ..failure
    });
    Ok(Exit::Environment)
}

/// A journal that can be opened may still be damaged, which only reading all of it tells.
fn damage(home: &Home) -> Option<Finding> {
    let checked = Journal::open(home.root()).and_then(|journal| journal.check());
    let error = checked.err()?;
    let files = format!("the journal's files are in {}", home.root().display());
    Some(Finding::bad("journal", home::words_of(&error), files))
}

/// Whether a worker works, where one is needed.
fn worker(home: &Home) -> Finding {
    if let Some(Trouble { what, remedy }) = trouble(home) {
        return Finding::bad("worker", what, remedy);
    }
    match home::worker_state(home) {
        WorkerState::AtWork { pid: Some(pid) } => {
            Finding::well("worker", format!("process {pid} is at work"))
        }
        WorkerState::AtWork { pid: None } | WorkerState::Stopped { .. } => {
            Finding::well("worker", "one is at work")
        }
        WorkerState::Absent if super::loops::is_work_owed(home) => Finding::bad(
            "worker",
            "none is at work, and loops are owed something",
            "start one: `loopwright worker restart`",
        ),
        WorkerState::Absent => Finding::well("worker", "none, and none is needed"),
    }
}

/// Loops that stand still until somebody answers or repairs something.
fn asking(home: &Home) -> impl Iterator<Item = Finding> {
    super::loops::needing_a_person(home)
        .into_iter()
        .map(|(loop_id, why)| {
            let remedy = format!("`loopwright status {loop_id}` says what can be done");
            Finding::warning("loop", format!("{loop_id} needs a person: {why}"), remedy)
        })
}

/// The configuration, and what a loop with it would need.
fn configuration(project: &Path) -> Vec<Finding> {
    match config::read(project, &[]) {
        Ok(config) => {
            let checks = checks_found(&config.checks, project);
            let mut findings = vec![jail::finding(&config.sandbox)];
            findings.extend(preflight::of_configuration(&config));
            findings.extend(preflight::of_loop(&preflight::Needs {
                config: &config,
                project,
                checks: &checks,
                agents: None,
            }));
            findings
        }
        Err(failure) => wrong(project, &failure),
    }
}

/// Everything that is wrong with the configuration, each with its place.
fn wrong(project: &Path, failure: &Failure) -> Vec<Finding> {
    let remedy = "`loopwright explain config` lists every table and key";
    let settled = config::settle(&config::Places::of_project(project), &[]);
    let complaints = settled.ok().and_then(Result::err).unwrap_or_default();
    if complaints.is_empty() {
        let first = failure.message.lines().next().unwrap_or_default();
        return vec![Finding::bad("configuration", first, remedy)];
    }
    let finding = |each: &config::Complaint| {
        let help = each.help.as_deref().unwrap_or(remedy);
        let message = each.message.lines().next().unwrap_or_default();
        Finding::bad("configuration", format!("{}: {message}", each.place), help)
    };
    complaints.iter().map(finding).collect()
}

/// The checks that a loop would run; none where there is no commit yet, which is a finding of its
/// own.
fn checks_found(config: &config::ChecksConfig, project: &Path) -> Vec<home::CheckSettings> {
    let view = workspace::look_at_project(project, None).ok();
    let machine = |program: &str| find_program(program).is_some();
    let found = view.and_then(|view| {
        found_checks::find(config, &[], &base_of(&view), &machine, &mut Vec::new()).ok()
    });
    found.unwrap_or_default()
}
