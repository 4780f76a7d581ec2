//! Asking a loop for something: a request in the journal, and a worker to answer it.

use kernel::Event;

use super::lookup::{find, load, open};
use super::refusal::refused;
use super::{keys, publishing, serve};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

/// Goes on with a loop. One that is over goes on publishing what it accepted. A branch that somebody
/// removed is made again.
pub(super) fn resume(id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("resume");
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    let state = load(&journal, &loop_id)?.state;
    if publishing::bring_back(&home, &state)? {
        let (branch, head) = (&state.spec().branch, state.head().as_str());
        output.data(&format!(
            "{loop_id}: the branch {branch} was made again at {}\n",
            &head[..12]
        ))?;
        if !home::takes(&state, &Event::ResumeRequested) {
            output.result(
                || serde_json::json!({ "loopId": loop_id, "branch": branch, "headSha": head }),
            )?;
            output.next(NextAction::new(
                format!("git log {branch}"),
                "look at the accepted commits",
            ));
            return Ok(Exit::Done);
        }
    }
    let event = if state.ended().is_some() && state.unpublished().is_some() {
        Event::PublishRequested
    } else {
        Event::ResumeRequested
    };
    ask(&loop_id, &event, "resume", output)
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
    output.data(&format!("{loop_id}: {verb} was asked for\n"))?;
    output.result(|| serde_json::json!({ "loopId": loop_id, "requested": verb }))?;
    output.next(NextAction::new(
        format!("loopwright status {loop_id}"),
        "see where the loop stands",
    ));
    Ok(Exit::Done)
}
