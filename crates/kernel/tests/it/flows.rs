//! What each flow asks for, in which order, and where its gates are.

use kernel::{
    Base, Effect, Event, Facts, FirstStory, Flow, Gate, Obliged, Review, RunOutcome, Stage,
    StoryStatus, TestsOrder, Writes,
};

use crate::support::{Played, checked, facts, spec, story, worked, written};

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

fn reviewed() -> RunOutcome {
    RunOutcome::Reviewed(Review::default())
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
        let starts = owed
            .iter()
            .find(|effect| matches!(effect, Effect::StartRun(_)));
        let next = starts.or(owed.first()).expect("something is owed").clone();
        match next {
            Effect::StartRun(run) => {
                stages.push(run.stage.word().to_owned());
                played.record(Event::RunStarted { run });
            }
            Effect::WatchRun(run) => {
                let outcome = match run.stage {
                    Stage::Baseline => checked(true),
                    Stage::Implement | Stage::Prove => worked(),
                    Stage::WriteTests => written(),
                    Stage::Check => facts(Gate::Green, &[]),
                    Stage::Review => reviewed(),
                    Stage::Judge => RunOutcome::Judged(played.verdict(true)),
                    Stage::Arbitrate => unreachable!("nothing is in dispute"),
                };
                played.record(Event::RunEnded {
                    run,
                    outcome,
                    usage: None,
                });
            }
            effect => {
                match &effect {
                    Effect::MakeTests { .. } => stages.push("(tests)".to_owned()),
                    Effect::MakeCandidate { .. } => stages.push("(candidate)".to_owned()),
                    Effect::Integrate { .. } => stages.push("(integrate)".to_owned()),
                    _ => {}
                }
                played.carry_out(&effect);
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
    let question = played.state.question().expect("a question");
    assert!(
        question.text.contains("`setup` fails on the base"),
        "{}",
        question.text
    );
    played.record(Event::Answered {
        choice: "retry".to_owned(),
    });
    assert_eq!(played.owed_words(), ["start a attempt 1 baseline try 2"]);
}

#[test]
fn a_failed_implementor_keeps_the_tests_for_the_next_attempt() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(
        Stage::Implement,
        RunOutcome::Failed {
            why: "gave up".to_owned(),
        },
    );
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
    for (gate, order) in [
        (
            Gate::SurfaceMismatch,
            TestsOrder::Repair("for the writer".to_owned()),
        ),
        (
            Gate::NothingProven,
            TestsOrder::Better("for the writer".to_owned()),
        ),
    ] {
        let mut played = quartet_to_check();
        played.end_stage(Stage::Check, facts(gate, &[]));
        assert_eq!(
            played.owed_words(),
            ["start a attempt 1 write-tests try 2"],
            "{gate:?}"
        );
        assert_eq!(played.state.stories()[0].tests_order, Some(order));
        played.end_stage(Stage::WriteTests, written());
        played.end_stage(Stage::Check, facts(Gate::Green, &[]));
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
        played.end_stage(Stage::Check, facts(Gate::NothingProven, &[]));
        played.end_stage(Stage::WriteTests, written());
    }
    played.end_stage(Stage::Check, facts(Gate::NothingProven, &[]));
    assert_eq!(played.owed_words(), ["skip a"]);
    assert_eq!(played.state.stories()[0].attempts, 1);
}

#[test]
fn a_test_writer_that_fails_for_good_sets_the_story_aside() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(
        Stage::WriteTests,
        RunOutcome::Failed {
            why: "crashed".to_owned(),
        },
    );
    played.end_stage(
        Stage::WriteTests,
        RunOutcome::BadAnswer {
            why: "prose".to_owned(),
        },
    );
    assert_eq!(
        played.owed_words(),
        ["watch a attempt 1 implement try 1"],
        "the other run is not disturbed"
    );
    played.end_stage(Stage::Implement, worked());
    assert_eq!(played.owed_words(), ["skip a"]);
}

/// Two attempts that fail the same tests.
fn in_dispute() -> Played {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, facts(Gate::Red, &["t"]));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, facts(Gate::Red, &["t"]));
    played
}

