//! A seeded world of several loops under one worker that dies, forgets and is asked for things.
//!
//! The worker here takes turns like the real one, and which orders may be carried out now is the
//! engine's own [`open_now`]; git, processes and people are made up. `LOOPWRIGHT_WORLD_STEPS` sets
//! the number of steps (CI: 100,000), `LOOPWRIGHT_WORLD_SEED` replays a world.

use engine::{Busy, Limits, RECORDS_PER_TURN_MAX, open_now};
use kernel::{
    Deed, Event, LoopSpec, MakeCandidateOrder, Order, PublishResult, RunOutcome, Stamped, State,
    WriteBack, decide,
};
use serde_json::json;
use testkit::{Random, number};

use crate::outside::{Look, Outside, numbered};

/// The worker's death in the middle of something: all that it had in memory is gone.
struct Died;

/// One loop: its journal is the truth, `truth` what follows from it, `known` what the worker has
/// read of it.
struct Loop {
    journal: Vec<Stamped>,
    truth: State,
    known: Option<(State, usize)>,
    outside: Outside,
    damaged: bool,
    quarantined: bool,
}

impl Loop {
    fn begin(spec: LoopSpec) -> Self {
        let journal = vec![Stamped {
            at_ms: 0,
            event: Event::LoopStarted {
                spec: Box::new(spec),
            },
        }];
        let truth = State::replay(&journal).expect("a first state");
        Self {
            journal,
            truth,
            known: None,
            outside: Outside::default(),
            damaged: false,
            quarantined: false,
        }
    }

    fn append(&mut self, record: Stamped) -> Result<(), kernel::IllegalMove> {
        self.truth.apply(&record)?;
        self.journal.push(record);
        Ok(())
    }

    fn n_alive(&self) -> usize {
        self.outside.n_alive(false) + self.outside.n_alive(true)
    }
}

struct World {
    seed: u64,
    random: Random,
    limits: Limits,
    loops: Vec<Loop>,
    clock_ms: i64,
    n_steps: u64,
    n_deaths: u64,
    /// Nothing goes wrong any more: what is left must come to its end.
    is_calm: bool,
}

