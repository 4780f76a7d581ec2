//! A loop's status in the words that `status`, `list` and `--json` use.

use kernel::{EndReason, State, StoryProgress, StoryStatus};
use serde::Serialize;

use crate::public::usd;

/// One loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopView {
    /// Its id.
    pub loop_id: String,
    /// `running`, `waiting`, `needs_human`, `paused`, `completed`, `cancelled` or `failed`.
    pub status: &'static str,
    /// Why, in a sentence; may be empty.
    pub reason: String,
    /// The operator's project.
    pub project: String,
    /// The PRD file.
    pub prd_path: String,
    /// The branch that accepted work lands on.
    pub branch: String,
    /// Its tip.
    pub head_sha: String,
    /// The way that stories go.
    pub flow: &'static str,
    /// The stories in file order.
    pub stories: Vec<StoryView>,
    /// When a wait will be over, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_until_ms: Option<i64>,
    /// What can be answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Why the operator's repository does not have the head of the branch, if it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpublished: Option<String>,
    /// The time that all runs together have taken.
    pub spent_ms: i64,
    /// What is left of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<i64>,
    /// How much of the budget is used, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_used_percent: Option<u64>,
    /// Tokens that agents used, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What that cost in dollars, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The same by role and agent, with their runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<UsedBy>,
    /// Where agents run: on the `host`, as the user who started the worker.
    pub isolation: &'static str,
    /// When it was started.
    pub started_at_ms: i64,
    /// When the last thing happened.
    pub last_at_ms: i64,
}

/// What one agent used in one role.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedBy {
    /// The role.
    pub role: &'static str,
    /// The agent.
    pub agent: String,
    /// Its runs that are over.
    pub runs: u32,
    /// Their tokens, as far as they told.
    pub tokens: Option<u64>,
    /// What they cost in dollars, as far as they told.
    pub cost_usd: Option<f64>,
}

/// One story.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryView {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `pending`, `running`, `passed`, `skipped` or `blocked`.
    pub status: &'static str,
    /// What it is doing, or why it ended so; may be empty.
    pub detail: String,
    /// Attempts begun.
    pub attempts: u32,
    /// The accepted commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// From its first attempt to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Tokens that its agents used, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What that cost in dollars, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Makes the view.
pub fn loop_view(state: &State) -> LoopView {
    let (status, reason) = status_of(state);
    let spec = state.spec();
    LoopView {
        loop_id: spec.loop_id.clone(),
        status,
        reason,
        project: spec.project.clone(),
        prd_path: spec.prd_path.clone(),
        branch: spec.branch.clone(),
        head_sha: state.head().to_string(),
        flow: spec.flow.word(),
        stories: state
            .stories()
            .iter()
            .map(|story| story_view(story, state.ended().is_some()))
            .collect(),
        waiting_until_ms: state.waits_until_ms().filter(|_| state.ended().is_none()),
        choices: state
            .question()
            .map(|question| {
                question
                    .choices
                    .iter()
                    .map(|choice| (*choice).to_owned())
                    .collect()
            })
            .unwrap_or_default(),
        unpublished: state.unpublished().map(str::to_owned),
        spent_ms: state.spent_ms(),
        left_ms: state.left_ms(),
        budget_used_percent: state.budget_used_percent(),
        tokens: state.spent().known_tokens(),
        cost_usd: usd(state.spent()),
        used_by: state
            .spent_by()
            .map(|(role, agent, spent)| UsedBy {
                role: role.word(),
                agent: agent.to_owned(),
                runs: spent.runs,
                tokens: spent.known_tokens(),
                cost_usd: usd(spent),
            })
            .collect(),
        isolation: "host",
        started_at_ms: state.started_at_ms(),
        last_at_ms: state.last_at_ms(),
    }
}

fn status_of(state: &State) -> (&'static str, String) {
    match state.ended() {
        Some(EndReason::Completed) => return ("completed", String::new()),
        Some(EndReason::MaxIterationsReached) => {
            return ("completed", "max_iterations_reached".to_owned());
        }
        Some(EndReason::BudgetExhausted) => return ("failed", "budget_exhausted".to_owned()),
        Some(EndReason::Cancelled { why }) => return ("cancelled", why.clone()),
        Some(EndReason::Failed { why }) => return ("failed", why.clone()),
        None => {}
    }
    if let Some(question) = state.question() {
        return ("needs_human", question.text.clone());
    }
    match (state.is_paused(), state.waits_until_ms().is_some()) {
        (true, _) => ("paused", String::new()),
        (false, true) => ("waiting", state.fault().unwrap_or_default().to_owned()),
        (false, false) => ("running", String::new()),
    }
}

fn story_view(story: &StoryProgress, ended: bool) -> StoryView {
    let (status, detail, commit) = match &story.status {
        StoryStatus::Pending => ("pending", String::new(), None),
        StoryStatus::Active(attempt) if ended => (
            "pending",
            format!("attempt {} was not finished", attempt.number),
            None,
        ),
        StoryStatus::Active(attempt) => (
            "running",
            format!("attempt {}, {}", attempt.number, attempt.doing()),
            None,
        ),
        StoryStatus::Passed(commit) => ("passed", String::new(), commit.as_ref()),
        StoryStatus::Skipped { reason, .. } => ("skipped", reason.clone(), None),
        StoryStatus::Blocked { on } => ("blocked", format!("waits for {on}"), None),
        StoryStatus::SetAside => ("skipped", "was set aside in the PRD".to_owned(), None),
    };
    StoryView {
        id: story.spec.id.clone(),
        title: story.spec.title.clone(),
        status,
        detail,
        attempts: story.attempts,
        commit_sha: commit.map(ToString::to_string),
        tokens: story.spent.known_tokens(),
        cost_usd: usd(story.spent),
        duration_ms: story
            .began_at_ms
            .zip(story.ended_at_ms)
            .map(|(began, ended)| ended - began),
    }
}
