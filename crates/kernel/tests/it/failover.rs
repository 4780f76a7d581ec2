//! Agents at their limits, the agents that take over from them, and tries that resume the session of
//! an earlier one.

use kernel::{Deed, Event, Flow, RunUsage, Stage};

use crate::support::{
    Played, checked, ended, fault, interrupted, limit, spec, story, unfit, worked, written,
};

/// Two stories, a ladder of three agents, and a policy that lets them take over from each other.
fn with_failover() -> Played {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.ladder = ["codex", "pi", "claude"].map(Into::into).to_vec();
    spec.failover = true;
    Played::start(spec)
}

fn switches(played: &Played) -> Vec<String> {
    let word = |event: &Event| match event {
        Event::AgentSwitched { run, from, to } => Some(format!(
            "{} {}: {from} -> {to}",
            run.story,
            run.stage.word()
        )),
        _ => None,
    };
    played
        .journal
        .iter()
        .filter_map(|record| word(&record.event))
        .collect()
}

#[test]
fn a_candidate_names_its_judge_only_if_nobody_may_stand_in() {
    for (failover, expected) in [(false, Some("claude")), (true, None)] {
        let mut spec = spec(vec![story("a", 0, &[])]);
        spec.failover = failover;
        spec.judge = "claude".into();
        let mut played = Played::start(spec);
        played.end_run(worked());
        let owed = played.owed();
        let Deed::MakeCandidate(order) = &owed[0].deed else {
            panic!("a candidate is owed: {owed:?}");
        };
        let credits = order.credits.as_ref().expect("credits");
        assert_eq!(credits.judge.as_deref(), expected);
        assert_eq!(credits.implementor.as_deref(), Some("codex"));
        assert_eq!(credits.tests, None);
    }
}

fn carry_out_first(played: &mut Played) {
    let owed = played.owed();
    played.carry_out(&owed[0]);
}

#[test]
fn i05_a_limit_hands_the_run_to_the_next_of_the_ladder_and_costs_no_attempt() {
    let mut played = with_failover();
    played.end_run(limit(Some(900_000)));
    assert_eq!(
        played.owed_words(),
        ["wait until 900000, or pi from 0, or claude from 0"]
    );
    carry_out_first(&mut played);
    assert_eq!(switches(&played), ["a implement: codex -> pi"]);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
    assert_eq!(played.agent(Stage::Implement), Some("pi"));
    played.attempt(true);
    played.settle();
    assert_eq!(played.state.stories()[0].attempts, 1);
    // The next story's own agent is still at its limit, so it never starts.
    assert_eq!(
        played.owed_words(),
        ["wait until 900000, or pi from 0, or claude from 0"]
    );
    played.clock_ms = 900_000;
    carry_out_first(&mut played);
    assert_eq!(played.owed_words(), ["start b attempt 1 implement try 1"]);
    assert_eq!(
        played.agent(Stage::Implement),
        Some("codex"),
        "tried again after its reset"
    );
    assert_eq!(switches(&played).len(), 1);
}

#[test]
fn a_reset_that_has_passed_needs_no_wait() {
    let mut played = with_failover();
    played.end_run(limit(Some(900_000)));
    carry_out_first(&mut played);
    played.clock_ms = 900_001;
    played.attempt(true);
    played.settle();
    assert_eq!(played.owed_words(), ["start b attempt 1 implement try 1"]);
    assert_eq!(played.agent(Stage::Implement), Some("codex"));
}

#[test]
fn when_all_are_at_their_limits_the_first_that_is_free_goes_on() {
    let mut played = with_failover();
    for until_ms in [900_000, 500_000, 700_000] {
        played.end_run(limit(Some(until_ms)));
        let before = played.agent(Stage::Implement).map(str::to_owned);
        if until_ms != 700_000 {
            carry_out_first(&mut played);
            assert_ne!(played.agent(Stage::Implement), before.as_deref());
        }
    }
    assert_eq!(
        played.owed_words(),
        ["wait until 700000, or codex from 900000, or pi from 500000"]
    );
    assert_eq!(
        played.state.waits_until_ms(),
        Some(500_000),
        "what `status` shows"
    );
    carry_out_first(&mut played);
    assert_eq!(
        (played.clock_ms, played.agent(Stage::Implement)),
        (500_000, Some("pi"))
    );
    played.record(Event::PauseRequested);
    played.record(Event::ResumeRequested);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 4"]);
}

