//! The agents of a project and of this machine: which program each is, which version, logged in or
//! not. No token is spent on any of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use agents::{Kind, LoginCheck, LoginState, Version, VersionVerdict};
use serde_json::Value;

use super::finding::Finding;
use super::image::{Inside, Presence};
use super::programs::{Probe, find_program, probe};
use crate::config::{AgentConfig, Config};

/// How far above a program its package may say its version.
const PACKAGE_DEPTH_MAX: usize = 6;

/// One agent that a loop could use.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// As it is written down or looked up.
    pub(super) program: String,
    pub(super) found: Option<PathBuf>,
    pub(super) config: AgentConfig,
    pub(super) is_configured: bool,
}

/// The configured agents, then the known CLIs that the machine has and nobody named.
pub(super) fn entries(config: &Config) -> Vec<Entry> {
    let mut all: Vec<Entry> = config
        .agents
        .iter()
        .map(|(name, agent)| configured(name, agent))
        .collect();
    for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_any_program()) {
        let program = kind.facts().program.to_owned();
        let found = find_program(&program);
        if found.is_some() && !all.iter().any(|entry| entry.kind == kind) {
            let config = AgentConfig::default();
            all.push(Entry {
                name: kind.word().to_owned(),
                kind,
                program,
                found,
                config,
                is_configured: false,
            });
        }
    }
    all
}

fn configured(name: &str, agent: &AgentConfig) -> Entry {
    let kind = agent
        .kind
        .as_deref()
        .and_then(Kind::of_word)
        .unwrap_or(Kind::Command);
    let program = match kind {
        Kind::Command => agent.command.first().cloned().unwrap_or_default(),
        _ => agent
            .program
            .clone()
            .unwrap_or_else(|| kind.facts().program.to_owned()),
    };
    let found = find_program(&program);
    Entry {
        name: name.to_owned(),
        kind,
        program,
        found,
        config: agent.clone(),
        is_configured: true,
    }
}

/// The agents that roles may name: the configured ones, or else what the machine has.
pub(super) fn names(config: &Config) -> BTreeSet<String> {
    entries_used(config)
        .into_iter()
        .map(|entry| entry.name)
        .collect()
}

pub(super) fn none_is_there() -> Finding {
    Finding::bad(
        "agents",
        "none is configured, and none that is known is installed",
        format!(
            "install one, such as with `{}`, or name any program in a loopwright.toml, which `loopwright init` makes",
            Kind::Codex.facts().install
        ),
    )
}

fn entries_used(config: &Config) -> Vec<Entry> {
    let mut entries = entries(config);
    entries.retain(|entry| entry.is_configured || config.agents.is_empty());
    entries
}

/// What is found of the agents that a loop would use; of all of them where nobody knows which.
///
/// For a loop, which somebody waits for, a package's own word for a version is enough. Of a loop in
/// containers the image is looked at, and not this machine.
pub(super) fn findings(
    config: &Config,
    wanted: Option<&BTreeSet<String>>,
    inside: Option<&Inside>,
) -> Vec<Finding> {
    let who = if wanted.is_some() {
        Asked::Package
    } else {
        Asked::Program
    };
    let mut entries = entries_used(config);
    entries.retain(|entry| wanted.is_none_or(|wanted| wanted.contains(&entry.name)));
    // Each may have to be asked something, and the slowest needs seconds.
    std::thread::scope(|scope| {
        let asked: Vec<_> = entries
            .iter()
            .map(|entry| {
                (
                    entry,
                    scope.spawn(move || entry.finding_where_it_runs(who, inside)),
                )
            })
            .collect();
        asked
            .into_iter()
            .map(|(entry, asked)| asked.join().unwrap_or_else(|_| entry.unknown()))
            .collect()
    })
}

/// The programs of the agents that a loop would use.
pub(super) fn programs(config: &Config, wanted: Option<&BTreeSet<String>>) -> BTreeSet<String> {
    let entries = entries_used(config).into_iter();
    let entries = entries.filter(|entry| wanted.is_none_or(|wanted| wanted.contains(&entry.name)));
    entries.map(|entry| entry.program).collect()
}

/// A known CLI that this machine has.
pub(super) struct OnMachine {
    pub(super) name: String,
    /// Why it could not work now, in one line.
    pub(super) trouble: Option<String>,
}

/// The known CLIs that this machine has, each asked whether it could work.
pub(super) fn on_machine() -> Vec<OnMachine> {
    let config = Config::default();
    let entries = entries(&config);
    let findings = findings(&config, None, None);
    let one = |(entry, finding): (Entry, Finding)| OnMachine {
        name: entry.name,
        trouble: finding.is_bad().then(|| match finding.remedy {
            Some(remedy) => format!("{}; {remedy}", finding.found),
            None => finding.found,
        }),
    };
    entries.into_iter().zip(findings).map(one).collect()
}

