//! Questions have an address: each belongs to one story, and an answer goes to one story.

use kernel::{Choice, Event, Flow, Question, RunOutcome, Stage, State, StoryStatus};

use crate::support::{
    Played, answered, asked, checked, ended, green, made, numbered_commit, spec, story, worked,
    written,
};

/// Two stories that both ask: `a` before its first run, `b` for its implementor.
fn two_asking() -> Played {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.flow = Flow::Judged;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played.begin("a");
    played.begin("b");
    played.end_stage_of("b", Stage::Baseline, checked(true));
    played.end_stage_of("a", Stage::Baseline, asked("which disk?"));
    played.end_stage_of("b", Stage::Implement, free("which colour?"));
    played
}

fn free(question: &str) -> RunOutcome {
    RunOutcome::NeedsHuman {
        question: question.to_owned(),
        free: true,
    }
}

fn answered_to(story: &str, choice: &str) -> Event {
    Event::Answered {
        choice: choice.to_owned(),
        story: Some(story.into()),
    }
}

const OF_RUN: &[Choice] = &[Choice::Retry, Choice::Skip, Choice::Cancel];

#[test]
fn every_story_that_asks_is_listed_with_its_stage() {
    let played = two_asking();
    let question = |story: &str, stage, text: &str, free| Question {
        story: story.into(),
        stage: Some(stage),
        text: text.to_owned(),
        choices: OF_RUN,
        free,
    };
    assert_eq!(
        played.state.questions(),
        [
            question("a", Stage::Baseline, "which disk?", false),
            question("b", Stage::Implement, "which colour?", true),
        ]
    );
    assert!(played.owed().is_empty(), "{:?}", played.owed_words());
}

#[test]
fn an_answer_without_a_story_is_refused_while_several_ask() {
    let mut played = two_asking();
    for choice in ["retry", "skip", "blue"] {
        let why = played.refused(answered(choice));
        assert_eq!(why, "several stories ask: a, b; name one", "{choice}");
    }
    played.record(answered_to("a", "retry"));
    played.answer("blue");
    assert_eq!(played.state.questions(), [], "only b was left to answer");
    assert_eq!(
        played.state.story("b").expect("b").answers,
        ["which colour?\nblue"]
    );
}

#[test]
fn an_answer_retries_only_the_story_that_it_names() {
    for (story, choice, expected) in [
        ("a", "retry", "start a attempt 1 baseline try 2"),
        ("b", "retry", "start b attempt 1 implement try 2"),
        ("b", "green", "start b attempt 1 implement try 2"),
        ("a", "skip", "skip a"),
        ("b", "skip", "skip b"),
    ] {
        let mut played = two_asking();
        played.record(answered_to(story, choice));
        assert_eq!(played.owed_words(), [expected], "{choice} to {story}");
        let left = played.state.questions();
        let left: Vec<&str> = left.iter().map(|one| one.story.as_str()).collect();
        let other = if story == "a" { "b" } else { "a" };
        assert_eq!(left, [other], "{choice} to {story}");
        let told = &played.state.story(other).expect("the other").answers;
        assert!(told.is_empty(), "{told:?}");
    }
}

#[test]
fn an_answer_to_a_story_that_does_not_ask_is_refused() {
    let mut played = two_asking();
    played.record(answered_to("a", "retry"));
    assert_eq!(
        played.refused(answered_to("a", "retry")),
        "story `a` asks nothing"
    );
    assert_eq!(
        played.refused(answered_to("nobody", "retry")),
        "story `nobody` asks nothing"
    );
}

#[test]
fn a_choice_that_is_not_offered_is_refused_with_the_ones_that_are() {
    let mut played = two_asking();
    assert_eq!(
        played.refused(answered_to("a", "maybe")),
        "`maybe` is none of retry, skip, cancel"
    );
}

/// A quartet whose implementor and test writer both ask.
fn two_lanes_asking() -> Played {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Quartet;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, asked("log in to codex?"));
    played.end_stage(Stage::WriteTests, asked("log in to rev?"));
    played
}

#[test]
fn one_answer_is_for_all_questions_of_one_story() {
    let mut played = two_lanes_asking();
    let questions = played.state.questions();
    let seen: Vec<_> = questions
        .iter()
        .map(|one| (one.stage, one.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (Some(Stage::Implement), "log in to codex?"),
            (Some(Stage::WriteTests), "log in to rev?"),
        ]
    );
    played.answer("retry");
    assert_eq!(
        played.owed_words(),
        [
            "start a attempt 1 implement try 2",
            "start a attempt 1 write-tests try 2"
        ]
    );
}

