//! What landed by a reused build is confirmed before anybody is shown it, and taken back where it is not.

use kernel::{
    Commit, Deed, Event, Flow, Obligation, ObligationKind, RestackClass, RunKey, RunOutcome, Stage,
    State, StoryStatus, TimeBudget, decide,
};

use crate::queue::{begin, broken, carry, judged, land, order_like, owed_to, prove, proven, warm};
use crate::support::{
    Played, asked, checked, ended, facts, fault, green, interrupted, numbered_commit, restacked,
    spec, story, unfit, unproven, worked,
};

fn started() -> Played {
    let mut played = Played::start(judged());
    played.record(Event::LoopPrepared);
    played
}

fn run_of(id: &str, stage: Stage) -> RunKey {
    RunKey {
        story: id.into(),
        attempt: 1,
        stage,
        try_number: 1,
    }
}

fn announced(id: &str) -> Event {
    Event::Announced {
        story: id.into(),
        branch: kernel::PublishResult::Done,
        prd: kernel::WriteBack::Done,
    }
}

fn cold_runs(state: &State) -> Vec<(Stage, bool)> {
    let orders = decide(state).into_iter();
    let runs = orders.filter_map(|order| match order.deed {
        Deed::Run(run) => Some((run.place.run.stage, run.cold)),
        _ => None,
    });
    runs.collect()
}

/// `a`, `b` and `c` have landed by reused builds, each on top of the one before; `a` is being confirmed.
fn three_landed() -> (Played, [Commit; 4]) {
    let mut played = started();
    let base = played.state.head().clone();
    let a = land(&mut played, "a", warm());
    let b = land(&mut played, "b", warm());
    let c = land(&mut played, "c", warm());
    played.start_stage(Some("a"), Stage::Confirm);
    (played, [base, a, b, c])
}

/// The same, with `a` red and about to be taken back.
fn refuted() -> (Played, [Commit; 4]) {
    let (mut played, commits) = three_landed();
    played.end_stage_of("a", Stage::Confirm, broken());
    (played, commits)
}

#[test]
fn i01_what_landed_by_a_reused_build_is_shown_after_its_confirmation() {
    let mut played = started();
    let commit = land(&mut played, "a", warm());
    assert_eq!(*played.state.head(), commit, "it lands at once");
    assert_eq!(played.state.confirmed(), &played.state.spec().base);
    assert_eq!(owed_to(&played, "a"), ["start a attempt 1 confirm try 1"]);
    assert_eq!(played.refused(announced("a")), "nothing is to be announced");
    assert_eq!(played.state.unpublished(), None, "nothing is late");
    played.start_stage(Some("a"), Stage::Confirm);
    assert_eq!(cold_runs(&played.state), [(Stage::Confirm, true)]);
    played.end_stage_of("a", Stage::Confirm, green());
    assert_eq!(played.state.confirmed(), &commit);
    assert_eq!(owed_to(&played, "a"), ["announce a"]);
    carry(&mut played, "announce a");
    assert_eq!(played.state.published(), Some(&commit));
    assert_eq!(played.state.warm_off(), None);
}

#[test]
fn what_was_built_anew_needs_no_confirmation() {
    let mut played = started();
    let commit = land(&mut played, "a", proven());
    assert_eq!(owed_to(&played, "a"), ["announce a"]);
    assert_eq!(played.state.confirmed(), &commit);
    let cold = cold_runs(&played.state);
    assert!(cold.iter().all(|(_, cold)| !cold), "{cold:?}");
}

#[test]
fn a_confirmation_takes_no_place_and_holds_up_nobody() {
    let mut spec = judged();
    spec.together.parallel = 1;
    spec.together.checks_at_once = 1;
    spec.stories[1] = story("b", 1, &["a"]).into();
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    land(&mut played, "a", warm());
    // Whoever depends on it begins at once, on top of it.
    let words = played.owed_words();
    assert_eq!(
        words,
        [
            "start a attempt 1 confirm try 1",
            "plan b attempt 1 with codex"
        ]
    );
    carry(&mut played, "plan b");
    // With one place for checks the baseline comes first: a confirmation has time.
    let words = played.owed_words();
    assert_eq!(
        words,
        [
            "start b attempt 1 baseline try 1",
            "start a attempt 1 confirm try 1"
        ]
    );
    played.end_stage_of("b", Stage::Baseline, checked(true));
    played.start_stage(Some("a"), Stage::Confirm);
    played.start_stage(Some("b"), Stage::Implement);
    assert_eq!(played.state.running().len(), 2, "one story is worked on");
    assert_eq!(
        played.state.attempt("b").expect("b").base,
        *played.state.head()
    );
}

