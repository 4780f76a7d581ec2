//! Who plays which role, and which way stories go, when a loop is started.

use std::collections::BTreeMap;

use engine::Settings;
use kernel::Flow;

use crate::config::{Config, RoleConfig};
use crate::failure::Failure;

/// The agents that play the roles unless the configuration says otherwise, where they are there.
const IMPLEMENTOR: &str = "codex";
const REVIEWER: &str = "claude";

/// All of it.
pub(super) struct Casting {
    pub(super) flow: Flow,
    pub(super) implementor: String,
    pub(super) reviewer: String,
    pub(super) prover: String,
    pub(super) judge: String,
    pub(super) judge_is_chosen: bool,
    pub(super) families: BTreeMap<String, String>,
}

/// Works it out; what a person should know goes into the remarks.
pub(super) fn cast(
    config: &Config,
    settings: &Settings,
    remarks: &mut Vec<String>,
) -> Result<Casting, Failure> {
    let roles = &config.roles;
    let implementor = agent(&roles.implementor, "implementor", settings, IMPLEMENTOR)?;
    let judge = agent(&roles.judge, "judge", settings, REVIEWER)?;
    let known_reviewer = settings.agents.contains_key(REVIEWER).then(|| REVIEWER.to_owned());
    let reviewer = roles.reviewer.agent.clone().or(known_reviewer);
    let flow = match config.of_loop.flow.as_deref() {
        Some(word) => {
            Flow::named(word).ok_or_else(|| Failure::bad_input(format!("there is no flow `{word}`")))?
        }
        None if reviewer.is_some() => Flow::Quartet,
        None => {
            remarks.push(
                "no reviewer is configured, so nobody but the project's own checks tests the work (flow `judged`); name one \
                 in [roles.reviewer] for independent tests"
                    .to_owned(),
            );
            Flow::Judged
        }
    };
    let reviewer = reviewer.unwrap_or_else(|| judge.clone());
    let prover = roles.prover.agent.clone().unwrap_or_else(|| reviewer.clone());
    // An agent that is any program is known by its name, if that tells.
    let family = |(name, agent): (&String, &engine::AgentSettings)| {
        let kind = agent.kind.as_deref().and_then(agents::Kind::of_word);
        let family = kind.and_then(|kind| kind.family(agent.model.as_deref()));
        let family = family.or_else(|| agents::Family::of_model(name))?;
        Some((name.clone(), format!("{family:?}")))
    };
    let families = settings.agents.iter().filter_map(family).collect();
    let judge_is_chosen = roles.judge.agent.is_some();
    Ok(Casting { flow, implementor, reviewer, prover, judge, judge_is_chosen, families })
}

fn agent(role: &RoleConfig, name: &str, settings: &Settings, otherwise: &str) -> Result<String, Failure> {
    let named = settings.agents.keys().find(|agent| *agent == otherwise);
    let agent = role.agent.clone().or_else(|| named.or_else(|| settings.agents.keys().next()).cloned());
    agent.ok_or_else(|| {
        Failure::bad_input(format!("no agent is configured for the {name}")).hint(format!(
            "add [agents.NAME] with a command, and [roles.{name}] agent = \"NAME\", to loopwright.toml"
        ))
    })
}

/// A flow that writes tests needs a command that runs them.
pub(super) fn check_flow(flow: Flow, settings: &Settings) -> Result<(), Failure> {
    if !flow.has(kernel::Stage::Judge) && !settings.checks.iter().any(|check| check.name != "setup") {
        return Err(Failure::bad_input(format!(
            "in the flow `{}` the checks have the last word, and there are none: nobody would judge anything",
            flow.word()
        ))
        .hint("give one: [checks] test = \"...\"; or choose a flow with a judge: --flow judged"));
    }
    let has_tests = settings.checks.iter().any(|check| check.name == "test");
    if flow.has(kernel::Stage::WriteTests) && !has_tests {
        return Err(Failure::bad_input(format!(
            "the flow `{}` has tests written, and there is no command that runs them",
            flow.word()
        ))
        .hint("give one: [checks] test = \"...\"; or choose another flow: --flow judged"));
    }
    Ok(())
}
