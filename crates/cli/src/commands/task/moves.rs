//! The verbs that change a task: claim, complete, reset, release, refresh.

use std::path::{Path, PathBuf};

use kernel::WriteBack;
use serde_json::json;
use tasks::{Force, OwnerKind, Place, TICKET_FOLDERS, TaskError, Tasks};

use super::common::{
    caller, failure, failure_in, look, none_left, open, show_prompt, state_home, unknown, wanted,
};
use super::request;
use crate::args::PlanArgs;
use crate::commands::prd::report::{self, Shown};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::words::counted;

pub(super) fn force(force: bool) -> Force {
    if force { Force::Yes } else { Force::No }
}

pub(super) fn claim(
    plan: &PlanArgs,
    id: Option<&str>,
    story: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task claim");
    let tasks = open(plan, output)?;
    let fail = |error: TaskError, output: &mut Output| failure_in(plan, &error, output);
    let lease = tasks.lease(OwnerKind::Person);
    let lease = lease.map_err(|error| fail(error, output))?;
    let claimed = match id {
        Some(id) => tasks.claim(id, &lease).map(Ok),
        None => tasks.claim_next(&lease, &wanted(story)),
    };
    let claimed = match claimed.map_err(|error| fail(error, output))? {
        Ok(claimed) => claimed,
        Err(none) => {
            let board = look(&tasks, output)?.board;
            return none_left(plan, &board, none, output);
        }
    };
    tell_write_back(&claimed.write_back, output);
    let id = claimed.task.id;
    let view = look(&tasks, output)?;
    let Some(task) = view.board.find(&id) else {
        return Err(unknown(&view.board, &id));
    };
    output.talk(&format!(
        "claimed {id} for {}; it is yours until you complete, release or reset it, or until {}\n",
        lease.owner.name,
        home::local(lease.until_ms)
    ));
    show_prompt(&tasks, &view, task, output)
}

pub(super) fn complete(
    plan: &PlanArgs,
    id: &str,
    force: Force,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task complete");
    if let Some(folder) = request::folder() {
        return request::complete(&folder, id, force, output);
    }
    let tasks = open(plan, output)?;
    let done = tasks.complete(id, &caller(&tasks), force);
    let done = done.map_err(|error| failure_in(plan, &error, output))?;
    if done.is_submitted {
        output.data(&format!(
            "{id}: submitted; it is complete once the project's checks pass\n"
        ))?;
        return output
            .result(|| json!({ "task": id, "submitted": true }))
            .map(|()| Exit::Done);
    }
    let words = if done.was_complete {
        "was complete already"
    } else {
        "complete"
    };
    output.data(&format!("{id}: {words}\n"))?;
    tell_write_back(&done.write_back, output);
    let board = look(&tasks, output)?.board;
    let next = board.next(&|_| true);
    let line = match &next {
        Ok(task) => format!("next: {} {}\n", task.id, task.title),
        Err(none) => format!("next: none ({})\n", none.word()),
    };
    output.data(&line)?;
    output.result(|| {
        json!({
            "task": id,
            "wasComplete": done.was_complete,
            "next": next.as_ref().ok().map(|task| &task.id),
            "reason": next.as_ref().err().map(|none| none.word()),
        })
    })?;
    Ok(Exit::Done)
}

pub(super) fn reset(
    plan: &PlanArgs,
    id: &str,
    force: Force,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task reset");
    let tasks = open(plan, output)?;
    let reset = tasks.reset(id, &caller(&tasks), force);
    let write_back = reset.map_err(|error| failure_in(plan, &error, output))?;
    tell_write_back(&write_back, output);
    output.data(&format!("{id}: reset; anybody can claim it\n"))?;
    output.result(|| json!({ "task": id }))?;
    Ok(Exit::Done)
}

pub(super) fn release(
    plan: &PlanArgs,
    id: &str,
    force: Force,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task release");
    let tasks = open(plan, output)?;
    let released = tasks.release(id, &caller(&tasks), force, "released by hand");
    released.map_err(|error| failure_in(plan, &error, output))?;
    output.data(&format!("{id}: released\n"))?;
    output.result(|| json!({ "task": id }))?;
    Ok(Exit::Done)
}

/// The graph is the one that is named, or the usual one, which need not be there yet.
pub(super) fn refresh(
    plan: &PlanArgs,
    tickets: Option<&Path>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("task refresh");
    request::refuse_inside_jail()?;
    let found = Place::work_tree(&plan.project);
    let (root, _) = found.map_err(|error| failure(&error, output))?;
    let usual = || tasks::GRAPH_FILES.iter().map(|name| root.join(name));
    let graph = match &plan.prd {
        Some(named) => plan.project.join(named),
        None => usual()
            .find(|path| path.is_file())
            .unwrap_or_else(|| root.join(tasks::GRAPH_FILES[0])),
    };
    let folder = ticket_folder(&root, tickets)?;
    let place = Place::find(&plan.project, Some(&graph));
    let home = state_home()?;
    let refreshed = place
        .and_then(|place| Tasks::open(&home, place))
        .and_then(|tasks| tasks.refresh(&folder));
    let (made, file) = refreshed.map_err(|error| failure(&error, output))?;
    report::talk_about(&file.reading, Shown::Some, output);
    output.data(&format!(
        "{}: {}\n",
        graph.display(),
        counted(made.n_tasks, "task", "tasks")
    ))?;
    output.result(|| json!({ "graph": graph, "tasks": made.n_tasks }))?;
    output.next(NextAction::new(
        format!("loopwright task status{}", plan.flags()),
        "see where all tasks stand",
    ));
    Ok(Exit::Done)
}

fn ticket_folder(root: &Path, named: Option<&Path>) -> Result<PathBuf, Failure> {
    let usual = || TICKET_FOLDERS.iter().map(|name| root.join(name));
    let found = match named {
        Some(named) => Some(std::path::absolute(named).unwrap_or_else(|_| named.to_owned())),
        None => usual().find(|folder| folder.is_dir()),
    };
    found.ok_or_else(|| {
        Failure::bad_input("there is no folder of tickets").hint(format!(
            "name one with --tickets FOLDER; it is looked for in {}",
            TICKET_FOLDERS.join(", ")
        ))
    })
}

/// A file that could not be changed is told; the store has the state all the same.
fn tell_write_back(write_back: &WriteBack, output: &mut Output) {
    if let WriteBack::LeftAlone { why } = write_back {
        output.talk(&format!(
            "warning: the plan's file was not changed: {why}\n"
        ));
    }
}
