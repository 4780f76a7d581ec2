//! What each flow asks for, in which order, and where its gates are.

use kernel::{
    Base, Choice, Deed, Event, Facts, FirstStory, Flow, Obligation, ObligationKind, Obliged,
    Rewrite, RunOutcome, Stage, StoryStatus, Writes,
};

use crate::support::{
    Played, answered, bad_answer, checked, ended, facts, failed, fault, green, interrupted,
    numbered_commit, red, reviewed, running, spec, story, strings, unfit, unproven, worked,
    written,
};

fn playing(flow: Flow) -> Played {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = flow;
    let mut played = Played::start(loop_spec);
    played.record(Event::LoopPrepared);
    played
}

/// A quartet whose code and tests are there; the check is next.
fn quartet_to_check() -> Played {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::WriteTests, written());
    played
}

/// The order of the stages of a story that passes at once.
fn stages_of(flow: Flow) -> Vec<String> {
    let mut played = playing(flow);
    let mut stages = Vec::new();
    for _ in 0..60 {
        if played.state.ended().is_some() {
            break;
        }
        let owed = played.owed();
        let starts = owed.iter().find(|order| order.deed.starts().is_some());
        let next = starts.or(owed.first()).expect("something is owed");
        match running(next) {
            Some(run) => {
                let outcome = match run.stage {
                    Stage::Baseline => checked(true),
                    Stage::Implement | Stage::Prove => worked(),
                    Stage::WriteTests => written(),
                    Stage::Check => green(),
                    Stage::Review => reviewed(),
                    Stage::Judge => RunOutcome::Judged(played.verdict(true)),
                    Stage::Arbitrate => unreachable!("nothing is in dispute"),
                    Stage::Confirm => unreachable!("no build is reused"),
                };
                played.record(ended(run.clone(), outcome));
            }
            None => {
                match &next.deed {
                    Deed::StartRun { run } => stages.push(run.stage.word().to_owned()),
                    Deed::MakeTests(_) => stages.push("(tests)".to_owned()),
                    Deed::MakeCandidate(_) => stages.push("(candidate)".to_owned()),
                    Deed::Integrate { .. } => stages.push("(integrate)".to_owned()),
                    _ => {}
                }
                played.carry_out(next);
            }
        }
    }
    stages
}

#[test]
fn each_flow_goes_through_its_stages() {
    for (flow, expected) in [
        (
            Flow::Quartet,
            "baseline implement write-tests (tests) (candidate) check review judge (integrate)",
        ),
        (
            Flow::Tdd,
            "baseline write-tests (tests) implement (candidate) check review judge (integrate)",
        ),
        (
            Flow::Proof,
            "baseline implement (candidate) prove (candidate) check judge (integrate)",
        ),
        (
            Flow::Solo,
            "baseline implement (candidate) check (integrate)",
        ),
        (
            Flow::Judged,
            "baseline implement (candidate) check judge (integrate)",
        ),
        (
            Flow::Legacy,
            "implement (candidate) check judge (integrate)",
        ),
    ] {
        assert_eq!(stages_of(flow).join(" "), expected, "{flow:?}");
    }
}

#[test]
fn i07_nobody_who_writes_tests_stands_on_a_candidate() {
    for flow in Flow::CHOICES {
        let row = flow.row(Stage::WriteTests);
        assert_eq!(
            (row.base, row.writes),
            (Base::Story, Writes::Tests),
            "{flow:?}"
        );
        let sees_tests = flow.row(Stage::Implement).base == Base::StoryWithTests;
        assert_eq!(sees_tests, flow == Flow::Tdd, "{flow:?}");
    }
}

#[test]
fn implementor_and_test_writer_are_owed_at_the_same_time() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    assert_eq!(
        played.owed_words(),
        [
            "start a attempt 1 implement try 1",
            "start a attempt 1 write-tests try 1"
        ]
    );
}

#[test]
fn a_base_whose_setup_fails_stops_the_loop_before_any_agent_is_paid() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(false));
    assert!(played.owed().is_empty(), "{:?}", played.owed_words());
    let questions = played.state.questions();
    let texts: Vec<&str> = questions.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("`setup` fails on the base"), "{texts:?}");
    played.answer("retry");
    assert_eq!(played.owed_words(), ["start a attempt 1 baseline try 2"]);
}

