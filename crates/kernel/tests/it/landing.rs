//! The queue: proven candidates land one at a time, and what does not fit onto what landed goes back.

use kernel::{
    Candidate, Commit, Deed, Event, Flow, LoopSpec, OnQuestion, Order, Rejudge, RestackClass,
    RestackOrder, Restackable, RunOutcome, Stage, Step, StoryStatus, decide, needs_person,
};

use crate::queue::{judge, judged, proven};
use crate::support::{
    Played, answered, asked, checked, ended, facts, green, limit, made, numbered_commit,
    restack_refused, restacked, spec, story, strings, worked,
};

/// Three stories, all under way on the same base.
fn three(spec: LoopSpec) -> Played {
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    for id in ["a", "b", "c"] {
        played.begin(id);
    }
    for id in ["a", "b", "c"] {
        played.end_stage_of(id, Stage::Baseline, checked(true));
        played.end_stage_of(id, Stage::Implement, worked());
    }
    played
}

/// Takes a story from its checks to the queue.
fn prove(played: &mut Played, id: &str) -> Commit {
    played.end_stage_of(id, Stage::Check, proven());
    judge(played, id, true)
}

/// Lands whoever is at the front and on the head.
fn land(played: &mut Played) {
    for kind in ["integrate", "announce"] {
        let owed = played.owed();
        let is_it = |order: &&Order| order.key().starts_with(kind);
        let order = owed.iter().find(is_it).expect("a landing").clone();
        played.carry_out(&order);
    }
}

fn restack_order(played: &Played) -> RestackOrder {
    let orders = played.owed().into_iter();
    let mut orders = orders.filter_map(|order| match order.deed {
        Deed::Restack(order) => Some(*order),
        _ => None,
    });
    orders.next().expect("a restack is owed")
}

/// `a` has landed, and `b` is proven on the commit before.
fn behind(spec: LoopSpec) -> (Played, RestackOrder) {
    let mut played = three(spec);
    prove(&mut played, "a");
    prove(&mut played, "b");
    land(&mut played);
    let order = restack_order(&played);
    assert_eq!((order.story.as_str(), order.round), ("b", 1));
    (played, order)
}

/// The same, with `b` put onto the head in this way and its checks ended so.
fn measured(spec: LoopSpec, class: RestackClass, outcome: RunOutcome) -> Played {
    let (mut played, order) = behind(spec);
    played.record(restacked(&order, numbered_commit(900), class));
    played.end_stage_of("b", Stage::Check, outcome);
    played
}

/// What is owed to `b` next, in short.
fn next(played: &Played) -> String {
    let words = played.owed_words();
    let of_b = words.into_iter().find(|word| word.contains(" b"));
    of_b.unwrap_or_else(|| "nothing".to_owned())
}

fn candidate<'p>(played: &'p Played, id: &str) -> &'p Candidate {
    let attempt = played.state.attempt(id).expect("an attempt");
    attempt.candidate().expect("a candidate")
}

#[test]
fn candidates_land_in_the_order_in_which_they_were_proven() {
    let mut played = three(judged());
    let second = prove(&mut played, "c");
    prove(&mut played, "a");
    assert_eq!(
        played.owed_words()[0],
        "integrate c",
        "rank decides nothing"
    );
    let queue: Vec<&str> = played
        .state
        .queue()
        .iter()
        .map(|one| one.spec.id.as_str())
        .collect();
    assert_eq!(queue, ["c", "a"]);
    land(&mut played);
    assert_eq!(*played.state.head(), second);
    assert_eq!(played.owed_words()[0], "restack a 1 1");
}

#[test]
fn i01_a_pass_is_carried_exactly_if() {
    let flagged = facts(|facts| {
        facts.proven = strings(&["it works"]);
        facts.flags = vec![kernel::Flag {
            kind: kernel::FlagKind::Random,
            place: "src/a:1".to_owned(),
            text: "it rolls dice".to_owned(),
        }];
    });
    let owes = facts(|facts| {
        facts.proven = strings(&["it works"]);
        facts.obliged = strings(&["an older test"]);
    });
    let not_gating = facts(|facts| {
        facts.proven = strings(&["it works"]);
        facts.not_gating = strings(&["lint"]);
    });
    let always = || {
        let mut spec = judged();
        spec.together.rejudge = Rejudge::Always;
        spec
    };
    let (disjoint, mixed) = (RestackClass::Disjoint, RestackClass::Mixed);
    let (lands, again) = ("integrate b", "start b attempt 1 judge try 2");
    for (what, spec, class, outcome, expected) in [
        ("no file of both", judged(), disjoint, proven(), lands),
        ("a merged text", judged(), mixed, proven(), again),
        ("no test proves it", judged(), disjoint, green(), again),
        ("something new to see", judged(), disjoint, flagged, again),
        ("something new to answer", judged(), disjoint, owes, again),
        (
            "a check that says nothing",
            judged(),
            disjoint,
            not_gating,
            again,
        ),
        ("every time", always(), disjoint, proven(), again),
    ] {
        let played = measured(spec, class, outcome);
        assert_eq!(next(&played), expected, "{what}");
    }
}

