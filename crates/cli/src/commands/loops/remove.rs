//! `loopwright nuke`: removes everything of a loop that is over.

use home::Home;
use journal::Journal;
use serde_json::{Value, json};

use super::lookup::{find, load, open};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;
use crate::words::counted;

pub(super) fn run(what: &str, force: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("nuke");
    let home = home()?;
    let journal = open(&home)?;
    let doomed = if what == "dead" {
        dead(&journal)?
    } else {
        vec![find(&journal, what)?]
    };
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for loop_id in doomed {
        match remove(&home, &journal, &loop_id, force) {
            Ok(()) => {
                output.data(&format!(
                    "{loop_id} is gone; its branch in your repository, if any, is still there\n"
                ))?;
                removed.push(loop_id);
            }
            // One that must stay keeps nobody from removing the others.
            Err(failure) if what == "dead" => {
                output.data(&format!("kept  {}\n", failure.message))?;
                kept.push((loop_id, failure));
            }
            Err(failure) => return Err(failure),
        }
    }
    if removed.is_empty() && kept.is_empty() {
        output.talk("there is nothing to remove\n");
    }
    let all = |kept: &[(String, Failure)]| -> Vec<Value> { kept.iter().map(kept_json).collect() };
    output.result(|| json!({ "removed": removed, "kept": all(&kept) }))?;
    if kept.is_empty() {
        return Ok(Exit::Done);
    }
    let failure = Failure {
        exit: Exit::Unfinished,
        message: format!(
            "{} kept; {} removed",
            counted(kept.len(), "loop was", "loops were"),
            removed.len()
        ),
        hints: kept.into_iter().flat_map(|(_, why)| why.hints).collect(),
    };
    output.say(&failure);
    output.bad_news(failure);
    Ok(Exit::Unfinished)
}

fn kept_json((loop_id, failure): &(String, Failure)) -> Value {
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

/// A loop that is not over is refused: its processes would be left. One that cannot be read may go.
fn remove(home: &Home, journal: &Journal, loop_id: &str, force: bool) -> Result<(), Failure> {
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
    let folder = home.loop_folder(loop_id);
    home::remove_folder(&folder).map_err(|error| {
        Failure::environment(&format!("cannot remove `{}`", folder.display()), &error)
    })?;
    journal
        .remove(loop_id)
        .map_err(|error| Failure::environment("cannot remove the loop from the journal", &error))
}