/// Who is asked for a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The package that the program belongs to, which costs nothing; else the program.
    Package,
    /// The program, which shows that it runs, and may take seconds.
    Program,
}

/// What is known about a version.
enum Told {
    Version(Version),
    Nothing,
    TooSlow,
}

impl Entry {
    fn finding_where_it_runs(&self, asked: Asked, inside: Option<&Inside>) -> Finding {
        let (name, program) = (&self.name, &self.program);
        let Some((inside, presence)) =
            inside.and_then(|inside| Some((inside, inside.has(program)?)))
        else {
            return self.finding(asked);
        };
        let image = &inside.image.name;
        match presence {
            Presence::There if self.kind.is_any_program() => self.finding_of_variables(),
            Presence::There => self.finding_of_files(&format!("{name}: `{image}` has `{program}`")),
            Presence::Missing => Finding::bad(
                "agent",
                format!("{name}: the image `{image}` has no program `{program}`"),
                "build an image that has it, and name it: [sandbox] image = \"...\"",
            ),
            Presence::Unknown => Finding::warning(
                "agent",
                format!("{name}: the image `{image}` cannot be looked into for `{program}`"),
                "see that it is there and has a shell; `image/build.sh` builds the default one",
            ),
        }
    }

    /// A CLI that cannot be asked is logged in if this machine has what logs it in.
    fn finding_of_files(&self, found: &str) -> Finding {
        let AgentConfig {
            args, env, files, ..
        } = &self.config;
        let is_plain = args.is_empty() && env.is_empty() && files.is_empty();
        let has_key = self.key_variables().iter().any(|name| is_set(name));
        self.judged_login(
            found,
            match () {
                () if has_key || self.has_credentials() => LoginState::LoggedIn,
                () if is_plain => LoginState::NotLoggedIn,
                () => LoginState::Unknown,
            },
        )
    }

    fn finding(&self, asked: Asked) -> Finding {
        let (name, program) = (&self.name, &self.program);
        if self.kind.is_any_program() {
            return self.finding_of_any_program();
        }
        let facts = self.kind.facts();
        let install = format!("install it: {}", facts.install);
        if self.found.is_none() {
            let remedy = format!("{install}; or write its whole path: program = \"...\"");
            return Finding::bad(
                "agent",
                format!("{name}: there is no program `{program}`"),
                remedy,
            );
        }
        let version = match self.told_version(asked) {
            Told::Version(version) => version,
            Told::TooSlow => return self.unknown(),
            Told::Nothing => {
                let found = format!(
                    "{name}: `{program} {}` tells no version",
                    facts.version_args.join(" ")
                );
                let remedy = format!("see why it does not run; {install}");
                return Finding::bad("agent", found, remedy);
            }
        };
        let mut found = format!("{name} is {} {version}", facts.name);
        match facts.judge(version) {
            VersionVerdict::Tried => {}
            VersionVerdict::Newer => found.push_str(" (newer than any that was tried)"),
            VersionVerdict::Older => {
                let found = format!("{found}, older than any that was tried");
                return Finding::bad("agent", found, install);
            }
            VersionVerdict::Bad { why } => {
                let remedy = format!("take another version: {}", facts.install);
                let found = format!("{found}, which does not work: {why}");
                return Finding::bad("agent", found, remedy);
            }
        }
        self.finding_of_login(&found)
    }

    /// A machine that is busy must not keep anybody from starting.
    fn unknown(&self) -> Finding {
        let (name, program) = (&self.name, &self.program);
        Finding::warning(
            "agent",
            format!("{name}: `{program}` did not answer in time"),
            "see that it runs; `loopwright doctor` asks it again",
        )
    }

    fn finding_of_login(&self, found: &str) -> Finding {
        self.judged_login(found, self.login())
    }

    fn judged_login(&self, found: &str, login: LoginState) -> Finding {
        match login {
            LoginState::LoggedIn => Finding::well("agent", format!("{found}, logged in")),
            LoginState::Unknown => {
                Finding::well("agent", format!("{found}; a login cannot be seen"))
            }
            LoginState::NotLoggedIn => {
                let variables = self.key_variables().join(" or ");
                let or_set = if variables.is_empty() {
                    String::new()
                } else {
                    format!(", or set {variables} in this shell")
                };
                Finding::bad(
                    "agent",
                    format!("{found}, not logged in"),
                    format!("run: {}{or_set}", self.kind.facts().log_in),
                )
            }
        }
    }

    /// The variables that could log it in: its CLI's own, and those that the configuration passes
    /// on.
    fn key_variables(&self) -> Vec<String> {
        let of_cli = self.kind.key_variables();
        let named = &self.config.pass_env;
        let more = named.iter().filter(|name| !of_cli.contains(name)).cloned();
        let more: Vec<String> = more.collect();
        [of_cli, more].concat()
    }

