//! A seeded world that delays, doubles, drops and breaks, and checks after every step what must
//! always hold.
//!
//! `LOOPWRIGHT_WORLD_STEPS` sets the number of steps (CI: 300,000), `LOOPWRIGHT_WORLD_SEED`
//! replays a world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kernel::{
    Acceptance, Attempt, Commit, Deed, Event, Flow, LoopSpec, OnQuestion, Order, PublishResult,
    Rejudge, RestackClass, Restackable, RunKey, RunOutcome, RunState, RunUsage, Source, Stage,
    Stamped, State, Step, StoryProgress, StoryStatus, Together, decide,
};

use testkit::{Random, number};

use crate::support::{
    Played, bad_answer, checked, ended, facts, failed, fault, green, interrupted, limit,
    numbered_commit, red, restack_refused, restacked, reviewed, spec, story, unfit, unproven,
    worked, written,
};

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
        Arc::make_mut(story).flow = random.chance(20).then(|| *random.pick(&FLOWS));
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
    spec.together = Together {
        parallel: 1 + random.below(4),
        on_question: if random.chance(20) {
            OnQuestion::Stop
        } else {
            OnQuestion::GoOn
        },
        rejudge: if random.chance(30) {
            Rejudge::Always
        } else {
            Rejudge::WhenNeeded
        },
        checks_at_once: 1 + random.below(3),
        agents_at_once: BTreeMap::new(),
    };
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

fn random_outcome(played: &Played, run: &RunKey, random: &mut Random) -> RunOutcome {
    match (run.stage, random.below(12)) {
        (_, 0) if random.chance(70) => limit(None),
        (_, 0) => fault(None),
        (_, 1) => interrupted(),
        (_, 2) if random.chance(40) => RunOutcome::NeedsHuman {
            question: "log in?".to_owned(),
            free: random.chance(50),
        },
        (Stage::Implement, 3) => failed("gave up"),
        (Stage::Implement, _) => worked(),
        (Stage::Baseline, roll) => checked(roll > 3),
        (Stage::Check, roll) => random_checks(random, roll),
        (Stage::Confirm, 3 | 4) => green(),
        (_, 3) => bad_answer("prose"),
        (_, 4) => failed("crashed"),
        (Stage::Prove, _) => worked(),
        (Stage::WriteTests, _) => written(),
        (Stage::Review, _) => reviewed(),
        (Stage::Arbitrate, roll) => RunOutcome::Ruled {
            fresh_tests: roll > 7,
            reason: String::new(),
        },
        (Stage::Judge, roll) => RunOutcome::Judged(played.verdict_on(&run.story, roll > 7)),
        (Stage::Confirm, roll) => facts(|facts| {
            if roll < 7 {
                facts.broken = vec!["t3".to_owned()];
            }
        }),
    }
}

fn random_checks(random: &mut Random, roll: u64) -> RunOutcome {
    match roll {
        3 => checked(false),
        4 => checked(true),
        5 => unfit(),
        6 => unproven(),
        7 => red(&["t1"]),
        8 => red(if random.chance(50) { &["t1"] } else { &["t2"] }),
        9 => facts(|facts| facts.warm = true),
        _ => green(),
    }
}

/// What a step is compared with.
struct Before {
    head: Commit,
    n_records: usize,
}

impl Before {
    fn of(played: &Played) -> Self {
        Self {
            head: played.state.head().clone(),
            n_records: played.journal.len(),
        }
    }
}

/// Whether nothing can happen any more.
fn is_settled(state: &State) -> bool {
    state.ended().is_some() && decide(state).is_empty()
}

/// Accepted work is published, or owed, or somebody took the branch: it is never forgotten.
fn check_published(state: &State, owed: &[Order], seed: u64) {
    let confirmed = state.confirmed();
    let is_behind = *confirmed != state.spec().base && state.published() != Some(confirmed);
    let is_owed = |order: &Order| matches!(order.deed, Deed::Publish(_) | Deed::Announce { .. });
    assert!(
        !is_behind || state.is_branch_taken() || owed.iter().any(is_owed),
        "seed {seed}: i04: accepted work is not published and nobody owes it"
    );
}

