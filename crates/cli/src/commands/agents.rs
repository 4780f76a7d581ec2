//! `loopwright agents`, and what `doctor` says of them: who is there, which version, logged in or
//! not, and how each one did so far. No token is spent on any of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agents::{Kind, LoginCheck, LoginState, Version, VersionVerdict};
use kernel::{RunOutcome, RunUsage};
use serde_json::{Value, json};

use super::setup::{Finding, find_program};
use crate::config::{self, AgentConfig, Config};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

/// How long a CLI may take to say something about itself; the slowest needs a second.
const PROBE_LIMIT: Duration = Duration::from_secs(15);

/// Bytes of such an answer that are read.
const PROBE_BYTES_MAX: u64 = 64 * 1024;

/// One agent that a loop could use.
struct Entry {
    name: String,
    kind: Kind,
    /// As it is written down or looked up.
    program: String,
    found: Option<PathBuf>,
    config: AgentConfig,
    is_configured: bool,
}

/// How an agent did, over all loops that the journal has.
#[derive(Default)]
struct Record {
    runs: u64,
    worked: u64,
    failed: u64,
    tokens: Option<u64>,
    cost_micro_usd: Option<u64>,
}

impl Record {
    fn add(&mut self, outcome: Option<&RunOutcome>, usage: Option<&RunUsage>) {
        self.runs += 1;
        match outcome {
            Some(
                RunOutcome::Worked { .. }
                | RunOutcome::TestsWritten(_)
                | RunOutcome::Reviewed(_)
                | RunOutcome::Ruled { .. }
                | RunOutcome::Judged(_),
            ) => self.worked += 1,
            Some(RunOutcome::Failed { .. } | RunOutcome::BadAnswer { .. }) => self.failed += 1,
            // Still under way, or ended by something that is not the agent's doing.
            _ => {}
        }
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        add(&mut self.tokens, usage.and_then(RunUsage::tokens));
        add(
            &mut self.cost_micro_usd,
            usage.and_then(|usage| usage.cost_micro_usd),
        );
    }

    fn words(&self) -> String {
        let mut text = format!(
            "{} runs, {} worked, {} failed",
            self.runs, self.worked, self.failed
        );
        if let Some(tokens) = self.tokens {
            let _ = write!(text, ", {tokens} tokens");
        }
        if let Some(dollars) = self.dollars() {
            let _ = write!(text, ", ${dollars:.2}");
        }
        text
    }

    #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
    fn dollars(&self) -> Option<f64> {
        self.cost_micro_usd.map(|micro| micro as f64 / 1e6)
    }

    fn json(&self) -> Value {
        json!({
            "runs": self.runs, "worked": self.worked, "failed": self.failed, "tokens": self.tokens,
            "costUsd": self.dollars(),
        })
    }
}

pub(crate) fn run(project: &Path, output: &mut Output) -> Result<Exit, Failure> {
    output.command("agents");
    let entries = entries(&config::read(project, &[])?);
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for trace in super::loops::all_traces(&home()?)? {
        records
            .entry(trace.agent.clone())
            .or_default()
            .add(trace.outcome.as_ref(), trace.usage.as_ref());
    }
    let none = Record::default();
    let (mut text, mut all) = (String::new(), Vec::new());
    for entry in &entries {
        let record = records.get(&entry.name).unwrap_or(&none);
        let version = entry.version();
        let family = entry
            .kind
            .family(entry.config.model.as_deref())
            .map(agents::Family::name);
        let what = match (&entry.found, version) {
            (None, _) => format!("`{}` is not there", entry.program),
            (Some(_), Some(version)) => format!("{} {version}", entry.kind.word()),
            (Some(_), None) => format!("{} `{}`", entry.kind.word(), entry.program),
        };
        let model = entry.config.model.as_deref().unwrap_or("its own model");
        let maker = family
            .map(|family| format!(" of {family}"))
            .unwrap_or_default();
        let from = if entry.is_configured {
            ""
        } else {
            " (found on this machine)"
        };
        let _ = writeln!(
            text,
            "{}{from}: {what}, {model}{maker}; {}",
            entry.name,
            record.words()
        );
        all.push(json!({
            "name": entry.name, "configured": entry.is_configured, "kind": entry.kind.word(),
            "program": entry.program, "found": entry.found, "version": version.map(|version| version.to_string()),
            "model": entry.config.model, "effort": entry.config.effort, "family": family, "record": record.json(),
        }));
    }
    if entries.is_empty() {
        text.push_str("none is configured, and this machine has none that is known\n");
    }
    output.data(&text)?;
    output.result(|| json!({ "agents": all }))?;
    output.next(NextAction::new(
        "loopwright doctor",
        "see whether they can work",
    ));
    Ok(Exit::Done)
}

