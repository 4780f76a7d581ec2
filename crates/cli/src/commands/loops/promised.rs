//! Where a loop takes each field of a PRD that is not a story's own; `stories` does the same for
//! those. What `prd show` shows is used, or said not to be.
//!
//! Both take the PRD apart without `..`, so that the compiler asks where a new field goes. The table
//! for people is in `commands/prd/uses.rs`.

use std::path::Path;
use std::sync::Arc;

use home::Settings;
use kernel::{LoopSpec, StorySpec, StoryStart};
use prd::{Prd, Severity};
use workspace::BranchTrouble;

use super::prd_checks::{PrdChecks, sort_out};
use crate::failure::Failure;

/// What a PRD says of the whole.
pub(super) struct Whole {
    /// Title, description, notes and rules, as prompts tell them.
    pub(super) about: Option<String>,
    /// The branch that the author names.
    pub(super) branch: Option<String>,
    /// Checks by name, each with its command.
    pub(super) checks: Vec<(String, String)>,
}

pub(super) fn whole(prd: &Prd) -> Whole {
    let Prd {
        title,
        description,
        notes,
        branch,
        checks,
        // Each becomes a part of the loop's spec; its group's name goes with it.
        stories: _,
        groups: _,
        // The reader has warned of each open story that names one; `stories` leaves them out.
        outside: _,
        // `prd show` says that these are kept and not used.
        extra: _,
    } = prd;
    let PrdChecks { commands, rules } = sort_out(checks);
    let rules: Vec<String> = rules.iter().map(|rule| format!("- {rule}")).collect();
    let rules =
        (!rules.is_empty()).then(|| format!("For every story holds:\n\n{}", rules.join("\n")));
    let title = title.as_ref().map(|title| format!("**{title}**"));
    let parts: Vec<String> = [title, description.clone(), notes.clone(), rules]
        .into_iter()
        .flatten()
        .filter(|part| !part.trim().is_empty())
        .collect();
    Whole {
        about: (!parts.is_empty()).then(|| parts.join("\n\n")),
        branch: branch.clone(),
        checks: commands,
    }
}

/// What the reader had to pass over, and stories that can never begin: a loop starts without them,
/// and nobody should find that out in the morning.
pub(super) fn passed_over(reading: &prd::Reading) -> Vec<String> {
    const SHOWN_PER_CODE: usize = 3;
    let mut said: Vec<String> = Vec::new();
    let warnings = || {
        let all = reading.diagnostics.iter();
        all.filter(|diagnostic| diagnostic.severity == Severity::Warning)
    };
    let mut codes: Vec<&str> = warnings().map(|warning| warning.code).collect();
    codes.dedup();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let of_code: Vec<_> = warnings().filter(|warning| warning.code == code).collect();
        said.extend(of_code.iter().take(SHOWN_PER_CODE).map(|warning| {
            let place = warning.at.map(|at| reading.sources.place(at));
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            format!("{place}{} ({code})", warning.message)
        }));
        let more = of_code.len().saturating_sub(SHOWN_PER_CODE);
        if more > 0 {
            said.push(format!(
                "and {more} more {code}; `loopwright prd check` shows them"
            ));
        }
    }
    if let Some(prd) = &reading.prd {
        said.extend(prd::order(prd).held.iter().map(|(story, by)| {
            let by: Vec<&str> = by.iter().map(|id| id.as_str()).collect();
            format!(
                "story `{}` cannot begin: it waits for {}, which will not pass",
                story.id,
                by.join(", ")
            )
        }));
    }
    said
}

