//! What an agent is told of its task. Pure.

use std::fmt::Write as _;

use prd::Story;

use crate::board::Task;
use crate::place::Place;
use crate::store::View;

/// What an agent is told of a task of this plan.
pub fn prompt_of(place: &Place, view: &View, task: &Task) -> String {
    let plan = if place.is_usual() {
        String::new()
    } else {
        format!(" --prd {}", shell_word(&place.name()))
    };
    let complete = format!("loopwright task complete {}{plan}", shell_word(&task.id));
    let mut stories = view.plan.stories.iter();
    let story = stories.find(|story| story.id.as_str() == task.id);
    story.map_or_else(String::new, |story| prompt(story, &task.outputs, &complete))
}

/// A word as a shell takes it for itself.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@+%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The prompt of one task. `complete` is the command that completes it.
fn prompt(story: &Story, outputs: &[String], complete: &str) -> String {
    let mut out = format!("# Task {}: {}\n", story.id, story.title);
    // Writing to a String cannot fail.
    if !story.description.trim().is_empty() {
        let _ = write!(out, "\n{}\n", story.description.trim_end());
    }
    let told = |text: &str| text == story.title || text == story.description.trim();
    let criteria: Vec<&str> = story
        .criteria
        .iter()
        .map(|criterion| criterion.text.as_str())
        .filter(|text| !told(text))
        .collect();
    list(&mut out, "It is done when", &criteria);
    if let Some(notes) = &story.notes {
        let _ = write!(out, "\n## Notes\n\n{}\n", notes.trim_end());
    }
    let files: Vec<&str> = story.files.iter().map(String::as_str).collect();
    list(&mut out, "Files", &files);
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    list(&mut out, "It must produce", &outputs);
    let _ = write!(
        out,
        "\n## When you are done\n\nWork on this task only. When everything above is true, run this command:\n\n    {complete}\n\nIf you cannot finish it, say why and do not run that command.\n"
    );
    out
}

fn list(out: &mut String, title: &str, lines: &[&str]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "\n## {title}\n\n");
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}