#[test]
fn a_failed_implementor_keeps_the_tests_for_the_next_attempt() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, failed("gave up"));
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 write-tests try 1"],
        "the writer is not disturbed"
    );
    played.end_stage(Stage::WriteTests, written());
    played.settle();
    assert_eq!(
        played.owed_words(),
        ["start a attempt 2 implement try 1"],
        "and no second writer is paid"
    );
}

#[test]
fn i05_tests_at_fault_cost_no_attempt() {
    let why = || "for the writer".to_owned();
    for (outcome, rewrite) in [
        (unfit(), Rewrite::Repair(why())),
        (unproven(), Rewrite::Better(why())),
    ] {
        let mut played = quartet_to_check();
        played.end_stage(Stage::Check, outcome);
        assert_eq!(
            played.owed_words(),
            ["start a attempt 1 write-tests try 2"],
            "{rewrite:?}"
        );
        assert_eq!(played.state.stories()[0].rewrite, Some(rewrite));
        played.end_stage(Stage::WriteTests, written());
        played.end_stage(Stage::Check, green());
        assert_eq!(
            played.state.stories()[0]
                .tests
                .as_ref()
                .map(|tests| tests.round),
            Some(2)
        );
        assert_eq!(
            played.owed_words(),
            ["start a attempt 1 review try 1"],
            "the code is the same"
        );
    }
}

#[test]
fn tests_that_stay_unusable_set_the_story_aside() {
    let mut played = quartet_to_check();
    for _ in 0..3 {
        played.end_stage(Stage::Check, unproven());
        played.end_stage(Stage::WriteTests, written());
    }
    played.end_stage(Stage::Check, unproven());
    assert_eq!(played.owed_words(), ["skip a"]);
    assert_eq!(played.state.stories()[0].attempts, 1);
}

#[test]
fn a_test_writer_that_fails_for_good_sets_the_story_aside() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::WriteTests, failed("crashed"));
    played.end_stage(Stage::WriteTests, bad_answer("prose"));
    assert_eq!(
        played.owed_words(),
        ["run a attempt 1 implement try 1"],
        "the other run is not disturbed"
    );
    played.end_stage(Stage::Implement, worked());
    assert_eq!(played.owed_words(), ["skip a"]);
}

/// Two attempts that fail the same tests.
fn in_dispute() -> Played {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, red(&["t"]));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, red(&["t"]));
    played
}

#[test]
fn the_same_red_tests_twice_go_to_the_arbiter() {
    let played = in_dispute();
    assert_eq!(played.owed_words(), ["start a attempt 2 arbitrate try 1"]);
    let mut other = quartet_to_check();
    other.end_stage(Stage::Check, red(&["t"]));
    other.end_stage(Stage::Implement, worked());
    other.end_stage(Stage::Check, red(&["u"]));
    assert_eq!(
        other.owed_words(),
        ["plan a attempt 3 with codex"],
        "other tests are no dispute"
    );
}

#[test]
fn an_arbiter_may_order_fresh_tests_and_the_same_code_is_checked_again() {
    let mut played = in_dispute();
    let ruling = RunOutcome::Ruled {
        fresh_tests: true,
        reason: "no criterion says so".to_owned(),
    };
    played.end_stage(Stage::Arbitrate, ruling);
    assert_eq!(played.owed_words(), ["start a attempt 2 write-tests try 1"]);
    played.end_stage(Stage::WriteTests, written());
    played.end_stage(Stage::Check, green());
    assert_eq!(played.owed_words(), ["start a attempt 2 review try 1"]);
}

#[test]
fn without_a_usable_ruling_the_tests_stand() {
    for outcomes in [
        vec![RunOutcome::Ruled {
            fresh_tests: false,
            reason: String::new(),
        }],
        vec![bad_answer("prose"), failed("crashed")],
    ] {
        let mut played = in_dispute();
        for outcome in outcomes {
            played.end_stage(Stage::Arbitrate, outcome);
        }
        assert_eq!(played.owed_words(), ["plan a attempt 3 with codex"]);
        assert_eq!(
            played.state.stories()[0].feedback,
            ["for the implementor"; 2]
        );
    }
}

