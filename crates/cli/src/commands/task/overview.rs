//! `loopwright task status`: where all tasks of a plan stand.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tasks::{Board, Status, Task, shell_word};

use super::common::{as_json, counts, counts_json, counts_line, look, open};
use crate::args::PlanArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::words::{counted, visible_line};

pub(super) fn run(plan: &PlanArgs, output: &mut Output) -> Result<Exit, Failure> {
    output.command("task status");
    let tasks = open(plan, output)?;
    let view = look(&tasks, output)?;
    let board = &view.board;
    output.data(&as_text(&tasks.place().name(), &plan.flags(), board))?;
    output.result(|| {
        let all: Vec<Value> = board.tasks.iter().map(as_json).collect();
        json!({
            "graph": tasks.place().name(),
            "counts": counts_json(&counts(board)),
            "byMilestone": as_list(by_milestone(board)),
            "byPriority": as_list(by_priority(board)),
            "ready": board.ready().iter().map(|task| &task.id).collect::<Vec<_>>(),
            "tasks": all,
        })
    })?;
    Ok(Exit::Done)
}

/// Complete and all tasks of each milestone.
fn by_milestone(board: &Board) -> BTreeMap<String, Share> {
    let names = |task: &Task| task.milestones.clone();
    shares(board, names)
}

fn by_priority(board: &Board) -> BTreeMap<String, Share> {
    let name = |task: &Task| {
        let priority = task.priority.map(|priority| priority.to_string());
        vec![priority.unwrap_or_else(|| "none".to_owned())]
    };
    shares(board, name)
}

fn as_list(shares: BTreeMap<String, Share>) -> Vec<Value> {
    let pairs = shares.into_iter();
    pairs
        .map(|(name, share)| {
            json!({ "name": name, "complete": share.complete, "total": share.total })
        })
        .collect()
}

#[derive(Debug, Default)]
struct Share {
    complete: usize,
    total: usize,
}

fn shares(board: &Board, names: impl Fn(&Task) -> Vec<String>) -> BTreeMap<String, Share> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    for task in &board.tasks {
        for name in names(task) {
            let share = shares.entry(name).or_default();
            share.total += 1;
            share.complete += usize::from(task.status == Status::Complete);
        }
    }
    shares
}

/// `plan` is the flags that name the plan, for the commands that are named.
fn as_text(name: &str, plan: &str, board: &Board) -> String {
    let mut out = format!(
        "{name}: {}: {}\n",
        counted(board.tasks.len(), "task", "tasks"),
        counts_line(&counts(board))
    );
    share_lines(&mut out, "milestone", &by_milestone(board));
    share_lines(&mut out, "priority", &by_priority(board));
    let ready: Vec<String> = board.ready().iter().map(|task| line(task)).collect();
    section(&mut out, "Ready, next one first", &ready);
    let of = |pick: &dyn Fn(&Task) -> Option<String>| -> Vec<String> {
        board.tasks.iter().filter_map(pick).collect()
    };
    let in_progress = of(&|task| match &task.status {
        Status::InProgress(lease) => Some(format!(
            "{}\n      by {} since {}",
            line(task),
            lease.owner.words(),
            home::local(lease.since_ms)
        )),
        _ => None,
    });
    section(&mut out, "In progress", &in_progress);
    let failed = of(&|task| match &task.status {
        Status::Failed(kept) => Some(format!(
            "{}\n      {} ({}); `loopwright task reset {}{plan}` makes it available again",
            line(task),
            visible_line(&kept.why),
            home::local(kept.at_ms),
            shell_word(&task.id)
        )),
        _ => None,
    });
    section(&mut out, "Failed, waiting for a person", &failed);
    let stale = of(&|task| {
        let stale = task.stale.as_ref()?;
        Some(format!(
            "{}\n      claimed by {} at {}, and the holder is gone: anybody can claim it",
            line(task),
            stale.owner.words(),
            home::local(stale.since_ms)
        ))
    });
    section(&mut out, "Stale claims", &stale);
    let blocked = of(&|task| match &task.status {
        Status::Blocked(on) => Some(format!("{}  (waits for {})", line(task), on.join(", "))),
        _ => None,
    });
    section(&mut out, "Blocked, and by what", &blocked);
    let aside = of(&|task| match &task.status {
        Status::SetAside(word) => Some(format!("{}  ({})", line(task), word.word())),
        _ => None,
    });
    section(&mut out, "Set aside in the file", &aside);
    let differing = of(&|task| {
        let differs = task.is_passed_in_file && task.status != Status::Complete;
        differs.then(|| line(task))
    });
    let title = format!(
        "Marked complete in the file only, which does not count; `loopwright task complete ID{plan}` \
         completes it"
    );
    section(&mut out, &title, &differing);
    out
}

fn share_lines(out: &mut String, what: &str, shares: &BTreeMap<String, Share>) {
    for (name, Share { complete, total }) in shares {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  {what} {}: {complete} of {total} complete",
            one_line(name)
        );
    }
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}:");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

pub(super) fn line(task: &Task) -> String {
    format!("{}  {}", one_line(&task.id), one_line(&task.title))
}

fn one_line(text: &str) -> String {
    home::one_line(text)
}