    fn finding_of_any_program(&self) -> Finding {
        let (name, program) = (&self.name, &self.program);
        match (&self.found, self.kind) {
            (Some(_), Kind::Acp) => {
                let words = [std::slice::from_ref(program), &self.config.args[..]]
                    .concat()
                    .join(" ");
                Finding::well(
                    "agent",
                    format!("{name} speaks ACP with `{words}`; a login cannot be seen"),
                )
            }
            (Some(_), _) => self.finding_of_variables(),
            (None, _) if program.is_empty() => Finding::bad(
                "agent",
                format!("{name} has no command"),
                "give it one: command = [\"program\"]",
            ),
            (None, _) => Finding::bad(
                "agent",
                format!("{name}: there is no program `{program}`"),
                "install it, or write its whole path",
            ),
        }
    }

    /// A program of which nothing is known may need what it is to be passed.
    fn finding_of_variables(&self) -> Finding {
        let (name, program) = (&self.name, &self.program);
        let unset = self.config.pass_env.iter().filter(|name| !is_set(name));
        let unset: Vec<&str> = unset.map(String::as_str).collect();
        if unset.is_empty() {
            return Finding::well("agent", format!("{name} runs `{program}`"));
        }
        Finding::warning(
            "agent",
            format!(
                "{name} runs `{program}`, and is to be passed {}, which this shell does not have",
                unset.join(", ")
            ),
            "set it here: a loop takes it from the shell of `start`, `resume` and `answer`",
        )
    }

    pub(super) fn version(&self) -> Option<Version> {
        match self.told_version(Asked::Program) {
            Told::Version(version) => Some(version),
            Told::Nothing | Told::TooSlow => None,
        }
    }

    fn told_version(&self, asked: Asked) -> Told {
        let Some(found) = self.found.as_ref().filter(|_| !self.kind.is_any_program()) else {
            return Told::Nothing;
        };
        if asked == Asked::Package
            && let Some(version) = packaged_version(found, self.kind)
        {
            return Told::Version(version);
        }
        match self.ask(self.kind.facts().version_args) {
            Probe::Answered(Some(0), printed) => {
                Version::find(&printed).map_or(Told::Nothing, Told::Version)
            }
            Probe::Answered(..) | Probe::Failed => Told::Nothing,
            Probe::TimedOut => Told::TooSlow,
        }
    }

    /// Whether it has credentials. An entry that brings variables, files or arguments of its own
    /// may well have them there, where only the CLI finds them.
    fn login(&self) -> LoginState {
        let AgentConfig {
            args, env, files, ..
        } = &self.config;
        // What it is passed is looked at first, since that is quick.
        if self.key_variables().iter().any(|name| is_set(name)) {
            return LoginState::LoggedIn;
        }
        if !(args.is_empty() && env.is_empty() && files.is_empty()) {
            return LoginState::Unknown;
        }
        let facts = self.kind.facts();
        match facts.login {
            LoginCheck::Command(args) => match self.ask(args) {
                Probe::Answered(code, printed) => facts.login_state(code, &printed),
                Probe::Failed | Probe::TimedOut => LoginState::Unknown,
            },
            LoginCheck::Credentials if self.has_credentials() => LoginState::LoggedIn,
            LoginCheck::Credentials => LoginState::NotLoggedIn,
            LoginCheck::Unknown => LoginState::Unknown,
        }
    }

    fn has_credentials(&self) -> bool {
        let spec = self.kind.command(&agents::Task::default());
        let has_variable = spec.pass_env.iter().any(|name| is_set(name));
        has_variable
            || spec.links.iter().any(|link| {
                let set = link
                    .folder_variable
                    .and_then(std::env::var_os)
                    .map(PathBuf::from);
                let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(link.folder));
                set.or_else(own)
                    .is_some_and(|folder| folder.join(link.file).exists())
            })
    }

    /// Runs the CLI for a moment.
    fn ask(&self, args: &[&str]) -> Probe {
        let Some(found) = &self.found else {
            return Probe::Failed;
        };
        probe(Command::new(found).args(args).envs(&self.config.env))
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The version in the package that a program belongs to, where that is the CLI's own.
fn packaged_version(program: &Path, kind: Kind) -> Option<Version> {
    let program = std::fs::canonicalize(program).ok()?;
    let install = kind.facts().install;
    let folders = program.ancestors().skip(1).take(PACKAGE_DEPTH_MAX);
    let packages = folders.filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let mut own = packages.filter(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        !name.is_empty() && install.split(' ').any(|word| word == name)
    });
    Version::find(own.next()?["version"].as_str()?)
}
