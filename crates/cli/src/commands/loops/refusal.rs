//! Why a loop does not take a request, in words of people: how it stands, and what can be asked of
//! it instead.

use journal::Journal;
use views::{LoopView, loop_view};

use super::load;
use crate::failure::Failure;

/// The failure of a request that was not recorded.
pub(super) fn refused(
    journal: &Journal,
    loop_id: &str,
    verb: &str,
    error: &home::RequestError,
) -> Failure {
    let home::RequestError::Illegal(illegal) = error else {
        return Failure::environment(&format!("cannot {verb} loop {loop_id}"), error);
    };
    match load(journal, loop_id) {
        Ok(loaded) => explained(verb, &illegal.why, &loop_view(&loaded.state)),
        Err(failure) => failure,
    }
}

fn explained(verb: &str, why: &str, view: &LoopView) -> Failure {
    let (id, status) = (&view.loop_id, view.status);
    let status_verb = format!("`loopwright status {id}` shows how it stands");
    match status {
        "completed" | "cancelled" | "failed" => {
            let failure = Failure::bad_input(format!(
                "loop {id} is over ({status}), so there is nothing to {verb}"
            ));
            let (project, prd) = (&view.project, &view.prd_path);
            let again = format!("loopwright start --project {project} --prd {prd}");
            failure
                .hint(status_verb)
                .hint(format!("a new loop does what is still open: {again}"))
        }
        _ if verb == "answer" && view.questions.is_empty() => {
            let failure = Failure::bad_input(format!("loop {id} asks nothing now; it is {status}"));
            failure.hint(match status {
                "paused" => format!("`loopwright resume {id}` continues it"),
                "waiting" => format!("`loopwright resume {id}` ends the wait"),
                _ => format!("`loopwright watch {id}` follows it until it asks or ends"),
            })
        }
        _ if verb == "answer" => {
            let failure = Failure::bad_input(format!("loop {id}: {why}"));
            view.questions.iter().fold(failure, |failure, question| {
                let (story, choices) = (&question.story_id, question.choices.join("|"));
                failure.hint(format!("loopwright answer {id} --story {story} {choices}"))
            })
        }
        _ => Failure::bad_input(format!("loop {id}: {why}")).hint(status_verb),
    }
}
