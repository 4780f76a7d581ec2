//! Asking a loop for something: a request in the journal, and a worker to answer it.

use home::Home;
use kernel::{Event, State, StoryId};

use super::lookup::{find, load, open};
use super::refusal::refused;
use super::{keys, marks, publishing, serve};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

/// Goes on with a loop. One that is over goes on publishing what it accepted. A branch that somebody
/// removed is made again, and states that the PRD lacks are written into it.
pub(super) fn resume(id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("resume");
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    let state = load(&journal, &loop_id)?.state;
    let event = if state.ended().is_some() && state.unpublished().is_some() {
        Event::PublishRequested
    } else {
        Event::ResumeRequested
    };
    let goes_on = home::takes(&state, &event);
    let restored = restore(&home, &state, output).or_else(|failure| {
        if !goes_on {
            return Err(failure);
        }
        // It goes on without that, as it did until now.
        output.say(&failure);
        Ok(Vec::new())
    })?;
    if restored.is_empty() || goes_on {
        return ask(&loop_id, &event, "resume", output);
    }
    output.result(|| serde_json::json!({ "loopId": loop_id, "restored": restored }))?;
    output.next(NextAction::new(
        format!("loopwright status {loop_id}"),
        "see where the loop stands",
    ));
    Ok(Exit::Done)
}

/// Whether `resume` has something to do for a loop that is over.
pub(super) fn has_left(home: &Home, state: &State) -> bool {
    state.unpublished().is_some()
        || publishing::lost_branch(home, state).is_some()
        || marks::fault(state).is_some()
}

/// Brings back what a loop had given the person and is not there any more; says what it was.
fn restore(home: &Home, state: &State, output: &mut Output) -> Result<Vec<&'static str>, Failure> {
    let spec = state.spec();
    let (loop_id, mut restored) = (&spec.loop_id, Vec::new());
    if publishing::bring_back(home, state)? {
        let (branch, head) = (&spec.branch, &state.confirmed().as_str()[..12]);
        output.data(&format!(
            "{loop_id}: the branch {branch} was made again at {head}\n"
        ))?;
        restored.push("branch");
    }
    let stories = marks::write_down(state).map_err(|why| Failure {
        exit: Exit::Environment,
        message: format!("cannot write into the PRD {}: {why}", spec.prd_path),
        hints: Vec::new(),
    })?;
    if !stories.is_empty() {
        let ids: Vec<&str> = stories.iter().map(StoryId::as_str).collect();
        output.data(&format!(
            "{loop_id}: the state of {} was written into {}\n",
            ids.join(", "),
            spec.prd_path
        ))?;
        restored.push("prd");
    }
    Ok(restored)
}

/// Writes a request and sees to it that a worker is there to answer it.
pub(super) fn ask(
    id: &str,
    event: &Event,
    verb: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command(verb);
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    if matches!(event, Event::ResumeRequested | Event::Answered { .. }) {
        let state = load(&journal, &loop_id)?.state;
        // The worker may take the request up at once, so the keys come first.
        if home::takes(&state, event) {
            keys::keep(&home, state.spec())?;
        }
    }
    if let Err(error) = home::request(&journal, &loop_id, event) {
        let state = load(&journal, &loop_id)?.state;
        return Err(refused(&state, verb, &error));
    }
    serve::ensure_worker(&home)?;
    let done = match event {
        Event::Answered { .. } => "the answer was recorded".to_owned(),
        _ => format!("{verb} was asked for"),
    };
    output.data(&format!("{loop_id}: {done}\n"))?;
    output.result(|| serde_json::json!({ "loopId": loop_id, "requested": verb }))?;
    output.next(NextAction::new(
        format!("loopwright status {loop_id}"),
        "see where the loop stands",
    ));
    Ok(Exit::Done)
}
