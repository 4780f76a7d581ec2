//! A known agent CLI as a run: a config home of ours, a copy of the operator's credentials, and the
//! CLI's own command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agents::{CommandSpec, HomeLink, Keep, Kind, Session};
use home::AgentSettings;
use sandbox::{RunSpec, StopSignal};

use crate::fault::Fault;
use crate::run::beneath::write_beneath;
use crate::run::credentials::{self, PersonsVariables};
use crate::run::jail::{CLIENT, Ground, inside};
use crate::run::jailed_login;

/// What an agent is asked, in which form, and in which session.
pub(crate) struct Turn<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) schema: Option<&'a str>,
    pub(crate) session: Session,
}

/// The config home of an agent, and the jail that its runs are put into.
pub(crate) struct AgentHome<'a> {
    /// Where it is on this machine.
    pub(crate) host: PathBuf,
    /// The jail, if there is one.
    pub(crate) ground: Option<Ground<'a>>,
}

/// The paths of a run as its program sees them.
pub(crate) struct Seen {
    /// The project's folder in the checkout.
    pub(crate) folder: PathBuf,
    /// The agent's config home.
    pub(crate) config_home: PathBuf,
    /// Our own program.
    pub(crate) client: PathBuf,
}

impl AgentHome<'_> {
    /// How the paths of a run look to its program: as they are on the host, or the same in every jail.
    pub(crate) fn seen(
        &self,
        checkout: &Path,
        folder: &Path,
        client: &Path,
    ) -> Result<Seen, Fault> {
        fs::create_dir_all(&self.host)
            .and_then(|()| fs::set_permissions(&self.host, fs::Permissions::from_mode(0o700)))
            .map_err(|error| Fault::io("make", &self.host, error))?;
        if self.ground.is_none() {
            // Some CLIs compare paths as text, so all must be without links.
            return Ok(Seen {
                folder: whole_path(folder)?,
                config_home: whole_path(&self.host)?,
                client: client.to_owned(),
            });
        }
        let below = folder.strip_prefix(checkout).unwrap_or(Path::new(""));
        Ok(Seen {
            folder: inside(below),
            config_home: PathBuf::from(sandbox::HOME),
            client: PathBuf::from(CLIENT),
        })
    }

    /// Gives the agent a copy of the operator's credentials: on the host one that goes back if it is
    /// refreshed, in a jail one that cannot be refreshed.
    fn give_credentials(
        &self,
        links: &[HomeLink],
        variables: &PersonsVariables,
    ) -> Result<(), Fault> {
        match &self.ground {
            None => credentials::copy(&self.host, links, variables),
            Some(_) => jailed_login::copy(&self.host, links, variables),
        }
    }
}

/// Makes an agent's config home ready and gives the command of a run in it; none for an agent that
/// is any program.
pub(crate) fn equip(
    agent: &AgentSettings,
    turn: &Turn<'_>,
    home: &AgentHome<'_>,
    seen: &Seen,
    variables: &PersonsVariables,
) -> Result<Option<CommandSpec>, Fault> {
    let kind = agent.cli();
    if kind == Kind::Command {
        return Ok(None);
    }
    let schema = turn.schema.filter(|_| kind.facts().takes_schema);
    let command = kind.command(&agents::Task {
        prompt: turn.prompt.to_owned(),
        model: agent.model.clone(),
        effort: agent.effort.clone(),
        schema: schema.map(str::to_owned),
        session: turn.session.clone(),
        checkout: seen.folder.clone(),
        config_home: seen.config_home.clone(),
        program: agent.program.clone(),
        client: seen.client.clone(),
        extra_args: agent.args.clone(),
    });
    for file in &command.files {
        let path = home.host.join(&file.path);
        // A file that the CLI keeps itself, such as its sessions, is only made once.
        if file.keep == Keep::Ours || !path.exists() {
            write_private(&home.host, &file.path, file.content.as_bytes())?;
        }
    }
    for (name, from) in &agent.files {
        let from = Path::new(from);
        let bytes = fs::read(from).map_err(|error| Fault::io("read", from, error))?;
        let bytes = match &home.ground {
            Some(ground) => ground
                .bridged(&String::from_utf8_lossy(&bytes))
                .into_bytes(),
            None => bytes,
        };
        write_private(&home.host, name, &bytes)?;
    }
    home.give_credentials(&command.links, variables)?;
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

fn write_private(home: &Path, name: &str, bytes: &[u8]) -> Result<(), Fault> {
    write_beneath(home, Path::new(name), bytes)
        .map_err(|error| Fault::io("write", &home.join(name), error))
}
