//! A seeded world that delays, doubles, drops and breaks, and checks after every step what must
//! always hold.
//!
//! `LOOPWRIGHT_WORLD_STEPS` sets the number of steps (CI: 1,000,000), `LOOPWRIGHT_WORLD_SEED`
//! replays a world.

use kernel::{
    Effect, Event, Flow, Gate, LoopSpec, Review, RunOutcome, RunUsage, Stage, Stamped, State,
    StoryStatus, decide,
};

use testkit::{Random, number};

use crate::support::{Played, checked, facts, made, numbered_commit, spec, story, worked, written};

fn random_spec(random: &mut Random) -> LoopSpec {
    let count = 1 + random.below(6);
    let stories = (0..count).map(|index| {
        let on: Vec<String> = (0..index)
            .filter(|_| random.chance(25))
            .map(|on| format!("s{on}"))
            .collect();
        story(
            &format!("s{index}"),
            random.below(10),
            &on.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    });
    let mut spec = spec(stories.collect());
    spec.flow = *random.pick(&FLOWS);
    for story in &mut spec.stories {
        story.flow = random.chance(20).then(|| *random.pick(&FLOWS));
    }
    spec.max_retries = random.below(3);
    spec.max_iterations = random.chance(20).then_some(2);
    let caps = |cap| kernel::TimeBudget {
        total_ms: 400_000,
        implement_cap_ms: cap,
        check_cap_ms: cap,
        judge_cap_ms: cap,
        review_cap_ms: cap,
        prove_cap_ms: cap,
    };
    spec.failover = random.chance(50);
    spec.budget = random.chance(30).then(|| caps(30_000));
    spec
}

const FLOWS: [Flow; 6] = [
    Flow::Quartet,
    Flow::Tdd,
    Flow::Proof,
    Flow::Solo,
    Flow::Judged,
    Flow::Legacy,
];

fn random_outcome(played: &mut Played, effect: &Effect, random: &mut Random) -> RunOutcome {
    let Effect::WatchRun(run) = effect else {
        unreachable!("only runs have outcomes")
    };
    match (run.stage, random.below(12)) {
        (_, 0) => RunOutcome::Infrastructure {
            why: "limit".to_owned(),
            until_ms: None,
            elsewhere: random.chance(70),
        },
        (_, 1) => RunOutcome::Interrupted {
            why: "lost".to_owned(),
        },
        (_, 2) if random.chance(40) => RunOutcome::NeedsHuman {
            question: "log in?".to_owned(),
            free: random.chance(50),
        },
        (Stage::Implement, 3) => RunOutcome::Failed {
            why: "gave up".to_owned(),
        },
        (Stage::Implement, _) => worked(),
        (Stage::Baseline, roll) => checked(roll > 3),
        (Stage::Check, roll) => random_checks(random, roll),
        (_, 3) => RunOutcome::BadAnswer {
            why: "prose".to_owned(),
        },
        (_, 4) => RunOutcome::Failed {
            why: "crashed".to_owned(),
        },
        (Stage::Prove, _) => worked(),
        (Stage::WriteTests, _) => written(),
        (Stage::Review, _) => RunOutcome::Reviewed(Review::default()),
        (Stage::Arbitrate, roll) => RunOutcome::Ruled {
            fresh_tests: roll > 7,
            reason: String::new(),
        },
        (Stage::Judge, roll) => RunOutcome::Judged(played.verdict(roll > 7)),
    }
}

fn random_checks(random: &mut Random, roll: u64) -> RunOutcome {
    match roll {
        3 => checked(false),
        4 => checked(true),
        5 => facts(Gate::SurfaceMismatch, &[]),
        6 => facts(Gate::NothingProven, &[]),
        7 => facts(Gate::Red, &["t1"]),
        8 => facts(Gate::Red, if random.chance(50) { &["t1"] } else { &["t2"] }),
        _ => facts(Gate::Green, &[]),
    }
}

/// Everything that must hold at every moment, looked at from outside: the journal is the only
/// witness.
fn check(played: &Played, seed: u64) {
    let owed = decide(&played.state);
    let waits_for_a_person = played.state.is_paused() || played.state.question().is_some();
    assert!(
        !owed.is_empty() || played.state.ended().is_some() || waits_for_a_person,
        "seed {seed}: i03: nothing is owed and the loop is not over"
    );
    if let Some(Stamped {
        event: Event::Integrated { commit, story, .. },
        ..
    }) = played.journal.last()
    {
        check_landing(played, story, commit, seed);
    }
    if let Some(Stamped {
        event: Event::RunStarted { run },
        ..
    }) = played.journal.last()
    {
        let left = played.state.left_ms().unwrap_or(i64::MAX);
        let reserved = 30_000 * i64::try_from(played.state.running().len()).expect("few");
        assert!(
            left >= reserved,
            "seed {seed}: i10: {run} began with {left} ms left"
        );
    }
    if let Some(Stamped {
        event: Event::AgentSwitched { run, to, .. },
        ..
    }) = played.journal.last()
    {
        let author = played.state.agent_of(Stage::Implement);
        let own = played
            .state
            .active()
            .and_then(|(_, attempt)| attempt.cast.agent(attempt.flow.row(run.stage).role));
        assert!(
            played.state.spec().failover,
            "seed {seed}: nobody allowed a stand-in"
        );
        assert!(
            run.stage == Stage::Implement
                || Some(to.as_str()) != author
                || Some(to.as_str()) == own,
            "seed {seed}: {to} stands in for who checks its own work"
        );
    }
    for story in played.state.stories() {
        assert!(
            story.attempts <= played.state.spec().attempts_max(),
            "seed {seed}: too many attempts"
        );
        if let StoryStatus::Skipped { reason, .. } = &story.status {
            let reasons = [
                "set aside by a person",
                "the tests for this story cannot be used",
                "the test writer failed",
            ];
            let given_up = reasons.iter().any(|known| reason.starts_with(known));
            assert!(
                story.attempts == played.state.spec().attempts_max() || given_up,
                "seed {seed}: i05: skipped before its last attempt"
            );
        }
    }
}

/// The branch moved: the last word on that very commit was a yes of whoever has the last word in
/// the flow.
fn check_landing(played: &Played, story: &str, commit: &kernel::Commit, seed: u64) {
    let progress = played.state.story(story).expect("a story");
    let StoryStatus::Active(attempt) = &progress.status else {
        panic!("seed {seed}: landed while not active")
    };
    let last_word = if attempt.flow.has(Stage::Judge) {
        Stage::Judge
    } else {
        Stage::Check
    };
    let word = played
        .journal
        .iter()
        .rev()
        .find_map(|record| match &record.event {
            Event::RunEnded { run, outcome, .. }
                if run.story == story && run.stage == last_word =>
            {
                Some(outcome)
            }
            _ => None,
        });
    let yes = match word {
        Some(RunOutcome::Judged(verdict)) => verdict.pass && verdict.commit == *commit,
        Some(RunOutcome::Checked { passed, .. }) => *passed && attempt.candidate() == Some(commit),
        _ => false,
    };
    assert!(yes, "seed {seed}: i01: landed without a verdict");
    if attempt.flow.has(Stage::WriteTests) {
        assert!(
            progress.tests.is_some(),
            "seed {seed}: i07: landed without tests of somebody else"
        );
        let reviewed = attempt.review.is_some();
        assert!(reviewed, "seed {seed}: i02: landed without a review");
    }
}

/// One step of the world: an effect is carried out, or something goes wrong.
fn step(played: &mut Played, random: &mut Random, seed: u64) {
    played.clock_ms += random.below(5_000);
    if random.chance(1) {
        let request = [
            Event::PauseRequested,
            Event::ResumeRequested,
            Event::CancelRequested {
                reason: "enough".to_owned(),
            },
        ];
        let index = if random.chance(90) {
            random.below(2)
        } else {
            2
        };
        return played.record(request[index].clone());
    }
    if random.chance(3) {
        // The worker died: all that is left is the journal, and it must give the same state and the
        // same orders.
        let replayed = State::replay(&played.journal)
            .unwrap_or_else(|illegal| panic!("seed {seed}: {illegal}"));
        assert_eq!(replayed, played.state, "seed {seed}: i03");
        assert_eq!(decide(&replayed), decide(&played.state), "seed {seed}: i03");
        return;
    }
    if played.state.is_paused() && random.chance(30) {
        return played.record(Event::ResumeRequested);
    }
    if played.state.question().is_some() {
        let choice = *random.pick(&["retry", "retry", "retry", "skip", "use tabs"]);
        let _ = played.try_record(Event::Answered {
            choice: choice.to_owned(),
        });
        return;
    }
    let owed: Vec<Effect> = decide(&played.state).into_iter().collect();
    if owed.is_empty() {
        return;
    }
    let effect = random.pick(&owed).clone();
    if random.chance(10) {
        return; // The order was lost: asking again must give it again.
    }
    let event = match &effect {
        Effect::WatchRun(run) => {
            if random.chance(50) {
                return; // Not over yet.
            }
            Event::RunEnded {
                run: run.clone(),
                outcome: random_outcome(played, &effect, random),
                usage: random.chance(30).then(|| RunUsage {
                    session: Some(format!("session {}", random.below(2))),
                    goes_on: random.chance(50),
                    ..RunUsage::default()
                }),
            }
        }
        Effect::StartRun(run) => Event::RunStarted { run: run.clone() },
        Effect::StopRun(run) => Event::RunEnded {
            run: run.clone(),
            outcome: RunOutcome::Stopped,
            usage: None,
        },
        Effect::MakeCandidate { story, attempt } if random.chance(10) => Event::NothingNew {
            story: story.clone(),
            attempt: *attempt,
            why: "no change".to_owned(),
        },
        Effect::MakeCandidate { story, attempt } => {
            made(story, *attempt, numbered_commit(random.draw()))
        }
        Effect::MakeTests { story, attempt } if random.chance(20) => Event::TestsRefused {
            story: story.clone(),
            attempt: *attempt,
            why: "no test file".to_owned(),
        },
        other => return played.carry_out(other),
    };
    played.record(event.clone());
    if random.chance(10) {
        // The outcome came twice: the second is refused, and nothing changes.
        let before = played.state.clone();
        assert!(
            played.try_record(event).is_err(),
            "seed {seed}: an outcome counted twice"
        );
        assert_eq!(
            played.state, before,
            "seed {seed}: a refused move changed something"
        );
    }
}

#[test]
fn world_of_a_million_steps() {
    const LOOP_STEPS_MAX: u32 = 5_000;
    let steps_wanted = number("LOOPWRIGHT_WORLD_STEPS", 1_000_000);
    let first_seed = number("LOOPWRIGHT_WORLD_SEED", 1);
    let (mut steps, mut loops, mut ended) = (0, 0, 0);
    while steps < steps_wanted {
        let seed = first_seed + loops;
        let mut random = Random::new(seed);
        let mut played = Played::start(random_spec(&mut random));
        let mut own = 0;
        while played.state.ended().is_none() && own < LOOP_STEPS_MAX {
            step(&mut played, &mut random, seed);
            check(&played, seed);
            own += 1;
        }
        assert!(
            played.state.ended().is_some(),
            "seed {seed}: the loop did not end in {LOOP_STEPS_MAX} steps"
        );
        ended += u64::from(played.state.ended().is_some());
        steps += u64::from(own);
        loops += 1;
    }
    println!("world: {steps} steps, {loops} loops from seed {first_seed}, {ended} ended");
}
