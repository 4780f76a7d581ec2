//! A seeded world that delays, doubles, drops and breaks, and checks after every step what must always hold.
//!
//! `LOOPWRIGHT_WORLD_STEPS` sets the number of steps (CI: 1,000,000), `LOOPWRIGHT_WORLD_SEED` replays a world.

use kernel::{Effect, Event, LoopSpec, RunOutcome, Stamped, State, StoryStatus, decide};

use testkit::{Random, number};

use crate::support::{Played, numbered_commit, spec, story};

fn random_spec(random: &mut Random) -> LoopSpec {
    let count = 1 + random.below(6);
    let stories = (0..count).map(|index| {
        let on: Vec<String> = (0..index).filter(|_| random.chance(25)).map(|on| format!("s{on}")).collect();
        story(&format!("s{index}"), random.below(10), &on.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let mut spec = spec(stories.collect());
    spec.max_retries = random.below(3);
    spec.max_iterations = random.chance(20).then_some(2);
    let caps = |cap| kernel::TimeBudget {
        total_ms: 400_000,
        implement_cap_ms: cap,
        check_cap_ms: cap,
        judge_cap_ms: cap,
    };
    spec.budget = random.chance(30).then(|| caps(30_000));
    spec
}

fn random_outcome(played: &mut Played, effect: &Effect, random: &mut Random) -> RunOutcome {
    let Effect::WatchRun(run) = effect else { unreachable!("only runs have outcomes") };
    match (run.stage, random.below(12)) {
        (_, 0) => RunOutcome::Infrastructure { why: "limit".to_owned(), until_ms: None },
        (_, 1) => RunOutcome::Interrupted { why: "lost".to_owned() },
        (_, 2) => RunOutcome::NeedsHuman { question: "log in?".to_owned() },
        (kernel::Stage::Implement, 3) => RunOutcome::Failed { why: "gave up".to_owned() },
        (kernel::Stage::Implement, _) => RunOutcome::Worked,
        (kernel::Stage::Check, roll) => RunOutcome::Checked { passed: roll > 5, report: String::new() },
        (kernel::Stage::Judge, 3) => RunOutcome::BadAnswer { why: "prose".to_owned() },
        (kernel::Stage::Judge, 4) => RunOutcome::Failed { why: "crashed".to_owned() },
        (kernel::Stage::Judge, roll) => RunOutcome::Judged(played.verdict(roll > 7)),
    }
}

/// Everything that must hold at every moment, looked at from outside: the journal is the only witness.
fn check(played: &Played, seed: u64) {
    let owed = decide(&played.state);
    let waits_for_a_person = played.state.is_paused() || played.state.question().is_some();
    assert!(
        !owed.is_empty() || played.state.ended().is_some() || waits_for_a_person,
        "seed {seed}: i03: nothing is owed and the loop is not over"
    );
    if let Some(Stamped { event: Event::Integrated { commit, story, .. }, .. }) = played.journal.last() {
        let judged = played.journal.iter().rev().find_map(|record| match &record.event {
            Event::RunEnded { run, outcome: RunOutcome::Judged(verdict) } if run.story == *story => {
                Some(verdict)
            }
            _ => None,
        });
        assert!(
            judged.is_some_and(|verdict| verdict.pass && verdict.commit == *commit),
            "seed {seed}: i01: landed without a verdict"
        );
    }
    if let Some(Stamped { event: Event::RunStarted { run }, .. }) = played.journal.last() {
        let left = played.state.left_ms().unwrap_or(i64::MAX);
        assert!(left >= 30_000, "seed {seed}: i10: {run} began with {left} ms left");
    }
    for story in played.state.stories() {
        assert!(story.attempts <= played.state.spec().attempts_max(), "seed {seed}: too many attempts");
        if matches!(story.status, StoryStatus::Skipped { .. }) {
            assert_eq!(
                story.attempts,
                played.state.spec().attempts_max(),
                "seed {seed}: i05: skipped before its last attempt"
            );
        }
    }
}

/// One step of the world: an effect is carried out, or something goes wrong.
fn step(played: &mut Played, random: &mut Random, seed: u64) {
    played.clock_ms += random.below(5_000);
    if random.chance(1) {
        let request = [
            Event::PauseRequested,
            Event::ResumeRequested,
            Event::CancelRequested { reason: "enough".to_owned() },
        ];
        let index = if random.chance(90) { random.below(2) } else { 2 };
        return played.record(request[index].clone());
    }
    if random.chance(3) {
        // The worker died: all that is left is the journal, and it must give the same state and the same orders.
        let replayed =
            State::replay(&played.journal).unwrap_or_else(|illegal| panic!("seed {seed}: {illegal}"));
        assert_eq!(replayed, played.state, "seed {seed}: i03");
        assert_eq!(decide(&replayed), decide(&played.state), "seed {seed}: i03");
        return;
    }
    if played.state.is_paused() && random.chance(30) {
        return played.record(Event::ResumeRequested);
    }
    if played.state.question().is_some() {
        return played.record(Event::Answered { choice: "retry".to_owned() });
    }
    let Some(effect) = decide(&played.state).into_iter().next() else { return };
    if random.chance(10) {
        return; // The order was lost: asking again must give it again.
    }
    let event = match &effect {
        Effect::WatchRun(run) => {
            if random.chance(50) {
                return; // Not over yet.
            }
            Event::RunEnded { run: run.clone(), outcome: random_outcome(played, &effect, random) }
        }
        Effect::StartRun(run) => Event::RunStarted { run: run.clone() },
        Effect::StopRun(run) => Event::RunEnded { run: run.clone(), outcome: RunOutcome::Stopped },
        Effect::MakeCandidate { story, attempt } if random.chance(10) => {
            Event::NothingNew { story: story.clone(), attempt: *attempt, why: "no change".to_owned() }
        }
        Effect::MakeCandidate { story, attempt } => Event::CandidateMade {
            story: story.clone(),
            attempt: *attempt,
            commit: numbered_commit(random.draw()),
        },
        other => return played.carry_out(other),
    };
    played.record(event.clone());
    if random.chance(10) {
        // The outcome came twice: the second is refused, and nothing changes.
        let before = played.state.clone();
        assert!(played.try_record(event).is_err(), "seed {seed}: an outcome counted twice");
        assert_eq!(played.state, before, "seed {seed}: a refused move changed something");
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
