//! Tables: what follows from what.

use kernel::{EndReason, Event, RunOutcome, State, StoryStart, StoryStatus};

use crate::support::{
    Played, answered, asked, bad_answer, checked, commit, ended, failed, fault, interrupted, limit,
    spec, story, worked,
};

fn ready() -> Played {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.record(Event::LoopPrepared);
    played
}

#[test]
fn a_verdict_leads_to() {
    for (rejections, pass, expected) in [
        (0, true, "integrate a"),
        (0, false, "plan a attempt 2 with claude"),
        (1, false, "plan a attempt 3 with codex"),
        (2, false, "skip a"),
        (2, true, "integrate a"),
    ] {
        let mut played = ready();
        (0..rejections).for_each(|_| played.attempt(false));
        played.attempt(pass);
        assert_eq!(
            played.owed_words(),
            [expected],
            "{rejections} rejections, then {pass}"
        );
    }
}

#[test]
fn i01_the_branch_moves_only_to_the_commit_that_got_a_pass() {
    let mut played = ready();
    played.end_run(worked());
    let integrated = |commit| Event::Integrated {
        story: "a".into(),
        attempt: 1,
        commit,
    };
    assert!(
        played.try_record(integrated(commit('b'))).is_err(),
        "before any verdict"
    );
    played.go();
    let candidate = played.verdict_on("a", true).commit;
    assert!(
        played.try_record(integrated(candidate.clone())).is_err(),
        "the candidate, before its checks"
    );
    played.end_run(checked(true));
    let verdict = played.verdict(true);
    assert_eq!(verdict.commit, candidate);
    assert!(
        played.try_record(integrated(candidate)).is_err(),
        "the candidate, before its verdict"
    );
    played.end_run(RunOutcome::Judged(verdict.clone()));
    assert!(
        played.try_record(integrated(commit('b'))).is_err(),
        "another commit than the judged one"
    );
    played.record(integrated(verdict.commit.clone()));
    assert_eq!(*played.state.head(), verdict.commit);
}

#[test]
fn i01_a_verdict_on_another_commit_is_an_illegal_move() {
    let mut played = ready();
    played.end_run(worked());
    played.end_run(checked(true));
    let mut verdict = played.verdict(true);
    verdict.commit = commit('b');
    let run = played.go();
    assert!(
        played
            .try_record(ended(run, RunOutcome::Judged(verdict)))
            .is_err()
    );
}

#[test]
fn i02_a_judge_that_cannot_be_understood_never_says_yes() {
    let mut played = ready();
    played.end_run(worked());
    played.end_run(checked(true));
    played.end_run(bad_answer("no JSON"));
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 judge try 2"],
        "it is asked once more"
    );
    played.end_run(failed("timed out"));
    assert_eq!(
        played.owed_words(),
        ["plan a attempt 2 with claude"],
        "then it has said no"
    );
}

#[test]
fn red_checks_reject_without_a_judge() {
    let mut played = ready();
    played.end_run(worked());
    played.end_run(checked(false));
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
    assert_eq!(
        played.state.stories()[0].feedback,
        ["the checks are red:\n1 failed"]
    );
}

#[test]
fn i05_only_work_counts_against_a_story() {
    for outcome in [fault(None), limit(None), interrupted(), asked("log in?")] {
        let mut played = ready();
        for _ in 0..30 {
            played.end_run(outcome.clone());
            if !played.state.questions().is_empty() {
                played.answer("retry");
            }
        }
        assert_eq!(played.state.stories()[0].attempts, 1, "{outcome:?}");
        played.attempt(true);
        assert_eq!(played.owed_words(), ["integrate a"], "{outcome:?}");
    }
}

#[test]
fn a_wait_doubles_up_to_ten_times_and_is_never_invented() {
    let mut played = ready();
    let mut waits = Vec::new();
    for _ in 0..6 {
        played.end_run(fault(None));
        let before = played.clock_ms;
        let owed = played.owed();
        played.carry_out(&owed[0]);
        waits.push((played.clock_ms - before) / 1000);
    }
    assert_eq!(waits, [60, 120, 240, 480, 600, 600]);
    played.end_run(fault(Some(9_999_000)));
    assert_eq!(played.owed_words(), ["wait until 9999000"]);
    played.record(Event::ResumeRequested);
    assert_eq!(
        played.owed_words(),
        ["start a attempt 1 implement try 8"],
        "a person may cut it short"
    );
}

