//! What happens to a story while something else happens to the queue: a person's word, a cancel, a
//! reload or an empty purse meets a restack, a confirmation or a retraction.

use kernel::{
    Commit, Deed, EndReason, Event, Flow, LoopSpec, Rejudge, RestackClass, RestackOrder,
    RunOutcome, Stage, StoryStatus, TimeBudget,
};

use crate::queue::{begin, broken, carry, judge, land, order_like, owed_to, prove, proven, warm};
use crate::support::{
    Played, answered, asked, checked, ended, fault, green, made, numbered_commit, restacked, spec,
    story, worked,
};

const CAP_MS: i64 = 10_000;

fn judged(ids: &[&str]) -> LoopSpec {
    let stories = ids.iter().enumerate();
    let stories = stories.map(|(at, id)| story(id, u32::try_from(at).expect("few"), &[]));
    let mut spec = spec(stories.collect());
    spec.flow = Flow::Judged;
    spec.together.parallel = 4;
    spec.together.checks_at_once = 4;
    spec
}

fn started(spec: LoopSpec) -> Played {
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played
}

fn restack_of(played: &Played, id: &str) -> RestackOrder {
    let order = order_like(played, &format!("restack candidate {id}"));
    match order.deed {
        Deed::Restack(order) => *order,
        other => panic!("{other:?}"),
    }
}

/// Puts a story's candidate onto the head.
fn restack(played: &mut Played, id: &str, number: u64) {
    let order = restack_of(played, id);
    played.record(restacked(
        &order,
        numbered_commit(number),
        RestackClass::Disjoint,
    ));
}

fn status(played: &Played, id: &str) -> StoryStatus {
    played.state.story(id).expect("a story").status.clone()
}

fn queue(played: &Played) -> Vec<String> {
    let queue = played.state.queue();
    queue.iter().map(|one| one.spec.id.to_string()).collect()
}

fn names(list: &[(&kernel::StoryId, &Commit)]) -> Vec<String> {
    list.iter().map(|(id, _)| id.to_string()).collect()
}

fn answer_to(story: &str, choice: &str) -> Event {
    Event::Answered {
        choice: choice.to_owned(),
        story: Some(story.into()),
    }
}

fn cancel() -> Event {
    Event::CancelRequested {
        reason: "enough".to_owned(),
    }
}

fn skip(id: &str) -> Event {
    Event::SkipRequested {
        story: id.into(),
        reason: "not now".to_owned(),
    }
}

fn accept(id: &str, commit: &Commit, reason: Option<&str>) -> Event {
    Event::AcceptRequested {
        story: id.into(),
        commit: commit.clone(),
        by: "Ada".to_owned(),
        reason: reason.map(str::to_owned),
    }
}

fn budget(n_runs: i64) -> TimeBudget {
    TimeBudget {
        total_ms: n_runs * CAP_MS,
        implement_cap_ms: CAP_MS,
        check_cap_ms: CAP_MS,
        judge_cap_ms: CAP_MS,
        review_cap_ms: CAP_MS,
        prove_cap_ms: CAP_MS,
    }
}

/// `a` landed by a reused build and `b` on top of it; `c` began there and asks whether it may land.
fn asking_on_what_is_taken_back() -> Played {
    let mut played = started(judged(&["a", "b", "c"]));
    land(&mut played, "a", warm());
    land(&mut played, "b", warm());
    played.begin("c");
    played.end_stage_of("c", Stage::Baseline, checked(true));
    let run = played.start_stage(Some("c"), Stage::Implement);
    played.record(ended(run, worked()));
    let made = match made("c", 1, numbered_commit(700)) {
        Event::CandidateMade {
            story,
            attempt,
            commit,
            notes,
            ..
        } => Event::CandidateMade {
            story,
            attempt,
            commit,
            notes,
            ask: Some("shall it land?".to_owned()),
        },
        other => panic!("{other:?}"),
    };
    played.record(made);
    prove(&mut played, "c", proven());
    assert_eq!(played.state.questions().len(), 1);
    played.end_stage_of("a", Stage::Confirm, broken());
    played
}

