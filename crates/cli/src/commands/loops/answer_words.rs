//! What a question can be answered with, in the words of every place that says so.

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
