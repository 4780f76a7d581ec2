//! What a `ralph` is told from flags and configuration. The work itself is the engine's, in a process
//! of its own.

use std::path::Path;

use agents::Kind;
use home::{AgentSettings, CheckSettings, Home, SandboxKind, SandboxSettings};
use serde_json::json;
use tasks::{Place, Tasks};

use super::jail;
use super::loops::found_checks::{self, Folder};
use super::loops::{CHECK_TIMEOUT_SECS, agent_settings, cli_settings};
use super::programs::{find_program, runs};
use super::task;
use crate::args::RalphArgs;
use crate::config::{self, Config, Flag};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder;

/// Everything that the configuration and the machine say.
#[derive(Debug)]
pub struct RalphSetup {
    /// The state folder.
    pub home: Home,
    /// Where the plan lies.
    pub place: Place,
    /// The agent's name.
    pub agent_name: String,
    /// The agent.
    pub agent: AgentSettings,
    /// The jail; none where agents run with the person's rights.
    pub sandbox: Option<SandboxSettings>,
    /// The project's commands; empty if nothing is verified.
    pub checks: Vec<CheckSettings>,
    /// How long each of them may take.
    pub check_timeout_secs: u64,
}

/// Finds out what a `ralph` needs, and says what a person should know before it begins.
pub fn ralph_setup(args: &RalphArgs, output: &mut Output) -> Result<RalphSetup, Failure> {
    output.command("ralph");
    let home = state_folder::home()?;
    if let Some(run) = home::surrounding_run(&home) {
        let message = format!(
            "an agent cannot start another loop ({} is around this)",
            run.display()
        );
        return Err(Failure::bad_input(message));
    }
    let place = Place::find(&args.plan.project, args.plan.prd.as_deref());
    let place = place.map_err(|error| task::failure(&error, output))?;
    let flag = args.sandbox.as_ref().map(|kind| Flag {
        name: format!("--sandbox {kind}"),
        key: "sandbox.kind".to_owned(),
        value: kind.clone(),
    });
    let flags: Vec<Flag> = flag.into_iter().collect();
    let config = config::read(&place.root, &flags)?;
    let (agent_name, agent) = agent(&config, &args.agent, &place.root)?;
    let settings = jail::settle(&config, &place.root)?;
    let sandbox = (settings.kind != SandboxKind::Host).then_some(settings);
    let checks = checks(args, &config, &place.root, output)?;
    Ok(RalphSetup {
        home,
        place,
        agent_name,
        agent,
        sandbox,
        checks,
        check_timeout_secs: config.checks.timeout.unwrap_or(CHECK_TIMEOUT_SECS),
    })
}

/// Says how it will work, before it does.
pub fn tell_setup(setup: &RalphSetup, args: &RalphArgs, output: &mut Output) {
    let place = setup.place.root.display();
    let whereabouts = if args.parallel > 1 {
        format!("{} worktrees of {place}", args.parallel)
    } else {
        format!("{place} itself: agents change the files of this checkout")
    };
    output.talk(&format!("ralph works in {whereabouts}\n"));
    let agents = match &setup.sandbox {
        Some(settings) => format!("runs in a jail of {}", settings.kind.word()),
        None => "runs on this host with your rights, in no sandbox".to_owned(),
    };
    output.talk(&format!("agent `{}` {agents}\n", setup.agent_name));
    let names: Vec<&str> = setup
        .checks
        .iter()
        .map(|check| check.name.as_str())
        .collect();
    if names.is_empty() {
        output.talk("no checks: a task is complete when its agent runs `task complete`\n");
    } else {
        let names = names.join(", ");
        output.talk(&format!(
            "a task is complete when these checks pass: {names}\n"
        ));
    }
}

