//! What a person wants of a story, in the states in which it is hard to grant.

use std::sync::Arc;

use kernel::{Commit, Event, Flow, RunOutcome, Stage, StoryStatus};

use crate::support::{
    Played, checked, facts, green, numbered_commit, spec, story, strings, worked,
};

fn accept(story: &str, commit: &Commit, reason: Option<&str>) -> Event {
    Event::AcceptRequested {
        story: story.into(),
        commit: commit.clone(),
        by: "Ada".to_owned(),
        reason: reason.map(str::to_owned),
    }
}

fn retry(story: &str, hint: Option<&str>) -> Event {
    Event::RetryRequested {
        story: story.into(),
        hint: hint.map(str::to_owned),
        agent: None,
        flow: None,
    }
}

fn take(story: &str) -> Event {
    Event::TakeRequested {
        story: story.into(),
        by: "Ada".to_owned(),
        folder: None,
    }
}

fn skip(story: &str) -> Event {
    Event::SkipRequested {
        story: story.into(),
        reason: "no".to_owned(),
    }
}

fn hand_in(story: &str) -> Event {
    Event::HandedIn {
        story: story.into(),
        commit: numbered_commit(99),
        by: "Ada".to_owned(),
    }
}

fn cancel() -> Event {
    Event::CancelRequested {
        reason: "enough".to_owned(),
    }
}

/// The judge says no to a green candidate.
fn judged_no(played: &mut Played) -> Commit {
    played.end_run(worked());
    played.end_run(green());
    let verdict = played.verdict(false);
    let commit = verdict.commit.clone();
    played.end_run(RunOutcome::Judged(verdict));
    commit
}

fn is_skipped(played: &Played, story: &str) -> bool {
    let story = played.state.story(story).expect("a story");
    matches!(story.status, StoryStatus::Skipped { .. })
}

/// Whoever is between two attempts waits while what a person accepted lands.
#[test]
fn no_attempt_begins_on_a_head_that_an_acceptance_is_about_to_move() {
    for (skipped, active) in [("a", "b"), ("b", "a")] {
        let mut stories = vec![story("a", 0, &[]), story("b", 0, &[])];
        for one in &mut stories {
            one.rank = u32::from(one.id.as_str() == active);
        }
        let mut spec = spec(stories);
        spec.max_retries = 1;
        let mut played = Played::start(spec);
        judged_no(&mut played);
        let candidate = judged_no(&mut played);
        played.settle();
        assert!(is_skipped(&played, skipped));
        // The other story is in its first attempt when the candidate is accepted.
        played.end_run(worked());
        played.record(accept(skipped, &candidate, None));
        played.end_run(green());
        let verdict = played.verdict(false);
        played.end_run(RunOutcome::Judged(verdict));
        let owed = played.owed_words();
        assert_eq!(owed.len(), 1, "{owed:?}");
        assert!(
            owed[0].starts_with(&format!("plan {skipped} attempt 3")),
            "{owed:?}"
        );
        let plan = played.owed();
        played.carry_out(&plan[0]);
        let owed = played.owed_words();
        assert_eq!(
            owed,
            [format!("make accepted {skipped} 3")],
            "{active} has to wait"
        );
    }
}

/// A recheck has its own run folder, or the next attempt another number.
#[test]
fn an_attempt_after_a_recheck_has_runs_of_its_own() {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.max_retries = 0;
    spec.flow = Flow::Judged;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    judged_no(&mut played);
    played.settle();
    // b lands, so a is looked at again, and still not good.
    played.end_stage(Stage::Baseline, checked(true));
    played.attempt(true);
    played.settle();
    let recheck = played.start_stage(Some("a"), Stage::Check);
    played.record(crate::support::ended(recheck.clone(), green()));
    let verdict = played.verdict(false);
    let recheck_judge = played.go();
    played.record(crate::support::ended(
        recheck_judge.clone(),
        RunOutcome::Judged(verdict),
    ));
    played.settle();
    assert!(played.state.ended().is_some());
    played.record(retry("a", Some("once more")));
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    let check = played.start_stage(None, Stage::Check);
    assert_ne!(check, recheck, "the same key is the same run folder");
}

/// What has begun keeps its numbers.
#[test]
fn a_reload_does_not_forget_the_attempts_of_a_story_that_was_put_back() {
    let stories = vec![story("a", 0, &[]), story("b", 1, &[])];
    let mut spec = spec(stories.clone());
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    let candidate = judged_no(&mut played);
    played.settle();
    played.go();
    played.record(accept("a", &candidate, None));
    let before = played.state.story("a").expect("a").clone();
    assert_eq!((before.attempts, before.wish.is_some()), (1, true));
    played.record(Event::Reloaded {
        settings: "new".into(),
        stories: stories.into_iter().map(Arc::new).collect(),
        together: None,
    });
    let after = played.state.story("a").expect("a");
    assert_eq!(
        after.attempts, 1,
        "attempt 1 was, and its folders and refs are there"
    );
    assert!(after.wish.is_some(), "and the person's yes stands");
}

