//! A loop's status, for every way that a loop can stand.

use kernel::{EndReason, Event, Flow, LoopSpec, PublishResult, Stage, StoryStart, TimeBudget};
use serde_json::{Value, json};
use views::{LoopView, loop_view};

use crate::support::{Played, cancel, checked, commit, limit, question, spec, usage, worked};

fn started() -> Played {
    Played::start(spec(Flow::Judged, &["a"]))
}

fn played(play: impl FnOnce(&mut Played)) -> Played {
    let mut played = started();
    play(&mut played);
    played
}

fn view(play: impl FnOnce(&mut Played)) -> LoopView {
    loop_view(&played(play).state)
}

/// A loop that these words happened to, one after the other.
fn after(words: &str) -> LoopView {
    view(|played| {
        for word in words.split_whitespace() {
            match word {
                "begin" => drop(played.reach(Stage::Baseline)),
                "wait" => _ = played.end(Stage::Baseline, limit(90_000)),
                "ask" => _ = played.end(Stage::Baseline, question(false)),
                "pause" => _ = played.record(Event::PauseRequested),
                "cancel" => _ = played.record(cancel()),
                "pass" => _ = played.attempt(true),
                "settle" => _ = played.settle(),
                "break" => {
                    let why = "the repository is gone".to_owned();
                    let reason = EndReason::Failed { why };
                    played.record(Event::LoopEnded { reason });
                }
                other => unreachable!("{other} is no step"),
            }
        }
    })
}

#[test]
fn a_loop_stands() {
    for (words, status, reason) in [
        ("", "running", ""),
        ("begin", "running", ""),
        ("pause", "paused", ""),
        ("wait", "waiting", "usage limit"),
        ("wait pause", "paused", ""),
        ("ask", "needs_human", "which colour?"),
        ("ask pause", "needs_human", "which colour?"),
        // It will end, so nobody needs to answer any more.
        ("ask cancel", "running", "it is being cancelled: not wanted"),
        ("ask cancel settle", "cancelled", "not wanted"),
        ("wait cancel settle", "cancelled", "not wanted"),
        ("pass settle", "completed", ""),
        ("break", "failed", "the repository is gone"),
    ] {
        let view = after(words);
        assert_eq!(
            (view.status, view.reason.as_str()),
            (status, reason),
            "{words}"
        );
        // A loop that is cancelled or over works on no story.
        let is_over = ["cancel", "settle", "break"]
            .iter()
            .any(|word| words.ends_with(word));
        let n_running = view
            .stories
            .iter()
            .filter(|story| story.status == "running")
            .count();
        assert!(!is_over || n_running == 0, "{words}: {:?}", view.stories);
        // Only what a person can answer now is a question, and only what goes on can wait.
        let n_questions = usize::from(status == "needs_human");
        assert_eq!(view.questions.len(), n_questions, "{words}");
        assert_eq!(view.choices.len(), 3 * n_questions, "{words}");
        let is_waiting = words.starts_with("wait") && status != "cancelled";
        assert_eq!(view.waits.len(), usize::from(is_waiting), "{words}");
        assert_eq!(view.waiting_until_ms.is_some(), is_waiting, "{words}");
    }
}

#[test]
fn a_loop_that_ran_out_says_of_what() {
    let limited = |change: fn(&mut LoopSpec)| {
        let mut spec = spec(Flow::Judged, &["a", "b"]);
        change(&mut spec);
        let mut played = Played::start(spec);
        played.attempt(true).settle();
        loop_view(&played.state)
    };
    let by_count = limited(|spec| spec.max_iterations = Some(1));
    assert_eq!(
        (by_count.status, by_count.reason.as_str()),
        ("completed", "max_iterations_reached")
    );
    let by_time = limited(|spec| {
        spec.budget = Some(TimeBudget {
            total_ms: 4_500,
            implement_cap_ms: 1_000,
            check_cap_ms: 1_000,
            judge_cap_ms: 1_000,
            review_cap_ms: 0,
            prove_cap_ms: 0,
        });
    });
    assert_eq!(
        (by_time.status, by_time.reason.as_str()),
        ("failed", "budget_exhausted")
    );
    assert_eq!(
        (
            by_time.spent_ms,
            by_time.left_ms,
            by_time.budget_used_percent
        ),
        (4_000, Some(500), Some(88))
    );
}