#[test]
fn a_question_survives_the_retraction_of_what_it_stands_on() {
    for choice in ["approve", "reject"] {
        let mut played = asking_on_what_is_taken_back();
        carry(&mut played, "retract");
        assert_eq!(played.state.questions().len(), 1, "it is still asked");
        assert_eq!(queue(&played), ["b"]);
        played.record(answer_to("c", choice));
        if choice == "approve" {
            assert_eq!(queue(&played), ["b", "c"], "behind whoever landed before");
            restack(&mut played, "b", 800);
            played.end_stage_of("b", Stage::Check, proven());
            carry(&mut played, "integrate b");
            let order = restack_of(&played, "c");
            assert_eq!(order.onto, *played.state.head());
        } else {
            assert_eq!(owed_to(&played, "c"), ["plan c attempt 2 with claude"]);
        }
    }
}

#[test]
fn an_answer_while_a_retraction_is_owed_lands_nothing() {
    let mut played = asking_on_what_is_taken_back();
    let before = played.state.head().clone();
    played.record(answer_to("c", "approve"));
    assert_eq!(owed_to(&played, "c"), Vec::<String>::new());
    let late = Event::Integrated {
        story: "c".into(),
        attempt: 1,
        commit: numbered_commit(700),
    };
    // The branch had moved when the record came: it is taken back with the rest.
    played.record(late);
    assert_ne!(*played.state.head(), before);
    carry(&mut played, "retract");
    assert_eq!(queue(&played), ["b", "c"]);
    assert_eq!(played.state.head(), &played.state.spec().base);
}

#[test]
fn a_cancel_while_a_candidate_is_put_onto_the_head_names_what_was_judged() {
    for is_recorded in [true, false] {
        let mut played = started(judged(&["a", "b"]));
        begin(&mut played, "b");
        land(&mut played, "a", proven());
        carry(&mut played, "announce a");
        played.end_stage_of("b", Stage::Check, proven());
        let judged = judge(&mut played, "b", true);
        let order = restack_of(&played, "b");
        played.record(cancel());
        if is_recorded {
            // The deed was under way.
            let moved = restacked(&order, numbered_commit(900), RestackClass::Disjoint);
            played.record(moved);
        }
        let owed = played.owed_words();
        assert_eq!(owed.len(), 1, "{owed:?}");
        assert!(owed[0].starts_with("end Cancelled"), "{owed:?}");
        played.settle();
        assert_eq!(played.state.unlanded(), [(&"b".into(), &judged)]);
        // Nothing goes on by itself, and the story can be accepted as it was judged.
        assert_eq!(played.owed_words(), Vec::<String>::new());
        played.record(accept("b", &judged, None));
        assert_eq!(owed_to(&played, "b"), ["plan b attempt 2 with codex"]);
    }
}

#[test]
fn a_reload_while_candidates_are_queued_changes_how_they_are_judged_and_not_their_order() {
    let mut played = started(judged(&["a", "b", "c"]));
    for id in ["a", "b", "c"] {
        begin(&mut played, id);
    }
    for id in ["c", "a", "b"] {
        prove(&mut played, id, proven());
    }
    let mut together = played.state.spec().together.clone();
    together.parallel = 1;
    together.rejudge = Rejudge::Always;
    let stories = played.state.spec().stories.clone();
    let reload = Event::Reloaded {
        settings: "other settings".into(),
        stories,
        together: Some(together),
    };
    played.record(reload.clone());
    assert_eq!(queue(&played), ["c", "a", "b"]);
    carry(&mut played, "integrate c");
    restack(&mut played, "a", 900);
    played.end_stage_of("a", Stage::Check, proven());
    assert_eq!(
        owed_to(&played, "a"),
        ["start a attempt 1 judge try 2"],
        "every restack is judged now"
    );
    // Another reload changes nothing about what is under way.
    let run = played.start_stage(Some("a"), Stage::Judge);
    played.record(reload);
    let verdict = played.verdict_on("a", true);
    played.record(ended(run, RunOutcome::Judged(verdict)));
    carry(&mut played, "announce c");
    carry(&mut played, "integrate a");
    assert_eq!(*played.state.head(), numbered_commit(900));
    assert_eq!(queue(&played), ["b"]);
}

