//! The PRD's stories as a loop takes them, and the agents that somebody wants for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use home::Settings;
use kernel::{AgentName, Assigned, Flow, StorySpec, StoryStart};
use prd::{Prd, StoryState};

use super::start_request::Assignment;
use crate::failure::Failure;

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
    prd.stories
        .iter()
        .zip(ranks)
        .map(|(story, rank)| spec_of(story, rank))
        .collect()
}

fn spec_of(story: &prd::Story, rank: u32) -> Result<Arc<StorySpec>, Failure> {
    Ok(Arc::new(StorySpec {
        id: story.id.as_str().into(),
        title: one_line(&story.title),
        description: story.description.clone(),
        criteria: story
            .criteria
            .iter()
            .map(|criterion| criterion.text.clone())
            .collect(),
        rank,
        depends_on: story
            .depends_on
            .iter()
            .map(|id| id.as_str().into())
            .collect(),
        tool: story.tool.clone().map(AgentName::from),
        assigned: Assigned::default(),
        flow: flow_of(story)?,
        notes: String::new(),
        group: None,
        commands: Vec::new(),
        files: Vec::new(),
        model: None,
        start: match story.state {
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
