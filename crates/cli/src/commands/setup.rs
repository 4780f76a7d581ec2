//! `loopwright init` and `loopwright doctor`: getting a project and a machine ready.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::loops::found_checks::{self, Base, Folder};
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

const TEMPLATE: &str = include_str!("../../demo/loopwright.toml");

/// Below so much free space a loop will soon stand still.
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;

/// So much a clock that is set right by the network may jump.
const CLOCK_DRIFT_MS_MAX: i64 = 60_000;

/// The newest loops are enough to see whether the clock was set back.
const LOOPS_LOOKED_AT: usize = 5;

pub(crate) fn init(project: &Path, output: &mut Output) -> Result<Exit, Failure> {
    output.command("init");
    let path = project.join("loopwright.toml");
    let (commands, found) = checks_of(project)?;
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| file.write_all(TEMPLATE.replace("{{checks}}", &commands).as_bytes()));
    made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::bad_input(format!(
            "`{}` is there already, and is left as it is",
            path.display()
        )),
        _ => Failure::environment(&format!("cannot make `{}`", path.display()), &error),
    })?;
    output.data(&format!(
        "made {}; name your agents and checks in it\n",
        path.display()
    ))?;
    for remark in &found {
        output.talk(&format!("{remark}\n"));
    }
    output.result(|| json!({ "file": path, "found": found }))?;
    output.next(NextAction::new(
        "loopwright doctor",
        "see whether everything is there",
    ));
    output.next(NextAction::new(
        "loopwright start --prd FILE",
        "start a loop",
    ));
    Ok(Exit::Done)
}

/// The checks that the project's files show, as lines of the configuration, and how each was found.
fn checks_of(project: &Path) -> Result<(String, Vec<String>), Failure> {
    let mut remarks = Vec::new();
    let machine = |program: &str| find_program(program).is_some();
    let checks = match workspace::look_at_project(project, None) {
        Ok(view) => {
            let base = Base {
                repository: &view.root,
                commit: &view.head,
                subdir: &view.subdir,
            };
            found_checks::find(
                &config::ChecksConfig::default(),
                &[],
                &base,
                &machine,
                &mut remarks,
            )?
        }
        // Without a commit there is nothing yet that a loop could start from.
        Err(_) => found_checks::found_in(
            &Folder {
                root: project.to_owned(),
            },
            &machine,
            &mut remarks,
        ),
    };
    if checks.is_empty() {
        return Ok((
            "# setup = \"npm ci\"\n# test = \"npm test\"".to_owned(),
            remarks,
        ));
    }
    let line = |check: &home::CheckSettings| format!("{} = {}", check.name, json!(check.command));
    Ok((
        checks.iter().map(line).collect::<Vec<_>>().join("\n"),
        remarks,
    ))
}

/// One thing that was looked at: what was found, and what to do if it is not well.
pub(super) struct Finding {
    subject: &'static str,
    found: String,
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn well(subject: &'static str, found: impl Into<String>) -> Self {
        Self {
            subject,
            found: found.into(),
            remedy: None,
        }
    }

    pub(super) fn bad(
        subject: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            subject,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }
}

pub(crate) fn doctor(project: &Path, output: &mut Output) -> Result<Exit, Failure> {
    output.command("doctor");
    let mut findings = vec![git(), repository(project)];
    findings.extend(state_folder()?);
    findings.push(clock());
    // It is said and not complained of: nobody can mend it.
    findings.push(Finding::well(
        "sandbox",
        "none yet: agents run on this host with your rights",
    ));
    findings.extend(configuration(project));
    let lines: String = findings
        .iter()
        .map(|finding| match &finding.remedy {
            None => format!("ok   {}: {}\n", finding.subject, finding.found),
            Some(remedy) => format!(
                "bad  {}: {}\n     {remedy}\n",
                finding.subject, finding.found
            ),
        })
        .collect();
    output.data(&lines)?;
    let one = |finding: &Finding| json!({ "subject": finding.subject, "ok": finding.remedy.is_none(), "found": finding.found, "remedy": finding.remedy });
    output.result(|| json!({ "findings": findings.iter().map(one).collect::<Vec<_>>() }))?;
    let bad = findings
        .iter()
        .filter(|finding| finding.remedy.is_some())
        .count();
    if bad == 0 {
        return Ok(Exit::Done);
    }
    let hints = findings
        .iter()
        .filter_map(|finding| finding.remedy.clone())
        .collect();
    output.bad_news(Failure {
        exit: Exit::Environment,
        message: format!("{bad} of {} are not well", findings.len()),
        hints,
    });
    Ok(Exit::Environment)
}

