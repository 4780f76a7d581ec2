//! `loopwright nuke`: removes everything of a loop that is over.

use home::{ENTRIES_MAX, Home, disk_use};
use journal::Journal;
use serde_json::{Value, json};

use super::lookup::{find, load, open};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;
use crate::words::{counted, room};

/// How to remove.
pub(super) struct Way {
    /// Also what has accepted commits that are nowhere else.
    pub(super) force: bool,
    pub(super) dry_run: bool,
}

/// What became of one loop.
enum Fate {
    Removed,
    /// It may not be removed.
    Kept(Failure),
    /// It could not be removed.
    Failed(Failure),
}

pub(super) fn run(what: &str, way: &Way, output: &mut Output) -> Result<Exit, Failure> {
    output.command("nuke");
    let home = home()?;
    let journal = open(&home)?;
    let all_dead = what == "dead";
    let doomed = if all_dead {
        dead(&journal)?
    } else {
        vec![find(&journal, what)?]
    };
    let (mut removed, mut kept, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for loop_id in doomed {
        match remove(&home, &journal, &loop_id, way) {
            Fate::Removed => {
                output.data(&removed_line(&home, &loop_id, way))?;
                removed.push(loop_id);
            }
            // Whoever names one loop wants that one.
            Fate::Kept(failure) | Fate::Failed(failure) if !all_dead => return Err(failure),
            // One that must stay, or cannot go, keeps nobody from removing the others.
            Fate::Kept(failure) => {
                output.data(&format!("kept    {}\n", failure.message))?;
                kept.push((loop_id, failure));
            }
            Fate::Failed(failure) => {
                output.data(&format!("failed  {loop_id}: {}\n", failure.message))?;
                failed.push((loop_id, failure));
            }
        }
    }
    if removed.is_empty() && kept.is_empty() && failed.is_empty() {
        output.talk("there is nothing to remove\n");
    }
    if !kept.is_empty() {
        let loops = counted(kept.len(), "loop was", "loops were");
        output.talk(&format!(
            "{loops} kept; `--force` removes what is nowhere else too\n"
        ));
    }
    let all = |list: &[(String, Failure)]| -> Vec<Value> { list.iter().map(told).collect() };
    output.result(|| {
        json!({ "dryRun": way.dry_run, "removed": removed, "kept": all(&kept),
                "failed": all(&failed) })
    })?;
    Ok(summed_up(failed, output))
}

fn removed_line(home: &Home, loop_id: &str, way: &Way) -> String {
    if way.dry_run {
        let found = disk_use(&home.loop_folder(loop_id), ENTRIES_MAX);
        return format!("would remove  {loop_id}  {}\n", room(found));
    }
    format!("removed {loop_id}; its branch in your repository, if any, is still there\n")
}

/// The exit code: what may not be removed is no failure, what could not be is one.
fn summed_up(failed: Vec<(String, Failure)>, output: &mut Output) -> Exit {
    if failed.is_empty() {
        return Exit::Done;
    }
    let failure = Failure {
        exit: Exit::Unfinished,
        message: format!(
            "{} not be removed",
            counted(failed.len(), "loop could", "loops could")
        ),
        hints: failed.into_iter().flat_map(|(_, why)| why.hints).collect(),
    };
    output.say(&failure);
    output.bad_news(failure);
    Exit::Unfinished
}

fn told((loop_id, failure): &(String, Failure)) -> Value {
    json!({ "loopId": loop_id, "why": failure.message, "hints": failure.hints })
}

/// All loops that are over.
fn dead(journal: &Journal) -> Result<Vec<String>, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let is_over = |loop_id: &String| {
        load(journal, loop_id).is_ok_and(|loaded| loaded.state.ended().is_some())
    };
    Ok(rows
        .into_iter()
        .map(|row| row.loop_id)
        .filter(is_over)
        .collect())
}

fn remove(home: &Home, journal: &Journal, loop_id: &str, way: &Way) -> Fate {
    if let Err(failure) = may_go(home, journal, loop_id, way.force) {
        return Fate::Kept(failure);
    }
    if way.dry_run {
        return Fate::Removed;
    }
    match gone(home, journal, loop_id) {
        Ok(()) => Fate::Removed,
        Err(failure) => Fate::Failed(failure),
    }
}

/// A loop that is not over is refused: its processes would be left. One that cannot be read may go.
fn may_go(home: &Home, journal: &Journal, loop_id: &str, force: bool) -> Result<(), Failure> {
    let state = load(journal, loop_id).ok().map(|loaded| loaded.state);
    if let Some(why) = state
        .as_ref()
        .and_then(kernel::State::unpublished)
        .filter(|_| !force)
    {
        let failure = Failure::bad_input(format!(
            "loop {loop_id} has accepted commits that are nowhere else: {why}"
        ));
        let repository = home.repository(loop_id);
        return Err(failure.hint(format!(
            "fetch them from {}, or remove them with --force",
            repository.display()
        )));
    }
    if state.is_some_and(|state| state.ended().is_none()) {
        let failure = Failure::bad_input(format!("loop {loop_id} is not over"));
        return Err(failure.hint(format!("`loopwright cancel {loop_id}` ends it")));
    }
    Ok(())
}

fn gone(home: &Home, journal: &Journal, loop_id: &str) -> Result<(), Failure> {
    let folder = home.loop_folder(loop_id);
    home::remove_folder(&folder).map_err(|error| {
        Failure::environment(&format!("cannot remove `{}`", folder.display()), &error)
    })?;
    journal
        .remove(loop_id)
        .map_err(|error| Failure::environment("cannot remove the loop from the journal", &error))
}