#[test]
fn every_question_is_told_with_its_answers() {
    let of_run = view(|played| _ = played.end(Stage::Baseline, question(true)));
    assert_eq!(
        json!(of_run.questions),
        json!([{ "storyId": "a", "stage": "baseline", "text": "which colour?",
                 "choices": ["retry", "skip", "cancel"], "free": true }])
    );
    assert_eq!(of_run.choices, ["retry", "skip", "cancel"]);
    let of_candidate = view(|played| {
        played.ask = Some("it changes how agents are configured".to_owned());
        played.attempt(true);
    });
    assert_eq!(
        json!(of_candidate.questions),
        json!([{ "storyId": "a", "text": "it changes how agents are configured",
                 "choices": ["approve", "reject", "cancel"], "free": false }])
    );
    // Two runs at the same time may both ask.
    let mut both = Played::start(spec(Flow::Quartet, &["a"]));
    both.end(Stage::Baseline, checked());
    both.reach(Stage::WriteTests);
    both.end(Stage::Implement, question(true))
        .end(Stage::WriteTests, question(false));
    let view = loop_view(&both.state);
    let stages: Vec<_> = view
        .questions
        .iter()
        .map(|question| question.stage)
        .collect();
    assert_eq!(stages, [Some("implement"), Some("write-tests")]);
    assert_eq!(view.status, "needs_human");
}

#[test]
fn every_wait_is_told_and_the_loop_waits_when_all_do() {
    let mut played = Played::start(spec(Flow::Quartet, &["a"]));
    played.end(Stage::Baseline, checked());
    played.reach(Stage::WriteTests);
    played.end(Stage::Implement, limit(90_000));
    let one = loop_view(&played.state);
    let wait = json!({ "storyId": "a", "stage": "implement", "agent": "codex",
                       "until": "1970-01-01T00:01:30.000Z", "cause": "usage limit" });
    assert_eq!(json!(one.waits), json!([wait]));
    assert_eq!((one.status, one.waiting_until_ms), ("running", None));
    played.end(Stage::WriteTests, limit(80_000));
    let both = loop_view(&played.state);
    assert_eq!(
        (both.status, both.waiting_until_ms),
        ("waiting", Some(80_000))
    );
    assert_eq!(both.waits.len(), 2);
}

#[test]
fn a_story_stands() {
    let mut spec = spec(
        Flow::Judged,
        &["passed", "skipped", "waits<skipped", "next", "later"],
    );
    spec.stories.extend(["done-before", "set-aside"].map(|id| {
        let mut story = crate::support::story(id);
        story.start = match id {
            "done-before" => StoryStart::Passed,
            _ => StoryStart::SetAside,
        };
        std::sync::Arc::new(story)
    }));
    for (rank, story) in spec.stories.iter_mut().enumerate() {
        std::sync::Arc::make_mut(story).rank = u32::try_from(rank).expect("few");
    }
    let mut played = Played::start(spec);
    played.attempt(true).attempt(false);
    played.reach(Stage::Baseline);
    let shown = |played: &Played| -> Vec<Value> {
        let stories = loop_view(&played.state).stories;
        let words = stories.iter().map(|story| {
            json!([
                story.id,
                story.status,
                story.detail,
                story.attempts,
                story.commit_sha
            ])
        });
        words.collect()
    };
    let landed = played.state.head().to_string();
    let mut expected = vec![
        json!(["passed", "passed", "", 1, landed]),
        json!([
            "skipped",
            "skipped",
            "because\nnot met: it works (seen)",
            1,
            null
        ]),
        json!(["waits", "pending", "", 0, null]),
        json!(["next", "running", "attempt 1, baseline", 1, null]),
        json!(["later", "pending", "", 0, null]),
        json!(["done-before", "passed", "", 0, null]),
        json!([
            "set-aside",
            "skipped",
            "was set aside in the PRD, or held by somebody else, when the loop began",
            0,
            null
        ]),
    ];
    assert_eq!(shown(&played), expected);
    played.record(cancel()).settle();
    expected[3] = json!(["next", "pending", "attempt 1 was not finished", 1, null]);
    assert_eq!(shown(&played), expected);
    let first = &loop_view(&played.state).stories[0];
    assert!(first.duration_ms.is_some_and(|took| took > 0), "{first:?}");
}