#[test]
fn confirmations_and_showings_go_in_the_order_of_the_landings() {
    let mut played = started();
    land(&mut played, "a", warm());
    land(&mut played, "b", warm());
    let cold = land(&mut played, "c", proven());
    assert_eq!(owed_to(&played, "b"), Vec::<String>::new());
    assert_eq!(owed_to(&played, "c"), Vec::<String>::new());
    let early = Event::RunStarted {
        run: run_of("b", Stage::Confirm),
    };
    let why = played.refused(early);
    assert_eq!(why, "what landed before it is not confirmed");
    let why = played.refused(announced("c"));
    assert_eq!(why, "another story landed before it and is not announced");
    let unconfirmed: Vec<&str> = played
        .state
        .unconfirmed()
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(unconfirmed, ["a", "b", "c"], "c stands on b");
    for id in ["a", "b"] {
        played.end_stage_of(id, Stage::Confirm, green());
        carry(&mut played, &format!("announce {id}"));
    }
    carry(&mut played, "announce c");
    assert_eq!(played.state.published(), Some(&cold));
}

#[test]
fn too_many_confirmations_come_before_other_checks() {
    let stories = ["a", "b", "c", "d", "e"].map(|id| story(id, 0, &[]));
    let mut spec = spec(stories.to_vec());
    spec.flow = Flow::Judged;
    spec.together.parallel = 5;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    for id in ["a", "b", "c"] {
        land(&mut played, id, warm());
    }
    played.begin("e");
    assert_eq!(played.owed_words()[0], "start e attempt 1 baseline try 1");
    land(&mut played, "d", warm());
    assert_eq!(played.owed_words()[0], "start a attempt 1 confirm try 1");
}

#[test]
fn a_red_confirmation_takes_everything_back_to_the_last_confirmed_commit() {
    let (mut played, [base, a, b, c]) = refuted();
    assert_eq!(*played.state.head(), c, "until the branch has moved");
    let order = order_like(&played, "retract");
    let Deed::Retract(retract) = &order.deed else {
        panic!("{order:?}");
    };
    assert_eq!(
        (&retract.from, &retract.commit, &retract.to),
        (&c, &a, &base)
    );
    for (commit, onto) in [(&b, &base), (&a, &b), (&c, &base)] {
        let wrong = Event::Retracted {
            story: "a".into(),
            attempt: 1,
            commit: commit.clone(),
            onto: onto.clone(),
            why: String::new(),
        };
        let why = played.refused(wrong);
        assert_eq!(why, format!("{commit} is not to be taken back to {onto}"));
    }
    played.carry_out(&order);
    assert_eq!(
        (played.state.head(), played.state.confirmed()),
        (&base, &base)
    );
    assert_eq!(played.state.published(), None);
    let a_now = played.state.story("a").expect("a");
    assert_eq!(
        (a_now.attempts, a_now.returns, a_now.former),
        (1, 0, Some(1))
    );
    assert!(
        a_now.feedback[0].contains("was taken back"),
        "{:?}",
        a_now.feedback
    );
    let was_green = a_now.rejected.iter().any(|one| one.is_green);
    assert!(!was_green, "nobody accepts it without a reason");
    assert_eq!(owed_to(&played, "a"), ["plan a attempt 2 with claude"]);
    let off = played
        .state
        .warm_off()
        .expect("builds are not reused any more");
    assert!(
        off.starts_with("`a` was green with a reused build"),
        "{off}"
    );
}

