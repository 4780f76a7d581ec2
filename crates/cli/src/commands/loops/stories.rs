//! The PRD's stories as a loop takes them, and the agents that somebody wants for each.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use home::Settings;
use kernel::{AgentName, Assigned, Flow, StoryCommand, StorySpec, StoryStart};
use prd::{Prd, StoryState};

use super::prd_checks::is_command;
use super::start_request::Assignment;
use crate::failure::Failure;

/// Files of one story that are kept; the journal and every order repeat them.
const FILES_MAX: usize = 200;

/// Gives stories the agents that an event assigns to them. Every name must be known.
pub(super) fn assign(
    assignments: &BTreeMap<String, Assignment>,
    settings: &Settings,
    stories: &mut [Arc<StorySpec>],
) -> Result<(), Failure> {
    for (id, assignment) in assignments {
        let Some(story) = stories.iter_mut().find(|story| story.id == **id) else {
            let failure =
                Failure::bad_input(format!("toolAssignments: the PRD has no story `{id}`"));
            let near = prd::nearest(id, stories.iter().map(|story| story.id.as_str()));
            return Err(near.into_iter().fold(failure, |failure, near| {
                failure.hint(format!("did you mean `{near}`?"))
            }));
        };
        let Assignment {
            implementor,
            reviewer,
            judge,
        } = assignment;
        for (role, agent) in [
            ("implementor", implementor),
            ("reviewer", reviewer),
            ("judge", judge),
        ] {
            if let Some(agent) = agent
                .as_ref()
                .filter(|agent| !settings.agents.contains_key(*agent))
            {
                let names: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
                return Err(Failure::bad_input(format!(
                    "toolAssignments: the {role} of `{id}` is `{agent}`, which is no agent"
                ))
                .hint(format!("known are {}", names.join(", "))));
            }
        }
        let named = |agent: &Option<String>| agent.clone().map(AgentName::from);
        Arc::make_mut(story).assigned = Assigned {
            implementor: named(implementor),
            reviewer: named(reviewer),
            judge: named(judge),
        };
    }
    Ok(())
}

/// A title as it may stand in a commit subject and in a terminal.
fn one_line(title: &str) -> String {
    let clean: String = title
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The PRD's stories in file order, each with its place in the order of running.
pub(super) fn stories(prd: &Prd) -> Result<Vec<Arc<StorySpec>>, Failure> {
    let mut by_priority: Vec<usize> = (0..prd.stories.len()).collect();
    by_priority.sort_by_key(|&index| {
        (
            prd.stories[index].priority.is_none(),
            prd.stories[index].priority,
            index,
        )
    });
    let mut ranks = vec![0; prd.stories.len()];
    for (rank, index) in by_priority.into_iter().enumerate() {
        ranks[index] = u32::try_from(rank).unwrap_or(u32::MAX);
    }
    let outside: HashSet<&str> = prd.outside.iter().map(String::as_str).collect();
    prd.stories
        .iter()
        .zip(ranks)
        .map(|(story, rank)| spec_of(story, rank, &outside))
        .collect()
}

/// One story as a loop takes it. It is taken apart without `..`, so that a new field of a PRD cannot
/// be forgotten here.
fn spec_of(
    story: &prd::Story,
    rank: u32,
    outside: &HashSet<&str>,
) -> Result<Arc<StorySpec>, Failure> {
    let prd::Story {
        id,
        title,
        description,
        notes,
        criteria,
        // It is in the rank.
        priority: _,
        state,
        depends_on,
        tool,
        model,
        files,
        checks,
        group,
        // `flow` is among them; `prd show` says that the others are kept and not used.
        extra: _,
    } = story;
    let (commands, rules): (Vec<&prd::Check>, Vec<&prd::Check>) =
        checks.iter().partition(|check| is_command(&check.text));
    let rules = rules.iter().map(|rule| format!("- {}", rule.text));
    let notes: Vec<String> = notes.iter().cloned().chain(rules).collect();
    Ok(Arc::new(StorySpec {
        id: id.as_str().into(),
        title: one_line(title),
        description: description.clone(),
        notes: notes.join("\n"),
        group: group.clone(),
        criteria: criteria.iter().map(|each| each.text.clone()).collect(),
        commands: story_commands(&commands, criteria),
        files: files
            .iter()
            .take(FILES_MAX)
            .map(|file| one_line(file))
            .collect(),
        rank,
        // Nobody can wait for what is not in the file.
        depends_on: depends_on
            .iter()
            .filter(|id| !outside.contains(id.as_str()))
            .map(|id| id.as_str().into())
            .collect(),
        tool: tool.clone().map(AgentName::from),
        model: model.as_ref().map(|model| one_line(model)),
        assigned: Assigned::default(),
        flow: flow_of(story)?,
        start: match state {
            StoryState::Open => StoryStart::Open,
            StoryState::Passed => StoryStart::Passed,
            StoryState::Skipped
            | StoryState::WontFix
            | StoryState::Blocked
            | StoryState::Stuck
            | StoryState::Failed => StoryStart::SetAside,
        },
    }))
}

/// The commands that a story names: its own, and those that show its criteria.
fn story_commands(own: &[&prd::Check], criteria: &[prd::Criterion]) -> Vec<StoryCommand> {
    let own = own.iter().map(|prd::Check { name, text }| StoryCommand {
        shows: name
            .clone()
            .unwrap_or_else(|| "the story is done".to_owned()),
        command: text.clone(),
    });
    let of_criteria = criteria
        .iter()
        .filter_map(|prd::Criterion { text, command }| {
            Some(StoryCommand {
                shows: text.clone(),
                command: command.clone()?,
            })
        });
    own.chain(of_criteria).collect()
}

/// The way that a story's author wants it to go.
fn flow_of(story: &prd::Story) -> Result<Option<Flow>, Failure> {
    let Some((_, extra)) = story.extra.iter().find(|(key, _)| key == "flow") else {
        return Ok(None);
    };
    let word = if let prd::Extra::Text(word) = extra {
        word.as_str()
    } else {
        ""
    };
    Flow::named(word).map(Some).ok_or_else(|| {
        let known: Vec<&str> = Flow::CHOICES.iter().map(|flow| flow.word()).collect();
        let failure = Failure::bad_input(format!(
            "story `{}` asks for a flow that there is not: `{word}`",
            story.id.as_str()
        ));
        failure.hint(format!("there are {}", known.join(", ")))
    })
}
