//! The verbs that print a prompt: `task next` and `task prompt`. They claim nothing.

use tasks::{Caller, Status, Task, Tasks, View};

use super::common::{caller, look, none_left, open, show_prompt, unknown, wanted};
use crate::args::PlanArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Whose prompt comes next. By its documentation every error is exit code 2, so that loops in a shell
/// need to know three codes only.
pub(super) fn next(
    plan: &PlanArgs,
    story: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task next");
    let looked = open(plan, output).and_then(|tasks| {
        let view = look(&tasks, output)?;
        Ok((tasks, view))
    });
    let (tasks, view) = looked.map_err(|failure| Failure {
        exit: Exit::BadInput,
        ..failure
    })?;
    // Who works under a claim has its task already.
    if let Some(task) = held_here(&tasks, &view) {
        return show_prompt(&tasks, &view, task, output);
    }
    match view.board.next(&wanted(story)) {
        Ok(task) => show_prompt(&tasks, &view, task, output),
        Err(none) => none_left(plan, &view.board, none, output),
    }
}

pub(super) fn prompt(plan: &PlanArgs, id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("task prompt");
    let tasks = open(plan, output)?;
    let view = look(&tasks, output)?;
    let task = view.board.find(id).ok_or_else(|| unknown(&view.board, id));
    show_prompt(&tasks, &view, task?, output)
}

/// The task that we are part of, while its claim is ours.
fn held_here<'v>(tasks: &Tasks, view: &'v View) -> Option<&'v Task> {
    let Caller::Holder { claim } = caller(tasks) else {
        return None;
    };
    let is_ours =
        |task: &&Task| matches!(&task.status, Status::InProgress(lease) if lease.number == claim);
    view.board.tasks.iter().find(is_ours)
}