/// The configured agents, then the known CLIs that the machine has and nobody named.
fn entries(config: &Config) -> Vec<Entry> {
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

/// What `doctor` says of the agents that a loop would use: the configured ones, or else what the
/// machine has.
pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let entries = entries(config);
    if entries.is_empty() {
        return vec![Finding::bad(
            "agents",
            "none is configured, and none that is known is installed",
            format!(
                "install one, such as with `{}`, or name any program in a loopwright.toml, which `loopwright init` makes",
                Kind::Codex.facts().install
            ),
        )];
    }
    let used = entries
        .iter()
        .filter(|entry| entry.is_configured || config.agents.is_empty());
    used.map(Entry::finding).collect()
}

impl Entry {
    fn finding(&self) -> Finding {
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
        let Some(version) = self.version() else {
            let found = format!(
                "{name}: `{program} {}` tells no version",
                facts.version_args.join(" ")
            );
            return Finding::bad(
                "agent",
                found,
                format!("see why it does not run; {install}"),
            );
        };
        let mut found = format!("{name} is {} {version}", facts.name);
        match facts.judge(version) {
            VersionVerdict::Tried => {}
            VersionVerdict::Newer => found.push_str(" (newer than any that was tried)"),
            VersionVerdict::Older => {
                return Finding::bad(
                    "agent",
                    format!("{found}, older than any that was tried"),
                    install,
                );
            }
            VersionVerdict::Bad { why } => {
                let remedy = format!("take another version: {}", facts.install);
                return Finding::bad(
                    "agent",
                    format!("{found}, which does not work: {why}"),
                    remedy,
                );
            }
        }
        match self.login() {
            LoginState::LoggedIn => Finding::well("agent", format!("{found}, logged in")),
            LoginState::Unknown => {
                Finding::well("agent", format!("{found}; a login cannot be seen"))
            }
            LoginState::NotLoggedIn => Finding::bad(
                "agent",
                format!("{found}, not logged in"),
                format!("run: {}", facts.log_in),
            ),
        }
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
            (Some(_), _) => Finding::well("agent", format!("{name} runs `{program}`")),
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

    fn version(&self) -> Option<Version> {
        if self.kind.is_any_program() {
            return None;
        }
        let (code, printed) = self.probe(self.kind.facts().version_args)?;
        Version::find(&printed).filter(|_| code == Some(0))
    }

    /// Whether it has credentials. An entry that brings variables, files or arguments of its own
    /// may well have them there, where only the CLI finds them.
    fn login(&self) -> LoginState {
        let facts = self.kind.facts();
        let spec = self.kind.command(&agents::Task::default());
        let has_variable =
            |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let state = match facts.login {
            LoginCheck::Command(args) => self
                .probe(args)
                .map_or(LoginState::Unknown, |(code, printed)| {
                    facts.login_state(code, &printed)
                }),
            LoginCheck::Credentials => {
                let has_file = spec.links.iter().any(|link| {
                    let set = link
                        .folder_variable
                        .and_then(std::env::var_os)
                        .map(PathBuf::from);
                    let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(link.folder));
                    set.or_else(own)
                        .is_some_and(|folder| folder.join(link.file).exists())
                });
                let has_any = has_file || spec.pass_env.iter().any(has_variable);
                if has_any {
                    LoginState::LoggedIn
                } else {
                    LoginState::NotLoggedIn
                }
            }
            LoginCheck::Unknown => LoginState::Unknown,
        };
        let AgentConfig {
            args,
            env,
            pass_env,
            files,
            ..
        } = &self.config;
        let brings_its_own =
            !(args.is_empty() && env.is_empty() && pass_env.is_empty() && files.is_empty());
        if state == LoginState::NotLoggedIn && brings_its_own {
            LoginState::Unknown
        } else {
            state
        }
    }

    /// Runs the CLI for a moment: its exit code and what it printed. Nothing where it cannot be
    /// started or takes too long.
    fn probe(&self, args: &[&str]) -> Option<(Option<i32>, String)> {
        let mut file = tempfile::tempfile().ok()?;
        let mut command = Command::new(self.found.as_ref()?);
        command
            .args(args)
            .envs(&self.config.env)
            .stdin(Stdio::null());
        // A file and not a pipe: whoever inherits a pipe could keep us waiting after the end.
        command
            .stdout(file.try_clone().ok()?)
            .stderr(file.try_clone().ok()?)
            .process_group(0);
        let mut child = command.spawn().ok()?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().ok()? {
                break status;
            }
            if began.elapsed() > PROBE_LIMIT {
                let group = i32::try_from(child.id())
                    .ok()
                    .and_then(rustix::process::Pid::from_raw)?;
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                let _ = child.wait();
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut bytes = Vec::new();
        file.rewind().ok()?;
        file.take(PROBE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some((status.code(), String::from_utf8_lossy(&bytes).into_owned()))
    }
}
