//! What a question can be answered with, in the words of every place that says so.

use tasks::shell_word;
use views::QuestionView;

/// All of it in a sentence.
pub(super) fn sentence(question: &QuestionView) -> String {
    let choices = question.choices.join(", ");
    if question.free {
        format!("{choices}, or your own words, which the agent is told")
    } else {
        choices
    }
}

/// All of it as one would type it.
pub(super) fn typed(question: &QuestionView) -> String {
    let choices = question.choices.join("|");
    if question.free {
        format!("{choices}|\"your own words\"")
    } else {
        choices
    }
}

/// The command that answers it, with this as the answer.
pub(super) fn command(loop_id: &str, question: &QuestionView, answer: &str) -> String {
    let story = shell_word(&question.story_id);
    format!("loopwright answer {loop_id} --story {story} {answer}")
}

/// The commands that answer it, one for each choice, as one can run them.
pub(super) fn commands(loop_id: &str, question: &QuestionView) -> Vec<String> {
    let own = question.free.then_some("\"your own words\"");
    let choices = question.choices.iter().map(String::as_str);
    let answers = choices.chain(own);
    let commands = answers.map(|answer| command(loop_id, question, answer));
    commands.collect()
}
