//! `loopwright answer ID WORD`: what a person decides, with the configuration and the keys that they
//! have now.

use kernel::{Choice, Event, StoryId};

use super::ask::ask;
use super::inside_run::refuse_inside_run;
use super::lookup::{find, load, open};
use super::named::story_in;
use super::refusal::unanswered;
use super::reload;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;

pub(super) fn run(
    id: &str,
    choice: Option<String>,
    story: Option<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("answer");
    let home = home()?;
    refuse_inside_run(&home, "answer")?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    let Some(choice) = choice else {
        return Err(unanswered(&load(&journal, &loop_id)?.state));
    };
    let story = match story {
        Some(story) => Some(story_in(&load(&journal, &loop_id)?.state, &story)?),
        None => None,
    };
    let event = Event::Answered {
        choice,
        story: story.map(StoryId::from),
    };
    if makes_a_run_go_again(&event) {
        let state = load(&journal, &loop_id)?.state;
        // An answer that is not taken changes nothing at all.
        if home::takes(&state, &event) {
            for change in reload::edited(&home, &journal, &state)? {
                output.talk(&format!("{change}\n"));
            }
        }
    }
    ask(&loop_id, &event, "answer", output)
}

/// Whether a run is tried again, for which an edit of the configuration counts.
fn makes_a_run_go_again(event: &Event) -> bool {
    let ends = [
        Choice::Skip,
        Choice::Cancel,
        Choice::Approve,
        Choice::Reject,
    ];
    matches!(event, Event::Answered { choice, .. } if !ends.iter().any(|end| end.word() == choice))
}