fn git() -> Finding {
    match workspace::git_version() {
        Ok(version) => Finding::well("git", version),
        Err(error) => Finding::bad(
            "git",
            error.to_string(),
            "install git and see that it is on the PATH",
        ),
    }
}

fn repository(project: &Path) -> Finding {
    match workspace::look_at_project(project, None) {
        Ok(view) => match workspace::check_content(&view.root, &view.head) {
            Ok(_) => Finding::well(
                "repository",
                format!("{} at {}", view.root.display(), &view.head.as_str()[..12]),
            ),
            Err(error) => Finding::bad(
                "repository",
                error.to_string(),
                error
                    .remedy()
                    .unwrap_or_else(|| "see that git works in the project".to_owned()),
            ),
        },
        Err(error) => Finding::bad(
            "repository",
            error.to_string(),
            "run this in a git repository with at least one commit, or name one with --project",
        ),
    }
}

fn state_folder() -> Result<Vec<Finding>, Failure> {
    let home = home()?;
    let root = home.root();
    let journal = match journal::Journal::open(root) {
        Ok(_) => Finding::well("state", root.display().to_string()),
        Err(error) => Finding::bad(
            "state",
            error.to_string(),
            "see that the folder is yours, or set LOOPWRIGHT_HOME to another one",
        ),
    };
    let space = match rustix::fs::statvfs(root) {
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let found = format!("{} MiB free", free / (1024 * 1024));
            if free < FREE_BYTES_MIN {
                Finding::bad("disk", found, "make room: loops wait when the disk is full")
            } else {
                Finding::well("disk", found)
            }
        }
        Err(error) => Finding::bad(
            "disk",
            error.to_string(),
            "see that the state folder can be reached",
        ),
    };
    Ok(vec![journal, space])
}

/// Waits end by the clock. One that was set back would make every wait longer than it was told.
fn clock() -> Finding {
    let now_ms = home::now_ms();
    let now = home::utc(now_ms);
    let newest_ms = home()
        .ok()
        .and_then(|home| newest_record_ms(home.root()))
        .unwrap_or_default();
    if newest_ms > now_ms.saturating_add(CLOCK_DRIFT_MS_MAX) {
        let found = format!(
            "{now}, and the journal's newest record is of {}",
            home::utc(newest_ms)
        );
        return Finding::bad("clock", found, "set the clock: waits end by it");
    }
    Finding::well("clock", now)
}

fn newest_record_ms(root: &Path) -> Option<i64> {
    let journal = journal::Journal::open(root).ok()?;
    let loops = journal.loops().ok()?;
    let newest = loops.iter().rev().take(LOOPS_LOOKED_AT).filter_map(|row| {
        home::load(&journal, &row.loop_id)
            .ok()
            .map(|loaded| loaded.state.last_at_ms())
    });
    newest.max()
}

/// The configuration, and what each agent needs.
fn configuration(project: &Path) -> Vec<Finding> {
    match config::read(project, &[]) {
        Ok(config) => super::agents::findings(&config),
        Err(failure) => {
            let first = failure.message.lines().next().unwrap_or_default();
            let remedy = "`loopwright config show` names everything that is wrong, with its place";
            vec![Finding::bad("configuration", first, remedy)]
        }
    }
}

/// The program that a command would run, found as the system finds it.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(runs)
}