/// Shows what would be done, and does nothing.
pub fn ralph_dry_run(
    setup: &RalphSetup,
    args: &RalphArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let tasks = Tasks::open(&setup.home, setup.place.clone());
    let view = tasks.and_then(|tasks| tasks.look());
    let view = view.map_err(|error| task::failure(&error, output))?;
    let story = args.story.as_deref();
    let is_wanted = |task: &tasks::Task| story.is_none_or(|story| task.is_of(story));
    let next = view.board.next(&is_wanted);
    let line = match &next {
        Ok(task) => format!("would begin with {} {}\n", task.id, task.title),
        Err(none) => format!("would begin nothing: {}\n", none.word()),
    };
    output.data(&line)?;
    let ready: Vec<&str> = view
        .board
        .ready()
        .iter()
        .map(|task| task.id.as_str())
        .collect();
    output.data(&format!("ready now: {}\n", ready.join(", ")))?;
    output.result(|| {
        json!({
            "next": next.as_ref().ok().map(|task| &task.id),
            "reason": next.as_ref().err().map(|none| none.word()),
            "ready": ready,
            "agent": setup.agent_name,
            "checks": setup.checks.iter().map(|check| &check.command).collect::<Vec<_>>(),
        })
    })?;
    Ok(Exit::Done)
}

/// An agent of the configuration, a known CLI, or any command.
fn agent(config: &Config, word: &str, root: &Path) -> Result<(String, AgentSettings), Failure> {
    let known = Kind::of_word(word).filter(|kind| !kind.is_any_program());
    let (name, settings) = match (config.agents.get(word), known) {
        (Some(agent), _) => (word.to_owned(), agent_settings(agent)),
        (None, Some(kind)) => (word.to_owned(), cli_settings(kind)),
        (None, None) => ("command".to_owned(), command(word)),
    };
    let program = match settings.cli() {
        Kind::Command => settings.command.first().cloned().unwrap_or_default(),
        kind => {
            let usual = || kind.facts().program.to_owned();
            settings.program.clone().unwrap_or_else(usual)
        }
    };
    let is_there = if program.contains('/') {
        runs(&root.join(&program))
    } else {
        find_program(&program).is_some()
    };
    if is_there {
        return Ok((name, settings));
    }
    let failure = Failure {
        exit: Exit::Environment,
        message: format!("the agent's program `{program}` is not there, or cannot be executed"),
        hints: Vec::new(),
    };
    let failure = match known {
        Some(kind) => failure.hint(format!("install it: {}", kind.facts().install)),
        None => failure,
    };
    Err(failure
        .hint("--agent takes a name of [agents] or a known CLI such as codex")
        .hint("--agent \"COMMAND\" takes any command that reads the prompt from standard input"))
}

/// Any command: words as they are, or a line for the shell where it has more than words.
fn command(line: &str) -> AgentSettings {
    let is_plain =
        |letter: char| letter.is_alphanumeric() || letter == ' ' || "-_./:@+%,=".contains(letter);
    let words: Vec<String> = if line.chars().all(is_plain) {
        line.split_whitespace().map(str::to_owned).collect()
    } else {
        ["/bin/sh", "-c", line].map(str::to_owned).into()
    };
    AgentSettings {
        command: words,
        kind: None,
        ..cli_settings(Kind::Command)
    }
}

/// The commands that must be green.
fn checks(
    args: &RalphArgs,
    config: &Config,
    root: &Path,
    output: &mut Output,
) -> Result<Vec<CheckSettings>, Failure> {
    if args.checks.no_verify {
        return Ok(Vec::new());
    }
    let machine = |program: &str| find_program(program).is_some();
    let named = config.checks.commands().into_iter();
    let mut checks: Vec<CheckSettings> = named
        .map(|(name, command)| CheckSettings {
            name: name.to_owned(),
            command: command.to_owned(),
        })
        .collect();
    if checks.is_empty() && config.checks.detect != Some(false) {
        let folder = Folder {
            root: root.to_owned(),
        };
        checks = found_checks::found_in(&folder, &machine, &mut Vec::new());
    }
    // In a checkout that people work in, everything is installed.
    checks.retain(|check| check.name != "setup");
    if checks.is_empty() && args.checks.verify {
        return Err(Failure::bad_input("--verify: no checks are known here")
            .hint("name them in [checks] of loopwright.toml, or leave --verify out"));
    }
    if !checks.is_empty() && !args.checks.verify {
        output.talk("this project has checks, so they must pass; --no-verify skips them\n");
    }
    Ok(checks)
}