/// A loop that is over works on nothing.
#[test]
fn a_story_that_a_cancel_cut_short_can_be_tried_again() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.go();
    played.record(cancel());
    played.settle();
    assert!(played.state.ended().is_some());
    played
        .try_record(retry("a", Some("now")))
        .expect("nobody works on it");
}

/// It had its PASS when somebody cancelled.
#[test]
fn what_was_about_to_land_at_the_cancel_can_be_accepted() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.end_run(worked());
    played.end_run(green());
    let verdict = played.verdict(true);
    let commit = verdict.commit.clone();
    played.end_run(RunOutcome::Judged(verdict));
    played.record(cancel());
    played.settle();
    assert!(played.state.ended().is_some());
    played
        .try_record(accept("a", &commit, None))
        .expect("nothing lands any more");
}

/// A wish that the end left behind is no obstacle.
#[test]
fn a_wish_that_a_cancel_overtook_can_be_said_again() {
    for what in ["skip", "hand-in", "accept"] {
        let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
        spec.max_retries = 0;
        let mut played = Played::start(spec);
        let candidate = judged_no(&mut played);
        played.settle();
        played.go();
        match what {
            "skip" => {
                played.record(retry("a", None));
                played.record(skip("a"));
            }
            "hand-in" => {
                played.record(take("a"));
                played.record(hand_in("a"));
            }
            _ => played.record(accept("a", &candidate, None)),
        }
        played.record(cancel());
        played.settle();
        assert!(played.state.ended().is_some());
        let ways = [
            retry("a", Some("again")),
            accept("a", &candidate, None),
            take("a"),
            hand_in("a"),
            skip("a"),
        ];
        let taken: Vec<bool> = ways
            .into_iter()
            .map(|way| played.clone().try_record(way).is_ok())
            .collect();
        assert!(
            taken.contains(&true),
            "{what}: nothing can be done for `a` any more"
        );
    }
}

/// Only what a person asked for after the end is done.
#[test]
fn what_was_hinted_before_the_end_is_not_asked_for_after_it() {
    let mut spec = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &[]),
    ]);
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    judged_no(&mut played);
    played.settle();
    played.go();
    played.record(retry("c", Some("a hint for later")));
    played.record(cancel());
    played.settle();
    played.record(retry("a", None));
    played.attempt(true);
    played.settle();
    assert!(played.state.ended().is_some(), "{:?}", played.owed_words());
}

/// `only` says what the loop does by itself, not what a person may ask of it.
#[test]
fn another_story_of_a_loop_for_one_story_is_tried_when_a_person_asks() {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.first = Some(kernel::FirstStory {
        id: "a".into(),
        attempt: 1,
        judgment: None,
        only: true,
    });
    let mut played = Played::start(spec);
    played.attempt(true);
    played.settle();
    assert!(played.state.ended().is_some());
    played.record(retry("b", Some("this one too")));
    let owed = played.owed_words();
    assert!(owed[0].starts_with("plan b"), "{owed:?}");
}

/// The base must be known to build before agents are paid.
#[test]
fn a_baseline_that_never_was_is_owed_to_the_next_attempt() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Judged;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(false));
    assert_eq!(played.state.questions().len(), 1, "setup fails on the base");
    played.record(take("a"));
    played.record(retry("a", None));
    let run = played.go();
    assert_eq!(run.stage, Stage::Baseline);
}

/// A recheck that a cancel cut short leaves a skipped story, which is counted once.
#[test]
fn a_recheck_that_was_cut_short_leaves_a_skipped_story() {
    let mut spec = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &["a"]),
    ]);
    spec.max_retries = 0;
    spec.flow = Flow::Judged;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    judged_no(&mut played);
    played.settle();
    played.end_stage(Stage::Baseline, checked(true));
    played.attempt(true);
    played.settle();
    played.start_stage(Some("a"), Stage::Check);
    played.record(cancel());
    played.settle();
    assert!(played.state.ended().is_some());
    // A person takes c, whatever it waits for.
    played.record(take("c"));
    assert!(
        is_skipped(&played, "a"),
        "{:?}",
        played.state.story("a").expect("a").status
    );
}

/// Unknown cost is not zero, also where a person stopped the run and the loop goes on.
#[test]
fn a_run_that_a_wish_stopped_is_charged() {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.allowance = Some(kernel::Allowance {
        tokens: Some(100),
        run_tokens: Some(50),
        ..kernel::Allowance::default()
    });
    let mut played = Played::start(spec);
    played.go();
    played.record(skip("a"));
    played.settle();
    assert!(is_skipped(&played, "a"));
    assert_eq!(played.state.budget_used_percent(), Some(50));
}

