//! `loopwright init`: a configuration with the agents and checks that were found, and a PRD to begin
//! with. Whatever is there already stays as it is.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::agent_entries::{self, OnMachine};
use super::loops::found_checks::{self, Folder};
use super::programs::find_program;
use super::setup::base_of;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

const TEMPLATE: &str = include_str!("../../demo/loopwright.toml");
const JUSTFILE: &str = include_str!("../../demo/justfile");
const SAMPLE_PRD: &str = include_str!("../../demo/prd.json");

/// For people whose agent is none of those that are known.
const ANY_AGENT: &str = r#"# Agents are programs that read their task from standard input and work in the current directory.
# An implementor leaves files; a judge ends its output with one JSON object. Name yours here:
#
# [agents.builder]
# command = ["my-agent", "--auto"]
# pass_env = ["MY_AGENT_KEY"]
# timeout = 1200
#
# [agents.critic]
# command = ["my-judge"]
#
# [roles.implementor]
# agent = "builder"
#
# [roles.reviewer]                  # writes tests without seeing the code; without one, only your checks test it
# agent = "critic"
#
# [roles.judge]
# agent = "critic""#;

/// Folders of a project in which people keep a PRD.
const PRD_FOLDERS: [&str; 5] = ["", "docs", "tasks", "scripts/ralph", ".loopwright"];

/// A file that is wanted.
struct Wanted {
    path: PathBuf,
    text: String,
}

pub(crate) fn init(project: &Path, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("init");
    let path = project.join("loopwright.toml");
    let mut found = Vec::new();
    let text = configuration(project, &mut found)?;
    let prd = prd_of(project);
    let mut wanted = vec![Wanted { path, text }];
    match &prd {
        Some(prd) => found.push(format!("found the PRD `{}`", prd.display())),
        None => wanted.push(Wanted {
            path: project.join("prd.json"),
            text: SAMPLE_PRD.to_owned(),
        }),
    }
    let (mut made, mut there) = (Vec::new(), Vec::new());
    for file in &wanted {
        if take(file, dry_run, output)? {
            made.push(&file.path);
        } else {
            there.push(&file.path);
        }
    }
    if made.is_empty() {
        return Err(nothing_to_make(project, &wanted[0].path, prd.as_deref()));
    }
    for path in there {
        let path = path.display();
        output.talk(&format!(
            "`{path}` is there already, and is left as it is\n"
        ));
    }
    for remark in &found {
        output.talk(&format!("{remark}\n"));
    }
    output.result(|| json!({ "files": made, "written": !dry_run, "found": found }))?;
    let prd = prd.unwrap_or_else(|| project.join("prd.json"));
    output.next(NextAction::new(
        "loopwright doctor",
        "see whether everything is there",
    ));
    output.next(NextAction::new(
        format!("loopwright start {}", prd.display()),
        "start a loop",
    ));
    Ok(Exit::Done)
}

/// Everything is there, as after an `init` before.
fn nothing_to_make(project: &Path, config: &Path, prd: Option<&Path>) -> Failure {
    let config = config.display();
    let what = match prd {
        Some(prd) => format!("`{config}` and the PRD `{}` are", prd.display()),
        None => format!("`{config}` is"),
    };
    let failure = Failure::bad_input(format!(
        "nothing to make: {what} there already, and nothing was changed"
    ))
    .hint("`loopwright doctor` says whether a loop can start with it")
    .hint(format!(
        "to have a new one written, move `{config}` away first"
    ));
    // It was found above the current folder.
    if project.ends_with("..") {
        return failure.hint("`loopwright init --project .` makes one for this folder alone");
    }
    failure
}

/// `init --just`: the recipes that people of the task-graph loop know.
pub(crate) fn just(project: &Path, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("init");
    let names = ["justfile", "Justfile", ".justfile"];
    let there = names.map(|name| project.join(name));
    if let Some(there) = there.iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::bad_input(format!(
            "`{}` is there already, and is left as it is",
            there.display()
        ))
        .hint("`loopwright init --just --dry-run` in an empty folder shows the recipes to copy"));
    }
    let file = Wanted {
        path: project.join("justfile"),
        text: JUSTFILE.to_owned(),
    };
    take(&file, dry_run, output)?;
    output.result(|| json!({ "files": [&file.path], "written": !dry_run }))?;
    output.next(NextAction::new("just ralph", "work through the task graph"));
    output.next(NextAction::new(
        "just dag-status",
        "see where all tasks stand",
    ));
    Ok(Exit::Done)
}