#[test]
fn what_landed_above_lands_again_in_its_order_and_without_what_was_taken_back() {
    let (mut played, [base, _, b, c]) = refuted();
    carry(&mut played, "retract");
    let queue: Vec<&str> = played
        .state
        .queue()
        .iter()
        .map(|one| one.spec.id.as_str())
        .collect();
    assert_eq!(queue, ["b", "c"]);
    for (id, was, number) in [("b", &b, 800), ("c", &c, 801)] {
        let order = order_like(&played, &format!("restack candidate {id}"));
        let Deed::Restack(restack) = &order.deed else {
            panic!("{order:?}");
        };
        assert_eq!((&restack.from, &restack.onto), (was, played.state.head()));
        let again = numbered_commit(number);
        played.record(restacked(restack, again.clone(), RestackClass::Disjoint));
        played.start_stage(Some(id), Stage::Check);
        assert!(cold_runs(&played.state).contains(&(Stage::Check, true)));
        played.end_stage_of(id, Stage::Check, proven());
        // The verdict is carried, and what was built anew is shown at once.
        carry(&mut played, &format!("integrate {id}"));
        carry(&mut played, &format!("announce {id}"));
        assert_eq!(played.state.published(), Some(&again));
    }
    assert_ne!(*played.state.head(), base);
    for dropped in [&b, &c] {
        let late = Event::PublishTried {
            commit: dropped.clone(),
            branch: kernel::PublishResult::Done,
        };
        assert!(played.refused(late).contains("is not owed"));
    }
}

#[test]
fn who_began_on_a_commit_that_was_taken_back_goes_on_and_is_put_onto_what_stays() {
    let mut played = started();
    land(&mut played, "c", proven());
    carry(&mut played, "announce c");
    land(&mut played, "a", warm());
    begin(&mut played, "b");
    played.start_stage(Some("b"), Stage::Check);
    played.end_stage_of("a", Stage::Confirm, broken());
    carry(&mut played, "retract");
    assert_eq!(owed_to(&played, "b"), ["run b attempt 1 check try 1"]);
    prove(&mut played, "b", warm());
    assert_eq!(owed_to(&played, "b"), ["restack b 1 1"]);
    let order = order_like(&played, "restack candidate b");
    let Deed::Restack(restack) = &order.deed else {
        panic!("{order:?}");
    };
    played.record(crate::support::restack_refused(restack));
    let told = &played.state.story("b").expect("b").feedback[0];
    let expected = "sent back, since a story that it was built on was taken back.";
    assert!(told.contains(expected), "c landed before it began: {told}");
}

#[test]
fn nothing_begins_and_nothing_lands_while_a_retraction_is_owed() {
    let mut played = started();
    land(&mut played, "a", warm());
    begin(&mut played, "b");
    prove(&mut played, "b", proven());
    let landing = order_like(&played, "integrate b");
    played.end_stage_of("a", Stage::Confirm, broken());
    assert_eq!(played.owed_words(), ["retract a 1"]);
    // A landing that was under way has moved the branch: it is taken, and taken back with the rest.
    played.carry_out(&landing);
    let order = order_like(&played, "retract");
    played.carry_out(&order);
    assert_eq!(*played.state.head(), played.state.spec().base);
    assert_eq!(owed_to(&played, "b"), ["restack b 1 1"]);
}

fn with_obligation(kind: ObligationKind) -> RunOutcome {
    facts(|facts| {
        facts.obligations = vec![Obligation {
            kind,
            subject: "an older test".to_owned(),
        }];
    })
}

#[test]
fn i02_a_confirmation_says_yes_exactly_if() {
    let (shown, back) = ("announce a", "retract a 1");
    let confirm_again = "start a attempt 1 confirm try 2";
    for (what, outcome, expected) in [
        ("green", green(), shown),
        ("exit codes alone", checked(true), shown),
        (
            "small faults that are not noticed",
            with_obligation(ObligationKind::Characterisation),
            shown,
        ),
        ("an older test is red", broken(), back),
        (
            "its own test is red",
            crate::support::red(&["it works"]),
            back,
        ),
        ("its tests do not build", unfit(), back),
        ("nothing proves it", unproven(), back),
        ("exit codes alone are red", checked(false), back),
        (
            "what nobody answered for",
            with_obligation(ObligationKind::OldTestRemoved),
            back,
        ),
        ("its keeper died", interrupted(), confirm_again),
        (
            "a fault of the machine",
            fault(Some(5_000)),
            "wait until 5000",
        ),
        ("a question", asked("where is the compiler?"), "nothing"),
    ] {
        let mut played = started();
        land(&mut played, "a", warm());
        played.end_stage_of("a", Stage::Confirm, outcome);
        let owed = played.owed_words();
        let found = owed.first().filter(|word| !word.starts_with("plan"));
        assert_eq!(found.map_or("nothing", String::as_str), expected, "{what}");
    }
}