/// Everything that must hold at every moment, looked at from outside: the journal is the only
/// witness.
fn check(played: &Played, before: &Before, seed: u64) {
    let owed = decide(&played.state);
    let waits_for_a_person = played.state.is_paused()
        || !played.state.questions().is_empty()
        || played.state.is_with_person();
    assert!(
        !owed.is_empty() || played.state.ended().is_some() || waits_for_a_person,
        "seed {seed}: i03: nothing is owed and the loop is not over"
    );
    check_published(&played.state, &owed, seed);
    let keys: BTreeSet<String> = owed.iter().map(Order::key).collect();
    assert_eq!(keys.len(), owed.len(), "seed {seed}: two orders of one key");
    for Stamped { event, .. } in &played.journal[before.n_records..] {
        match event {
            Event::Integrated { commit, story, .. } => {
                check_landing(played, story, commit, before, seed);
            }
            Event::Retracted { commit, onto, .. } => {
                let is_back =
                    played.state.head() == onto && played.state.published() != Some(commit);
                assert!(is_back, "seed {seed}: i01: {commit} was taken back badly");
            }
            Event::Announced { .. } | Event::PublishTried { .. } => check_shown(played, seed),
            Event::RunStarted { run } if run.stage == Stage::Confirm => {}
            Event::RunStarted { run } => check_budget(played, run, seed),
            Event::AgentSwitched { run, to, .. } => check_switch(played, run, to, seed),
            _ => {}
        }
    }
    let has_landed = matches!(
        played.journal[before.n_records..],
        [Stamped {
            event: Event::Integrated { .. } | Event::Retracted { .. },
            ..
        }]
    );
    assert!(
        has_landed || *played.state.head() == before.head,
        "seed {seed}: i01: the head moved and nothing landed"
    );
    for story in played.state.stories() {
        check_story(played, story, seed);
    }
}

/// What is published was measured with everything built anew, and was not taken back.
fn check_shown(played: &Played, seed: u64) {
    let Some(shown) = played.state.published() else {
        return;
    };
    let mut is_confirmed = true;
    for Stamped { event, .. } in &played.journal {
        match event {
            Event::Integrated {
                commit,
                story,
                attempt,
            } if commit == shown => {
                is_confirmed = !landed_warm(&played.journal, story, *attempt, commit);
            }
            Event::RunEnded {
                run,
                outcome:
                    RunOutcome::Checked {
                        facts: Some(facts), ..
                    },
                ..
            } if run.stage == Stage::Confirm && !is_confirmed => {
                let is_its = confirms(&played.journal, run, shown);
                is_confirmed |= is_its && facts.broken.is_empty();
            }
            Event::Retracted { commit, .. } => {
                assert_ne!(commit, shown, "seed {seed}: what was taken back is shown");
            }
            _ => {}
        }
    }
    assert!(is_confirmed, "seed {seed}: {shown} is shown unconfirmed");
}

/// Whether the checks that let a commit land reused a build.
fn landed_warm(journal: &[Stamped], story: &str, attempt: u32, commit: &Commit) -> bool {
    // What was measured after a restack is about another commit, even if this one lands in the end.
    let upto = journal.iter().take_while(|record| match &record.event {
        Event::Integrated { commit: at, .. } => at != commit,
        Event::Restacked { from, .. } => from != commit,
        _ => true,
    });
    let mut is_covered = false;
    let checks = upto.filter_map(|record| match &record.event {
        // A person's reason covers whatever is red, until somebody works on it again.
        Event::AcceptRequested {
            story: id, reason, ..
        } if *id == *story => {
            is_covered = reason.is_some();
            Some(false)
        }
        Event::RunStarted { run } if run.story == *story && run.stage == Stage::Implement => {
            is_covered = false;
            None
        }
        Event::RunEnded { .. } if is_covered => None,
        Event::RunEnded {
            run,
            outcome: RunOutcome::Checked { facts, .. },
            ..
        } if run.story == *story && run.attempt == attempt && run.stage == Stage::Check => {
            Some(facts.as_ref().is_some_and(|facts| facts.warm))
        }
        _ => None,
    });
    checks.last().unwrap_or_default()
}