#[test]
fn what_agents_used_is_told_by_role_and_agent() {
    let view = view(|played| {
        played
            .end(Stage::Baseline, checked())
            .end_using(Stage::Implement, worked(), usage(100, 250_000))
            .end(Stage::Check, checked())
            .judge(true);
    });
    assert_eq!((view.tokens, view.cost_usd), (Some(100), Some(0.25)));
    assert_eq!(
        json!(view.used_by),
        json!([
            { "role": "implementor", "agent": "codex", "runs": 1, "tokens": 100, "costUsd": 0.25 },
            { "role": "judge", "agent": "judge", "runs": 1, "tokens": null, "costUsd": null },
        ])
    );
    assert_eq!(view.stories[0].tokens, Some(100));
    // Nobody said anything: that is not the same as nothing.
    let silent = self::view(|played| _ = played.attempt(true));
    assert_eq!((silent.tokens, silent.cost_usd), (None, None));
}

#[test]
fn work_that_is_not_in_the_repository_says_why_until_it_is() {
    let mut played = Played::start(spec(Flow::Judged, &["a", "b"]));
    played.branch = PublishResult::LeftAlone {
        why: "the branch is checked out".to_owned(),
    };
    played.attempt(true);
    played.reach(Stage::Baseline);
    let view = loop_view(&played.state);
    assert_eq!(
        view.unpublished.as_deref(),
        Some("the branch is checked out")
    );
    assert_eq!(view.head_sha, played.state.head().to_string());
    assert_ne!(view.head_sha, commit(0).to_string());
    played.branch = PublishResult::Done;
    played.attempt(true).settle();
    assert_eq!(loop_view(&played.state).unpublished, None);
}

/// The keys that programs read. What does not apply is left out.
#[test]
fn a_loop_as_json_is() {
    let view = after("wait");
    let started = commit(0).to_string();
    assert_eq!(
        json!(view),
        json!({
            "loopId": "L", "status": "waiting", "reason": "usage limit", "project": "project",
            "prdPath": "prd.json", "branch": "agent-loop/L", "landed": false, "headSha": started, "flow": "judged",
            "stories": [{ "id": "a", "title": "Story a", "status": "running",
                          "detail": "attempt 1, baseline", "halted": "waits", "attempts": 1 }],
            "waitingUntil": "1970-01-01T00:01:30.000Z",
            "waits": [{ "storyId": "a", "stage": "baseline", "until": "1970-01-01T00:01:30.000Z", "cause": "usage limit" }],
            "spentMs": 1_000, "isolation": "host", "startedAt": "1970-01-01T00:00:00.000Z",
            "lastAt": "1970-01-01T00:00:04.000Z",
        })
    );
}

/// Two stories at once, with one place for checks: who does what, and who waits for whom.
#[test]
fn stories_at_once_say_who_waits_for_a_place() {
    let mut spec = spec(Flow::Judged, &["a", "b"]);
    spec.together.parallel = 2;
    let mut played = Played::start(spec);
    let first = played.reach(Stage::Baseline);
    while played.state.attempts().count() < 2 {
        let owed = kernel::decide(&played.state);
        let plan = owed.iter().find_map(|order| order.deed.decision());
        played.record(plan.expect("the second story is owed"));
    }
    let details = |played: &Played| -> Vec<String> {
        let stories = loop_view(&played.state).stories;
        stories.into_iter().map(|story| story.detail).collect()
    };
    assert_eq!(first.story.as_str(), "a");
    assert_eq!(
        details(&played),
        [
            "attempt 1, baseline",
            "attempt 1, baseline, waits for a free place"
        ]
    );
    played.end(Stage::Baseline, checked());
    played.end(Stage::Implement, worked());
    assert_eq!(details(&played)[0], "attempt 1, making the candidate");
}
