//! A plan and its claims together: which task is ready, which is blocked and by whom, which is next.
//! Pure.

use std::collections::BTreeMap;

use prd::{Extra, Prd, Priority, Story, StoryState};

use crate::claims::{Claims, Kept};
use crate::file_word::FileWord;
use crate::lease::Lease;

/// All tasks of a plan, in the plan's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// One task with where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its priority, lowest first.
    pub priority: Option<Priority>,
    /// The tasks of this plan that must be complete before it begins.
    pub depends_on: Vec<String>,
    /// The milestones that it counts for.
    pub milestones: Vec<String>,
    /// The story that it is part of.
    pub story: Option<String>,
    /// What it must make.
    pub outputs: Vec<String>,
    /// Where it stands.
    pub status: Status,
    /// The claim of somebody who is gone.
    pub stale: Option<Lease>,
    /// How often an agent has failed at it.
    pub failures: u32,
    /// Whether the plan's file calls it complete.
    pub is_passed_in_file: bool,
    /// What its last claim wrote into a plan's file, until that is taken back.
    pub word: Option<FileWord>,
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It is done.
    Complete,
    /// Somebody works on it.
    InProgress(Box<Lease>),
    /// An agent failed at it, and it waits for a person.
    Failed(Box<Kept>),
    /// It may begin.
    Ready,
    /// It waits for these.
    Blocked(Vec<String>),
    /// The plan's file sets it aside.
    SetAside(StoryState),
}

/// Why there is no next task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTask {
    /// Everything that the plan wants done is complete.
    AllComplete,
    /// What is left is blocked, in progress or waits for a person.
    AllBlocked,
}

impl NoTask {
    /// The word for it in `--json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllComplete => "all_complete",
            Self::AllBlocked => "all_blocked",
        }
    }
}

impl Status {
    /// The word for it in output.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::InProgress(_) => "in_progress",
            Self::Failed(_) => "failed",
            Self::Ready => "ready",
            Self::Blocked(_) => "blocked",
            Self::SetAside(state) => state.word(),
        }
    }
}

impl Board {
    /// Puts a plan and its claims together. `holds` says whether a claim's holder is still there.
    pub fn of(plan: &Prd, claims: &Claims, holds: &dyn Fn(&Lease) -> bool) -> Self {
        let is_complete: BTreeMap<&str, bool> = plan
            .stories
            .iter()
            .map(|story| (story.id.as_str(), is_complete(story, claims)))
            .collect();
        let tasks = plan.stories.iter().map(|story| {
            let known = story.depends_on.iter().map(prd::StoryId::as_str);
            let depends_on: Vec<String> = known
                .filter(|on| is_complete.contains_key(on))
                .map(str::to_owned)
                .collect();
            let open = depends_on.iter().filter(|on| !is_complete[on.as_str()]);
            let open: Vec<String> = open.cloned().collect();
            task(story, claims, depends_on, open, holds)
        });
        Self {
            tasks: tasks.collect(),
        }
    }

    /// One task.
    pub fn find(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The tasks that may begin, the next one first: by priority, then in the plan's order.
    pub fn ready(&self) -> Vec<&Task> {
        let mut ready: Vec<&Task> = self.tasks.iter().filter(|task| task.is_ready()).collect();
        // The sort is stable, so that equals stay in the plan's order.
        ready.sort_by_key(|task| (task.priority.is_none(), task.priority));
        ready
    }

    /// The next task among those that are wanted, or why there is none.
    pub fn next(&self, is_wanted: &dyn Fn(&Task) -> bool) -> Result<&Task, NoTask> {
        let mut ready = self.ready().into_iter();
        if let Some(task) = ready.find(|task| is_wanted(task)) {
            return Ok(task);
        }
        let mut wanted = self.tasks.iter().filter(|task| is_wanted(task));
        if wanted.all(Task::is_over) {
            Err(NoTask::AllComplete)
        } else {
            Err(NoTask::AllBlocked)
        }
    }
}

impl Task {
    /// Whether it may begin.
    pub fn is_ready(&self) -> bool {
        self.status == Status::Ready
    }

    /// Whether nothing more is to be done for it.
    pub fn is_over(&self) -> bool {
        match &self.status {
            Status::Complete => true,
            Status::SetAside(state) => {
                matches!(state, StoryState::Skipped | StoryState::WontFix)
            }
            Status::InProgress(_) | Status::Failed(_) | Status::Ready | Status::Blocked(_) => false,
        }
    }

    /// Whether it is this task, or one of this story or milestone.
    pub fn is_of(&self, word: &str) -> bool {
        let mut groups = self.milestones.iter().chain(&self.story);
        self.id == word || groups.any(|group| group == word)
    }
}

/// What the store says; of a task that it does not know, what the file says.
fn is_complete(story: &Story, claims: &Claims) -> bool {
    let state = claims.of(story.id.as_str());
    if state.is_known {
        state.is_complete
    } else {
        story.state == StoryState::Passed
    }
}

fn task(
    story: &Story,
    claims: &Claims,
    depends_on: Vec<String>,
    open: Vec<String>,
    holds: &dyn Fn(&Lease) -> bool,
) -> Task {
    let state = claims.of(story.id.as_str());
    let (held, left) = match state.lease.clone() {
        Some(lease) if holds(&lease) => (Some(lease), None),
        gone => (None, gone),
    };
    let aside = !matches!(story.state, StoryState::Open | StoryState::Passed) && !state.is_reset;
    let status = if is_complete(story, claims) {
        Status::Complete
    } else if let Some(lease) = held {
        Status::InProgress(Box::new(lease))
    } else if let Some(kept) = state.kept.clone() {
        Status::Failed(Box::new(kept))
    } else if aside {
        Status::SetAside(story.state)
    } else if open.is_empty() {
        Status::Ready
    } else {
        Status::Blocked(open)
    };
    let milestones = words(story, &["milestone", "milestones"]);
    let group = story.group.iter().filter(|_| milestones.is_empty());
    Task {
        id: story.id.to_string(),
        title: story.title.clone(),
        priority: story.priority,
        depends_on,
        milestones: group.chain(&milestones).cloned().collect(),
        story: words(story, &["story"]).into_iter().next(),
        outputs: words(story, &["output", "outputs"]),
        status,
        stale: left,
        failures: state.failures,
        is_passed_in_file: story.state == StoryState::Passed,
        word: state.word,
    }
}

/// The words under some keys that the reader keeps without understanding them.
fn words(story: &Story, keys: &[&str]) -> Vec<String> {
    let entries = story.extra.iter();
    let named = entries.filter(|(key, _)| keys.contains(&key.to_lowercase().as_str()));
    named.flat_map(|(_, value)| words_of(value)).collect()
}

fn words_of(value: &Extra) -> Vec<String> {
    match value {
        Extra::Text(text) if text.trim().is_empty() => Vec::new(),
        Extra::Text(text) | Extra::Number(text) => vec![text.trim().to_owned()],
        Extra::List(items) => items.iter().flat_map(words_of).collect(),
        Extra::Null | Extra::Bool(_) | Extra::Map(_) => Vec::new(),
    }
}