#[test]
fn without_the_policy_a_limit_is_waited_for() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.end_run(limit(Some(900_000)));
    assert_eq!(played.owed_words(), ["wait until 900000"]);
    let run = kernel::RunKey {
        story: "a".into(),
        attempt: 1,
        stage: Stage::Implement,
        try_number: 1,
    };
    let switched = Event::AgentSwitched {
        run,
        from: "codex".into(),
        to: "claude".into(),
    };
    assert!(played.try_record(switched).is_err());
}

#[test]
fn trouble_that_is_not_the_agents_own_is_waited_for() {
    let mut played = with_failover();
    played.end_run(fault(None));
    // Another agent would meet the same fault, and the agent's next run is not held up by it.
    assert_eq!(played.state.waits_until_ms(), Some(60_000));
    assert_eq!(played.owed_words(), ["wait until 60000"]);
}

#[test]
fn a_limit_that_is_over_is_forgotten() {
    let mut played = with_failover();
    for agent in ["codex", "pi", "claude"] {
        assert_eq!(played.agent(Stage::Implement).unwrap_or("codex"), agent);
        played.end_run(limit(Some(900_000)));
        carry_out_first(&mut played);
    }
    assert_eq!(played.clock_ms, 900_000);
    played.end_run(fault(None));
    assert_eq!(played.owed_words().len(), 1);
    assert!(
        !played.owed_words()[0].contains("or"),
        "{:?}",
        played.owed_words()
    );
}

#[test]
fn an_agent_that_is_not_on_the_ladder_has_its_run_back_when_it_is_free() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.ladder = vec!["pi".into(), "claude".into()];
    spec.failover = true;
    let mut played = Played::start(spec);
    played.end_run(limit(Some(500_000)));
    carry_out_first(&mut played);
    played.clock_ms = 600_000;
    played.end_run(limit(Some(900_000)));
    assert_eq!(
        played.owed_words(),
        ["wait until 900000, or codex from 500000, or claude from 0"]
    );
    carry_out_first(&mut played);
    assert_eq!(played.agent(Stage::Implement), Some("codex"));
}

#[test]
fn nobody_judges_their_own_work_in_the_place_of_another() {
    let mut played = with_failover();
    played.end_run(limit(Some(900_000)));
    carry_out_first(&mut played);
    played.end_run(worked());
    played.end_run(checked(true));
    played.end_run(limit(Some(800_000)));
    // `pi` did the work, and `codex` is at its limit.
    assert_eq!(
        played.owed_words(),
        ["wait until 800000, or codex from 900000, or claude from 0"]
    );
    carry_out_first(&mut played);
    assert_eq!(played.agent(Stage::Judge), Some("claude"));
}

#[test]
fn nobody_has_two_parts_in_one_attempt_by_standing_in() {
    // Whoever takes over from the implementor must neither judge the work nor write its tests.
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Quartet;
    spec.ladder = ["codex", "judge", "rev", "pi"].map(Into::into).to_vec();
    spec.failover = true;
    let mut played = Played::start(spec.clone());
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, limit(Some(900_000)));
    let waits = |played: &Played| {
        let mut words = played.owed_words();
        words.retain(|words| words.starts_with("wait"));
        words
    };
    assert_eq!(waits(&played), ["wait until 900000, or pi from 0"]);
    // An agent that took over writing the tests does not take over implementing as well.
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::WriteTests, limit(Some(900_000)));
    let owed = played.owed();
    let wait = owed
        .iter()
        .find(|order| matches!(&order.deed, Deed::Wait(wait) if wait.event(0).is_some()))
        .expect("an agent that takes over");
    played.carry_out(wait);
    assert_eq!(played.agent(Stage::WriteTests), Some("pi"));
    played.end_stage(Stage::Implement, limit(Some(800_000)));
    assert_eq!(waits(&played), ["wait until 800000"]);
}

#[test]
fn whoever_mended_the_work_does_not_judge_it_in_the_place_of_another() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Proof;
    spec.ladder = vec!["codex".into(), "prove".into()];
    spec.failover = true;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Prove, worked());
    played.end_stage(Stage::Check, checked(true));
    played.end_stage(Stage::Judge, limit(Some(900_000)));
    assert_eq!(played.owed_words(), ["wait until 900000"]);
}

