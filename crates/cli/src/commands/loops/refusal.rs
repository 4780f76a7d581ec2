//! Why a loop does not take a request, in words of people: how it stands, and what can be asked of
//! it instead.

use home::RequestError;
use kernel::State;
use views::{LoopView, loop_view};

use super::answer_words;
use crate::failure::Failure;

/// The failure of a request to a loop that stands like this.
pub(super) fn refused(state: &State, verb: &str, error: &RequestError) -> Failure {
    match error {
        RequestError::Illegal(illegal) => explained(verb, &illegal.why, &loop_view(state)),
        RequestError::Load(_) | RequestError::Append(_) | RequestError::Json(_) => {
            let loop_id = &state.spec().loop_id;
            Failure::environment(&format!("cannot {verb} loop {loop_id}"), error)
        }
    }
}

/// The failure of an answer without words: what is asked, and what can be said.
pub(super) fn unanswered(state: &State) -> Failure {
    let view = loop_view(state);
    let why = match view.questions.first() {
        Some(question) => format!("an answer is missing to: {}", question.text),
        None => "an answer is missing".to_owned(),
    };
    explained("answer", &why, &view)
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
                let (story, choices) = (&question.story_id, answer_words::typed(question));
                failure.hint(format!("loopwright answer {id} --story {story} {choices}"))
            })
        }
        _ => Failure::bad_input(format!("loop {id}: {why}")).hint(status_verb),
    }
}