#[test]
fn i01_what_was_judged_again_lands_by_its_own_id() {
    let mut played = measured(judged(), RestackClass::Mixed, proven());
    // A PASS on the commit that was judged before is no PASS on this one.
    let run = played.start_stage(Some("b"), Stage::Judge);
    let former = kernel::Verdict {
        commit: candidate_before(&played),
        ..played.verdict_on("b", true)
    };
    let why = played.refused(ended(run, RunOutcome::Judged(former)));
    assert!(why.starts_with("the verdict is about"), "{why}");
    let commit = judge(&mut played, "b", true);
    assert_eq!(commit, numbered_commit(900));
    land(&mut played);
    assert_eq!(*played.state.head(), commit);
}

fn candidate_before(played: &Played) -> Commit {
    let attempt = played.state.attempt("b").expect("an attempt");
    let judged = attempt.judged.as_ref().expect("it was judged");
    judged.candidate.commit.clone()
}

#[test]
fn a_flow_without_a_judge_needs_none_again() {
    let mut spec = judged();
    spec.flow = Flow::Solo;
    let mut played = three(spec);
    for id in ["a", "b"] {
        played.end_stage_of(id, Stage::Check, green());
    }
    land(&mut played);
    let order = restack_order(&played);
    played.record(restacked(&order, numbered_commit(900), RestackClass::Mixed));
    played.end_stage_of("b", Stage::Check, green());
    assert_eq!(next(&played), "integrate b");
}

#[test]
fn i05_what_does_not_fit_is_sent_back_and_costs_no_attempt() {
    let red = || facts(|facts| facts.broken = strings(&["a's test"]));
    let (mut refused, order) = behind(judged());
    refused.record(restack_refused(&order));
    let mut failed = measured(judged(), RestackClass::Mixed, proven());
    failed.start_stage(Some("b"), Stage::Judge);
    let no = RunOutcome::Judged(failed.verdict_on("b", false));
    failed.end_stage_of("b", Stage::Judge, no);
    for (what, played) in [
        ("conflict", refused),
        ("red", measured(judged(), RestackClass::Disjoint, red())),
        ("FAIL", failed),
    ] {
        let b = played.state.story("b").expect("b");
        assert_eq!(
            (b.returns, b.former, b.ticket),
            (1, Some(1), None),
            "{what}"
        );
        assert!(
            b.feedback[0].contains("landed first: `a`"),
            "{what}: {:?}",
            b.feedback
        );
        // The same implementor, although another one is on the ladder's next rung.
        assert_eq!(next(&played), "plan b attempt 2 with codex", "{what}");
    }
}

/// Has `b` proven on the head once more, while `c` lands first.
fn send_back_again(played: &mut Played) {
    played.end_stage_of("b", Stage::Baseline, checked(true));
    played.end_stage_of("b", Stage::Implement, worked());
    played.end_stage_of("b", Stage::Check, proven());
    prove(played, "c");
    let order = restack_order(played);
    played.record(restacked(
        &order,
        numbered_commit(700),
        RestackClass::Disjoint,
    ));
    played.end_stage_of("c", Stage::Check, proven());
    judge(played, "b", true);
    land(played);
    let order = restack_order(played);
    assert_eq!(order.story, "b");
    played.record(restack_refused(&order));
}