/// What nobody uses any more has a name of its own.
#[test]
fn tests_that_were_being_made_when_a_person_took_the_story_keep_their_name() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Tdd;
    let mut played = Played::start(spec);
    let rounds = |played: &Played| {
        let orders = played.owed();
        orders.into_iter().find_map(|order| match order.deed {
            kernel::Deed::MakeTests(order) => Some(order.rounds),
            _ => None,
        })
    };
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::WriteTests, crate::support::written());
    let first = rounds(&played).expect("tests are being made");
    // Their commit has the ref `tests/a/1` when a person takes the story; the record comes too late.
    played.record(take("a"));
    played.record(retry("a", None));
    played.end_stage(Stage::WriteTests, crate::support::written());
    let second = rounds(&played).expect("tests are being made");
    assert_ne!(first, second, "`tests/a/1` is another commit");
}

/// A flow without a test writer has no tests of one.
#[test]
fn the_tests_of_another_flow_are_not_in_the_way() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Quartet;
    spec.max_retries = 0;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::WriteTests, crate::support::written());
    played.end_stage(Stage::Check, crate::support::red(&["nonsense"]));
    played.settle();
    played.record(Event::RetryRequested {
        story: "a".into(),
        hint: None,
        agent: None,
        flow: Some(Flow::Judged),
    });
    played.end_stage(Stage::Implement, worked());
    let orders = played.owed();
    let tests = orders.into_iter().find_map(|order| match order.deed {
        kernel::Deed::MakeCandidate(order) => Some(order.tests),
        _ => None,
    });
    assert_eq!(tests.expect("a candidate is made"), None);
}

#[test]
fn a_refused_candidate_is_a_failed_attempt_and_a_person_may_accept_it() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    let refused = |attempt: u32, commit: u64| Event::CandidateRefused {
        story: "a".into(),
        attempt,
        commit: numbered_commit(commit),
        why: format!("a secret in {commit}"),
    };
    assert!(
        played.try_record(refused(1, 1)).is_err(),
        "no candidate is owed"
    );
    played.end_run(worked());
    assert_eq!(played.owed_words(), ["make candidate a 1"]);
    played.record(refused(1, 1));
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
    let feedback = &played.state.story("a").expect("a story").feedback;
    assert_eq!(feedback, &["a secret in 1"]);
    played.end_run(worked());
    played.record(refused(2, 2));
    assert_eq!(played.owed_words(), ["skip a"]);
    played.settle();
    assert!(is_skipped(&played, "a"));
    // Nothing was measured, so it is theirs to say why.
    assert!(
        played
            .try_record(accept("a", &numbered_commit(1), None))
            .is_err()
    );
    assert!(
        played
            .try_record(accept("a", &numbered_commit(3), Some("which?")))
            .is_err()
    );
    played.record(accept("a", &numbered_commit(1), Some("it is made up")));
    played.settle();
    assert!(!is_skipped(&played, "a"));
}

/// Whoever accepts a candidate has not made another attempt, and what lands is the attempt that made it.
#[test]
fn what_is_accepted_counts_as_the_attempt_that_made_it() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.max_retries = 1;
    let mut played = Played::start(spec);
    let first = judged_no(&mut played);
    judged_no(&mut played);
    played.settle();
    played.record(accept("a", &first, None));
    played.settle();
    let story = played.state.story("a").expect("a story");
    assert!(story.has_passed(), "{:?}", story.status);
    assert_eq!((story.n_worked(), story.made_in), (2, 1));
}

/// A last attempt that made nothing is not why a story is set aside.
#[test]
fn a_skip_says_what_was_wrong_before_an_attempt_that_made_nothing() {
    let no_change = "it changed no file";
    for (first, reason) in [
        (
            Some("sum is wrong"),
            "sum is wrong\n\nThe last attempt: it changed no file",
        ),
        (None, no_change),
    ] {
        let mut spec = spec(vec![story("a", 0, &[])]);
        spec.max_retries = u32::from(first.is_some());
        let mut played = Played::start(spec);
        if let Some(words) = first {
            played.end_run(worked());
            played.end_run(facts(|facts| {
                facts.failing = strings(&["sum"]);
                facts.feedback = words.to_owned();
            }));
        }
        played.end_run(worked());
        let attempt = 1 + u32::from(first.is_some());
        played.record(Event::NothingNew {
            story: "a".into(),
            attempt,
            why: no_change.to_owned(),
        });
        played.settle();
        let story = played.state.story("a").expect("a story");
        let StoryStatus::Skipped { reason: said, .. } = &story.status else {
            panic!("{:?}", story.status);
        };
        assert_eq!(said, reason);
    }
}
