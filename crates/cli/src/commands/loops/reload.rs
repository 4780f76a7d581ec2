//! `loopwright resume ID --reload`: PRD and configuration as they are now, for all that has not
//! begun. A retry takes an edited configuration too.

use std::path::Path;
use std::sync::Arc;

use home::{Home, Settings};
use journal::Journal;
use kernel::{Event, LoopSpec, State, StorySpec, StoryStart, StoryStatus};
use serde_json::json;
use workspace::CommitId;

use super::allowance::tell_of_stories;
use super::ask::ask;
use super::casting::check_flow;
use super::found_checks::Base;
use super::lookup::{find, load, open};
use super::promised::{self, Whole};
use super::refusal::refused;
use super::{graph_claims, loop_settings, start, stories};
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;

pub(super) fn run(id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("resume");
    let home: Home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    let Some(changes) = reload(&home, &journal, &loop_id, output)? else {
        return Ok(Exit::BadInput);
    };
    for change in &changes {
        output.talk(&format!("{change}\n"));
    }
    let exit = ask(&loop_id, &Event::ResumeRequested, "resume", output)?;
    output.result(|| json!({ "loopId": loop_id, "requested": "resume", "reloaded": changes }))?;
    Ok(exit)
}

/// Records what is different, and says it; nothing when the PRD is not fit, which has been said.
fn reload(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    output: &mut Output,
) -> Result<Option<Vec<String>>, Failure> {
    let state = load(journal, loop_id)?.state;
    let spec = state.spec();
    let old = settings_of(spec)?;
    let config = config::read(Path::new(&spec.project), &flags(&old))?;
    let Some((prd, mut remarks)) = start::read_prd(Path::new(&spec.prd_path), &config, output)?
    else {
        return Ok(None);
    };
    let mut told = LoopSpec {
        stories: stories::stories(&prd)?,
        ..spec.clone()
    };
    let whole = promised::whole(&prd);
    let new = settings(&config, &whole, spec, &old, &home.repository(loop_id))?;
    promised::fit_models(&mut told, &new, &mut remarks);
    let (mut changes, left_out) =
        graph_claims::reload_with_claims(home, spec, told.stories, |told| {
            record(journal, &state, &config, &new, told)
        })?;
    changes.extend(left_out);
    changes.append(&mut remarks);
    Ok(Some(changes))
}

/// Takes in a configuration that was edited since the loop last read it, and says what that changes;
/// the PRD stays as it was told.
pub(super) fn edited(
    home: &Home,
    journal: &Journal,
    state: &State,
) -> Result<Vec<String>, Failure> {
    let spec = state.spec();
    let Ok(old) = settings_of(spec) else {
        return Ok(Vec::new());
    };
    let project = Path::new(&spec.project);
    if old.config_mark.is_none() || old.config_mark == config::mark(project).ok() {
        return Ok(Vec::new());
    }
    let told = state.stories().iter().map(|story| Arc::clone(&story.spec));
    let whole = as_told(spec, &old);
    let recorded = config::read(project, &flags(&old)).and_then(|config| {
        let new = settings(&config, &whole, spec, &old, &home.repository(&spec.loop_id))?;
        record(journal, state, &config, &new, told.collect())
    });
    recorded.map_err(|failure| {
        let id = &spec.loop_id;
        failure
            .hint("the configuration was edited since the loop read it, and a retry uses what it says now: mend it, then answer again")
            .hint(format!("`loopwright answer {id} skip` and `cancel` do not need it"))
    })
}

/// What the PRD says of the whole: its words as the loop was told them, its checks as they are now,
/// since the configuration decides which of them count.
fn as_told(spec: &LoopSpec, old: &Settings) -> Whole {
    let file = home::read_prd(Path::new(&spec.prd_path), &prd::Options::default()).ok();
    let prd = file.and_then(|file| file.reading.prd);
    let checks = prd.map(|prd| promised::whole(&prd).checks);
    Whole {
        about: old.about.clone(),
        branch: None,
        checks: checks.unwrap_or_default(),
    }
}

/// Records settings and stories as they are now, and says what is different.
fn record(
    journal: &Journal,
    state: &State,
    config: &config::Config,
    new: &Settings,
    told: Vec<Arc<StorySpec>>,
) -> Result<Vec<String>, Failure> {
    let spec = state.spec();
    let old = settings_of(spec)?;
    check(state, new, &old, &told)?;
    let unmarked = Settings {
        config_mark: old.config_mark.clone(),
        ..new.clone()
    };
    let mut changes = changes(state, &told, old != unmarked);
    changes.extend(roles_that_stay(config, spec));
    let parallel = start::together(config).parallel;
    if parallel != spec.together.parallel {
        changes.push(format!("stories at once: {parallel}"));
    }
    let settings = serde_json::to_string(new)
        .map_err(|error| Failure::environment("cannot write the settings", &error))?;
    let event = Event::Reloaded {
        settings: settings.into(),
        stories: told,
        together: Some(start::together(config)),
    };
    home::request(journal, &spec.loop_id, &event)
        .map_err(|error| refused(state, "resume", &error))?;
    Ok(changes)
}

fn settings_of(spec: &LoopSpec) -> Result<Settings, Failure> {
    serde_json::from_str(&spec.settings)
        .map_err(|error| Failure::environment("cannot read the loop's settings", &error))
}