#[test]
fn after_the_second_return_nothing_else_lands_until_the_story_was_tried_again() {
    let (mut played, order) = behind(judged());
    played.record(restack_refused(&order));
    send_back_again(&mut played);
    let b = played.state.story("b").expect("b");
    assert_eq!((b.returns, b.attempts), (2, 2));
    assert!(b.ticket.is_some(), "it holds the lane");
    assert_eq!(next(&played), "plan b attempt 3 with codex");
    let order = played.owed();
    played.carry_out(&order[0]);
    assert!(
        played
            .state
            .front()
            .is_some_and(|front| front.spec.id == "b")
    );
    // From here on a rejection costs an attempt, and the ladder is climbed.
    played.end_stage_of("b", Stage::Baseline, checked(true));
    played.end_stage_of("b", Stage::Implement, worked());
    played.end_stage_of("b", Stage::Check, checked(false));
    let b = played.state.story("b").expect("b");
    assert_eq!((b.returns, b.attempts), (2, 3));
    assert_eq!(next(&played), "plan b attempt 4 with claude");
}

#[test]
fn whoever_waits_or_asks_leaves_the_queue_and_begins_again_from_what_was_accepted() {
    for (what, outcome) in [("waits", limit(Some(90_000))), ("asks", asked("log in?"))] {
        let (mut played, order) = behind(judged());
        let accepted = candidate(&played, "b").clone();
        played.record(restacked(&order, numbered_commit(900), RestackClass::Mixed));
        played.end_stage_of("b", Stage::Check, proven());
        played.end_stage_of("b", Stage::Judge, outcome);
        assert_eq!(played.state.story("b").expect("b").ticket, None, "{what}");
        // The next one lands meanwhile.
        if what == "waits" {
            prove(&mut played, "c");
            let owed = played.owed();
            let is_restack = |order: &&Order| matches!(order.deed, Deed::Restack(_));
            let order = owed
                .iter()
                .find(is_restack)
                .expect("c is restacked")
                .clone();
            played.carry_out(&order);
            played.end_stage_of("c", Stage::Check, proven());
            land(&mut played);
            played.record(Event::ResumeRequested);
        } else {
            played.record(answered("retry"));
        }
        let attempt = played.state.attempt("b").expect("an attempt");
        assert!(attempt.is_queued() && attempt.judged.is_none(), "{what}");
        assert_eq!(*candidate(&played, "b"), accepted, "{what}");
        let again = restack_order(&played);
        assert_eq!((again.from, again.round), (accepted.commit, 2), "{what}");
    }
}

#[test]
fn i01_the_law_of_landing_refuses() {
    let integrated = |commit: &Commit| Event::Integrated {
        story: "b".into(),
        attempt: 1,
        commit: commit.clone(),
    };
    let (mut played, order) = behind(judged());
    let stale = order.from.clone();
    let why = played.refused(integrated(&stale));
    assert!(why.contains("and the branch is at"), "{why}");
    // A restack of something else, onto something else, by another number, or out of turn.
    let restack = restacked(&order, numbered_commit(900), RestackClass::Disjoint);
    for change in [
        |event: &mut Event| set(event, "from"),
        |event: &mut Event| set(event, "onto"),
        |event: &mut Event| set(event, "round"),
    ] {
        let mut wrong = restack.clone();
        change(&mut wrong);
        let why = played.refused(wrong);
        assert!(why.contains("is not to be put onto"), "{why}");
    }
    played.record(restack);
    // It was put there and not measured.
    let why = played.refused(integrated(&numbered_commit(900)));
    assert!(why.contains("has no verdict"), "{why}");
}

fn set(event: &mut Event, what: &str) {
    if let Event::Restacked {
        from, onto, round, ..
    } = event
    {
        match what {
            "from" => *from = numbered_commit(1),
            "onto" => *onto = numbered_commit(1),
            _ => *round += 1,
        }
    }
}

#[test]
fn landings_are_announced_in_their_order_and_hold_up_no_landing() {
    let mut played = three(judged());
    prove(&mut played, "a");
    prove(&mut played, "b");
    let owed = played.owed();
    played.carry_out(&owed[0]);
    let words = played.owed_words();
    assert!(words.contains(&"announce a".to_owned()), "{words:?}");
    assert!(words.contains(&"restack b 1 1".to_owned()), "{words:?}");
    let order = restack_order(&played);
    played.record(restacked(
        &order,
        numbered_commit(900),
        RestackClass::Disjoint,
    ));
    played.end_stage_of("b", Stage::Check, proven());
    let owed = played.owed();
    let integrate = owed
        .iter()
        .find(|order| order.key().starts_with("integrate"));
    played.carry_out(&integrate.expect("b lands").clone());
    let why = played.refused(Event::Announced {
        story: "b".into(),
        branch: kernel::PublishResult::Done,
        prd: kernel::WriteBack::Done,
    });
    assert!(why.contains("landed before it"), "{why}");
}