#[test]
fn the_arbiter_is_asked_once_per_story() {
    let ruled = |fresh_tests| RunOutcome::Ruled {
        fresh_tests,
        reason: "because".to_owned(),
    };
    let mut played = in_dispute();
    played.end_stage(Stage::Arbitrate, ruled(false));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, red(&["t"]));
    assert_eq!(played.owed_words(), ["skip a"], "its word was no");
    let mut played = in_dispute();
    played.end_stage(Stage::Arbitrate, ruled(true));
    played.end_stage(Stage::WriteTests, written());
    played.end_stage(Stage::Check, red(&["t"]));
    assert_eq!(played.owed_words(), ["plan a attempt 3 with codex"]);
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, red(&["t"]));
    assert_eq!(played.owed_words(), ["skip a"], "its word was yes");
}

#[test]
fn an_implementor_that_saw_the_tests_and_does_not_fit_them_is_at_fault() {
    let mut played = playing(Flow::Tdd);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::WriteTests, written());
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, unfit());
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
    assert_eq!(played.state.stories()[0].rewrite, None);
}

#[test]
fn i02_a_reviewer_that_cannot_be_understood_is_no_yes() {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, green());
    played.end_stage(Stage::Review, bad_answer("prose"));
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 review try 2"],
        "one repair"
    );
    played.end_stage(Stage::Review, bad_answer("prose"));
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
}

/// A green candidate that owes what is given, and a PASS with these answers.
fn judged_with(owed: &dyn Fn(&mut Facts), answers: Vec<Obliged>) -> Played {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, facts(owed));
    played.end_stage(Stage::Review, reviewed());
    let mut verdict = played.verdict(true);
    verdict.obliged = answers;
    played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
    played
}

fn answer(kind: Option<ObligationKind>, subject: &str, criterion: &str) -> Obliged {
    Obliged {
        kind,
        test: subject.to_owned(),
        criterion: criterion.to_owned(),
        why: String::new(),
    }
}

const PASSES: &str = "integrate a";
const REJECTED: &str = "plan a attempt 2 with claude";

#[test]
fn i08_a_pass_must_name_the_criterion_for_every_older_test_of_an_old_journal() {
    let owed = |facts: &mut Facts| facts.obliged = strings(&["old"]);
    let named = |test: &str, criterion: &str| vec![answer(None, test, criterion)];
    let red = Some(ObligationKind::OldTestRed);
    for (answers, expected) in [
        (named("old", "it works"), PASSES),
        (vec![], REJECTED),
        (named("other", "it works"), REJECTED),
        (named("old", "because I say so"), REJECTED),
        (named("old", " "), REJECTED),
        (named("old", "1. It works."), PASSES),
        (named("old", "I am sure that it works"), REJECTED),
        (vec![answer(red, "old", "it works")], PASSES),
    ] {
        let played = judged_with(&owed, answers.clone());
        assert_eq!(played.owed_words(), [expected], "{answers:?}");
    }
}

#[test]
fn i02_a_pass_that_leaves_an_obligation_unanswered_is_rejected() {
    use ObligationKind::{Harness, OldTestRemoved};
    let owed = |facts: &mut Facts| {
        facts.obligations = vec![
            Obligation {
                kind: OldTestRemoved,
                subject: "old (tests/a.rs)".to_owned(),
            },
            Obligation {
                kind: Harness,
                subject: "conftest.py".to_owned(),
            },
        ];
    };
    let removed = || answer(Some(OldTestRemoved), "old (tests/a.rs)", "it works");
    let harness = |criterion: &str| answer(Some(Harness), "conftest.py", criterion);
    let gone = "- the older test `old (tests/a.rs)` is gone";
    let rests = "- the proof rests on `conftest.py`, which is not known as product code";
    for (answers, missing) in [
        (vec![removed(), harness("it works")], vec![]),
        (
            vec![answer(None, "old", "it works"), harness("it works")],
            vec![],
        ),
        (vec![removed()], vec![rests]),
        (vec![removed(), harness("it is needed")], vec![rests]),
        (vec![harness("it works")], vec![gone]),
        (
            vec![
                removed(),
                answer(Some(OldTestRemoved), "conftest.py", "it works"),
            ],
            vec![rests],
        ),
        (vec![], vec![gone, rests]),
    ] {
        let played = judged_with(&owed, answers.clone());
        let expected = if missing.is_empty() { PASSES } else { REJECTED };
        assert_eq!(played.owed_words(), [expected], "{answers:?}");
        let told = played.state.stories()[0].feedback.join("\n");
        let told: Vec<&str> = told.lines().skip(1).collect();
        assert_eq!(told, missing, "{answers:?}");
    }
}

