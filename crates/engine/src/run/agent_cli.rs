//! A known agent CLI as a run: a config home of ours, the operator's credentials by link, and the
//! CLI's own command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agents::{CommandSpec, Keep, Kind, Session};
use home::AgentSettings;
use sandbox::{RunSpec, StopSignal};

use crate::fault::Fault;
use crate::run::credentials::{self, PersonsVariables};

/// What an agent is asked, in which form, and in which session.
pub(crate) struct Turn<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) schema: Option<&'a str>,
    pub(crate) session: Session,
}

/// Makes an agent's config home ready and gives the command of a run in it; none for an agent that
/// is any program.
pub(crate) fn equip(
    agent: &AgentSettings,
    turn: &Turn<'_>,
    checkout: &Path,
    config_home: &Path,
    client: &Path,
    variables: &PersonsVariables,
) -> Result<Option<CommandSpec>, Fault> {
    let kind = agent.cli();
    if kind == Kind::Command {
        return Ok(None);
    }
    fs::create_dir_all(config_home)
        .and_then(|()| fs::set_permissions(config_home, fs::Permissions::from_mode(0o700)))
        .map_err(|error| Fault::io("make", config_home, error))?;
    // Some CLIs compare paths as text, so both must be without links.
    let config_home = whole_path(config_home)?;
    let schema = turn.schema.filter(|_| kind.facts().takes_schema);
    let command = kind.command(&agents::Task {
        prompt: turn.prompt.to_owned(),
        model: agent.model.clone(),
        effort: agent.effort.clone(),
        schema: schema.map(str::to_owned),
        session: turn.session.clone(),
        checkout: whole_path(checkout)?,
        config_home: config_home.clone(),
        program: agent.program.clone(),
        client: client.to_owned(),
        extra_args: agent.args.clone(),
    });
    for file in &command.files {
        let path = config_home.join(&file.path);
        // A file that the CLI keeps itself, such as its sessions, is only made once.
        if file.keep == Keep::Ours || !path.exists() {
            write_private(&path, file.content.as_bytes())?;
        }
    }
    for (name, from) in &agent.files {
        let from = Path::new(from);
        let bytes = fs::read(from).map_err(|error| Fault::io("read", from, error))?;
        write_private(&config_home.join(name), &bytes)?;
    }
    credentials::link(&config_home, &command.links, variables)?;
    Ok(Some(command))
}

/// Puts a CLI's command into a run's spec.
pub(crate) fn put_command(command: &CommandSpec, agent: &AgentSettings, spec: &mut RunSpec) {
    spec.program.clone_from(&command.program);
    spec.args.clone_from(&command.args);
    spec.env
        .retain(|name, _| !command.removed_env.contains(name));
    spec.env.extend(command.env.clone());
    // The person's own variables come last: they know their CLI.
    spec.env.extend(command.filled_in(&agent.env));
    spec.pass_env = [&command.pass_env[..], &agent.pass_env[..]].concat();
    spec.stop_signal = match command.stop_signal {
        agents::StopSignal::Term => StopSignal::Term,
        agents::StopSignal::Int => StopSignal::Int,
    };
    spec.idle_secs = spec.idle_secs.or(Some(command.idle_secs));
    spec.stream = Some(agent.cli().word().to_owned());
}

fn whole_path(path: &Path) -> Result<PathBuf, Fault> {
    fs::canonicalize(path).map_err(|error| Fault::io("find", path, error))
}

fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o600)))
        .map_err(|error| Fault::io("write", path, error))
}
