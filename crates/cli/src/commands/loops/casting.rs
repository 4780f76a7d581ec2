//! Who plays which role, and which way stories go, when a loop is started.

use std::collections::BTreeMap;

use home::Settings;
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
    let families = families(settings);
    let judge_is_chosen = roles.judge.agent.is_some();
    let judge = agent(&roles.judge, "judge", settings, REVIEWER)?;
    // Where nobody chose, somebody else than the implementor judges, of another family if there is
    // one.
    let is_same = families.get(&judge) == families.get(&implementor);
    let other = || {
        families
            .iter()
            .find(|(_, family)| Some(*family) != families.get(&implementor))
    };
    let judge = match other().filter(|_| is_same && !judge_is_chosen) {
        Some((other, _)) => other.clone(),
        None => judge,
    };
    let known_reviewer = settings
        .agents
        .contains_key(REVIEWER)
        .then(|| REVIEWER.to_owned());
    let reviewer = roles.reviewer.agent.clone().or(known_reviewer);
    let flow = match config.of_loop.flow.as_deref() {
        Some(word) => Flow::named(word)
            .ok_or_else(|| Failure::bad_input(format!("there is no flow `{word}`")))?,
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
    if reviewer.is_none() && flow.has(kernel::Stage::WriteTests) {
        remarks.push(format!(
            "no reviewer is configured, so `{judge}`, who judges, writes the tests too"
        ));
    }
    let reviewer = reviewer.unwrap_or_else(|| judge.clone());
    let prover = roles
        .prover
        .agent
        .clone()
        .unwrap_or_else(|| prover(settings, &implementor, &reviewer, &judge));
    remarks.extend(same_hands(flow, &implementor, &prover, &judge));
    Ok(Casting {
        flow,
        implementor,
        reviewer,
        prover,
        judge,
        judge_is_chosen,
        families,
    })
}

/// The family of every agent. One that is any program is known by its name, if that tells; else it
/// is a family of its own.
fn families(settings: &Settings) -> BTreeMap<String, String> {
    let family = |(name, agent): (&String, &home::AgentSettings)| {
        let kind = agent.kind.as_deref().and_then(agents::Kind::of_word);
        let family = kind.and_then(|kind| kind.family(agent.model.as_deref()));
        let family = family.or_else(|| agents::Family::of_model(name));
        (
            name.clone(),
            family.map_or_else(
                || format!("agent {name}"),
                |family| family.name().to_owned(),
            ),
        )
    };
    settings.agents.iter().map(family).collect()
}

/// Who proves where nobody says so: it may mend the work, so it is neither who began it nor who
/// judges it, if there is anybody else.
fn prover(settings: &Settings, implementor: &str, reviewer: &str, judge: &str) -> String {
    let all = || {
        [reviewer]
            .into_iter()
            .chain(settings.agents.keys().map(String::as_str))
    };
    let fresh = all().find(|agent| *agent != implementor && *agent != judge);
    let other = || all().find(|agent| *agent != judge);
    fresh.or_else(other).unwrap_or(reviewer).to_owned()
}

/// What a person should know of a cast in which somebody judges their own work.
fn same_hands(flow: Flow, implementor: &str, prover: &str, judge: &str) -> Option<String> {
    if !flow.has(kernel::Stage::Judge) {
        return None;
    }
    let mends = flow.has(kernel::Stage::Prove) && prover == judge;
    let what = match (implementor == judge, mends) {
        (true, _) => "implements and judges its own work",
        (false, true) => "mends the work and judges it",
        (false, false) => return None,
    };
    Some(format!(
        "`{judge}` {what}; name another agent in [roles.judge], so that somebody else decides"
    ))
}

fn agent(
    role: &RoleConfig,
    name: &str,
    settings: &Settings,
    otherwise: &str,
) -> Result<String, Failure> {
    let named = settings.agents.keys().find(|agent| *agent == otherwise);
    let agent = role
        .agent
        .clone()
        .or_else(|| named.or_else(|| settings.agents.keys().next()).cloned());
    agent.ok_or_else(|| {
        Failure::bad_input(format!("no agent is configured for the {name}")).hint(format!(
            "add [agents.NAME] with a command, and [roles.{name}] agent = \"NAME\", to loopwright.toml"
        ))
    })
}

/// A flow that writes tests needs a command that runs them.
pub(super) fn check_flow(flow: Flow, settings: &Settings) -> Result<(), Failure> {
    if !flow.has(kernel::Stage::Judge) && !settings.checks.iter().any(|check| check.name != "setup")
    {
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