#[test]
fn the_same_red_tests_twice_go_to_the_arbiter() {
    let played = in_dispute();
    assert_eq!(played.owed_words(), ["start a attempt 2 arbitrate try 1"]);
    let mut other = quartet_to_check();
    other.end_stage(Stage::Check, facts(Gate::Red, &["t"]));
    other.end_stage(Stage::Implement, worked());
    other.end_stage(Stage::Check, facts(Gate::Red, &["u"]));
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
    played.end_stage(Stage::Check, facts(Gate::Green, &[]));
    assert_eq!(played.owed_words(), ["start a attempt 2 review try 1"]);
}

#[test]
fn without_a_usable_ruling_the_tests_stand() {
    for outcomes in [
        vec![RunOutcome::Ruled {
            fresh_tests: false,
            reason: String::new(),
        }],
        vec![
            RunOutcome::BadAnswer { why: String::new() },
            RunOutcome::Failed { why: String::new() },
        ],
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
fn i02_a_reviewer_that_cannot_be_understood_is_no_yes() {
    let mut played = quartet_to_check();
    played.end_stage(Stage::Check, facts(Gate::Green, &[]));
    played.end_stage(
        Stage::Review,
        RunOutcome::BadAnswer {
            why: "prose".to_owned(),
        },
    );
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 review try 2"],
        "one repair"
    );
    played.end_stage(
        Stage::Review,
        RunOutcome::BadAnswer {
            why: "prose".to_owned(),
        },
    );
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
}

/// A green candidate that made an older test give way.
fn with_an_older_test_in_the_way(obliged: Vec<Obliged>) -> Vec<String> {
    let mut played = quartet_to_check();
    let facts = Facts {
        gate: Gate::Green,
        obliged: vec!["old".to_owned()],
        ..Facts::default()
    };
    let green = RunOutcome::Checked {
        passed: true,
        report: String::new(),
        facts: Some(Box::new(facts)),
    };
    played.end_stage(Stage::Check, green);
    played.end_stage(Stage::Review, reviewed());
    let mut verdict = played.verdict(true);
    verdict.obliged = obliged;
    played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
    played.owed_words()
}

#[test]
fn i08_a_pass_must_name_the_criterion_for_every_older_test_that_gave_way() {
    let obliged = |test: &str, criterion: &str| Obliged {
        test: test.to_owned(),
        criterion: criterion.to_owned(),
    };
    for (named, expected) in [
        (vec![obliged("old", "it works")], "integrate a"),
        (vec![], "plan a attempt 2 with claude"),
        (
            vec![obliged("other", "it works")],
            "plan a attempt 2 with claude",
        ),
        (
            vec![obliged("old", "because I say so")],
            "plan a attempt 2 with claude",
        ),
        (vec![obliged("old", " ")], "plan a attempt 2 with claude"),
        (vec![obliged("old", "1. It works.")], "integrate a"),
        (
            vec![obliged("old", "I am sure that it works")],
            "plan a attempt 2 with claude",
        ),
    ] {
        assert_eq!(
            with_an_older_test_in_the_way(named.clone()),
            [expected],
            "{named:?}"
        );
    }
}

#[test]
fn i08_where_nobody_judges_no_older_test_gives_way() {
    for (gave_way, expected) in [
        (vec![], "integrate a"),
        (vec!["old"], "plan a attempt 2 with claude"),
    ] {
        let mut played = playing(Flow::Solo);
        played.end_stage(Stage::Baseline, checked(true));
        played.end_stage(Stage::Implement, worked());
        let commit = crate::support::numbered_commit(7);
        let story = "a".to_owned();
        played.record(Event::CandidateMade {
            story,
            attempt: 1,
            commit,
            notes: Vec::new(),
            ask: None,
        });
        let mut outcome = facts(Gate::Green, &[]);
        if let RunOutcome::Checked {
            facts: Some(facts), ..
        } = &mut outcome
        {
            facts.obliged = gave_way
                .iter()
                .map(|test: &&str| (*test).to_owned())
                .collect();
        }
        played.end_stage(Stage::Check, outcome);
        assert_eq!(played.owed_words(), [expected], "{gave_way:?}");
    }
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
        let (commit, ask) = (
            crate::support::numbered_commit(7),
            Some("it changes CI".to_owned()),
        );
        let story = "a".to_owned();
        played.record(Event::CandidateMade {
            story,
            attempt: 1,
            commit,
            notes: Vec::new(),
            ask,
        });
        played.end_stage(Stage::Check, facts(Gate::Green, &[]));
        let verdict = played.verdict(true);
        played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
        assert!(played.owed().is_empty());
        assert_eq!(
            played.state.question().expect("a question").choices,
            ["approve", "reject", "cancel"]
        );
        assert!(
            played
                .try_record(Event::Answered {
                    choice: "retry".to_owned()
                })
                .is_err()
        );
        played.record(Event::Answered {
            choice: choice.to_owned(),
        });
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
    played.record(Event::Answered {
        choice: "blue".to_owned(),
    });
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
    assert_eq!(played.state.stories()[0].answers, ["Which colour?\nblue"]);
}

#[test]
fn a_solo_story_that_was_skipped_is_not_passed_by_a_second_look() {
    let mut played = playing(Flow::Solo);
    played.end_stage(Stage::Baseline, checked(true));
    for _ in 0..3 {
        played.end_stage(Stage::Implement, worked());
        played.end_stage(Stage::Check, checked(false));
    }
    played.settle();
    assert!(played.state.ended().is_some());
    assert!(matches!(
        played.state.stories()[0].status,
        StoryStatus::Skipped { .. }
    ));
}

#[test]
fn a_story_whose_tests_were_never_written_is_not_passed_by_a_second_look() {
    let mut played = playing(Flow::Quartet);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(
        Stage::WriteTests,
        RunOutcome::Failed {
            why: "crashed".to_owned(),
        },
    );
    played.end_stage(
        Stage::WriteTests,
        RunOutcome::Failed {
            why: "crashed".to_owned(),
        },
    );
    played.settle();
    assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
}

#[test]
fn a_loop_may_begin_at_a_story_and_end_with_it() {
    for (only, expected) in [(true, None), (false, Some("a"))] {
        let mut loop_spec = spec(vec![story("a", 0, &[]), story("b", 1, &["a"])]);
        let judgment = Some("too slow".to_owned());
        loop_spec.first = Some(FirstStory {
            id: "b".to_owned(),
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
        let next = played
            .state
            .active()
            .map(|(story, _)| story.spec.id.clone());
        assert_eq!(next.as_deref(), expected, "only: {only}");
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
            .map(|(agent, family)| ((*agent).to_owned(), (*family).to_owned()))
            .collect();
        (loop_spec.judge_is_chosen, loop_spec.judge) = (chosen, "claude".to_owned());
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
        ["watch a attempt 1 implement try 1"],
        "the writer does not fit beside it"
    );
    played.clock_ms += 10;
    played.record(Event::RunEnded {
        run,
        outcome: worked(),
        usage: None,
    });
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 write-tests try 1"],
        "what was not used is there again"
    );
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
        (
            RunOutcome::Failed {
                why: "out of time".to_owned(),
            },
            "end BudgetExhausted",
        ),
        (
            RunOutcome::Interrupted {
                why: "lost".to_owned(),
            },
            "end BudgetExhausted",
        ),
        // Whoever was turned away has used nothing.
        (
            RunOutcome::Infrastructure {
                why: "limit".to_owned(),
                until_ms: Some(0),
                elsewhere: false,
            },
            "start a attempt 1 implement try 2",
        ),
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
            if owed.iter().any(|effect| {
                matches!(
                    effect,
                    kernel::Effect::Plan { .. } | kernel::Effect::WakeAt { .. }
                )
            }) {
                played.carry_out(&owed[0]);
            }
        }
        assert_eq!(played.owed_words(), [expected], "{outcome:?}");
    }
}