#[test]
fn a_confirmation_that_waits_or_asks_stays_what_it_is() {
    for outcome in [fault(Some(5_000)), asked("where is the compiler?")] {
        let mut played = started();
        let commit = land(&mut played, "a", warm());
        let ticket = played.state.story("a").expect("a").ticket;
        played.end_stage_of("a", Stage::Confirm, outcome.clone());
        assert_eq!(played.state.story("a").expect("a").ticket, ticket);
        if let Some(question) = played.state.questions().first() {
            let words: Vec<&str> = question.choices.iter().map(|one| one.word()).collect();
            assert_eq!(words, ["retry", "cancel"], "it is on the branch already");
            let why = played.refused(crate::support::answered("skip"));
            assert_eq!(why, "`skip` is none of retry, cancel");
            played.answer("retry");
        } else {
            played.record(Event::ResumeRequested);
        }
        assert_eq!(owed_to(&played, "a"), ["start a attempt 1 confirm try 2"]);
        played.end_stage_of("a", Stage::Confirm, green());
        carry(&mut played, "announce a");
        assert_eq!(played.state.published(), Some(&commit));
    }
}

#[test]
fn who_depends_on_what_was_taken_back_waits_for_it_again_at_no_cost() {
    let mut spec = judged();
    spec.max_retries = 1;
    spec.stories[1] = story("b", 1, &["a"]).into();
    spec.stories[2] = story("c", 2, &["b"]).into();
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    land(&mut played, "a", warm());
    land(&mut played, "b", warm());
    played.begin("c");
    played.end_stage_of("c", Stage::Baseline, checked(true));
    let run = played.start_stage(Some("c"), Stage::Implement);
    played.end_stage_of("a", Stage::Confirm, broken());
    carry(&mut played, "retract");
    let status =
        |played: &Played, id: &str| played.state.story(id).expect("a story").status.clone();
    assert_eq!(status(&played, "b"), StoryStatus::Pending);
    assert_eq!(owed_to(&played, "c"), [format!("stop {run}")]);
    carry(&mut played, "stop");
    assert_eq!(status(&played, "c"), StoryStatus::Pending);
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
    carry(&mut played, "plan a");
    played.end_stage_of("a", Stage::Implement, worked());
    prove(&mut played, "a", proven());
    carry(&mut played, "integrate a");
    carry(&mut played, "announce a");
    // Both attempts that `max_retries` allows are left.
    assert_eq!(played.owed_words()[0], "plan b attempt 2 with codex");
    let b = played.state.story("b").expect("b");
    assert_eq!(b.attempts_max(played.state.spec()) - b.attempts, 2);
}

#[test]
fn a_cancel_leaves_what_is_not_confirmed_unpublished_until_somebody_asks() {
    let (mut played, [base, _, _, c]) = three_landed();
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    assert_eq!(played.owed_words(), ["stop a attempt 1 confirm try 1"]);
    played.settle();
    assert!(played.state.ended().is_some());
    let left: Vec<&str> = played
        .state
        .unconfirmed()
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(left, ["a", "b", "c"]);
    assert_eq!(
        played.state.unpublished(),
        Some("landed, not confirmed, not published")
    );
    assert_eq!(
        (played.owed_words(), played.state.confirmed()),
        (Vec::new(), &base)
    );
    let why = played.refused(Event::RetryRequested {
        story: "a".into(),
        hint: None,
        agent: None,
        flow: None,
    });
    assert_eq!(why, "story `a` has landed and waits for its confirmation");
    played.record(Event::PublishRequested);
    for id in ["a", "b", "c"] {
        played.end_stage_of(id, Stage::Confirm, green());
        carry(&mut played, &format!("announce {id}"));
    }
    assert_eq!(played.state.published(), Some(&c));
    played.settle();
    let ended = played.state.ended();
    assert!(
        matches!(ended, Some(kernel::EndReason::Cancelled { .. })),
        "{ended:?}"
    );
    let why = played.refused(Event::PublishRequested);
    assert_eq!(why, "all accepted commits are in the repository");
}