#[test]
fn waits_double_whoever_stands_in_meanwhile() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.ladder = vec!["codex".into(), "pi".into()];
    spec.failover = true;
    let mut played = Played::start(spec);
    let mut times = Vec::new();
    for _ in 0..8 {
        played.end_run(limit(None));
        carry_out_first(&mut played);
        times.push(played.clock_ms / 1000);
    }
    // Two agents take turns: each waits 60, 120, 240, 480 seconds after its own limit.
    assert_eq!(times, [0, 60, 60, 180, 180, 420, 420, 900]);
    played.end_run(worked());
    assert!(played.state.waits_until_ms().is_none());
}

#[test]
fn whoever_was_chosen_to_judge_does_not_climb_the_ladder() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.judge = "claude".into();
    let story = spec.stories[0].clone();
    let climbed = |spec: &kernel::LoopSpec| {
        [1, 2, 3].map(|attempt| spec.implementor_for(&story, attempt).clone())
    };
    assert_eq!(climbed(&spec), ["codex", "codex", "codex"]);
    spec.ladder = ["codex", "claude", "pi"].map(Into::into).to_vec();
    assert_eq!(climbed(&spec), ["codex", "pi", "pi"]);
    spec.judge_is_chosen = false;
    assert_eq!(
        climbed(&spec),
        ["codex", "claude", "pi"],
        "a judge that nobody chose makes room"
    );
}

#[test]
fn a_judge_that_nobody_chose_is_of_another_family_than_the_stand_in() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Judged;
    spec.ladder = vec!["codex".into(), "claude".into()];
    (spec.failover, spec.judge_is_chosen, spec.judge) = (true, false, "claude".into());
    let families = [("codex", "openai"), ("claude", "anthropic")];
    spec.families = families
        .map(|(agent, family)| (agent.into(), family.to_owned()))
        .into();
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, limit(Some(900_000)));
    carry_out_first(&mut played);
    assert_eq!(played.agent(Stage::Implement), Some("claude"));
    assert_eq!(played.agent(Stage::Judge), Some("codex"));
}

#[test]
fn a_person_who_says_go_on_knows_better_than_a_limit() {
    let mut played = with_failover();
    played.end_run(limit(Some(900_000)));
    played.record(Event::ResumeRequested);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
    assert_eq!(played.agent(Stage::Implement), Some("codex"));
}

#[test]
fn a_person_who_says_go_on_ends_the_limits_that_nobody_waits_for_too() {
    let mut played = with_failover();
    played.end_run(limit(Some(900_000)));
    carry_out_first(&mut played);
    assert_eq!(played.agent(Stage::Implement), Some("pi"));
    played.record(Event::ResumeRequested);
    played.attempt(true);
    played.settle();
    assert_eq!(played.owed_words(), ["start b attempt 1 implement try 1"]);
    assert_eq!(played.agent(Stage::Implement), Some("codex"));
}

#[test]
fn an_agent_that_worked_again_waits_as_after_its_first_limit() {
    let mut spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    spec.ladder = Vec::new();
    spec.failover = true;
    let mut played = Played::start(spec);
    let mut waits = Vec::new();
    let mut meet_limit = |played: &mut Played| {
        played.end_run(limit(None));
        let before = played.clock_ms;
        carry_out_first(played);
        waits.push((played.clock_ms - before) / 1000);
    };
    meet_limit(&mut played);
    meet_limit(&mut played);
    played.attempt(true);
    played.settle();
    meet_limit(&mut played);
    assert_eq!(waits, [60, 120, 60]);
}

#[test]
fn an_agent_that_took_over_has_one_run_and_not_the_stage() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Quartet;
    spec.ladder = ["codex", "pi"].map(Into::into).to_vec();
    spec.failover = true;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::WriteTests, limit(Some(1000)));
    carry_out_first(&mut played);
    assert_eq!(played.agent(Stage::WriteTests), Some("pi"));
    played.end_stage(Stage::WriteTests, written());
    played.clock_ms = 2000;
    played.end_stage(Stage::Check, unfit());
    assert_eq!(played.owed_words(), ["start a attempt 1 write-tests try 3"]);
    assert_eq!(played.agent(Stage::WriteTests), Some("rev"));
}