#[test]
fn i08_where_nobody_judges_nothing_may_be_owed() {
    let old = |facts: &mut Facts| facts.obliged = strings(&["old"]);
    let typed = |facts: &mut Facts| {
        facts.obligations = vec![Obligation {
            kind: ObligationKind::Harness,
            subject: "conftest.py".to_owned(),
        }];
    };
    for (what, outcome, expected, named) in [
        ("nothing", facts(|_| {}), PASSES, ""),
        ("an older test", facts(old), REJECTED, "`old`"),
        ("the harness", facts(typed), REJECTED, "`conftest.py`"),
    ] {
        let mut played = playing(Flow::Solo);
        played.end_stage(Stage::Baseline, checked(true));
        played.end_stage(Stage::Implement, worked());
        played.end_stage(Stage::Check, outcome);
        assert_eq!(played.owed_words(), [expected], "{what}");
        let told = played.state.stories()[0].feedback.join("\n");
        let ways = if named.is_empty() {
            ""
        } else {
            "use another flow such as quartet"
        };
        assert!(
            told.contains(named) && told.contains(ways),
            "{what}: {told}"
        );
    }
}

#[test]
fn whoever_must_answer_again_is_told_why() {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, green());
    played.end_stage(Stage::Review, reviewed());
    played.end_stage(Stage::Judge, bad_answer("it leaves out `it works`"));
    let told = played.run_order(Stage::Judge).told;
    assert_eq!(told.bad_answer.as_deref(), Some("it leaves out `it works`"));
}

#[test]
fn what_policy_wants_a_person_for_waits_after_the_pass() {
    for (choice, expected) in [
        ("approve", "integrate a"),
        ("reject", "plan a attempt 2 with claude"),
    ] {
        let mut played = playing(Flow::Judged);
        played.end_stage(Stage::Baseline, checked(true));
        played.end_stage(Stage::Implement, worked());
        played.record(Event::CandidateMade {
            story: "a".into(),
            attempt: 1,
            commit: numbered_commit(7),
            notes: Vec::new(),
            ask: Some("it changes CI".to_owned()),
        });
        played.end_stage(Stage::Check, green());
        let verdict = played.verdict(true);
        played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
        assert!(played.owed().is_empty());
        let questions = played.state.questions();
        assert_eq!(questions.len(), 1);
        assert_eq!(
            questions[0].choices,
            [Choice::Approve, Choice::Reject, Choice::Cancel]
        );
        assert_eq!(questions[0].stage, None, "no run asks");
        assert!(played.try_record(answered("retry")).is_err());
        played.answer(choice);
        assert_eq!(played.owed_words(), [expected]);
    }
}

#[test]
fn an_agents_question_may_be_answered_in_any_words_and_the_next_try_is_told() {
    let mut played = playing(Flow::Solo);
    played.end_stage(Stage::Baseline, checked(true));
    let question = RunOutcome::NeedsHuman {
        question: "Which colour?".to_owned(),
        free: true,
    };
    played.end_stage(Stage::Implement, question);
    played.answer("blue");
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
    assert_eq!(played.state.stories()[0].answers, ["Which colour?\nblue"]);
}

/// Two stories of a flow; the first one is skipped, then the second one lands.
fn skipped_and_landed(flow: Flow, skip: impl FnOnce(&mut Played)) -> Played {
    let mut stories = vec![story("a", 0, &[]), story("b", 1, &[])];
    stories[0].flow = Some(flow);
    let mut played = Played::start(spec(stories));
    skip(&mut played);
    played.settle();
    assert!(matches!(
        played.state.stories()[0].status,
        StoryStatus::Skipped { .. }
    ));
    played.attempt(true);
    played.settle();
    assert!(played.state.stories()[1].has_passed(), "the branch moved");
    played
}

#[test]
fn a_solo_story_that_was_skipped_is_not_passed_by_a_second_look() {
    let played = skipped_and_landed(Flow::Solo, |played| {
        played.end_stage(Stage::Baseline, checked(true));
        for _ in 0..3 {
            played.end_stage(Stage::Implement, worked());
            played.end_stage(Stage::Check, checked(false));
        }
    });
    assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
}