#[test]
fn stories_run_by_rank_after_what_they_depend_on() {
    let mut played = Played::start(spec(vec![
        story("c", 2, &[]),
        story("b", 0, &["a"]),
        story("a", 1, &[]),
    ]));
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(played.go().story);
        played.attempt(true);
        played.settle();
    }
    assert_eq!(order, ["a", "b", "c"]);
    assert_eq!(played.state.ended(), Some(&EndReason::Completed));
}

#[test]
fn a_skipped_story_blocks_its_dependents_and_is_looked_at_again_before_the_end() {
    let mut played = Played::start(spec(vec![
        story("a", 0, &[]),
        story("b", 1, &["a"]),
        story("c", 2, &[]),
    ]));
    (0..3).for_each(|_| played.attempt(false));
    assert_eq!(played.owed_words(), ["skip a"]);
    played.settle();
    assert_eq!(played.go().story, "c", "b waits, and the loop goes on");
    played.attempt(true);
    let recheck = played.go();
    assert_eq!(
        (
            recheck.story.as_str(),
            recheck.attempt,
            recheck.stage.word()
        ),
        ("a", 4, "check")
    );
    let mut passing = played.clone();
    // Red again: it stays skipped, and what waits for it is blocked.
    played.end_run(checked(false));
    played.settle();
    assert!(matches!(
        played.state.story("a").expect("a").status,
        StoryStatus::Skipped {
            rechecked: true,
            ..
        }
    ));
    assert_eq!(
        played.state.story("b").expect("b").status,
        StoryStatus::Blocked { on: "a".into() }
    );
    assert_eq!(played.state.ended(), Some(&EndReason::Completed));
    // Green, and the judge agrees: it has passed, at the branch as it is, and b gets its turn.
    let head = passing.state.head().clone();
    passing.end_run(checked(true));
    let verdict = passing.verdict(true);
    passing.end_run(RunOutcome::Judged(verdict));
    assert_eq!(passing.go().story, "b");
    assert_eq!(*passing.state.head(), head, "a recheck moves no branch");
}

#[test]
fn max_iterations_counts_stories_that_ended() {
    let mut few = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &[]),
    ]);
    few.max_iterations = Some(2);
    let mut played = Played::start(few);
    (0..3).for_each(|_| played.attempt(false));
    played.attempt(true);
    played.settle();
    assert_eq!(played.state.ended(), Some(&EndReason::MaxIterationsReached));
}

#[test]
fn a_second_look_is_not_one_more_story_that_ended() {
    let mut few = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &["a"]),
    ]);
    few.max_iterations = Some(3);
    let mut played = Played::start(few);
    (0..3).for_each(|_| played.attempt(false));
    played.settle();
    played.attempt(true);
    played.settle();
    // `a` was counted when it was skipped.
    assert_eq!(played.owed_words(), ["start a attempt 4 check try 1"]);
    played.end_run(checked(true));
    let verdict = played.verdict(true);
    played.end_run(RunOutcome::Judged(verdict));
    assert_eq!(played.go().story, "c");
}

#[test]
fn a_cancel_ends_the_run_and_then_the_loop() {
    let mut played = ready();
    let run = played.go();
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    assert_eq!(played.owed_words(), ["stop a attempt 1 implement try 1"]);
    for reason in [
        EndReason::Completed,
        EndReason::BudgetExhausted,
        EndReason::Cancelled {
            why: "enough".to_owned(),
        },
    ] {
        let why = played.refused(Event::LoopEnded { reason });
        assert_eq!(why, "a run is under way");
    }
    played.record(ended(run, RunOutcome::Stopped));
    played.settle();
    assert_eq!(
        played.state.ended(),
        Some(&EndReason::Cancelled {
            why: "enough".to_owned()
        })
    );
    assert!(played.owed().is_empty());
    assert!(
        played.try_record(Event::ResumeRequested).is_err(),
        "nothing happens to a loop that is over"
    );
}

