//! What all verbs over tasks share: the plan that is meant, who asks, and how answers look.

use std::collections::BTreeMap;

use ::tasks::{
    BadGraph, Board, Caller, NoTask, Place, Refusal, Status, Task, TaskError, Tasks, View,
    shell_word,
};
use home::Home;
use serde_json::{Value, json};

use super::request;
use crate::args::PlanArgs;
use crate::commands::prd::report::{self, Shown};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder;

pub(super) fn unknown(board: &Board, id: &str) -> Failure {
    let ids = board.tasks.iter().map(|task| task.id.as_str());
    let near = ::prd::nearest(id, ids).map(str::to_owned);
    let task = id.to_owned();
    refused(&Refusal::Unknown { task, near }, "")
}

/// Prints what an agent is told, and nothing else.
pub(super) fn show_prompt(
    tasks: &Tasks,
    view: &View,
    task: &Task,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let text = ::tasks::prompt_of(tasks.place(), view, task);
    output.data(&text)?;
    output.result(|| {
        let mut value = as_json(task);
        value["prompt"] = text.as_str().into();
        json!({ "task": value })
    })?;
    Ok(Exit::Done)
}

/// Says why there is no task: the word for programs, the reason for people.
pub(super) fn none_left(
    plan: &PlanArgs,
    board: &Board,
    none: NoTask,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let counts = counts(board);
    let line = match none {
        NoTask::AllComplete => "all tasks are complete".to_owned(),
        NoTask::AllBlocked => format!("no task is ready: {}", counts_line(&counts)),
    };
    output.talk(&format!("{}: {line}\n", none.word()));
    output.result(
        || json!({ "task": null, "reason": none.word(), "message": line, "counts": counts_json(&counts) }),
    )?;
    output.next(NextAction::new(
        format!("loopwright task status{}", plan.flags()),
        "see what is blocked, and by whom",
    ));
    Ok(Exit::Unfinished)
}

pub(super) fn wanted(story: Option<&str>) -> impl Fn(&Task) -> bool {
    let story = story.map(str::to_owned);
    move |task: &Task| story.as_deref().is_none_or(|story| task.is_of(story))
}

pub(super) fn state_home() -> Result<Home, Failure> {
    state_folder::home()
}

pub(super) fn open(plan: &PlanArgs, output: &mut Output) -> Result<Tasks, Failure> {
    request::refuse_inside_jail()?;
    let home = state_home()?;
    let surrounding = || Place::surrounding(&plan.project).filter(|_| plan.prd.is_none());
    let place = match surrounding() {
        Some(place) => Ok(place),
        None => Place::find(&plan.project, plan.prd.as_deref()),
    };
    place
        .and_then(|place| Tasks::open(&home, place))
        .map_err(|error| failure(&error, output))
}

/// Reads the plan and where its tasks stand, after the words were put right that the dead left in its
/// file. Words of living claims stay as they are.
pub(super) fn look(tasks: &Tasks, output: &mut Output) -> Result<View, Failure> {
    // What cannot be put right counts for nothing; why a plan cannot be read is said below.
    let _ = tasks.put_right();
    tasks.look().map_err(|error| failure(&error, output))
}

/// Who asks: an agent under its claim, or a person.
pub(super) fn caller(tasks: &Tasks) -> Caller {
    let variable = |name: &str| std::env::var(name).ok();
    let is_ours = variable("LOOPWRIGHT_TASK_KEY").as_deref() == Some(&tasks.place().key);
    let claim = variable("LOOPWRIGHT_TASK_CLAIM").filter(|_| is_ours);
    match claim.and_then(|claim| claim.parse().ok()) {
        Some(claim) => Caller::Holder { claim },
        None => Caller::person(),
    }
}

/// Says what is wrong, with the places in the plan where it has some.
pub(crate) fn failure(error: &TaskError, output: &mut Output) -> Failure {
    if let TaskError::BadGraph(BadGraph::Wrong(file)) = error {
        report::talk_about(&file.reading, Shown::Some, output);
    }
    failure_of(error)
}

/// The same for a verb that may be refused: the commands that it names are for the plan that was named.
pub(super) fn failure_in(plan: &PlanArgs, error: &TaskError, output: &mut Output) -> Failure {
    match error {
        TaskError::Refused(refusal) => refused(refusal, &plan.flags()),
        other => failure(other, output),
    }
}

