//! Attempts at several stories at the same time. `decide` begins one after the other; the kernel
//! allows more, and must keep them apart.

use kernel::{Commit, Event, Flow, LoopSpec, RunOutcome, RunState, Stage, StoryStatus};

use crate::support::{Played, checked, commit, ended, green, limit, planned, spec, story, worked};

/// Two stories, both under way on the same base.
fn two(mut spec: LoopSpec) -> Played {
    spec.together.parallel = 3;
    spec.together.checks_at_once = 3;
    let mut played = Played::start(spec);
    played.record(Event::LoopPrepared);
    played.begin("a");
    played.begin("b");
    played
}

fn two_stories() -> LoopSpec {
    spec(vec![story("a", 0, &[]), story("b", 1, &[])])
}

/// Takes a story through implementor, checks and judge to its landing.
fn to_integrate(played: &mut Played, story: &str) -> Commit {
    played.end_stage_of(story, Stage::Implement, worked());
    played.end_stage_of(story, Stage::Check, green());
    played.start_stage(Some(story), Stage::Judge);
    let verdict = played.verdict_on(story, true);
    let commit = verdict.commit.clone();
    played.end_stage_of(story, Stage::Judge, RunOutcome::Judged(verdict));
    commit
}

fn integrated(story: &str, commit: &Commit) -> Event {
    Event::Integrated {
        story: story.into(),
        attempt: 1,
        commit: commit.clone(),
    }
}

#[test]
fn i01_a_candidate_whose_base_is_not_the_head_cannot_land() {
    let mut played = two(two_stories());
    let first = to_integrate(&mut played, "a");
    let second = to_integrate(&mut played, "b");
    assert_eq!(played.owed_words(), ["integrate a"], "one at a time");
    let why = played.refused(integrated("b", &second));
    assert_eq!(why, format!("it is not the turn of {second} to land"));
    let bases: Vec<&Commit> = played.state.attempts().map(|(_, one)| &one.base).collect();
    assert_eq!(bases, [&commit('a'), &commit('a')]);
    played.record(integrated("a", &first));
    let why = played.refused(integrated("b", &second));
    let base = commit('a');
    assert_eq!(
        why,
        format!("{second} stands on {base}, and the branch is at {first}")
    );
    assert_eq!(*played.state.head(), first, "the head stays");
    assert!(
        matches!(
            &played.state.story("b").expect("b").status,
            StoryStatus::Active(_)
        ),
        "and the second story is where it was"
    );
}

#[test]
fn a_verdict_lands_only_the_candidate_of_its_own_story() {
    let mut played = two(two_stories());
    let first = to_integrate(&mut played, "a");
    played.end_stage_of("b", Stage::Implement, worked());
    played.end_stage_of("b", Stage::Check, green());
    let why = played.refused(integrated("b", &first));
    assert!(why.contains("has no verdict"), "{why}");
    let run = played.start_stage(Some("b"), Stage::Judge);
    let verdict = kernel::Verdict {
        commit: first,
        ..played.verdict_on("b", true)
    };
    let why = played.refused(ended(run, RunOutcome::Judged(verdict)));
    assert!(why.starts_with("the verdict is about"), "{why}");
}

#[test]
fn an_attempt_begins_at_the_head_of_the_branch_and_only_where_none_is_under_way() {
    let mut played = two(two_stories());
    let why = played.refused(planned(&played.state, "a"));
    assert_eq!(why, "story `a` cannot begin an attempt");
    let first = to_integrate(&mut played, "a");
    played.record(integrated("a", &first));
    played.end_stage_of("b", Stage::Implement, worked());
    played.end_stage_of("b", Stage::Check, checked(false));
    for (base, is_legal) in [(commit('a'), false), (commit('b'), false), (first, true)] {
        let mut event = planned(&played.state, "b");
        if let Event::StoryPlanned { base: planned, .. } = &mut event {
            *planned = base.clone();
        }
        assert_eq!(played.try_record(event).is_ok(), is_legal, "{base}");
    }
}

#[test]
fn the_runs_of_one_story_end_without_a_word_about_the_other() {
    let mut played = two(two_stories());
    played.end_stage_of("a", Stage::Implement, worked());
    played.end_stage_of("a", Stage::Check, checked(false));
    assert_eq!(
        played.owed_words(),
        [
            "plan a attempt 2 with claude",
            "start b attempt 1 implement try 1"
        ]
    );
    let b = played.state.story("b").expect("b");
    assert_eq!((b.attempts, b.feedback.len(), b.rejected.len()), (1, 0, 0));
}

#[test]
fn a_cancel_stops_the_runs_of_all_stories_before_the_end() {
    let mut played = two(two_stories());
    played.start_stage(Some("a"), Stage::Implement);
    played.start_stage(Some("b"), Stage::Implement);
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    assert_eq!(
        played.owed_words(),
        [
            "stop a attempt 1 implement try 1",
            "stop b attempt 1 implement try 1"
        ]
    );
    played.settle();
    assert!(played.state.ended().is_some());
}