/// `a` has landed, and `b` is proven on the commit before; a person said yes to what `b` asks.
fn agreed(ask: Option<&str>) -> Played {
    let mut played = Played::start(judged());
    played.record(Event::LoopPrepared);
    for id in ["a", "b"] {
        played.begin(id);
    }
    for id in ["a", "b"] {
        played.end_stage_of(id, Stage::Baseline, checked(true));
        let run = played.start_stage(Some(id), Stage::Implement);
        played.record(ended(run, worked()));
        let mut candidate = made(id, 1, numbered_commit(if id == "a" { 1 } else { 2 }));
        if let (Event::CandidateMade { ask: asked, .. }, "b") = (&mut candidate, id) {
            *asked = ask.map(str::to_owned);
        }
        played.record(candidate);
        prove(&mut played, id);
    }
    if ask.is_some() {
        played.record(answered("approve"));
    }
    land(&mut played);
    played
}

#[test]
fn a_person_is_asked_again_where_their_yes_was_about_something_else() {
    for (what, before, class, now, is_asked) in [
        (
            "the same",
            Some("x?"),
            RestackClass::Disjoint,
            Some("x?"),
            false,
        ),
        (
            "nothing any more",
            Some("x?"),
            RestackClass::Disjoint,
            None,
            false,
        ),
        (
            "it appeared",
            None,
            RestackClass::Disjoint,
            Some("x?"),
            true,
        ),
        (
            "it changed",
            Some("x?"),
            RestackClass::Disjoint,
            Some("y?"),
            true,
        ),
        (
            "it was merged",
            Some("x?"),
            RestackClass::Mixed,
            Some("x?"),
            true,
        ),
    ] {
        let mut played = agreed(before);
        let order = restack_order(&played);
        let mut event = restacked(&order, numbered_commit(900), class);
        if let Event::Restacked { ask, .. } = &mut event {
            *ask = now.map(str::to_owned);
        }
        played.record(event);
        played.end_stage_of("b", Stage::Check, proven());
        if next(&played).contains("judge") {
            judge(&mut played, "b", true);
        }
        let attempt = played.state.attempt("b").expect("an attempt");
        let asks = matches!(attempt.step, Step::Approve { .. });
        assert_eq!(asks, is_asked, "{what}");
        if asks {
            assert_eq!(played.state.story("b").expect("b").ticket, None, "{what}");
            played.record(answered("approve"));
            assert_eq!(next(&played), "integrate b", "{what}");
        }
    }
}

/// A loop with one story at a time whose first story asks.
fn asking(mut spec: LoopSpec, outcome: RunOutcome) -> Played {
    spec.together.parallel = 1;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played.begin("a");
    played.end_stage_of("a", Stage::Baseline, checked(true));
    let run = played.start_stage(Some("a"), Stage::Implement);
    played.record(ended(run, outcome));
    played
}

#[test]
fn a_missing_login_stops_only_that_agent() {
    // Nothing but the same agent is left to begin with.
    let played = asking(judged(), asked("log in?"));
    assert_eq!(played.owed_words(), Vec::<String>::new());
    assert!(needs_person(&played.state));
    // A story of another agent begins, past one that would have to wait.
    let mut stories = vec![story("a", 0, &[]), story("b", 1, &[]), story("c", 2, &[])];
    stories[2].tool = Some("pi".into());
    let mut other = spec(stories);
    other.flow = Flow::Judged;
    let played = asking(other, asked("log in?"));
    assert_eq!(played.owed_words(), ["plan c attempt 1 with pi"]);
    assert!(!needs_person(&played.state));
}

#[test]
fn an_agent_that_asks_for_a_login_is_started_nowhere_until_one_answer_is_given_for_all() {
    let mut played = Played::start(judged());
    played.record(Event::LoopPrepared);
    for id in ["a", "b", "c"] {
        played.begin(id);
        played.end_stage_of(id, Stage::Baseline, checked(true));
    }
    // Two runs were under way when the login was lost.
    let runs = ["a", "b"].map(|id| played.start_stage(Some(id), Stage::Implement));
    for run in runs {
        played.record(ended(run, asked("log in?")));
    }
    assert_eq!(
        played.owed_words(),
        Vec::<String>::new(),
        "c waits for its agent"
    );
    assert!(needs_person(&played.state));
    let why = played.refused(answered("skip"));
    assert_eq!(why, "several stories ask: a, b; name one");
    played.record(answered("retry"));
    assert_eq!(
        played.owed_words(),
        [
            "start a attempt 1 implement try 2",
            "start b attempt 1 implement try 2",
            "start c attempt 1 implement try 1"
        ]
    );
}