/// `a` is confirmed, and somebody moved the branch before it could be shown; `b` and `c` landed on it, and
/// `c` waits for the confirmation of `b`.
#[test]
fn e02_what_waits_for_a_confirmation_holds_up_no_publishing_of_what_is_confirmed() {
    let mut played = started();
    let a = land(&mut played, "a", proven());
    let taken = kernel::PublishResult::Taken {
        why: "moved".to_owned(),
    };
    played.record(Event::Announced {
        story: "a".into(),
        branch: taken,
        prd: kernel::WriteBack::Done,
    });
    land(&mut played, "b", warm());
    land(&mut played, "c", proven());
    played.start_stage(Some("b"), Stage::Confirm);
    assert!(!played.state.owes_publishing(), "a person has the branch");
    played.record(Event::PublishRequested);
    assert_eq!(played.state.confirmed(), &a);
    assert!(played.state.owes_publishing());
    played.record(Event::PublishTried {
        commit: a.clone(),
        branch: kernel::PublishResult::Done,
    });
    assert_eq!(played.state.published(), Some(&a));
}

#[test]
fn a_loop_that_went_on_to_confirm_begins_nothing_when_that_is_red() {
    let (mut played, [base, ..]) = three_landed();
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    played.settle();
    played.record(Event::PublishRequested);
    played.end_stage_of("a", Stage::Confirm, broken());
    played.settle();
    assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
    assert_eq!(
        (played.state.head(), played.state.published()),
        (&base, None)
    );
    for story in played.state.stories() {
        assert_eq!(story.status, StoryStatus::Pending, "{}", story.spec.id);
        assert_eq!(story.rejected.len(), 1, "it can be accepted");
    }
}

#[test]
fn i10_the_budget_is_kept_for_confirmations_and_none_is_needed_when_somebody_asks() {
    let mut spec = judged();
    let cap = 10_000;
    spec.budget = Some(budget_of(5 * cap, cap));
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    for (stage, outcome) in [
        (Stage::Baseline, checked(true)),
        (Stage::Implement, worked()),
    ] {
        if stage == Stage::Baseline {
            played.begin("a");
        }
        played.start_stage(Some("a"), stage);
        played.clock_ms += cap;
        played.end_stage_of("a", stage, outcome);
    }
    prove(&mut played, "a", warm());
    carry(&mut played, "integrate a");
    assert_eq!(played.state.left_ms(), Some(3 * cap));
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 confirm try 1"],
        "no story begins that leaves too little for it"
    );
    played.start_stage(Some("a"), Stage::Confirm);
    played.clock_ms += 3 * cap;
    played.end_stage_of("a", Stage::Confirm, interrupted());
    played.settle();
    assert_eq!(
        played.state.ended(),
        Some(&kernel::EndReason::BudgetExhausted)
    );
    played.record(Event::PublishRequested);
    played.end_stage_of("a", Stage::Confirm, green());
    played.settle();
    assert_eq!(played.state.published(), Some(played.state.head()));
    assert_eq!(
        played.state.ended(),
        Some(&kernel::EndReason::BudgetExhausted)
    );
}

#[test]
fn i10_a_run_that_leaves_too_little_for_a_confirmation_waits() {
    let mut spec = judged();
    let cap = 10_000;
    spec.budget = Some(budget_of(20 * cap, cap));
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played.begin("b");
    played.end_stage_of("b", Stage::Baseline, checked(true));
    land(&mut played, "a", warm());
    played.start_stage(Some("b"), Stage::Implement);
    played.clock_ms += 19 * cap;
    played.end_stage_of("b", Stage::Implement, interrupted());
    assert_eq!(played.state.left_ms(), Some(cap), "enough for one run");
    assert_eq!(played.owed_words(), ["start a attempt 1 confirm try 1"]);
}

fn budget_of(total_ms: i64, cap: i64) -> TimeBudget {
    TimeBudget {
        total_ms,
        implement_cap_ms: cap,
        check_cap_ms: cap,
        judge_cap_ms: cap,
        review_cap_ms: cap,
        prove_cap_ms: cap,
    }
}

#[test]
fn a_pause_keeps_confirmations_from_starting() {
    let mut played = started();
    land(&mut played, "a", warm());
    played.record(Event::PauseRequested);
    assert_eq!(played.owed_words(), Vec::<String>::new());
    played.record(Event::ResumeRequested);
    assert_eq!(owed_to(&played, "a"), ["start a attempt 1 confirm try 1"]);
}