#[test]
fn fewer_places_after_a_reload_stop_nobody_and_start_nobody() {
    let mut played = started(judged(&["a", "b", "c"]));
    for id in ["a", "b"] {
        played.begin(id);
        played.end_stage_of(id, Stage::Baseline, checked(true));
        played.start_stage(Some(id), Stage::Implement);
    }
    let mut together = played.state.spec().together.clone();
    together.parallel = 1;
    played.record(Event::Reloaded {
        settings: played.state.spec().settings.clone(),
        stories: played.state.spec().stories.clone(),
        together: Some(together),
    });
    let words = played.owed_words();
    assert_eq!(
        words,
        [
            "run a attempt 1 implement try 1",
            "run b attempt 1 implement try 1"
        ],
        "whoever runs goes on, and `c` does not begin"
    );
    played.end_stage_of("a", Stage::Implement, worked());
    carry(&mut played, "make-candidate a");
    assert_eq!(owed_to(&played, "a"), Vec::<String>::new(), "b is at it");
    played.end_stage_of("b", Stage::Implement, worked());
    prove(&mut played, "a", proven());
    carry(&mut played, "integrate a");
    assert_ne!(played.state.head(), &played.state.spec().base);
}

/// `b` is in the lane and owes its checks; `c` was proven on the head, behind it.
fn behind_a_check_that_is_owed(spec: LoopSpec) -> Played {
    let mut played = started(spec);
    begin(&mut played, "b");
    land(&mut played, "a", proven());
    carry(&mut played, "announce a");
    prove(&mut played, "b", proven());
    restack(&mut played, "b", 900);
    begin(&mut played, "c");
    prove(&mut played, "c", proven());
    assert_eq!(queue(&played), ["b", "c"]);
    played
}

#[test]
fn i10_a_front_that_the_budget_has_no_room_for_holds_up_nobody_and_is_named() {
    let mut spec = judged(&["a", "b", "c"]);
    spec.budget = Some(budget(100));
    let mut played = behind_a_check_that_is_owed(spec);
    assert_eq!(owed_to(&played, "c"), Vec::<String>::new(), "b is first");
    let run = played.start_stage(Some("b"), Stage::Check);
    played.clock_ms += 100 * CAP_MS - 1;
    played.record(ended(run, crate::support::interrupted()));
    assert_eq!(played.owed_words(), ["integrate c"]);
    carry(&mut played, "integrate c");
    carry(&mut played, "announce c");
    assert_eq!(played.owed_words(), ["end BudgetExhausted"]);
    played.settle();
    assert_eq!(names(&played.state.unlanded()), ["b"]);
}

#[test]
fn i10_what_is_kept_for_a_confirmation_holds_up_nobody_who_needs_nothing() {
    let mut spec = judged(&["a", "b", "c"]);
    spec.budget = Some(budget(100));
    let mut played = started(spec);
    begin(&mut played, "b");
    land(&mut played, "a", warm());
    prove(&mut played, "b", proven());
    restack(&mut played, "b", 900);
    begin(&mut played, "c");
    prove(&mut played, "c", proven());
    let run = played.start_stage(Some("a"), Stage::Confirm);
    played.clock_ms += 99 * CAP_MS;
    played.record(ended(run, asked("where is the compiler?")));
    assert_eq!(played.state.left_ms(), Some(CAP_MS), "enough for one run");
    assert_eq!(owed_to(&played, "b"), Vec::<String>::new(), "kept for a");
    assert_eq!(owed_to(&played, "c"), ["integrate c"]);
}