#[test]
fn a_pause_starts_nothing_new_and_disturbs_nothing_that_runs() {
    let mut played = ready();
    played.go();
    played.record(Event::PauseRequested);
    assert_eq!(played.owed_words(), ["run a attempt 1 implement try 1"]);
    played.end_run(worked());
    played.settle();
    assert!(played.owed().is_empty(), "{:?}", played.owed_words());
    played.record(Event::ResumeRequested);
    assert_eq!(played.owed_words(), ["start a attempt 1 check try 1"]);
}

#[test]
fn a_question_waits_for_one_of_its_answers() {
    let mut played = ready();
    played.end_run(asked("log in?"));
    assert!(played.owed().is_empty());
    assert!(played.try_record(answered("maybe")).is_err());
    played.answer("cancel");
    played.settle();
    assert!(matches!(
        played.state.ended(),
        Some(EndReason::Cancelled { .. })
    ));
}

#[test]
fn what_had_passed_or_was_set_aside_before_is_left_alone() {
    let mut stories = vec![
        story("a", 0, &[]),
        story("b", 1, &["a"]),
        story("c", 2, &["d"]),
        story("d", 3, &[]),
    ];
    stories[0].start = StoryStart::Passed;
    stories[3].start = StoryStart::SetAside;
    let mut played = Played::start(spec(stories));
    assert_eq!(played.go().story, "b");
    played.attempt(true);
    played.settle();
    assert_eq!(
        played.state.story("c").expect("c").status,
        StoryStatus::Blocked { on: "d".into() }
    );
    assert_eq!(played.state.ended(), Some(&EndReason::Completed));
}

#[test]
fn i10_a_run_starts_only_when_its_cap_fits_into_what_is_left() {
    let mut budgeted = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    budgeted.budget = Some(kernel::TimeBudget {
        total_ms: 100,
        implement_cap_ms: 50,
        check_cap_ms: 10,
        judge_cap_ms: 20,
        review_cap_ms: 0,
        prove_cap_ms: 0,
    });
    let mut played = Played::start(budgeted);
    let run = played.go();
    played.clock_ms += 45;
    played.record(ended(run, fault(None)));
    assert_eq!(
        (played.state.spent_ms(), played.state.left_ms()),
        (45, Some(55)),
        "time is spent, whatever came of it"
    );
    let run = played.go();
    played.clock_ms += 10;
    played.record(ended(run, worked()));
    played.settle();
    // 45 are left: the checks and the judge fit, another implementor does not.
    played.end_run(checked(true));
    let verdict = played.verdict(true);
    played.end_run(RunOutcome::Judged(verdict));
    played.settle();
    assert_eq!(played.state.ended(), Some(&EndReason::BudgetExhausted));
    assert!(
        matches!(
            played.state.story("a").expect("a").status,
            StoryStatus::Passed(_)
        ),
        "what landed stays"
    );
}

#[test]
fn i10_a_start_that_does_not_fit_is_an_illegal_move() {
    let mut budgeted = spec(vec![story("a", 0, &[])]);
    budgeted.budget = Some(kernel::TimeBudget {
        total_ms: 10,
        implement_cap_ms: 50,
        check_cap_ms: 1,
        judge_cap_ms: 1,
        review_cap_ms: 0,
        prove_cap_ms: 0,
    });
    let mut played = Played::start(budgeted);
    played.record(Event::LoopPrepared);
    let plan = played.owed();
    played.carry_out(&plan[0]);
    let run = kernel::RunKey {
        story: "a".into(),
        attempt: 1,
        stage: kernel::Stage::Implement,
        try_number: 1,
    };
    assert!(played.try_record(Event::RunStarted { run }).is_err());
}