/// The same in one message.
pub(crate) fn failure_of(error: &TaskError) -> Failure {
    match error {
        TaskError::NoGraph { .. } => Failure::bad_input(error.to_string()).hint(format!(
            "name one with --prd FILE, or create {} (`loopwright task refresh` builds it from tickets)",
            tasks::GRAPH_FILES[0]
        )),
        TaskError::NoRepository { .. } => {
            Failure::bad_input(error.to_string()).hint("`git init` makes a repository")
        }
        TaskError::BadGraph(_) => Failure::bad_input(error.to_string()),
        TaskError::Refused(refusal) => refused(refusal, ""),
        TaskError::Store(_)
        | TaskError::Read(_)
        | TaskError::Append(_)
        | TaskError::Record { .. }
        | TaskError::Busy { .. }
        | TaskError::Io { .. }
        | TaskError::Process(_) => Failure::environment("cannot use the claim store", error),
    }
}

/// `plan` is the flags that name the plan.
fn refused(refusal: &Refusal, plan: &str) -> Failure {
    let failure = Failure {
        exit: match refusal {
            Refusal::Unknown { .. } => Exit::BadInput,
            _ => Exit::Unfinished,
        },
        message: refusal.to_string(),
        hints: Vec::new(),
    };
    match refusal {
        Refusal::Held { task, .. } => failure.hint(format!(
            "wait until it is done, or take it over: `loopwright task reset {}{plan} --force`",
            shell_word(task)
        )),
        Refusal::Output { .. } => {
            failure.hint("create it, or complete the task anyway with --force")
        }
        Refusal::Complete { task } => failure.hint(format!(
            "`loopwright task reset {}{plan}`",
            shell_word(task)
        )),
        Refusal::Unknown { .. }
        | Refusal::Waits { .. }
        | Refusal::SetAside { .. }
        | Refusal::Lost { .. }
        | Refusal::NotHeld { .. } => failure,
    }
}

/// A task as programs see it.
pub(crate) fn as_json(task: &Task) -> Value {
    let mut value = json!({
        "id": task.id,
        "title": task.title,
        "status": task.status.word(),
        "priority": task.priority.map(|priority| priority.to_string()),
        "dependsOn": task.depends_on,
        "milestones": task.milestones,
        "story": task.story,
        "output": task.outputs,
        "failures": task.failures,
    });
    add_holder(&mut value, task);
    value
}

/// The statuses that are always counted, in the order in which people read them.
const STATUSES: [&str; 5] = ["complete", "in_progress", "failed", "ready", "blocked"];

/// How many tasks have which status.
pub(super) fn counts(board: &Board) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for word in STATUSES {
        counts.insert(word, 0);
    }
    for task in &board.tasks {
        *counts.entry(task.status.word()).or_default() += 1;
    }
    counts
}

/// The counts as programs see them, under names of the envelope's form.
pub(super) fn counts_json(counts: &BTreeMap<&'static str, usize>) -> Value {
    let name = |word: &str| match word {
        "in_progress" => "inProgress".to_owned(),
        "wont-fix" => "wontFix".to_owned(),
        word => word.to_owned(),
    };
    let pairs = counts.iter().map(|(word, n)| (name(word), json!(n)));
    Value::Object(pairs.collect())
}

pub(super) fn counts_line(counts: &BTreeMap<&'static str, usize>) -> String {
    let rank = |word: &str| STATUSES.iter().position(|known| *known == word);
    let mut seen: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
    // What is set aside comes last.
    seen.sort_by_key(|(word, _)| rank(word).unwrap_or(STATUSES.len()));
    let words: Vec<String> = seen
        .into_iter()
        .map(|(word, n)| format!("{n} {}", spaced(word)))
        .collect();
    words.join(", ")
}

fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// Who holds a task and since when, or why it is not ready.
fn add_holder(value: &mut Value, task: &Task) {
    match &task.status {
        Status::InProgress(lease) => {
            value["heldBy"] = lease.owner.words().into();
            value["host"] = lease.owner.host.as_str().into();
            value["pid"] = lease.owner.process.as_ref().map(|own| own.pid).into();
            value["worktree"] = lease.owner.worktree.display().to_string().into();
            value["since"] = iso(lease.since_ms).into();
            value["until"] = iso(lease.until_ms).into();
        }
        Status::Failed(kept) => {
            value["why"] = kept.why.as_str().into();
            value["failedAt"] = iso(kept.at_ms).into();
        }
        Status::Blocked(on) => value["blockedBy"] = json!(on),
        Status::Complete | Status::Ready | Status::SetAside(_) => {}
    }
    if let Some(stale) = &task.stale {
        value["staleClaimOf"] = stale.owner.words().into();
        value["staleSince"] = iso(stale.since_ms).into();
    }
    if task.is_passed_in_file && task.status != Status::Complete {
        value["fileSaysComplete"] = true.into();
    }
}

fn iso(at_ms: i64) -> String {
    home::iso(at_ms)
}