#[test]
fn a_story_is_not_set_aside_while_one_of_its_own_runs_is_under_way() {
    let mut played = two_lanes_asking();
    played.answer("retry");
    played.end_stage(Stage::Implement, asked("log in to codex?"));
    played.start_stage(None, Stage::WriteTests);
    let why = played.refused(answered("skip"));
    assert!(
        why.starts_with("another run of the story is under way"),
        "{why}"
    );
    played.end_stage(Stage::WriteTests, written());
    played.answer("skip");
    assert_eq!(played.owed_words(), ["skip a"]);
    // A run of another story is no hindrance.
    let mut played = two_asking();
    played.record(answered_to("a", "retry"));
    played.start_stage(Some("a"), Stage::Baseline);
    played.record(answered_to("b", "skip"));
    assert!(played.owed_words().contains(&"skip b".to_owned()));
}

/// A loop whose only candidate waits for a person.
fn to_approve() -> Played {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.end_stage(Stage::Implement, worked());
    let mut event = made("a", 1, numbered_commit(7));
    if let Event::CandidateMade { ask, .. } = &mut event {
        *ask = Some("it changes CI".to_owned());
    }
    played.record(event);
    played.end_stage(Stage::Check, green());
    let verdict = played.verdict(true);
    played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
    played
}

#[test]
fn a_cancelled_loop_shows_no_questions() {
    for mut played in [two_asking(), two_lanes_asking(), to_approve()] {
        assert!(!played.state.questions().is_empty());
        played.record(Event::CancelRequested {
            reason: "enough".to_owned(),
        });
        assert_eq!(played.state.questions(), []);
        played.settle();
        assert!(played.state.ended().is_some());
        assert_eq!(played.state.questions(), []);
    }
}

#[test]
fn a_loop_that_is_over_shows_no_questions() {
    let mut played = two_asking();
    played.record(Event::LoopEnded {
        reason: kernel::EndReason::Failed {
            why: "its repository is gone".to_owned(),
        },
    });
    assert_eq!(played.state.questions(), []);
    assert!(played.owed().is_empty());
}

/// Earlier versions showed the question still, and took an answer to it.
#[test]
fn an_old_journal_with_an_answer_after_a_cancel_still_replays() {
    for (mut played, choice) in [(two_lanes_asking(), "retry"), (to_approve(), "approve")] {
        played.record(Event::CancelRequested {
            reason: "enough".to_owned(),
        });
        played.answer(choice);
        let replayed = State::replay(&played.journal).expect("it replays");
        assert_eq!(replayed, played.state);
        played.settle();
        assert!(
            matches!(
                played.state.ended(),
                Some(kernel::EndReason::Cancelled { why }) if why == "enough"
            ),
            "the cancel stands, and nothing lands: {:?}",
            played.state.ended()
        );
        assert_eq!(played.state.head(), &played.state.spec().base);
    }
}

#[test]
fn cancel_is_an_answer_that_ends_the_loop_for_all_stories() {
    let mut played = two_asking();
    played.record(answered_to("b", "cancel"));
    played.settle();
    assert!(played.state.ended().is_some());
    let is_active = |story: &kernel::StoryProgress| matches!(story.status, StoryStatus::Active(_));
    assert!(played.state.stories().iter().all(is_active), "as they were");
}

#[test]
fn a_run_that_is_not_the_asking_one_is_not_retried_by_an_answer() {
    let mut played = two_lanes_asking();
    played.answer("retry");
    played.end_stage(Stage::Implement, asked("log in?"));
    let run = played.start_stage(None, Stage::WriteTests);
    played.answer("retry");
    assert_eq!(
        played.owed_words(),
        [
            "start a attempt 1 implement try 3",
            "run a attempt 1 write-tests try 2"
        ]
    );
    played.record(ended(run, written()));
}

/// A story whose candidate cannot be made, because the loop's repository is damaged.
fn hindered() -> Played {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Judged;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played.begin("a");
    played.end_stage_of("a", Stage::Baseline, checked(true));
    played.end_stage_of("a", Stage::Implement, worked());
    played.record(Event::Hindered {
        story: "a".into(),
        attempt: 1,
        question: "an object is missing".to_owned(),
    });
    played
}

#[test]
fn a_step_that_cannot_be_done_is_asked_about_and_nothing_is_owed() {
    let played = hindered();
    let question = Question {
        story: "a".into(),
        stage: None,
        text: "an object is missing".to_owned(),
        choices: OF_RUN,
        free: false,
    };
    assert_eq!(played.state.questions(), [question]);
    assert!(played.owed().is_empty(), "{:?}", played.owed_words());
}

#[test]
fn an_answer_to_a_step_that_could_not_be_done_leads_to() {
    for (choice, expected) in [
        ("retry", "make candidate a 1"),
        ("skip", "skip a"),
        (
            "cancel",
            "end Cancelled { why: \"cancelled by an answer\" }",
        ),
    ] {
        let mut played = hindered();
        played.answer(choice);
        assert_eq!(played.owed_words(), [expected], "{choice}");
        assert_eq!(played.state.questions(), [], "{choice}");
    }
}

#[test]
fn runs_ask_for_themselves() {
    let mut played = two_asking();
    let why = played.refused(Event::Hindered {
        story: "a".into(),
        attempt: 1,
        question: "an object is missing".to_owned(),
    });
    assert_eq!(why, "the attempt's runs ask for themselves");
}
