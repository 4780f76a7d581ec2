//! What a loop is told from the configuration: its settings.

use std::collections::BTreeMap;
use std::path::Path;

use home::{AgentSettings, RoleSettings, Settings};

use super::allowance::prices;
use super::commit_settings::commit_settings;
use super::found_checks;
use super::promised::Whole;
use crate::commands::jail;
use crate::commands::programs::find_program;
use crate::config::{self, Config};
use crate::failure::Failure;

/// What holds where even the shipped defaults say nothing.
const AGENT_TIMEOUT_SECS: u64 = 20 * 60;
pub(crate) const CHECK_TIMEOUT_SECS: u64 = 60 * 60;

/// How many small faults the story's tests are tried against.
const MUTANTS: usize = 3;

/// Where a loop's files are.
pub(super) struct Places<'a> {
    pub(super) view: &'a workspace::ProjectView,
    pub(super) base: found_checks::Base<'a>,
    pub(super) project: &'a Path,
    pub(super) prd_path: &'a Path,
}

pub(super) fn settings(
    config: &Config,
    whole: &Whole,
    places: &Places<'_>,
    remarks: &mut Vec<String>,
) -> Result<Settings, Failure> {
    let Places {
        view,
        base,
        project,
        prd_path,
    } = places;
    let machine = |program: &str| find_program(program).is_some();
    let checks = found_checks::find(&config.checks, &whole.checks, base, &machine, remarks)?;
    let jail = jail::settle(config, project)?;
    if jail.kind == home::SandboxKind::Host {
        remarks.push(format!("agents and checks {}", jail::ON_HOST));
    }
    inside_only("[workspace] copy", config.workspace.copy.iter())?;
    for (name, agent) in &config.agents {
        inside_only(&format!("[agents.{name}.files]"), agent.files.keys())?;
    }
    let root = std::fs::canonicalize(&view.root).unwrap_or_else(|_| view.root.clone());
    let inside = prd_path
        .strip_prefix(&root)
        .ok()
        .and_then(|path| path.to_str())
        .map(str::to_owned);
    Ok(Settings {
        agents: if config.agents.is_empty() {
            found_agents(remarks)
        } else {
            config
                .agents
                .iter()
                .map(|(name, config)| (name.clone(), agent_settings(config)))
                .collect()
        },
        checks,
        check_timeout_secs: config.checks.timeout.unwrap_or(CHECK_TIMEOUT_SECS),
        mutants: config.checks.mutants.unwrap_or(MUTANTS),
        copy: config.workspace.copy.clone(),
        trees: config.workspace.trees,
        warm: config.checks.warm.unwrap_or(home::Warm::Auto),
        write_back: config.prd.write_back.unwrap_or(true),
        subdir: text(&view.subdir)?,
        root: text(&root)?,
        prd_in_repository: inside,
        patterns: patterns(project),
        about: whole.about.clone(),
        roles: roles(config),
        keep_checkouts: config.retention.keep_checkouts,
        trees_mb: config.retention.trees.unwrap_or(home::TREES_MB),
        retention_days: config.retention.days.unwrap_or(30),
        write_progress: false,
        commit: Some(commit_settings(&config.commit, project, remarks)?),
        flags: Vec::new(),
        config_mark: None,
        sandbox: Some(jail),
        test_paths: config.checks.test_paths.clone(),
        prompts: own_prompts(project)?,
        prices: prices(config),
        secrets_allow: config.policy.secrets_allow.clone(),
        policy: home::Policies {
            check_config: policy(config.policy.check_config.as_deref(), home::Policy::Flag),
            agent_config: policy(config.policy.agent_config.as_deref(), home::Policy::Ask),
        },
    })
}

pub(crate) fn agent_settings(agent: &config::AgentConfig) -> AgentSettings {
    AgentSettings {
        command: agent.command.clone(),
        pass_env: agent.pass_env.clone(),
        env: agent.env.clone(),
        timeout_secs: agent.timeout.unwrap_or(AGENT_TIMEOUT_SECS),
        idle_secs: agent.idle,
        kind: agent.kind.clone(),
        program: agent.program.clone(),
        args: agent.args.clone(),
        model: agent.model.clone(),
        effort: agent.effort.clone(),
        files: agent.files.clone(),
    }
}

/// Names of files that are put into a folder of ours must stay in it.
fn inside_only<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), Failure> {
    let is_inside = |name: &str| {
        let mut parts = Path::new(name).components().peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    for name in names {
        if !is_inside(name) {
            return Err(Failure::bad_input(format!(
                "{what} names `{name}`, which leads out of its folder"
            ))
            .hint("write a path below it, such as `.env.test` or `config/models.json`"));
        }
    }
    Ok(())
}

/// A known CLI as nobody configured it.
pub(crate) fn cli_settings(kind: agents::Kind) -> AgentSettings {
    AgentSettings {
        command: Vec::new(),
        pass_env: Vec::new(),
        env: BTreeMap::new(),
        timeout_secs: kind.facts().wall_secs,
        idle_secs: None,
        kind: Some(kind.word().to_owned()),
        program: None,
        args: Vec::new(),
        model: None,
        effort: None,
        files: BTreeMap::new(),
    }
}

/// The known CLIs that this machine has, for people who configure none.
fn found_agents(remarks: &mut Vec<String>) -> BTreeMap<String, AgentSettings> {
    let mut found = BTreeMap::new();
    for kind in agents::Kind::ALL
        .into_iter()
        .filter(|kind| !kind.is_any_program())
    {
        let facts = kind.facts();
        if find_program(facts.program).is_some() {
            remarks.push(format!("found the agent `{}`", kind.word()));
            found.insert(kind.word().to_owned(), cli_settings(kind));
        }
    }
    found
}

fn policy(word: Option<&str>, otherwise: home::Policy) -> home::Policy {
    match word {
        Some("ask") => home::Policy::Ask,
        Some("flag") => home::Policy::Flag,
        _ => otherwise,
    }
}

/// The project's own prompts, each checked before anything is started with it.
fn own_prompts(project: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut prompts = BTreeMap::new();
    let folder = project.join(".loopwright/prompts");
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Failure::environment(&format!("cannot read `{}`", path.display()), &error)
        })?;
        roles::check_template(&name, &text)
            .map_err(|why| Failure::bad_input(format!("`{}`: {why}", path.display())))?;
        prompts.insert(name, text);
    }
    Ok(prompts)
}

fn roles(config: &Config) -> home::Roles {
    let settings = |role: &config::RoleConfig| RoleSettings {
        model: role.model.clone(),
        effort: role.effort.clone(),
        timeout_secs: role.timeout,
    };
    config
        .roles
        .all()
        .into_iter()
        .map(|(name, role)| (name.to_owned(), settings(role)))
        .collect()
}

pub(super) fn text(path: &Path) -> Result<String, Failure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::bad_input(format!("the path `{}` is not UTF-8", path.display())))
}

/// The `## Codebase Patterns` of the project's `progress.txt`, bounded.
fn patterns(project: &Path) -> Option<String> {
    const PATTERN_CHARS_MAX: usize = 4_000;
    let text = std::fs::read_to_string(project.join("progress.txt")).ok()?;
    let section = text.split_once("## Codebase Patterns")?.1;
    let section = section.split("\n## ").next().unwrap_or(section).trim();
    if section.is_empty() {
        return None;
    }
    let mut kept: String = section.chars().take(PATTERN_CHARS_MAX).collect();
    if kept.len() < section.len() {
        kept.push_str("\n[shortened: progress.txt has more]");
    }
    Some(kept)
}