#[test]
fn a_skipped_story_is_not_rechecked_while_another_one_could_move_the_branch() {
    let mut three = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &[]),
    ]);
    three.max_retries = 0;
    let mut played = two(three);
    played.end_stage_of("a", Stage::Implement, worked());
    played.end_stage_of("a", Stage::Check, checked(false));
    let skip = played.owed();
    played.carry_out(&skip[0]);
    let recheck = |played: &Played| Event::RecheckPlanned {
        story: "a".into(),
        attempt: 2,
        head: played.state.head().clone(),
        judge: None,
    };
    let second = recheck(&played);
    assert_eq!(played.refused(second), "story `a` cannot be rechecked");
    to_integrate(&mut played, "b");
    played.settle();
    assert_eq!(played.go().story, "c", "c comes before a second look at a");
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, checked(false));
    played.settle();
    assert_eq!(played.go().story, "a");
}

/// Two quartets and a story that asks for another implementor, with agents that may take over.
fn with_limits() -> LoopSpec {
    let mut other = story("c", 2, &[]);
    other.tool = Some("pi".into());
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[]), other]);
    spec.flow = Flow::Quartet;
    spec.ladder = ["codex", "claude"].map(Into::into).to_vec();
    spec
}

fn with_code_and_tests_owed(failover: bool) -> Played {
    let mut spec = with_limits();
    spec.failover = failover;
    let mut played = two(spec);
    played.begin("c");
    played.end_stage_of("a", Stage::Baseline, checked(true));
    played.end_stage_of("a", Stage::Implement, limit(Some(900_000)));
    played.end_stage_of("b", Stage::Baseline, checked(true));
    played.end_stage_of("c", Stage::Baseline, checked(true));
    played
}

/// Every run that is not over, in short words.
fn runs(played: &Played) -> Vec<String> {
    let word = |state: &RunState| match state {
        RunState::Owed => "owed",
        RunState::Running { .. } => "running",
        RunState::Waiting { .. } => "waits",
        RunState::Asking { .. } => "asks",
        RunState::Ended => "ended",
    };
    let runs = played.state.runs();
    runs.map(|(run, state)| format!("{} {}: {}", run.story, run.stage.word(), word(state)))
        .collect()
}

#[test]
fn a_limit_belongs_to_the_agent_in_every_story_and_to_no_other_agent() {
    let mut played = with_code_and_tests_owed(true);
    assert_eq!(
        runs(&played),
        [
            "a implement: waits",
            "a write-tests: owed",
            "b implement: waits",
            "b write-tests: owed",
            "c implement: owed",
            "c write-tests: owed",
        ]
    );
    let waits = played.state.waits();
    let until: Vec<_> = waits
        .iter()
        .map(|one| (one.agent.as_deref(), one.until_ms))
        .collect();
    assert_eq!(until, [(Some("codex"), 900_000); 2]);
    assert_eq!(
        waits[1].fault.cause,
        kernel::FaultCause::UsageLimit,
        "b never tried"
    );
    let words = played.owed_words();
    let waits: Vec<&String> = words.iter().filter(|one| one.starts_with("wait")).collect();
    assert_eq!(waits, ["wait until 900000, or claude from 0"; 2]);
    // Once the limit is over the run that never started has its first try.
    played.clock_ms = 900_000;
    let run = waited_run(&played, "b");
    played.record(Event::WaitEnded { run });
    let run = played.start_stage(Some("b"), Stage::Implement);
    assert_eq!(run.try_number, 1);
}

fn waited_run(played: &Played, story: &str) -> kernel::RunKey {
    let mut waits = played.state.waits().into_iter();
    let wait = waits.find(|wait| wait.run.story == story);
    wait.expect("a wait").run
}

#[test]
fn an_agent_that_takes_over_in_one_story_changes_nothing_in_the_other() {
    let mut played = with_code_and_tests_owed(true);
    let run = waited_run(&played, "a");
    played.record(Event::AgentSwitched {
        run,
        from: "codex".into(),
        to: "claude".into(),
    });
    let agent = |story: &str| {
        let attempt = played.state.attempt(story).expect("an attempt");
        attempt.agent(Stage::Implement).cloned()
    };
    assert_eq!(agent("a"), Some("claude".into()));
    assert_eq!(agent("b"), Some("codex".into()));
    assert_eq!(
        runs(&played)[..3],
        [
            "a implement: owed",
            "a write-tests: owed",
            "b implement: waits"
        ]
    );
}

#[test]
fn without_the_policy_a_limit_holds_up_no_other_story() {
    let played = with_code_and_tests_owed(false);
    assert_eq!(
        runs(&played)[..3],
        [
            "a implement: waits",
            "a write-tests: owed",
            "b implement: owed"
        ]
    );
}