fn spec(index: usize, random: &mut Random) -> LoopSpec {
    let stories: Vec<_> = (0..=random.below(3))
        .map(|story| {
            let on: Vec<String> = (0..story).filter(|_| random.chance(25)).map(|on| format!("s{on}")).collect();
            json!({ "id": format!("s{story}"), "title": "a story", "description": "", "criteria": ["it works"],
                    "rank": random.below(10), "depends_on": on, "tool": null, "start": "open" })
        })
        .collect();
    let budget = random.chance(20).then(|| {
        json!({ "total_ms": 300_000, "implement_cap_ms": 30_000, "check_cap_ms": 30_000, "judge_cap_ms": 30_000,
                "review_cap_ms": 30_000, "prove_cap_ms": 30_000 })
    });
    let spec = json!({
        "loop_id": format!("L{index}"), "project": "p", "prd_path": "prd.json", "base": numbered(0), "branch": "agent-loop/L",
        "stories": stories, "implementor": "codex", "judge": "claude", "ladder": ["codex", "claude"],
        "max_retries": random.below(3), "max_iterations": random.chance(15).then_some(2), "retry_wait_ms": 20_000,
        "together": { "parallel": 1 + random.below::<u32>(4), "checks_at_once": 1 + random.below::<u32>(2) },
        "budget": budget, "settings": "", "flow": random.pick(&["quartet", "tdd", "proof", "judged", "legacy"]),
    });
    serde_json::from_value(spec).expect("a spec")
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let limits = Limits {
            agents_max: 1 + random.below(3),
            checks_max: 1 + random.below(2),
        };
        let n_loops = 1 + random.below(6);
        let loops = (0..n_loops)
            .map(|index| Loop::begin(spec(index, &mut random)))
            .collect();
        Self {
            seed,
            random,
            limits,
            loops,
            clock_ms: 0,
            n_steps: 0,
            n_deaths: 0,
            is_calm: false,
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        !self.is_calm && self.random.chance(percent)
    }

    /// One turn of the worker, and some time in which the others do something.
    fn round(&mut self) {
        self.clock_ms += self.random.below(8_000);
        self.people_ask();
        for index in 0..self.loops.len() {
            if !self.loops[index].quarantined && self.advance(index).is_err() {
                self.n_deaths += 1;
                self.loops.iter_mut().for_each(|one| one.known = None);
                break;
            }
        }
        let (loops, random) = (&mut self.loops, &mut self.random);
        for one in loops {
            one.outside.go_on(random);
        }
        self.check();
    }

    /// Requests go into the journal behind the worker's back.
    fn people_ask(&mut self) {
        for index in 0..self.loops.len() {
            let truth = &self.loops[index].truth;
            let asking = truth.questions().into_iter().next();
            let (asks, is_paused) = (asking.is_some(), truth.is_paused());
            let event = if asks && self.random.chance(30) {
                Event::Answered {
                    choice: "retry".to_owned(),
                    story: asking.map(|question| question.story),
                }
            } else if is_paused && self.random.chance(30) {
                Event::ResumeRequested
            } else if self.chance(1) {
                Event::PauseRequested
            } else if self.random.chance(1) && self.chance(30) {
                Event::CancelRequested {
                    reason: "enough".to_owned(),
                }
            } else {
                continue;
            };
            // A loop that is over takes no request.
            let _ = self.loops[index].append(Stamped {
                at_ms: self.clock_ms,
                event,
            });
        }
    }

    /// Takes in what the journal has and the worker does not know; a record that cannot be replayed
    /// sets the loop apart.
    fn catch_up(&mut self, index: usize) -> bool {
        let one = &mut self.loops[index];
        match &one.known {
            _ if one.damaged => {
                one.known = None;
                one.quarantined = true;
            }
            Some((_, read)) if *read == one.journal.len() => {}
            Some(_) => one.known = Some((one.truth.clone(), one.journal.len())),
            // A new worker has nothing but the journal.
            None => {
                let replayed = State::replay(&one.journal).expect("a sound journal");
                assert_eq!(replayed, one.truth, "seed {}: i03", self.seed);
                one.known = Some((replayed, one.journal.len()));
            }
        }
        !one.quarantined
    }

    fn busy(&self) -> Busy {
        Busy::of(
            self.loops
                .iter()
                .filter_map(|one| one.known.as_ref().map(|(state, _)| state)),
        )
    }

    fn advance(&mut self, index: usize) -> Result<(), Died> {
        // A new worker knows all loops before it begins anything: their runs count.
        for other in 0..self.loops.len() {
            if self.loops[other].known.is_none() && !self.loops[other].quarantined {
                self.catch_up(other);
            }
        }
        if !self.catch_up(index) {
            return Ok(());
        }
        for _ in 0..RECORDS_PER_TURN_MAX {
            let Some((state, _)) = &self.loops[index].known else {
                break;
            };
            let orders = open_now(decide(state), self.busy(), self.limits);
            let mut recorded = false;
            for order in orders {
                self.n_steps += 1;
                let Some(event) = self.carry_out(index, &order)? else {
                    continue;
                };
                recorded = self.record(index, event)?;
                break;
            }
            if !recorded {
                break;
            }
        }
        Ok(())
    }

    /// Dies sometimes.
    fn moment(&mut self) -> Result<(), Died> {
        if self.chance(2) { Err(Died) } else { Ok(()) }
    }

    /// Appends, if nobody else did so since the worker read; else it reads again and decides anew.
    fn record(&mut self, index: usize, event: Event) -> Result<bool, Died> {
        self.moment()?;
        let record = Stamped {
            at_ms: self.clock_ms,
            event,
        };
        let one = &mut self.loops[index];
        let Some((state, read)) = &mut one.known else {
            return Ok(false);
        };
        if *read == one.journal.len() {
            let kind = record.event.kind();
            let applied = state.apply(&record);
            assert!(
                applied.is_ok(),
                "seed {}: the worker came to an illegal {kind}: {applied:?}",
                self.seed
            );
            *read += 1;
            one.truth = state.clone();
            one.journal.push(record.clone());
            // The outcome came twice: the second is refused.
            assert!(
                state.clone().apply(&record).is_err() || is_repeatable(&record.event),
                "seed {}: {kind} twice",
                self.seed
            );
        }
        self.moment()?;
        Ok(self.catch_up(index))
    }

    fn carry_out(&mut self, index: usize, order: &Order) -> Result<Option<Event>, Died> {
        if self.chance(5) {
            return Ok(None); // Refused by something around us; it is owed again at the next turn.
        }
        if let Some(decision) = order.deed.decision() {
            return Ok(Some(decision));
        }
        let (clock_ms, outside) = (self.clock_ms, &mut self.loops[index].outside);
        let event = match order.deed.clone() {
            Deed::Run(run) => {
                let run = run.place.run;
                match outside.look(&run) {
                    Look::NotStarted => {
                        outside.launch(&run);
                        None
                    }
                    Look::Alive => None,
                    Look::Over(outcome) => Some(Event::RunEnded {
                        run,
                        outcome,
                        usage: None,
                        walls: kernel::Walls::default(),
                    }),
                }
            }
            Deed::StopRun(stop) => {
                outside.stop(&stop.place.run);
                Some(Event::RunEnded {
                    run: stop.place.run,
                    outcome: RunOutcome::Stopped,
                    usage: None,
                    walls: kernel::Walls::default(),
                })
            }
            Deed::Wait(wait) => wait.event(clock_ms),
            Deed::Prepare { .. } => Some(Event::LoopPrepared),
            Deed::MakeTests(make) if self.random.chance(10) => Some(Event::TestsRefused {
                story: make.story.id.clone(),
                attempt: make.place.run.attempt,
                why: "no test file".to_owned(),
            }),
            Deed::MakeTests(make) => Some(Event::TestsMade {
                story: make.story.id.clone(),
                attempt: make.place.run.attempt,
                commit: Some(numbered(self.random.draw())),
                notes: Vec::new(),
            }),
            Deed::MakeCandidate(make) => Some(made(outside, &make, &mut self.random)),
            Deed::MakeAccepted(owed) => Some(accepted(*owed, &mut self.random)),
            Deed::Restack(owed) => Some(outside.restack(&owed, &mut self.random)),
            Deed::Integrate {
                story, attempt, to, ..
            } => Some(outside.integrate(story, attempt, to)),
            Deed::Retract(owed) => Some(outside.retract(*owed)),
            Deed::Announce { story, .. } => Some(announced(story, &mut self.random)),
            Deed::Publish(publish) => Some(Event::PublishTried {
                commit: publish.to,
                branch: PublishResult::Done,
            }),
            Deed::Skip { story, reason, .. } => Some(skipped(story, reason)),
            Deed::End { reason } => Some(Event::LoopEnded { reason }),
            Deed::Plan(_) | Deed::StartRun { .. } | Deed::Block { .. } => None,
        };
        self.moment()?;
        Ok(event)
    }

    /// What must hold at every moment, seen from outside of the worker.
    fn check(&self) {
        let seed = self.seed;
        // What a loop that was set apart left running ends by its own limits, and takes no slot
        // from the others.
        let sound = || self.loops.iter().filter(|one| !one.damaged);
        let alive = |checks| {
            sound()
                .map(|one| one.outside.n_alive(checks))
                .sum::<usize>()
        };
        assert!(
            alive(false) <= self.limits.agents_max,
            "seed {seed}: more agents than slots"
        );
        assert!(
            alive(true) <= self.limits.checks_max,
            "seed {seed}: more checks than slots"
        );
        for (index, one) in self
            .loops
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.quarantined)
        {
            if one.truth.ended().is_some() {
                assert_eq!(
                    one.n_alive(),
                    0,
                    "seed {seed}: i11: loop {index} is over and a process lives"
                );
            }
            if let Some(head) = &one.outside.head {
                let passed = |record: &Stamped| {
                    matches!(&record.event, Event::RunEnded { outcome: RunOutcome::Judged(verdict), .. }
                        if verdict.pass && verdict.commit == *head)
                };
                assert!(
                    one.journal.iter().any(passed),
                    "seed {seed}: i01: loop {index} moved to {head} without a PASS"
                );
            }
        }
    }

    fn is_over(&self) -> bool {
        self.loops
            .iter()
            .all(|one| one.quarantined || is_settled(&one.truth))
    }

    /// One loop's journal gets a record that cannot be: it alone is set apart.
    fn damage_one(&mut self) {
        let index = self.random.below(self.loops.len());
        let one = &mut self.loops[index];
        one.damaged = one.truth.ended().is_none();
    }
}