/// Makes a file that is not there, or shows it; says whether there was anything to do.
fn take(file: &Wanted, dry_run: bool, output: &mut Output) -> Result<bool, Failure> {
    let path = file.path.display();
    if dry_run {
        if file.path.exists() {
            return Ok(false);
        }
        output.data(&format!("would make {path}:\n\n{}\n", file.text))?;
        return Ok(true);
    }
    // Somebody may make it between our looking and our writing, so that the system decides.
    let new = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&file.path);
    match new.and_then(|mut new| new.write_all(file.text.as_bytes())) {
        Ok(()) => {
            output.data(&format!("made {path}\n"))?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Failure::environment(
            &format!("cannot make `{path}`"),
            &error,
        )),
    }
}

/// The configuration for what was found, and how it was found.
fn configuration(project: &Path, found: &mut Vec<String>) -> Result<String, Failure> {
    let agents = agent_entries::on_machine();
    let checks = checks_of(project, found)?;
    let line = |check: &home::CheckSettings| format!("{} = {}", check.name, json!(check.command));
    let lines: Vec<String> = checks.iter().map(line).collect();
    let commands = if lines.is_empty() {
        "# setup = \"npm ci\"\n# test = \"npm test\"".to_owned()
    } else {
        lines.join("\n")
    };
    let flow = if checks.iter().any(|check| check.name == "test") {
        String::new()
    } else {
        found
            .push("no command that runs tests was found, so that a judge decides alone".to_owned());
        "\nflow = \"judged\"   # without a command that runs tests; remove this line once [checks] has one".to_owned()
    };
    found.extend(agents.iter().map(|agent| match &agent.trouble {
        None => format!("found the agent `{}`", agent.name),
        Some(trouble) => format!("found the agent `{}`, left out: {trouble}", agent.name),
    }));
    Ok(TEMPLATE
        .replace("{{agents}}", &tables_of(&agents))
        .replace("{{flow}}", &flow)
        .replace("{{checks}}", &commands))
}

/// The tables of agents; one that could not work now is there for later.
fn tables_of(agents: &[OnMachine]) -> String {
    if !agents.iter().any(|agent| agent.trouble.is_none()) {
        return ANY_AGENT.to_owned();
    }
    let table = |agent: &OnMachine| {
        let name = &agent.name;
        match &agent.trouble {
            None => format!("[agents.{name}]\nkind = \"{name}\"\n"),
            Some(trouble) => format!("# {trouble}\n# [agents.{name}]\n# kind = \"{name}\"\n"),
        }
    };
    let tables: Vec<String> = agents.iter().map(table).collect();
    format!(
        "# Who does what is chosen among these; `loopwright start --dry-run` shows it. To choose yourself:\n\
         # [roles.implementor], [roles.reviewer] and [roles.judge], each with agent = \"NAME\".\n{}",
        tables.join("\n").trim_end()
    )
}

/// The checks that the project's files show.
fn checks_of(
    project: &Path,
    remarks: &mut Vec<String>,
) -> Result<Vec<home::CheckSettings>, Failure> {
    let machine = |program: &str| find_program(program).is_some();
    match workspace::look_at_project(project, None) {
        Ok(view) => {
            let nothing_named = config::ChecksConfig::default();
            found_checks::find(&nothing_named, &[], &base_of(&view), &machine, remarks)
        }
        // Without a commit there is nothing yet that a loop could start from.
        Err(_) => {
            let root = project.to_owned();
            Ok(found_checks::found_in(&Folder { root }, &machine, remarks))
        }
    }
}

/// A file of the project that is called a PRD.
fn prd_of(project: &Path) -> Option<PathBuf> {
    let is_prd = |path: &Path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        name.contains("prd") && ["json", "yaml", "yml"].contains(&ending.as_str()) && path.is_file()
    };
    PRD_FOLDERS.iter().find_map(|folder| {
        let folder = if folder.is_empty() {
            project.to_owned()
        } else {
            project.join(folder)
        };
        let entries = std::fs::read_dir(folder).ok()?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().find(|path| is_prd(path))
    })
}