/// Whether a confirmation is of the attempt that landed as this commit.
fn confirms(journal: &[Stamped], run: &RunKey, commit: &Commit) -> bool {
    journal.iter().any(|record| match &record.event {
        Event::Integrated {
            story,
            attempt,
            commit: at,
        } => at == commit && *story == run.story && *attempt == run.attempt,
        _ => false,
    })
}

fn check_budget(played: &Played, run: &RunKey, seed: u64) {
    let left = played.state.left_ms().unwrap_or(i64::MAX);
    let reserved = 30_000 * i64::try_from(played.state.running().len()).expect("few");
    assert!(
        left >= reserved,
        "seed {seed}: i10: {run} began with {left} ms left"
    );
}

fn check_switch(played: &Played, run: &RunKey, to: &str, seed: u64) {
    assert!(
        played.state.spec().failover,
        "seed {seed}: nobody allowed another agent to take over"
    );
    let attempt = played.state.attempt(&run.story).expect("an attempt");
    let author = attempt.agent(Stage::Implement);
    let own = attempt.cast.agent(attempt.role(run.stage));
    let is = |agent: Option<&kernel::AgentName>| agent.is_some_and(|agent| *agent == *to);
    assert!(
        run.stage == Stage::Implement || !is(author) || is(own),
        "seed {seed}: {to} takes over from whoever checks its own work"
    );
}

fn check_story(played: &Played, story: &StoryProgress, seed: u64) {
    let attempts_max = story.attempts_max(played.state.spec());
    assert!(story.returns <= 2, "seed {seed}: q7: sent back too often");
    assert!(
        story.attempts <= attempts_max,
        "seed {seed}: too many attempts"
    );
    if let StoryStatus::Skipped { reason, .. } = &story.status {
        let reasons = [
            "set aside by a person",
            "the tests for this story cannot be used",
            "the test writer failed",
        ];
        let is_given_up = reasons.iter().any(|known| reason.starts_with(known));
        assert!(
            story.attempts == attempts_max || is_given_up || story.extra_attempts > 0,
            "seed {seed}: i05: skipped before its last attempt"
        );
    }
}

/// The branch moved: to a child of its head, and the last word on that very commit was a yes of
/// whoever has the last word in the flow.
fn check_landing(played: &Played, story: &str, commit: &Commit, before: &Before, seed: u64) {
    let progress = played.state.story(story).expect("a story");
    let attempt = progress.attempt().expect("an attempt that landed");
    assert_eq!(
        attempt.base, before.head,
        "seed {seed}: i01: landed on another commit than the head"
    );
    assert_eq!(played.state.head(), commit, "seed {seed}: i01");
    let mut records = of_attempt(&played.journal, story, attempt);
    leave_out_what_was_undone(&mut records, &played.journal, commit);
    let proposed = records.iter().rev().find_map(|event| match event {
        Event::CandidateMade { commit, .. } | Event::Restacked { commit, .. } => Some(commit),
        _ => None,
    });
    assert_eq!(proposed, Some(commit), "seed {seed}: i01: another commit");
    if let Source::Accepted(acceptance) = &attempt.source {
        return check_accepted(played, story, acceptance, &records, seed);
    }
    let word = |stage: Stage| {
        records.iter().rev().find_map(|event| match event {
            Event::RunEnded { run, outcome, .. } if run.stage == stage => Some(outcome),
            _ => None,
        })
    };
    let is_green = match word(Stage::Check) {
        Some(RunOutcome::Checked {
            facts: Some(facts), ..
        }) => facts.failing.is_empty() && !facts.unfit_tests,
        Some(RunOutcome::Checked { passed, .. }) => *passed,
        _ => false,
    };
    assert!(is_green, "seed {seed}: i01: landed while red");
    if attempt.flow.has(Stage::Judge) {
        let is_yes = match word(Stage::Judge) {
            Some(RunOutcome::Judged(verdict)) => {
                verdict.pass && is_disjoint_restack(&records, commit, &verdict.commit)
            }
            _ => false,
        };
        assert!(is_yes, "seed {seed}: i01: landed without a verdict");
    }
    if attempt.flow.has(Stage::WriteTests) {
        assert!(
            progress.tests.is_some(),
            "seed {seed}: i07: landed without tests of somebody else"
        );
        let is_reviewed = matches!(word(Stage::Review), Some(RunOutcome::Reviewed(_)));
        assert!(is_reviewed, "seed {seed}: i02: landed without a review");
    }
}