fn skipped(story: kernel::StoryId, reason: String) -> Event {
    Event::StorySkipped {
        story,
        reason,
        prd: WriteBack::Done,
    }
}

fn accepted(owed: kernel::AcceptedOrder, random: &mut Random) -> Event {
    Event::CandidateMade {
        story: owed.story,
        attempt: owed.attempt,
        commit: numbered(random.draw()),
        notes: Vec::new(),
        ask: None,
    }
}

fn made(outside: &mut Outside, make: &MakeCandidateOrder, random: &mut Random) -> Event {
    let (story, attempt) = (make.story.id.clone(), make.place.run.attempt);
    match outside.make_candidate(&story, attempt, random) {
        Some(commit) => Event::CandidateMade {
            story,
            attempt,
            commit,
            notes: Vec::new(),
            ask: None,
        },
        None => Event::NothingNew {
            story,
            attempt,
            why: "no change".to_owned(),
        },
    }
}

/// Requests may be made again and again.
fn announced(story: kernel::StoryId, random: &mut Random) -> Event {
    let branch = if random.chance(20) {
        PublishResult::LeftAlone {
            why: "locked".to_owned(),
        }
    } else {
        PublishResult::Done
    };
    Event::Announced {
        story,
        branch,
        prd: WriteBack::Done,
    }
}