#[test]
fn what_a_person_accepts_lands_behind_the_story_that_is_landing() {
    for (reason, outcome, lands) in [
        (None, proven(), true),
        (None, broken(), false),
        (Some("I know"), broken(), true),
    ] {
        let mut played = started(judged(&["a", "b", "c"]));
        begin(&mut played, "c");
        played.end_stage_of("c", Stage::Check, proven());
        let refused = judge(&mut played, "c", false);
        begin(&mut played, "b");
        land(&mut played, "a", proven());
        carry(&mut played, "announce a");
        prove(&mut played, "b", proven());
        restack(&mut played, "b", 900);
        played.record(accept("c", &refused, reason));
        carry(&mut played, "plan c");
        carry(&mut played, "make-accepted c");
        played.end_stage_of("c", Stage::Check, outcome.clone());
        if !lands {
            assert_eq!(owed_to(&played, "c"), ["skip c"], "it takes a reason");
            continue;
        }
        assert_eq!(queue(&played), ["b", "c"]);
        assert_eq!(owed_to(&played, "c"), Vec::<String>::new());
        played.end_stage_of("b", Stage::Check, proven());
        carry(&mut played, "integrate b");
        // Its base is the head no longer: it is put onto it and measured there, and nobody judges.
        restack(&mut played, "c", 901);
        played.end_stage_of("c", Stage::Check, outcome);
        carry(&mut played, "announce b");
        carry(&mut played, "integrate c");
        assert_eq!(*played.state.head(), numbered_commit(901), "{reason:?}");
    }
}

#[test]
fn accepted_work_that_waits_holds_up_nobody() {
    let mut played = started(judged(&["a", "b", "c"]));
    begin(&mut played, "c");
    played.end_stage_of("c", Stage::Check, proven());
    let refused = judge(&mut played, "c", false);
    begin(&mut played, "b");
    land(&mut played, "a", proven());
    carry(&mut played, "announce a");
    played.record(accept("c", &refused, None));
    carry(&mut played, "plan c");
    carry(&mut played, "make-accepted c");
    played.start_stage(Some("c"), Stage::Check);
    played.end_stage_of("b", Stage::Check, broken());
    assert_eq!(
        owed_to(&played, "b"),
        Vec::<String>::new(),
        "the head moves"
    );
    let network = RunOutcome::Infrastructure {
        why: "no network".to_owned(),
        until_ms: Some(3_600_000),
        elsewhere: false,
        cause: kernel::FaultCause::Network,
    };
    played.end_stage_of("c", Stage::Check, network);
    assert_eq!(owed_to(&played, "b"), ["plan b attempt 2 with claude"]);
}

#[test]
fn the_front_can_be_set_aside_until_the_branch_may_be_moving_to_it() {
    let mut played = started(judged(&["a", "b", "c"]));
    for id in ["a", "b", "c"] {
        begin(&mut played, id);
        prove(&mut played, id, proven());
    }
    assert_eq!(played.refused(skip("a")), "story `a` is landing");
    carry(&mut played, "integrate a");
    carry(&mut played, "announce a");
    let order = restack_of(&played, "b");
    played.record(skip("b"));
    assert_eq!(queue(&played), ["c"], "the next one is the front");
    let late = restacked(&order, numbered_commit(900), RestackClass::Disjoint);
    played.refused(late);
    assert_eq!(owed_to(&played, "c"), ["restack c 1 1"]);
    carry(&mut played, "skip b");
    // What is in the lane is stopped first.
    restack(&mut played, "c", 901);
    let run = played.start_stage(Some("c"), Stage::Check);
    played.record(skip("c"));
    assert_eq!(owed_to(&played, "c"), [format!("stop {run}")]);
    // Its end may come before the stop, and lands nothing.
    played.record(ended(run, proven()));
    assert_eq!(owed_to(&played, "c"), ["skip c"]);
    assert_eq!(queue(&played), Vec::<String>::new());
    played.settle();
    assert_eq!(played.state.ended(), Some(&EndReason::Completed));
}