/// What was put onto a commit that was taken back since, and held up then, begins anew from what was
/// accepted. Where the branch is back at its base, that lands as it is: what was said of it before the
/// restack counts, and nothing after it.
fn leave_out_what_was_undone(records: &mut Vec<&Event>, journal: &[Stamped], commit: &Commit) {
    let is_of_it = |event: &Event| matches!(event, Event::Restacked { from, .. } if from == commit);
    let since = journal.iter().map(|record| &record.event);
    let mut since = since.skip_while(|event| !is_of_it(event));
    // Either the commit that it was put onto, or one below that.
    let is_taken_back = since.any(|event| matches!(event, Event::Retracted { .. }));
    if is_taken_back && let Some(index) = records.iter().position(|event| is_of_it(event)) {
        records.truncate(index);
    }
}

/// Whether a commit is what another one became by restacks that met nobody else's changes.
fn is_disjoint_restack(records: &[&Event], commit: &Commit, of: &Commit) -> bool {
    if commit == of {
        return true;
    }
    let came_from = records.iter().rev().find_map(|event| match event {
        Event::Restacked {
            commit: made,
            from,
            class: RestackClass::Disjoint,
            ..
        } if made == commit => Some(from),
        _ => None,
    });
    came_from.is_some_and(|from| is_disjoint_restack(records, from, of))
}

/// It landed on a person's word: on that very candidate, with a reason where it is red, and measured
/// again where the branch had moved.
fn check_accepted(
    played: &Played,
    story: &str,
    acceptance: &Acceptance,
    records: &[&Event],
    seed: u64,
) {
    let said_yes = played.journal.iter().any(|record| match &record.event {
        Event::AcceptRequested {
            story: id,
            commit,
            reason,
            ..
        } => *id == *story && *commit == acceptance.commit && *reason == acceptance.reason,
        _ => false,
    });
    assert!(said_yes, "seed {seed}: i01: nobody accepted it");
    let proposed = played.journal.iter().any(|record| match &record.event {
        Event::CandidateMade {
            story: id, commit, ..
        }
        | Event::Restacked {
            story: id, commit, ..
        }
        | Event::CandidateRefused {
            story: id, commit, ..
        } => *id == *story && *commit == acceptance.commit,
        _ => false,
    });
    assert!(proposed, "seed {seed}: i01: it never was a candidate");
    let measured = records.iter().rev().find_map(|event| match event {
        Event::RunEnded {
            outcome: RunOutcome::Checked { passed, facts, .. },
            ..
        } => Some(facts.as_ref().map_or(*passed, |facts| {
            facts.failing.is_empty() && !facts.unfit_tests
        })),
        _ => None,
    });
    let attempt = played.state.attempt(story).expect("an attempt that landed");
    // Where the branch went back meanwhile it may have been measured without need.
    let went_back = played.state.warm_off().is_some();
    let has_moved = acceptance.base != attempt.base;
    assert!(
        measured.is_some() == has_moved || (measured.is_some() && went_back),
        "seed {seed}: i01: measured again exactly if the branch had moved"
    );
    assert!(
        measured != Some(false) || acceptance.reason.is_some(),
        "seed {seed}: i01: accepted without a reason and landed while red"
    );
}

/// The records of one attempt at one story.
fn of_attempt<'a>(journal: &'a [Stamped], story: &str, attempt: &Attempt) -> Vec<&'a Event> {
    let is_its = |event: &&Event| match event {
        Event::RunEnded { run, .. } => run.story == *story && run.attempt == attempt.number,
        Event::CandidateMade {
            story: id,
            attempt: number,
            ..
        }
        | Event::Restacked {
            story: id,
            attempt: number,
            what: Restackable::Candidate,
            ..
        } => *id == *story && *number == attempt.number,
        _ => false,
    };
    let events = journal.iter().map(|record| &record.event);
    events.filter(is_its).collect()
}