#[test]
fn a_question_leaves_the_others_going_unless_the_policy_says_stop() {
    for (policy, expected) in [
        (OnQuestion::GoOn, vec!["plan b attempt 1 with codex"]),
        (OnQuestion::Stop, vec![]),
    ] {
        let mut spec = judged();
        spec.together.on_question = policy;
        let question = RunOutcome::NeedsHuman {
            question: "which one?".to_owned(),
            free: true,
        };
        let played = asking(spec, question);
        assert_eq!(played.owed_words(), expected);
        assert_eq!(needs_person(&played.state), expected.is_empty());
    }
}

#[test]
fn what_a_budget_has_no_room_for_does_not_begin() {
    let mut spec = judged();
    let caps = 10_000;
    spec.budget = Some(kernel::TimeBudget {
        // The whole way of one story: baseline, implement, check, judge, and before it lands the check and,
        // since no tests prove it, the judge once more.
        total_ms: 6 * caps,
        implement_cap_ms: caps,
        check_cap_ms: caps,
        judge_cap_ms: caps,
        review_cap_ms: caps,
        prove_cap_ms: caps,
    });
    let mut played = Played::start(spec.clone());
    played.record(Event::LoopPrepared);
    let plan = played.owed();
    played.carry_out(&plan[0]);
    assert_eq!(played.owed_words(), ["start a attempt 1 baseline try 1"]);
    // With twice as much another one begins beside it.
    spec.budget = spec.budget.map(|budget| kernel::TimeBudget {
        total_ms: 12 * caps,
        ..budget
    });
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    let plan = played.owed();
    played.carry_out(&plan[0]);
    let words = played.owed_words();
    assert!(
        words.contains(&"plan b attempt 1 with codex".to_owned()),
        "{words:?}"
    );
}

#[test]
fn tests_are_put_onto_a_new_base_where_they_fit() {
    let mut spec = judged();
    spec.flow = Flow::Tdd;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    for id in ["a", "b"] {
        played.begin(id);
        played.end_stage_of(id, Stage::Baseline, checked(true));
        played.end_stage_of(id, Stage::WriteTests, crate::support::written());
        played.end_stage_of(id, Stage::Implement, worked());
    }
    for id in ["a", "b"] {
        played.end_stage_of(id, Stage::Check, proven());
        played.end_stage_of(id, Stage::Review, crate::support::reviewed());
        judge(&mut played, id, true);
    }
    land(&mut played);
    let order = restack_order(&played);
    played.record(restack_refused(&order));
    let plan = played.owed();
    let is_plan = |order: &&Order| order.key() == "plan b 2";
    let plan = plan.iter().find(is_plan).expect("b is planned").clone();
    played.carry_out(&plan);
    let order = restack_order(&played);
    assert_eq!(order.what, Restackable::Tests);
    let mut refused = played.clone();
    played.record(restacked(
        &order,
        numbered_commit(800),
        RestackClass::Disjoint,
    ));
    let tests = played.state.story("b").and_then(|b| b.tests.clone());
    assert_eq!(tests.expect("tests").commit, Some(numbered_commit(800)));
    refused.record(restack_refused(&order));
    assert_eq!(refused.state.story("b").expect("b").tests, None);
    for (played, expected) in [(played, false), (refused, true)] {
        let mut played = played;
        played.end_stage_of("b", Stage::Baseline, checked(true));
        let is_written = next(&played).contains("write-tests");
        assert_eq!(is_written, expected, "{:?}", played.owed_words());
    }
}

#[test]
fn whoever_is_proven_and_has_not_landed_is_named() {
    let (mut played, order) = behind(judged());
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    while let Some(order) = decide(&played.state).first().cloned() {
        played.carry_out(&order);
    }
    assert!(played.state.ended().is_some());
    let named: Vec<(&str, &Commit)> = played
        .state
        .unlanded()
        .into_iter()
        .map(|(id, commit)| (id.as_str(), commit))
        .collect();
    assert_eq!(named, [("b", &order.from)]);
    let is_active = |id: &str| {
        let story = played.state.story(id).expect("a story");
        matches!(story.status, StoryStatus::Active(_))
    };
    assert!(is_active("b") && is_active("c"));
}