#[test]
fn a_story_whose_tests_were_never_written_is_not_passed_by_a_second_look() {
    for flow in [Flow::Quartet, Flow::Tdd] {
        let played = skipped_and_landed(flow, |played| {
            played.end_stage(Stage::Baseline, checked(true));
            if flow == Flow::Quartet {
                played.end_stage(Stage::Implement, worked());
            }
            played.end_stage(Stage::WriteTests, failed("crashed"));
            played.end_stage(Stage::WriteTests, failed("crashed"));
        });
        assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
    }
}

#[test]
fn a_story_whose_tests_stand_is_looked_at_again_after_the_branch_moved() {
    let played = skipped_and_landed(Flow::Quartet, |played| {
        played.end_stage(Stage::Baseline, checked(true));
        played.end_stage(Stage::Implement, failed("gave up"));
        played.end_stage(Stage::WriteTests, written());
        played.end_stage(Stage::Implement, failed("gave up"));
        played.end_stage(Stage::Implement, failed("gave up"));
    });
    assert_eq!(played.owed_words(), ["start a attempt 4 check try 1"]);
}

#[test]
fn a_branch_that_has_not_moved_is_not_looked_at_again() {
    let mut played = playing(Flow::Judged);
    played.end_stage(Stage::Baseline, checked(true));
    for _ in 0..3 {
        played.end_stage(Stage::Implement, worked());
        played.end_stage(Stage::Check, checked(false));
    }
    played.settle();
    assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
}

#[test]
fn a_loop_may_begin_at_a_story_and_end_with_it() {
    for (only, expected) in [(true, None), (false, Some("a"))] {
        let mut loop_spec = spec(vec![story("a", 0, &[]), story("b", 1, &["a"])]);
        let judgment = Some("too slow".to_owned());
        loop_spec.first = Some(FirstStory {
            id: "b".into(),
            attempt: 2,
            judgment,
            only,
        });
        let mut played = Played::start(loop_spec);
        let run = played.go();
        assert_eq!((run.story.as_str(), run.attempt), ("b", 2));
        assert_eq!(played.state.story("b").expect("b").feedback, ["too slow"]);
        played.attempt(true);
        played.settle();
        let mut attempts = played.state.attempts();
        let next = attempts.next().map(|(story, _)| story.spec.id.as_str());
        assert_eq!(next, expected, "only: {only}");
        assert_eq!(played.state.ended().is_some(), only);
    }
}

#[test]
fn a_judge_that_nobody_chose_is_of_another_family_than_the_implementor() {
    let families = [("claude", "anthropic"), ("codex", "openai")];
    for (chosen, attempt, judge) in [
        (false, 1, "claude"),
        (false, 2, "codex"),
        (true, 2, "claude"),
        (false, 3, "claude"),
    ] {
        let mut loop_spec = spec(vec![story("a", 0, &[])]);
        loop_spec.families = families
            .iter()
            .map(|(agent, family)| ((*agent).into(), (*family).to_owned()))
            .collect();
        (loop_spec.judge_is_chosen, loop_spec.judge) = (chosen, "claude".into());
        let cast = loop_spec.cast_for(&loop_spec.stories[0], attempt);
        assert_eq!(
            cast.judge, judge,
            "chosen: {chosen}, attempt {attempt} by {}",
            cast.implementor
        );
    }
}

#[test]
fn i10_two_runs_at_the_same_time_reserve_both_caps() {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = Flow::Quartet;
    loop_spec.budget = Some(kernel::TimeBudget {
        total_ms: 100,
        implement_cap_ms: 60,
        check_cap_ms: 1,
        judge_cap_ms: 1,
        review_cap_ms: 60,
        prove_cap_ms: 0,
    });
    let mut played = Played::start(loop_spec);
    played.end_stage(Stage::Baseline, checked(true));
    let run = played.go();
    assert_eq!(run.stage, Stage::Implement);
    assert_eq!(
        played.owed_words(),
        ["run a attempt 1 implement try 1"],
        "the writer does not fit beside it"
    );
    played.clock_ms += 10;
    played.record(ended(run, worked()));
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 write-tests try 1"],
        "what was not used is there again"
    );
}