#[test]
fn nobody_looks_again_at_a_skipped_story_while_something_is_not_confirmed() {
    let mut spec = judged();
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    begin(&mut played, "b");
    played.end_stage_of("b", Stage::Check, checked(false));
    carry(&mut played, "skip b");
    land(&mut played, "a", warm());
    begin(&mut played, "c");
    played.end_stage_of("c", Stage::Check, checked(false));
    carry(&mut played, "skip c");
    played.end_stage_of("a", Stage::Confirm, asked("where is the compiler?"));
    assert_eq!(played.owed_words(), Vec::<String>::new());
    let recheck = Event::RecheckPlanned {
        story: "b".into(),
        attempt: 2,
        head: played.state.head().clone(),
        judge: None,
    };
    assert_eq!(played.refused(recheck), "story `b` cannot be rechecked");
    played.answer("retry");
    played.end_stage_of("a", Stage::Confirm, green());
    carry(&mut played, "announce a");
    carry(&mut played, "plan b");
    played.start_stage(Some("b"), Stage::Check);
    assert_eq!(
        cold_runs(&played.state),
        [(Stage::Check, true)],
        "shown at once"
    );
}

#[test]
fn what_a_person_accepted_is_confirmed_unless_their_reason_covers_it() {
    for (reason, outcome, expected) in [
        (None, warm(), "start a attempt 2 confirm try 1"),
        (None, proven(), "announce a"),
        (Some("I looked"), warm(), "announce a"),
    ] {
        let mut played = started();
        begin(&mut played, "a");
        played.end_stage_of("a", Stage::Check, outcome);
        played.start_stage(Some("a"), Stage::Judge);
        let no = RunOutcome::Judged(played.verdict_on("a", false));
        let commit = played.verdict_on("a", false).commit;
        played.end_stage_of("a", Stage::Judge, no);
        played.record(Event::AcceptRequested {
            story: "a".into(),
            commit,
            by: "Ada".to_owned(),
            reason: reason.map(str::to_owned),
        });
        carry(&mut played, "plan a");
        carry(&mut played, "make-accepted a");
        carry(&mut played, "integrate a");
        assert_eq!(owed_to(&played, "a"), [expected], "{reason:?}");
        if expected.contains("confirm") {
            played.end_stage_of("a", Stage::Confirm, broken());
            carry(&mut played, "retract");
            assert_eq!(owed_to(&played, "a"), ["skip a"], "it takes a reason");
        }
    }
}

#[test]
fn a_second_look_never_moves_the_operators_branch_back() {
    let mut spec = judged();
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    begin(&mut played, "b");
    played.end_stage_of("b", Stage::Check, checked(false));
    carry(&mut played, "skip b");
    land(&mut played, "a", proven());
    carry(&mut played, "announce a");
    begin(&mut played, "c");
    played.end_stage_of("c", Stage::Check, asked("log in?"));
    carry(&mut played, "plan b");
    played.end_stage_of("b", Stage::Check, green());
    played.start_stage(Some("b"), Stage::Judge);
    played.answer("retry");
    prove(&mut played, "c", proven());
    carry(&mut played, "integrate c");
    carry(&mut played, "announce c");
    let newest = played.state.published().cloned();
    let verdict = played.verdict_on("b", true);
    played.end_stage_of("b", Stage::Judge, RunOutcome::Judged(verdict));
    let order = order_like(&played, "announce b");
    assert!(
        matches!(&order.deed, Deed::Announce { to, .. } if Some(to) == newest.as_ref()),
        "{order:?}"
    );
    played.carry_out(&order);
    assert_eq!(played.state.published(), newest.as_ref());
    // Earlier versions moved it back, and forward again.
    played.record(Event::PublishTried {
        commit: played.state.head().clone(),
        branch: kernel::PublishResult::Done,
    });
    let again = Event::PublishTried {
        commit: played.state.head().clone(),
        branch: kernel::PublishResult::Done,
    };
    assert!(played.refused(again).contains("is not owed"));
}

#[test]
fn a_retraction_is_the_same_after_it_was_written_and_read() {
    let (mut played, _) = refuted();
    carry(&mut played, "retract");
    let text: Vec<String> = played
        .journal
        .iter()
        .map(|record| serde_json::to_string(record).expect("JSON"))
        .collect();
    let read = text
        .iter()
        .map(|one| serde_json::from_str(one).expect("read"))
        .collect::<Vec<kernel::Stamped>>();
    assert_eq!(State::replay(&read).expect("it replays"), played.state);
    let ended = ended(run_of("a", Stage::Check), green());
    let cold = serde_json::to_string(&ended).expect("JSON");
    assert!(
        !cold.contains("warm"),
        "journals of cold loops stay as they are: {cold}"
    );
}
