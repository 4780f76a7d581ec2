//! Questions and their answers stay in the report of their story.

use kernel::{Event, Flow, Stage};
use serde_json::{Value, json};
use views::story_report;

use crate::support::{Played, cancel, checked, question, spec, worked};

fn asking() -> Played {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played
        .end(Stage::Baseline, checked())
        .end(Stage::Implement, question(true));
    played
}

fn answered(choice: &str) -> Event {
    Event::Answered {
        choice: choice.to_owned(),
        story: None,
    }
}

/// Of each question: who asked, what became of it, and whether it is open.
fn questions(played: &Played) -> Value {
    let report = story_report(&played.records, "a").expect("the story");
    let one = |asked: &views::AskedReport| {
        json!([
            asked.attempt,
            asked.stage,
            asked.agent,
            asked.text,
            asked.answer,
            asked.is_open
        ])
    };
    report.questions.iter().map(one).collect()
}

#[test]
fn a_question_is_told_with_its_answer() {
    let mut played = asking();
    let asked = json!([1, "implement", "codex", "which colour?", null, true]);
    assert_eq!(questions(&played), json!([asked]));
    played.record(answered("blue, please"));
    let blue = json!([
        1,
        "implement",
        "codex",
        "which colour?",
        "blue, please",
        false
    ]);
    assert_eq!(questions(&played), json!([blue]));
    // It may ask the same again, and be answered otherwise.
    played
        .end(Stage::Implement, question(true))
        .record(answered("retry"))
        .end(Stage::Implement, worked())
        .end(Stage::Check, checked())
        .judge(true)
        .settle();
    let again = json!([1, "implement", "codex", "which colour?", "retry", false]);
    assert_eq!(questions(&played), json!([blue, again]));
    let report = json!(story_report(&played.records, "a").expect("the story"));
    let told = &report["questions"][0];
    assert_eq!(told["open"], false, "{report}");
    assert!(
        told["askedAt"].is_string() && told["answeredAt"].is_string(),
        "{report}"
    );
}

#[test]
fn a_question_that_was_overtaken_has_no_answer() {
    let mut cancelled = asking();
    cancelled.record(cancel()).settle();
    let never = json!([1, "implement", "codex", "which colour?", null, false]);
    assert_eq!(questions(&cancelled), json!([never]));
    let mut ended = asking();
    ended.record(answered("cancel")).settle();
    let by_answer = json!([1, "implement", "codex", "which colour?", "cancel", false]);
    assert_eq!(questions(&ended), json!([by_answer]));
}

#[test]
fn a_candidate_that_a_person_must_approve_is_a_question_of_the_loop() {
    let mut played = Played::start(spec(Flow::Judged, &["a"]));
    played.ask = Some("may it change .mcp.json?".to_owned());
    played.attempt(true).record(answered("approve")).settle();
    let approved = json!([1, null, null, "may it change .mcp.json?", "approve", false]);
    assert_eq!(questions(&played), json!([approved]));
}