#[test]
fn i10_a_budget_that_fits_none_of_several_runs_ends_the_loop_once() {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = Flow::Quartet;
    loop_spec.budget = Some(kernel::TimeBudget {
        total_ms: 10,
        implement_cap_ms: 60,
        check_cap_ms: 1,
        judge_cap_ms: 1,
        review_cap_ms: 60,
        prove_cap_ms: 0,
    });
    let mut played = Played::start(loop_spec);
    played.end_stage(Stage::Baseline, checked(true));
    assert_eq!(played.owed_words(), ["end BudgetExhausted"]);
}

/// What a run may use at most is what is left beside the reservation of the one that runs with it.
#[test]
fn i10_a_run_is_told_what_is_left_of_the_budget() {
    for (tokens, micro_usd, expected) in [
        (None, None, None),
        (Some(1000), None, Some((Some(700), None))),
        (None, Some(90), Some((None, Some(50)))),
    ] {
        let mut loop_spec = spec(vec![story("a", 0, &[])]);
        loop_spec.flow = Flow::Quartet;
        loop_spec.allowance = Some(kernel::Allowance {
            tokens,
            micro_usd,
            run_tokens: Some(300),
            run_micro_usd: Some(40),
        });
        let mut played = Played::start(loop_spec);
        played.end_stage(Stage::Baseline, checked(true));
        played.run_order(Stage::Implement);
        let writer = played.run_order(Stage::WriteTests);
        let told = writer
            .balance
            .map(|balance| (balance.tokens, balance.micro_usd));
        assert_eq!(told, expected);
    }
}

#[test]
fn i10_tokens_and_money_are_one_falling_balance() {
    let used = |tokens: u64, cost: Option<u64>| {
        Some(kernel::RunUsage {
            output_tokens: Some(tokens),
            cost_micro_usd: cost,
            ..kernel::RunUsage::default()
        })
    };
    for (allowance, usage, expected) in [
        (
            (Some(100), None),
            used(40, None),
            "start a attempt 1 check try 1",
        ),
        (
            (Some(100), None),
            used(100, None),
            "start a attempt 1 check try 1",
        ),
        (
            (None, Some(50)),
            used(1, Some(20)),
            "start a attempt 1 check try 1",
        ),
    ] {
        let mut loop_spec = spec(vec![story("a", 0, &[])]);
        let (tokens, micro_usd) = allowance;
        loop_spec.allowance = Some(kernel::Allowance {
            tokens,
            micro_usd,
            ..kernel::Allowance::default()
        });
        let mut played = Played::start(loop_spec);
        let run = played.go();
        played.record(Event::RunEnded {
            run,
            outcome: worked(),
            usage: usage.clone(),
            walls: kernel::Walls::default(),
        });
        played.settle();
        assert_eq!(played.owed_words(), [expected], "checks cost no tokens");
        played.end_stage(Stage::Check, checked(true));
        let spent = played.state.spent();
        let fits = match allowance {
            (Some(total), _) => spent.tokens + spent.most_tokens <= total,
            (_, Some(total)) => spent.micro_usd + spent.most_micro_usd <= total,
            _ => true,
        };
        let judge = if fits {
            "start a attempt 1 judge try 1"
        } else {
            "end BudgetExhausted"
        };
        assert_eq!(played.owed_words(), [judge], "{allowance:?} {usage:?}");
    }
}

#[test]
fn i10_a_run_that_does_not_tell_is_taken_to_have_used_what_was_reserved() {
    for (outcome, expected) in [
        (failed("out of time"), "end BudgetExhausted"),
        (interrupted(), "end BudgetExhausted"),
        // A run that was turned away has used nothing.
        (fault(Some(0)), "start a attempt 1 implement try 2"),
    ] {
        let mut loop_spec = spec(vec![story("a", 0, &[])]);
        loop_spec.allowance = Some(kernel::Allowance {
            tokens: Some(3000),
            run_tokens: Some(2500),
            ..kernel::Allowance::default()
        });
        let mut played = Played::start(loop_spec);
        played.end_run(outcome.clone());
        for _ in 0..3 {
            let owed = played.owed();
            let is_due = matches!(owed[0].deed, Deed::Plan(_) | Deed::Wait(_));
            if is_due {
                played.carry_out(&owed[0]);
            }
        }
        assert_eq!(played.owed_words(), [expected], "{outcome:?}");
    }
}