#[test]
fn a_pause_while_a_confirmation_is_owed_begins_nothing_and_forgets_nothing() {
    let mut played = started(judged(&["a", "b", "c"]));
    begin(&mut played, "b");
    land(&mut played, "a", warm());
    prove(&mut played, "b", proven());
    restack(&mut played, "b", 900);
    played.record(Event::PauseRequested);
    assert_eq!(played.owed_words(), Vec::<String>::new());
    let unconfirmed = names(&played.state.unconfirmed());
    assert_eq!(unconfirmed, ["a"]);
    played.record(Event::ResumeRequested);
    assert_eq!(
        played.owed_words(),
        [
            "start b attempt 1 check try 2",
            "start a attempt 1 confirm try 1",
            "plan c attempt 1 with codex"
        ]
    );
    // A red confirmation that ends during a pause is still taken back.
    let run = played.start_stage(Some("a"), Stage::Confirm);
    played.record(Event::PauseRequested);
    played.record(ended(run, broken()));
    assert_eq!(played.owed_words(), ["retract a 1"]);
    carry(&mut played, "retract");
    assert_eq!(played.owed_words(), Vec::<String>::new());
    played.record(Event::ResumeRequested);
    assert_eq!(owed_to(&played, "a"), ["plan a attempt 2 with claude"]);
}

#[test]
fn who_asks_for_what_a_cancel_left_gets_the_confirmations_and_no_attempt() {
    let mut played = started(judged(&["a", "b", "c"]));
    begin(&mut played, "b");
    land(&mut played, "a", warm());
    prove(&mut played, "b", proven());
    restack(&mut played, "b", 900);
    played.start_stage(Some("b"), Stage::Check);
    played.record(cancel());
    played.settle();
    assert_eq!(names(&played.state.unlanded()), ["b"]);
    assert_eq!(names(&played.state.unconfirmed()), ["a"]);
    played.record(Event::PublishRequested);
    assert_eq!(played.owed_words(), ["start a attempt 1 confirm try 1"]);
    assert_eq!(status(&played, "b"), StoryStatus::Pending);
    // A person wants the other one too, meanwhile: it lands on top, in the order of the landings.
    let judged = played.state.story("b").expect("b").rejected.last();
    let judged = judged.expect("what was judged").clone();
    played.record(accept("b", &judged.commit, None));
    carry(&mut played, "plan b");
    carry(&mut played, "make-accepted b");
    played.end_stage_of("b", Stage::Check, proven());
    carry(&mut played, "integrate b");
    assert_eq!(owed_to(&played, "b"), Vec::<String>::new(), "a comes first");
    played.end_stage_of("a", Stage::Confirm, green());
    carry(&mut played, "announce a");
    carry(&mut played, "announce b");
    played.settle();
    assert_eq!(played.state.published(), Some(played.state.head()));
    assert_eq!(status(&played, "c"), StoryStatus::Pending, "nobody asked");
    let end = played.state.ended();
    assert!(matches!(end, Some(EndReason::Cancelled { .. })), "{end:?}");
}

/// `a` landed by a reused build; `b` needs it.
fn built_upon(max_retries: u32) -> Played {
    let mut spec = judged(&["a", "b", "c"]);
    spec.max_retries = max_retries;
    spec.stories[1] = story("b", 1, &["a"]).into();
    let mut played = started(spec);
    land(&mut played, "a", warm());
    played
}