/// A person asks for something, whatever the loop is doing.
fn request(played: &mut Played, random: &mut Random) {
    let requests = [
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
    played.record(requests[index].clone());
}

/// A person steers one story. Much of what they could ask for makes no sense now and is refused.
fn steer(played: &mut Played, random: &mut Random, seed: u64) {
    let stories = played.state.stories();
    let story = random.pick(stories);
    let id = story.spec.id.clone();
    let current = story.attempt().and_then(|attempt| attempt.candidate());
    let mut candidates: Vec<Commit> = current.iter().map(|one| one.commit.clone()).collect();
    candidates.extend(story.rejected.iter().map(|one| one.commit.clone()));
    candidates.push(numbered_commit(random.draw()));
    let by = "Ada".to_owned();
    let event = match random.below(6) {
        0 => Event::SkipRequested {
            story: id,
            reason: "set aside by a person".to_owned(),
        },
        1 | 2 => Event::AcceptRequested {
            story: id,
            commit: random.pick(&candidates).clone(),
            by,
            reason: random.chance(70).then(|| "I looked".to_owned()),
        },
        3 => Event::TakeRequested {
            story: id,
            by,
            folder: None,
        },
        _ => Event::RetryRequested {
            story: id,
            hint: random.chance(50).then(|| "use tabs".to_owned()),
            agent: random.chance(30).then(|| "claude".into()),
            flow: random.chance(30).then(|| *random.pick(&FLOWS)),
        },
    };
    let before = played.state.clone();
    if played.try_record(event).is_err() {
        assert_eq!(
            played.state, before,
            "seed {seed}: a refused wish changed something"
        );
    }
}

/// A person ends what they do themselves, one way or another.
fn end_taken(played: &mut Played, random: &mut Random) {
    let is_taken = |story: &&StoryProgress| matches!(story.status, StoryStatus::Taken { .. });
    let Some(story) = played.state.stories().iter().find(is_taken) else {
        return;
    };
    let story = story.spec.id.clone();
    let event = if random.chance(70) {
        Event::HandedIn {
            story,
            commit: numbered_commit(random.draw()),
            by: "Ada".to_owned(),
        }
    } else {
        Event::RetryRequested {
            story,
            hint: None,
            agent: None,
            flow: None,
        }
    };
    played.record(event);
}

/// The worker died: all that is left is the journal, and it must give the same state and the same
/// orders.
fn die(played: &Played, seed: u64) {
    let replayed =
        State::replay(&played.journal).unwrap_or_else(|illegal| panic!("seed {seed}: {illegal}"));
    assert_eq!(replayed, played.state, "seed {seed}: i03");
    assert_eq!(decide(&replayed), decide(&played.state), "seed {seed}: i03");
}

/// A person answers one of the questions. The answer may be refused: a run of the story may be under
/// way, or several stories may ask and the answer names none.
fn answer(played: &mut Played, random: &mut Random) {
    let questions = played.state.questions();
    let story = random.pick(&questions).story.clone();
    let choices = [
        "retry", "retry", "retry", "approve", "approve", "reject", "skip", "use tabs",
    ];
    let choice = *random.pick(&choices);
    let is_named = random.chance(80);
    let _ = played.try_record(Event::Answered {
        choice: choice.to_owned(),
        story: is_named.then_some(story),
    });
}

/// An outcome that came once more, or too late: it is refused, and nothing changes.
fn refuse(played: &mut Played, event: &Event, seed: u64) {
    let before = played.state.clone();
    assert!(
        played.try_record(event.clone()).is_err(),
        "seed {seed}: an outcome counted twice: {event:?}"
    );
    assert_eq!(
        played.state, before,
        "seed {seed}: a refused move changed something"
    );
}

/// An outcome of long ago comes once more.
fn repeat_the_past(played: &mut Played, random: &mut Random, seed: u64) {
    let past = random.pick(&played.journal).event.clone();
    match past {
        Event::RunStarted { .. }
        | Event::RunEnded { .. }
        | Event::WaitEnded { .. }
        | Event::TestsMade { .. }
        | Event::CandidateMade { .. }
        | Event::StoryPlanned { .. }
        | Event::Integrated { .. }
        | Event::Announced { .. } => {}
        _ => return,
    }
    if !may_come_again(&played.state, &past) {
        refuse(played, &past, seed);
    }
}

/// Records that have the same words a second time: the end of a wait that came before the first
/// try, what is made again after the tests were rewritten, and the start of a run that a cancel
/// stopped, which is owed once more but never ordered.
fn may_come_again(state: &State, event: &Event) -> bool {
    match event {
        Event::RunStarted { run } => {
            let mut runs = state.runs();
            let is_owed = runs.any(|(key, at)| key == *run && *at == RunState::Owed);
            let is_wished = state
                .story(&run.story)
                .is_some_and(|one| one.wish.is_some());
            (state.cancel_reason().is_some() || is_wished) && is_owed
        }
        Event::WaitEnded { run } => state.waits().iter().any(|wait| wait.run == *run),
        Event::TestsMade { story, attempt, .. } => state.attempt(story).is_some_and(|one| {
            one.number == *attempt && matches!(one.step, Step::MakeTests { .. })
        }),
        Event::CandidateMade { story, attempt, .. } => state.attempt(story).is_some_and(|one| {
            one.number == *attempt && matches!(one.step, Step::MakeCandidate { .. })
        }),
        _ => false,
    }
}

/// One step of the world: an order is carried out, or something goes wrong.
fn step(played: &mut Played, random: &mut Random, n_wishes: &mut u32, seed: u64) {
    played.clock_ms += random.below(5_000);
    if random.chance(1) && played.state.ended().is_none() {
        return request(played, random);
    }
    if random.chance(3) {
        return die(played, seed);
    }
    if random.chance(3) {
        return repeat_the_past(played, random, seed);
    }
    // Nobody can resume a loop that is over, and what it still owes is done all the same.
    let is_over = played.state.ended().is_some();
    if played.state.is_paused() && !is_over && random.chance(30) {
        return played.record(Event::ResumeRequested);
    }
    if random.chance(2) && *n_wishes > 0 {
        *n_wishes -= 1;
        return steer(played, random, seed);
    }
    if played.state.is_with_person() && !is_over && random.chance(10) {
        return end_taken(played, random);
    }
    let n_asking = played.state.questions().len();
    let owed = decide(&played.state);
    if n_asking > 0 && (owed.is_empty() || random.chance(50)) {
        return answer(played, random);
    }
    if owed.is_empty() {
        return;
    }
    let order = random.pick(&owed).clone();
    if random.chance(10) {
        return; // The order was lost: asking again must give it again.
    }
    if let Some(event) = outcome_of(played, &order, random) {
        played.record(event.clone());
        if random.chance(10) {
            refuse(played, &event, seed);
        }
    }
}

/// What becomes of the operator's branch; the same obstacle is no news.
fn random_publish(random: &mut Random, known: Option<&str>) -> PublishResult {
    let why = if random.chance(50) {
        "locked"
    } else {
        "checked out"
    }
    .to_owned();
    match random.below(10) {
        0 => PublishResult::Taken { why },
        1..4 if known != Some(&why) => PublishResult::LeftAlone { why },
        _ => PublishResult::Done,
    }
}

/// What comes of an order, unless it is carried out at once.
fn outcome_of(played: &mut Played, order: &Order, random: &mut Random) -> Option<Event> {
    let event = match &order.deed {
        Deed::Run(_) if random.chance(50) => return None, // Not over yet.
        Deed::Run(order) => Event::RunEnded {
            run: order.place.run.clone(),
            outcome: random_outcome(played, &order.place.run, random),
            usage: random.chance(30).then(|| RunUsage {
                session: Some(format!("session {}", random.below(2))),
                resumable: random.chance(50),
                ..RunUsage::default()
            }),
            walls: kernel::Walls::default(),
        },
        Deed::StartRun { run } => Event::RunStarted { run: run.clone() },
        Deed::StopRun(order) => ended(order.place.run.clone(), RunOutcome::Stopped),
        Deed::MakeCandidate(order) => {
            let RunKey { story, attempt, .. } = &order.place.run;
            if random.chance(10) {
                Event::NothingNew {
                    story: story.clone(),
                    attempt: *attempt,
                    why: "no change".to_owned(),
                }
            } else if random.chance(5) {
                Event::CandidateRefused {
                    story: story.clone(),
                    attempt: *attempt,
                    commit: numbered_commit(random.draw()),
                    why: "a secret".to_owned(),
                }
            } else {
                Event::CandidateMade {
                    story: story.clone(),
                    attempt: *attempt,
                    commit: numbered_commit(random.draw()),
                    notes: Vec::new(),
                    ask: random.chance(10).then(|| "shall it land?".to_owned()),
                }
            }
        }
        Deed::MakeTests(order) if random.chance(20) => Event::TestsRefused {
            story: order.place.run.story.clone(),
            attempt: order.place.run.attempt,
            why: "no test file".to_owned(),
        },
        Deed::Announce { story, .. } => Event::Announced {
            story: story.clone(),
            branch: random_publish(random, None),
            prd: kernel::WriteBack::Off,
        },
        Deed::Publish(order) => Event::PublishTried {
            commit: order.to.clone(),
            branch: random_publish(random, order.known.as_deref()),
        },
        Deed::Restack(order) if random.chance(25) => restack_refused(order),
        Deed::Restack(order) => {
            let class = if random.chance(50) {
                RestackClass::Disjoint
            } else {
                RestackClass::Mixed
            };
            restacked(order, numbered_commit(random.draw()), class)
        }
        _ => {
            played.carry_out(order);
            return None;
        }
    };
    Some(event)
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the world's speed is measured; no decision sees the time"
)]
fn world_of_random_outcomes() {
    const LOOP_STEPS_MAX: u32 = 5_000;
    let steps_wanted = number("LOOPWRIGHT_WORLD_STEPS", 300_000);
    let first_seed = number("LOOPWRIGHT_WORLD_SEED", 1);
    let (mut steps, mut loops, mut ended) = (0, 0, 0);
    let (mut beside, mut returned) = (0, 0);
    let (mut reopened, mut accepted) = (0, 0);
    let began = std::time::Instant::now();
    while steps < steps_wanted {
        let seed = first_seed + loops;
        let mut random = Random::new(seed);
        let mut played = Played::start(random_spec(&mut random));
        let (mut own, mut n_wishes) = (0, 8);
        while !is_settled(&played.state) && own < LOOP_STEPS_MAX {
            let before = Before::of(&played);
            step(&mut played, &mut random, &mut n_wishes, seed);
            check(&played, &before, seed);
            beside += u64::from(played.state.attempts().count() > 1);
            own += 1;
            if is_settled(&played.state) && played.state.has_unconfirmed() && random.chance(80) {
                let before = Before::of(&played);
                played.record(Event::PublishRequested);
                check(&played, &before, seed);
            }
            if is_settled(&played.state) && random.chance(70) && n_wishes > 0 {
                // What is over goes on for a person's sake.
                n_wishes -= 1;
                let before = Before::of(&played);
                steer(&mut played, &mut random, seed);
                check(&played, &before, seed);
                reopened += u64::from(played.state.ended().is_none());
            }
            let is_acceptance = |event: &Event| matches!(event, Event::AcceptRequested { .. });
            let last = played.journal.last().map(|record| &record.event);
            accepted += u64::from(last.is_some_and(is_acceptance));
        }
        assert!(
            is_settled(&played.state),
            "seed {seed}: the loop did not end in {LOOP_STEPS_MAX} steps"
        );
        ended += u64::from(played.state.ended().is_some());
        let stories = played.state.stories().iter();
        returned += stories.filter(|story| story.returns > 0).count();
        steps += u64::from(own);
        loops += 1;
    }
    // A short world may never come to it.
    assert!(
        steps < 100_000 || (beside * 20 > steps && returned > 100),
        "stories hardly ever meet: {beside} steps of {steps}, {returned} sent back"
    );
    assert!(
        steps < 100_000 || (reopened > 100 && accepted > 100),
        "people hardly ever steer: {reopened} loops went on, {accepted} acceptances"
    );
    println!(
        "world: {steps} steps, {loops} loops from seed {first_seed}, {ended} ended, {beside} steps \
         with several stories, {returned} stories sent back, {reopened} loops that went on \
         after their end, {accepted} steps at an acceptance, {:.1} s",
        began.elapsed().as_secs_f64()
    );
}