/// The branch of a loop: the one that the PRD names, if it can be used; else our own, and why.
pub(super) fn branch(
    named: Option<&str>,
    root: &Path,
    loop_id: &str,
    remarks: &mut Vec<String>,
) -> Result<String, Failure> {
    let ours = format!("agent-loop/{loop_id}");
    let Some(named) = named else {
        return Ok(ours);
    };
    let trouble = workspace::branch_trouble(root, named)
        .map_err(|error| Failure::environment("cannot look at the project's branches", &error))?;
    let why = match trouble {
        None => return Ok(named.to_owned()),
        Some(BranchTrouble::BadName) => "which git does not take as a branch's name".to_owned(),
        Some(BranchTrouble::Protected) => "which is never written to".to_owned(),
        Some(BranchTrouble::Exists) => {
            "which exists, and a branch that is not the loop's own is never moved".to_owned()
        }
        Some(BranchTrouble::InTheWay { other }) => {
            format!("which cannot be beside the branch `{other}`")
        }
    };
    let shown: String = named.chars().filter(|c| !c.is_control()).take(80).collect();
    remarks.push(format!(
        "the PRD names the branch `{shown}`, {why}; the loop's branch is `{ours}`"
    ));
    Ok(ours)
}

/// Gives every story's model to an agent that has it. Where there is none, that is said, and the
/// agent's own model is used.
pub(super) fn fit_models(spec: &mut LoopSpec, settings: &Settings, remarks: &mut Vec<String>) {
    let mut stories = std::mem::take(&mut spec.stories);
    for story in &mut stories {
        if story.start != StoryStart::Open || story.model.is_none() {
            continue;
        }
        let implementor = spec.implementor_for(story, 1).to_string();
        fit_model(Arc::make_mut(story), &implementor, settings, remarks);
    }
    spec.stories = stories;
}

fn fit_model(
    story: &mut StorySpec,
    implementor: &str,
    settings: &Settings,
    remarks: &mut Vec<String>,
) {
    let Some(model) = story.model.clone() else {
        return;
    };
    let maker = agents::Family::of_model(&model);
    // A CLI without a maker of its own, or any program, takes every model.
    let has_it = |agent: &home::AgentSettings| {
        let own = agent.cli().facts().family;
        own.is_none() || maker.is_none() || own == maker
    };
    if settings.agents.get(implementor).is_some_and(has_it) {
        return;
    }
    let id = &story.id;
    let is_its_maker = |agent: &home::AgentSettings| agent.cli().facts().family == maker;
    let mut others = settings.agents.iter();
    let other = others
        .find(|(_, agent)| is_its_maker(agent))
        .filter(|_| story.asked_implementor().is_none());
    if let Some((name, _)) = other {
        remarks.push(format!(
            "story `{id}` asks for the model `{model}`, so `{name}` implements it and not `{implementor}`"
        ));
        story.tool = Some(name.clone().into());
    } else {
        remarks.push(format!(
            "story `{id}` asks for the model `{model}`, which `{implementor}` does not have; that agent's own model is used"
        ));
        story.model = None;
    }
}

/// The agents that open stories ask for must be there.
pub(super) fn know_tools(stories: &[Arc<StorySpec>], settings: &Settings) -> Result<(), Failure> {
    let open = stories
        .iter()
        .filter(|story| story.start == StoryStart::Open);
    for story in open {
        let Some(tool) = story.tool.as_ref() else {
            continue;
        };
        if !settings.agents.contains_key(tool.as_str()) {
            let known: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
            return Err(Failure::bad_input(format!(
                "story `{}` asks for the agent `{tool}`, which is not configured",
                story.id
            ))
            .hint(format!(
                "add [agents.{tool}] to loopwright.toml, or name one of {}",
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// Commands of single stories are told to their agents and are not checks, which would hold for all.
pub(super) fn story_commands(stories: &[Arc<StorySpec>], settings: &Settings) -> Option<String> {
    const SHOWN_MAX: usize = 5;
    let is_check = |command: &str| {
        let mut checks = settings.checks.iter();
        checks.any(|check| check.command == command)
    };
    let ids: Vec<&str> = stories
        .iter()
        .filter(|story| story.start == StoryStart::Open)
        .filter(|story| story.commands.iter().any(|each| !is_check(&each.command)))
        .map(|story| story.id.as_str())
        .collect();
    let more = match ids.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = &ids[..ids.len().min(SHOWN_MAX)];
    (!ids.is_empty()).then(|| {
        format!(
            "commands of single stories are in their prompts and are not run as checks: {}{more}",
            shown.join(", ")
        )
    })
}
