//! `loopwright task graph`: the tasks and what each waits for.

use std::fmt::Write as _;

use ::prd::{GraphFormat, Prd, StoryState, graph};
use serde_json::json;
use tasks::{Board, Status};

use super::common::{as_json, look, open};
use super::overview::line;
use crate::args::{OrderFormat, PlanArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(super) fn run(
    plan: &PlanArgs,
    format: OrderFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task graph");
    let tasks = open(plan, output)?;
    let view = look(&tasks, output)?;
    let text = match format {
        OrderFormat::Text => as_text(&view.board),
        OrderFormat::Dot => graph(&with_states(view.plan, &view.board), GraphFormat::Dot),
        OrderFormat::Mermaid => graph(&with_states(view.plan, &view.board), GraphFormat::Mermaid),
    };
    output.data(&text)?;
    output.result(|| {
        let all: Vec<_> = view.board.tasks.iter().map(as_json).collect();
        json!({ "tasks": all, "graph": text })
    })?;
    Ok(Exit::Done)
}

/// The plan with the states that the store knows.
fn with_states(mut plan: Prd, board: &Board) -> Prd {
    for (story, task) in plan.stories.iter_mut().zip(&board.tasks) {
        // The drawing has no state for it.
        if matches!(task.status, Status::InProgress(_)) {
            story.title.push_str(" [in progress]");
        }
        story.state = match &task.status {
            Status::Complete => StoryState::Passed,
            Status::Failed(_) => StoryState::Failed,
            Status::SetAside(state) => *state,
            Status::InProgress(_) | Status::Ready | Status::Blocked(_) => StoryState::Open,
        };
    }
    plan
}

fn as_text(board: &Board) -> String {
    let mut out = String::new();
    for task in &board.tasks {
        let after = if task.depends_on.is_empty() {
            String::new()
        } else {
            format!("  (after {})", task.depends_on.join(", "))
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{:<12} {}{after}", task.status.word(), line(task));
    }
    out
}
