//! Where a loop and its stories stand before anything has happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::apply::{IllegalMove, Moved, Refused};
use crate::budget::Assumed;
use crate::event::{Event, Stamped};
use crate::guard::Guard;
use crate::spec::{LoopSpec, StorySpec, StoryStart};
use crate::state::{Spent, State, StoryProgress, StoryStatus};

impl State {
    /// A loop's first state, from its first record.
    pub fn begin(first: &Stamped) -> Result<Self, IllegalMove> {
        let kind = first.event.kind();
        let state = match &first.event {
            Event::LoopStarted { spec } => Self::of_spec(spec, first.at_ms),
            _ => Err("a loop begins with loop-started".into()),
        };
        state.map_err(|refused| refused.of(kind))
    }

    pub(crate) fn of_spec(spec: &LoopSpec, at_ms: i64) -> Result<Self, Refused> {
        refuse_doubles(&spec.stories)?;
        let mut state = Self {
            spec: Arc::new(spec.clone()),
            prepared: false,
            stories: spec.stories.iter().map(StoryProgress::of_spec).collect(),
            head: spec.base.clone(),
            published: None,
            unpublished: None,
            may_recreate: false,
            unmarked: Vec::new(),
            unwritten: BTreeMap::new(),
            iterations: 0,
            spent_ms: 0,
            spent: Spent::default(),
            spent_by: BTreeMap::new(),
            assumed: Assumed::default(),
            limits: BTreeMap::new(),
            limits_in_a_row: BTreeMap::new(),
            limited_at_ms: BTreeMap::new(),
            paused: false,
            cancel: None,
            ended: None,
            reopened_from: None,
            started_at_ms: at_ms,
            last_at_ms: at_ms,
            next_ticket: 1,
            landed: Vec::new(),
            guard: Guard::default(),
        };
        if let Some(first) = &spec.first {
            let story = state.story_mut(&first.id)?;
            story.attempts = first.attempt.saturating_sub(1).min(spec.max_retries);
            story.feedback.extend(first.judgment.clone());
        }
        Ok(state)
    }
}

fn refuse_doubles(stories: &[Arc<StorySpec>]) -> Moved {
    for (at, story) in stories.iter().enumerate() {
        if stories[..at].iter().any(|before| before.id == story.id) {
            return Err(format!("two stories have the id `{}`", story.id).into());
        }
    }
    Ok(())
}

impl StoryProgress {
    pub(crate) fn of_spec(story: &Arc<StorySpec>) -> Self {
        Self {
            spec: Arc::clone(story),
            status: match story.start {
                StoryStart::Open => StoryStatus::Pending,
                StoryStart::Passed => StoryStatus::Passed(None),
                StoryStart::SetAside => StoryStatus::SetAside,
            },
            attempts: 0,
            acceptances: 0,
            made_in: 0,
            found_wrong: None,
            rechecked_as: 0,
            has_baseline: false,
            extra_attempts: 0,
            wish: None,
            is_asked_for: false,
            tried_on: None,
            feedback: Vec::new(),
            rejected: Vec::new(),
            tests: None,
            rewrite: None,
            rewrites: 0,
            earlier_writings: 0,
            rounds: 0,
            failing: Vec::new(),
            ruled: false,
            skipped_because: None,
            answers: Vec::new(),
            learned: Vec::new(),
            spent: Spent::default(),
            ticket: None,
            returns: 0,
            former: None,
            is_recalled: false,
            began_at_ms: None,
            ended_at_ms: None,
        }
    }
}
