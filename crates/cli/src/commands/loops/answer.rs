//! `loopwright answer ID WORD`: what a person decides, with the configuration and the keys that they
//! have now. Without a word it shows what is asked.

use kernel::{Choice, Event, State, StoryId};
use serde_json::json;
use views::{QuestionView, loop_view};

use super::answer_words;
use super::ask::ask;
use super::inside_run::refuse_inside_run;
use super::lookup::{find, load, open};
use super::named::story_in;
use super::refusal::unanswered;
use super::reload;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::words::{counted, visible};

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
    let story = match story {
        Some(story) => Some(story_in(&load(&journal, &loop_id)?.state, &story)?),
        None => None,
    };
    let Some(choice) = choice else {
        let state = load(&journal, &loop_id)?.state;
        return show_questions(&state, story.as_deref(), output);
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

/// Shows every open question of a loop, or of one story, with the commands that answer it.
fn show_questions(
    state: &State,
    story: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let view = loop_view(state);
    let id = &view.loop_id;
    let is_wanted = |question: &&QuestionView| story.is_none_or(|story| question.story_id == story);
    let questions: Vec<&QuestionView> = view.questions.iter().filter(is_wanted).collect();
    if questions.is_empty() {
        return Err(unanswered(state, story));
    }
    let asks = counted(questions.len(), "question", "questions");
    output.data(&format!("loop {id} asks {asks}\n"))?;
    for question in &questions {
        let (story, text) = (&question.story_id, visible(question.text.trim_end()));
        let text = text.lines().collect::<Vec<_>>().join("\n  ");
        let mut lines = format!("\n{story}: {text}\n");
        for command in answer_words::commands(id, question) {
            lines.push_str(&format!("  {command}\n"));
        }
        output.data(&lines)?;
    }
    output.result(|| {
        let question = |question: &&QuestionView| {
            let mut value = json!(question);
            value["commands"] = json!(answer_words::commands(id, question));
            value
        };
        let questions: Vec<serde_json::Value> = questions.iter().map(question).collect();
        json!({ "loopId": id, "questions": questions })
    })?;
    for question in &questions {
        let text = &question.text;
        for command in answer_words::commands(id, question) {
            output.next(NextAction::new(command, text.clone()));
        }
    }
    Ok(Exit::NeedsHuman)
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