/// What was given with `start` still wins over the files.
fn flags(settings: &Settings) -> Vec<config::Flag> {
    let flag = |flag: &home::FlagSettings| config::Flag {
        name: flag.name.clone(),
        key: flag.key.clone(),
        value: flag.value.clone(),
    };
    settings.flags.iter().map(flag).collect()
}

/// Who plays which role was decided at the start; an edit of that is not taken, which is said.
fn roles_that_stay(config: &config::Config, spec: &LoopSpec) -> Vec<String> {
    let roles = &config.roles;
    let named = [
        ("implementor", &roles.implementor.agent, &spec.implementor),
        ("reviewer", &roles.reviewer.agent, &spec.reviewer),
        ("prover", &roles.prover.agent, &spec.prover),
        ("judge", &roles.judge.agent, &spec.judge),
    ];
    let changed = named
        .into_iter()
        .filter_map(|(role, now, then)| Some((role, now.as_ref()?, then)))
        .filter(|(_, now, then)| !then.is_empty() && now.as_str() != then.as_str());
    let line = |(role, now, then): (&str, &String, &kernel::AgentName)| {
        format!(
            "[roles.{role}] names `{now}`, and this loop keeps `{then}`, with which it was started; \
             to change that, cancel it and start a new one"
        )
    };
    changed.map(line).collect()
}

/// The settings of now. Where the project is, and what was asked for at the start, stays.
fn settings(
    config: &config::Config,
    whole: &Whole,
    spec: &LoopSpec,
    old: &Settings,
    own: &Path,
) -> Result<Settings, Failure> {
    let project = Path::new(&spec.project);
    let view = workspace::look_at_project(project, None)
        .map_err(|error| Failure::environment("cannot look at the project", &error))?;
    let commit = CommitId::parse(spec.base.as_str())
        .map_err(|error| Failure::environment("cannot read the loop's base", &error))?;
    // The loop's own repository keeps its base, whatever became of it in the project.
    let base = Base {
        repository: if own.exists() { own } else { &view.root },
        commit: &commit,
        subdir: Path::new(&old.subdir),
    };
    let places = loop_settings::Places {
        view: &view,
        base,
        project,
        prd_path: Path::new(&spec.prd_path),
    };
    let new = loop_settings::settings(config, whole, &places, &mut Vec::new())?;
    Ok(Settings {
        root: old.root.clone(),
        subdir: old.subdir.clone(),
        prd_in_repository: old.prd_in_repository.clone(),
        write_progress: old.write_progress,
        flags: old.flags.clone(),
        config_mark: Some(config::mark(project)?),
        ..new
    })
}

/// What the loop counts on must still be there: its agents, and limits that its budget was made
/// for.
fn check(
    state: &State,
    new: &Settings,
    old: &Settings,
    told: &[Arc<StorySpec>],
) -> Result<(), Failure> {
    let spec = state.spec();
    let active = state
        .attempts()
        .map(|(_, attempt)| &attempt.cast)
        .flat_map(|cast| [&cast.implementor, &cast.reviewer, &cast.judge]);
    let active = active.filter(|agent| !agent.is_empty());
    let tools = told
        .iter()
        .filter(|story| story.start == StoryStart::Open)
        .filter_map(|story| story.tool.as_ref());
    let mut named = [&spec.implementor, &spec.judge]
        .into_iter()
        .chain(&spec.ladder)
        .chain(tools)
        .chain(active);
    if let Some(gone) = named.find(|agent| !new.agents.contains_key(agent.as_str())) {
        return Err(Failure::bad_input(format!(
            "the loop counts on the agent `{gone}`, which is not configured any more"
        ))
        .hint("the agents of a loop's roles and its ladder stay what they were at its start"));
    }
    tell_of_stories(spec.allowance.as_ref(), told, new)?;
    for story in told.iter().filter(|story| story.start == StoryStart::Open) {
        check_flow(spec.flow_of(story), new)?;
    }
    let longest = |settings: &Settings, role: &str| {
        settings
            .agents
            .keys()
            .map(|agent| settings.timeout_secs(role, agent))
            .max()
            .unwrap_or_default()
    };
    let grows = ["implementor", "judge"]
        .into_iter()
        .any(|role| longest(new, role) > longest(old, role))
        || new.check_timeout_secs > old.check_timeout_secs;
    if spec.budget.is_some() && grows {
        return Err(Failure::bad_input("a loop with a [budget] cannot be given longer timeouts").hint(
            "its budget was reserved with the old ones; start a new loop, or leave the timeouts as they were",
        ));
    }
    Ok(())
}

/// What is different, for people.
fn changes(state: &State, told: &[Arc<StorySpec>], settings_differ: bool) -> Vec<String> {
    let mut changes = Vec::new();
    if settings_differ {
        changes.push("the configuration changed; it holds from the next run on".to_owned());
    }
    for story in told {
        match state.story(&story.id) {
            None => changes.push(format!("story `{}` is new", story.id)),
            Some(known) if known.status == StoryStatus::Pending && known.spec != *story => {
                changes.push(format!("story `{}` changed", story.id));
            }
            Some(_) => {}
        }
    }
    let is_gone = |known: &&kernel::StoryProgress| {
        known.status == StoryStatus::Pending && !told.iter().any(|story| story.id == known.spec.id)
    };
    changes.extend(state.stories().iter().filter(is_gone).map(|known| {
        format!(
            "story `{}` is not in the PRD any more; it stays, as it was told at the start",
            known.spec.id
        )
    }));
    if changes.is_empty() {
        changes.push("nothing changed that has not begun".to_owned());
    }
    changes
}