/// Time that is left to the millisecond is enough, and one less is not.
#[test]
fn i10_what_is_left_is_used_to_the_last_and_not_beyond() {
    for (spent_ms, expected) in [
        (50, "start a attempt 1 implement try 2"),
        (51, "end BudgetExhausted"),
    ] {
        let mut budgeted = spec(vec![story("a", 0, &[])]);
        budgeted.budget = Some(kernel::TimeBudget {
            total_ms: 100,
            implement_cap_ms: 50,
            check_cap_ms: 1,
            judge_cap_ms: 1,
            review_cap_ms: 0,
            prove_cap_ms: 0,
        });
        let mut played = Played::start(budgeted);
        let run = played.go();
        played.clock_ms += spent_ms;
        played.record(ended(run, interrupted()));
        assert_eq!(played.owed_words(), [expected], "{spent_ms} ms spent");
        let next = kernel::RunKey {
            story: "a".into(),
            attempt: 1,
            stage: kernel::Stage::Implement,
            try_number: 2,
        };
        let is_legal = played.try_record(Event::RunStarted { run: next }).is_ok();
        assert_eq!(is_legal, spent_ms == 50, "on write as well");
    }
}

#[test]
fn i10_tokens_and_money_are_used_to_the_last_and_not_beyond() {
    let starts = "start a attempt 1 implement try 2";
    let ends = "end BudgetExhausted";
    for (total, cap, used, expected) in [
        (100, Some(40), 60, starts),
        (100, Some(40), 61, ends),
        // Without a cap the most that one run used is reserved.
        (100, None, 50, starts),
        (100, None, 51, ends),
        // Something must be left, even where nothing is reserved.
        (100, Some(0), 99, starts),
        (100, Some(0), 100, ends),
    ] {
        for is_money in [false, true] {
            let mut limited = spec(vec![story("a", 0, &[])]);
            let total = Some(total);
            let none = kernel::Allowance::default();
            limited.allowance = Some(if is_money {
                kernel::Allowance {
                    micro_usd: total,
                    run_micro_usd: cap,
                    ..none
                }
            } else {
                kernel::Allowance {
                    tokens: total,
                    run_tokens: cap,
                    ..none
                }
            });
            let mut played = Played::start(limited);
            let run = played.go();
            played.record(Event::RunEnded {
                run,
                outcome: interrupted(),
                usage: Some(kernel::RunUsage {
                    output_tokens: Some(used),
                    cost_micro_usd: Some(used),
                    ..kernel::RunUsage::default()
                }),
                walls: kernel::Walls::default(),
            });
            assert_eq!(
                played.owed_words(),
                [expected],
                "{used} of {total:?} used, {cap:?} reserved, money: {is_money}"
            );
        }
    }
}

#[test]
fn an_interruption_is_tried_again_at_once_three_times_and_then_waits() {
    let mut played = ready();
    let mut waits = Vec::new();
    for _ in 0..6 {
        played.end_run(interrupted());
        let before = played.clock_ms;
        if played.owed_words()[0].starts_with("wait") {
            let owed = played.owed();
            played.carry_out(&owed[0]);
        }
        waits.push((played.clock_ms - before) / 1000);
    }
    assert_eq!(waits, [0, 0, 0, 60, 120, 240]);
}

#[test]
fn i03_the_next_step_is_derivable_from_the_records_alone() {
    let mut played = Played::start(spec(vec![story("a", 0, &[]), story("b", 1, &[])]));
    played.attempt(false);
    played.attempt(true);
    played.attempt(true);
    played.settle();
    for length in 1..=played.journal.len() {
        let replayed =
            State::replay(&played.journal[..length]).expect("every prefix is a legal loop");
        let ended = replayed.ended().is_some();
        assert_eq!(
            kernel::decide(&replayed).is_empty(),
            ended,
            "after {length} records something is owed, until the end"
        );
    }
}

#[test]
fn records_survive_being_written_and_read() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.attempt(false);
    played.end_run(fault(Some(5)));
    for record in &played.journal {
        let text = serde_json::to_string(record).expect("JSON");
        assert_eq!(
            serde_json::from_str::<kernel::Stamped>(&text).expect("read"),
            *record
        );
        assert!(
            text.contains(record.event.kind()),
            "the kind is the tag: {text}"
        );
    }
}