fn is_settled(state: &State) -> bool {
    state.ended().is_some() && !state.owes_publishing()
}

fn is_repeatable(event: &Event) -> bool {
    matches!(
        event,
        Event::CancelRequested { .. } | Event::PauseRequested | Event::ResumeRequested
    )
}

#[test]
fn world_of_many_loops() {
    const WILD_ROUNDS: u32 = 400;
    const CALM_ROUNDS_MAX: u32 = 20_000;
    let steps_wanted = number("LOOPWRIGHT_WORLD_STEPS", 100_000);
    let first_seed = number("LOOPWRIGHT_WORLD_SEED", 1);
    let (mut steps, mut worlds, mut loops, mut deaths, mut apart) = (0, 0, 0, 0, 0);
    while steps < steps_wanted {
        let mut world = World::new(first_seed + worlds);
        let damaged_at = world.random.below(WILD_ROUNDS * 4);
        let mut round = 0;
        while !world.is_over() {
            if round == damaged_at {
                world.damage_one();
            }
            world.is_calm = round > WILD_ROUNDS;
            world.round();
            round += 1;
            assert!(
                round < CALM_ROUNDS_MAX,
                "seed {}: a loop never ends: {:?}",
                world.seed,
                world.limits
            );
        }
        steps += world.n_steps;
        deaths += world.n_deaths;
        loops += world.loops.len();
        apart += world.loops.iter().filter(|one| one.quarantined).count();
        worlds += 1;
    }
    println!(
        "world: {steps} steps, {worlds} worlds from seed {first_seed}, {loops} loops ended or were set apart ({apart}), {deaths} deaths of the worker"
    );
}
