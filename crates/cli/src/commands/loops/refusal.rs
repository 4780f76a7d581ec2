//! Why a loop does not take a request, in words of people: how it stands, and what can be asked of
//! it instead.

use home::RequestError;
use kernel::{State, StoryStatus};
use tasks::shell_word;
use views::{LoopView, loop_view};

use super::lookup::open;
use super::{answer_words, passed};
use crate::failure::Failure;
use crate::state_folder::home;

/// The failure of a request to a loop that stands like this.
pub(super) fn refused(state: &State, verb: &str, error: &RequestError) -> Failure {
    match error {
        RequestError::Illegal(_) if state.ended().is_some() => over(state, verb),
        RequestError::Illegal(illegal) => explained(verb, &illegal.why, &loop_view(state)),
        RequestError::Load(_) | RequestError::Append(_) | RequestError::Json(_) => {
            let loop_id = &state.spec().loop_id;
            Failure::environment(&format!("cannot {verb} loop {loop_id}"), error)
        }
    }
}

/// The failure of an answer without words where nothing is asked, of the whole loop or of one story.
pub(super) fn unanswered(state: &State, story: Option<&str>) -> Failure {
    if state.ended().is_some() {
        return over(state, "answer");
    }
    let why = match story {
        Some(story) => format!("story `{story}` asks nothing"),
        None => "nobody asked".to_owned(),
    };
    explained("answer", &why, &loop_view(state))
}

/// The failure of a request to a loop that is over, and what can be done instead.
pub(super) fn over(state: &State, verb: &str) -> Failure {
    let view = loop_view(state);
    let (id, status) = (&view.loop_id, view.status);
    let failure = Failure::bad_input(format!(
        "loop {id} is over ({status}), so there is nothing to {verb}"
    ));
    let hints = instead(state, &view).into_iter();
    hints.fold(failure, Failure::hint)
}

/// What can be done about a loop that is over. Nobody should type a command that is refused again.
pub(super) fn instead(state: &State, view: &LoopView) -> Vec<String> {
    let id = &view.loop_id;
    let mut hints = vec![format!("`loopwright status {id}` shows how it stands")];
    let Ok(home) = home() else {
        return hints;
    };
    let skipped = state.stories().iter();
    let mut skipped = skipped.filter(|story| matches!(story.status, StoryStatus::Skipped { .. }));
    let is_kept = home.repository(id).is_dir();
    if let Some(story) = skipped.next().filter(|_| is_kept) {
        let story = shell_word(story.spec.id.as_str());
        hints.push(format!(
            "`loopwright retry {id} {story}` tries a story again that was set aside"
        ));
    }
    if state.stories().iter().any(|story| is_left(&story.status)) {
        let (project, prd) = (shell_word(&view.project), shell_word(&view.prd_path));
        // Without the branch, `start` would ask where the accepted work is.
        let onto = open(&home).ok();
        let onto = onto.and_then(|journal| passed::onto(&journal, state));
        let onto = onto.map(|branch| format!(" --onto {}", shell_word(&branch)));
        let onto = onto.unwrap_or_default();
        hints.push(format!(
            "a new loop does what is still open: loopwright start --project {project} --prd {prd}{onto}"
        ));
    }
    hints
}

/// Whether a story is open in the PRD when its loop is over.
fn is_left(status: &StoryStatus) -> bool {
    match status {
        StoryStatus::Pending
        | StoryStatus::Active(_)
        | StoryStatus::Blocked { .. }
        | StoryStatus::Taken { .. } => true,
        StoryStatus::Passed(_) | StoryStatus::Skipped { .. } | StoryStatus::SetAside => false,
    }
}

fn explained(verb: &str, why: &str, view: &LoopView) -> Failure {
    let (id, status) = (&view.loop_id, view.status);
    let status_verb = format!("`loopwright status {id}` shows how it stands");
    if verb == "answer" && view.questions.is_empty() {
        let failure = Failure::bad_input(format!("loop {id} asks nothing now; it is {status}"));
        return failure.hint(match status {
            "paused" => format!("`loopwright resume {id}` continues it"),
            "waiting" => format!("`loopwright resume {id}` ends the wait"),
            _ => format!("`loopwright watch {id}` follows it until it asks or ends"),
        });
    }
    let failure = Failure::bad_input(format!("loop {id}: {why}"));
    if verb == "answer" {
        return view.questions.iter().fold(failure, |failure, question| {
            let choices = answer_words::typed(question);
            failure.hint(answer_words::command(id, question, &choices))
        });
    }
    failure.hint(status_verb)
}