#[test]
fn who_needs_a_story_that_was_taken_back_waits_for_it_wherever_it_stands() {
    for what in ["asks", "waits", "is between attempts", "is in the lane"] {
        let mut played = built_upon(2);
        begin(&mut played, "b");
        match what {
            "asks" => played.end_stage_of("b", Stage::Check, asked("which one?")),
            "waits" => played.end_stage_of("b", Stage::Check, fault(Some(9_000_000))),
            "is between attempts" => played.end_stage_of("b", Stage::Check, broken()),
            _ => {
                land(&mut played, "c", proven());
                prove(&mut played, "b", proven());
                restack(&mut played, "b", 900);
            }
        }
        played.end_stage_of("a", Stage::Confirm, broken());
        carry(&mut played, "retract");
        assert_eq!(status(&played, "b"), StoryStatus::Pending, "{what}");
        let b = played.state.story("b").expect("b");
        assert_eq!((b.ticket, b.returns), (None, 0), "{what}");
        assert_eq!(owed_to(&played, "b"), Vec::<String>::new(), "{what}");
        assert_eq!(played.state.questions(), vec![], "{what}");
        assert_eq!(played.state.waits(), vec![], "{what}");
    }
}

#[test]
fn who_needs_a_story_that_was_taken_back_for_good_is_blocked() {
    let mut played = built_upon(0);
    begin(&mut played, "b");
    land(&mut played, "c", proven());
    played.end_stage_of("a", Stage::Confirm, broken());
    carry(&mut played, "retract");
    carry(&mut played, "skip a");
    // What landed above lands again, without any of them.
    restack(&mut played, "c", 900);
    played.end_stage_of("c", Stage::Check, proven());
    carry(&mut played, "integrate c");
    carry(&mut played, "announce c");
    // The branch moved since, so that the skipped story is looked at once more.
    carry(&mut played, "plan a");
    played.end_stage_of("a", Stage::Check, broken());
    carry(&mut played, "skip a");
    played.settle();
    let blocked = StoryStatus::Blocked { on: "a".into() };
    assert_eq!(status(&played, "b"), blocked);
    assert_eq!(played.state.ended(), Some(&EndReason::Completed));
}

#[test]
fn a_retraction_while_another_story_is_measured_on_top_of_it() {
    for (outcome, expected) in [
        (proven(), "restack c 1 2"),
        (broken(), "plan c attempt 2 with codex"),
    ] {
        let mut played = started(judged(&["a", "b", "c"]));
        begin(&mut played, "c");
        land(&mut played, "a", warm());
        prove(&mut played, "c", proven());
        let judged = restack_of(&played, "c").from;
        restack(&mut played, "c", 900);
        let run = played.start_stage(Some("c"), Stage::Check);
        played.end_stage_of("a", Stage::Confirm, broken());
        carry(&mut played, "retract");
        played.record(ended(run, outcome));
        assert_eq!(owed_to(&played, "c"), [expected]);
        let c = played.state.story("c").expect("c");
        assert!(c.attempts_max(played.state.spec()) > c.attempts);
        if expected.starts_with("restack") {
            let order = restack_of(&played, "c");
            assert_eq!(order.onto, played.state.spec().base, "back on its own base");
            restack(&mut played, "c", 901);
            played.end_stage_of("c", Stage::Check, proven());
            let attempt = played.state.attempt("c").expect("c");
            let candidate = attempt.candidate().expect("a candidate");
            let verdict = candidate.verdict.as_ref().expect("it is carried");
            assert_eq!(verdict.commit, judged);
            carry(&mut played, "integrate c");
            assert_eq!(*played.state.head(), numbered_commit(901));
        }
    }
}

#[test]
fn an_answer_without_a_name_reaches_nobody_whose_question_a_retraction_took_along() {
    let mut played = built_upon(2);
    begin(&mut played, "b");
    played.end_stage_of("b", Stage::Check, asked("which one?"));
    begin(&mut played, "c");
    played.end_stage_of("c", Stage::Check, asked("which one?"));
    played.end_stage_of("a", Stage::Confirm, broken());
    carry(&mut played, "retract");
    played.record(answered("retry"));
    assert_eq!(owed_to(&played, "c"), ["start c attempt 1 check try 2"]);
    assert_eq!(
        played.refused(answer_to("b", "retry")),
        "story `b` asks nothing"
    );
}