#[test]
fn a_wait_says_when_the_loop_wakes_if_all_of_it_waits() {
    let mut spec = spec(vec![story("a", 0, &[])]);
    spec.flow = Flow::Quartet;
    let mut played = Played::start(spec);
    played.end_stage(Stage::Baseline, checked(true));
    let times = |played: &Played| {
        let owed = played.owed().into_iter();
        let waits = owed.filter_map(|order| match order.deed {
            Deed::Wait(wait) => Some((wait.until_ms, wait.loop_until_ms)),
            _ => None,
        });
        waits.collect::<Vec<_>>()
    };
    played.start_stage(None, Stage::WriteTests);
    played.end_stage(Stage::Implement, fault(Some(900_000)));
    assert_eq!(times(&played), [(900_000, None)], "the writer works");
    played.end_stage(Stage::WriteTests, fault(Some(700_000)));
    assert_eq!(
        times(&played),
        [(900_000, Some(700_000)), (700_000, Some(700_000))]
    );
}

fn session(name: &str, tokens: u64) -> RunUsage {
    let (session, input_tokens) = (Some(name.to_owned()), Some(tokens));
    RunUsage {
        session,
        input_tokens,
        resumable: true,
        ..RunUsage::default()
    }
}

fn cut_off(played: &mut Played, usage: RunUsage) {
    let run = played.go();
    played.record(Event::RunEnded {
        run,
        outcome: interrupted(),
        usage: Some(usage),
        walls: kernel::Walls::default(),
    });
}

/// The session that the next try resumes, the try whose checkout it has, and what the session has
/// used.
fn resumes(played: &Played) -> Option<(String, u32, Option<u64>)> {
    let resume = played.resume(Stage::Implement)?;
    Some((
        resume.session,
        resume.checkout_try,
        resume.used.input_tokens,
    ))
}

#[test]
fn a_try_that_was_cut_off_is_gone_on_with() {
    let mut played = with_failover();
    cut_off(&mut played, session("s", 10));
    assert_eq!(resumes(&played), Some(("s".to_owned(), 1, Some(10))));
    cut_off(&mut played, session("s", 5));
    assert_eq!(
        resumes(&played),
        Some(("s".to_owned(), 1, Some(15))),
        "the first try's files are still used"
    );
    let run = played.go();
    assert_eq!(run.try_number, 3);
    played.record(ended(run, worked()));
    let owed = played.owed();
    let Deed::MakeCandidate(order) = &owed[0].deed else {
        panic!("{owed:?}");
    };
    let place = &order.place;
    assert_eq!(
        (place.run.attempt, place.run.try_number, place.checkout_try),
        (1, 3, 1),
        "the first try's checkout holds the candidate's files"
    );
}

#[test]
fn a_fresh_try_follows() {
    for (name, outcome) in [
        ("a session that is lost", interrupted()),
        ("trouble without a session", fault(None)),
    ] {
        let mut played = with_failover();
        cut_off(&mut played, session("s", 10));
        let run = played.go();
        played.record(ended(run, outcome));
        assert_eq!(resumes(&played), None, "{name}");
        let order = played.run_order(Stage::Implement);
        let place = order.place;
        assert_eq!((place.run.try_number, place.checkout_try), (3, 3), "{name}");
        assert_eq!(order.resume, None, "{name}");
    }
}

#[test]
fn a_session_that_is_cut_off_again_and_again_is_given_up() {
    let mut played = with_failover();
    for expected in [true, true, false] {
        cut_off(&mut played, session("s", 1));
        assert_eq!(resumes(&played).is_some(), expected);
    }
}

#[test]
fn a_stand_in_starts_from_the_beginning() {
    let mut played = with_failover();
    let run = played.go();
    played.record(Event::RunEnded {
        run,
        outcome: limit(Some(900_000)),
        usage: Some(session("s", 1)),
        walls: kernel::Walls::default(),
    });
    assert!(resumes(&played).is_some());
    carry_out_first(&mut played);
    assert_eq!(resumes(&played), None);
}

#[test]
fn a_wait_for_a_limit_keeps_the_session() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    let run = played.go();
    played.record(Event::RunEnded {
        run,
        outcome: limit(Some(900_000)),
        usage: Some(session("s", 1)),
        walls: kernel::Walls::default(),
    });
    carry_out_first(&mut played);
    assert_eq!(resumes(&played), Some(("s".to_owned(), 1, Some(1))));
}
