//! A seeded world of several stories with an oracle that knows which of them go together.
//!
//! Every story's work may clash with that of others: each is fine alone, and both together are red. Who
//! works on top of another's landed work sees it and avoids the clash. The oracle knows every tree, so
//! it can tell after each landing whether the branch is green, whatever the kernel believed.
//!
//! `LOOPWRIGHT_WORLD_STEPS` sets the number of steps (CI: 300,000), `LOOPWRIGHT_WORLD_SEED` replays a
//! world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kernel::{
    Attempt, Commit, Deed, Event, Flow, LoopSpec, OnQuestion, Order, Rejudge, RestackClass,
    RestackOrder, Restackable, RunOrder, RunOutcome, Stage, Stamped, State, StoryProgress,
    StoryStatus, Together, Verdict, decide,
};
use testkit::{Random, number};

use crate::support::{
    Played, ended, facts, fault, interrupted, limit, numbered_commit, restack_refused, reviewed,
    spec, story, worked, written,
};

/// One version of a story's work: who, and in which attempt.
type Work = (String, u32);

/// What is in a commit.
#[derive(Debug, Clone, Default)]
struct Tree {
    parent: Option<Commit>,
    works: BTreeSet<Work>,
}

/// Everything that the oracle knows.
struct Oracle {
    seed: u64,
    trees: BTreeMap<Commit, Tree>,
    /// What each work was made on top of: it avoids clashes with that.
    made_on: BTreeMap<Work, BTreeSet<Work>>,
    n_commits: u64,
    n_landed: u64,
    n_returns: u64,
    n_carried: u64,
    /// Whether builds are reused in this world.
    is_warm: bool,
    /// Works that are red, which a reused build hides.
    flawed: BTreeSet<Work>,
    /// Commits that were taken back from the branch.
    dropped: BTreeSet<Commit>,
    /// Commits that the operator was shown.
    announced: BTreeSet<Commit>,
    n_confirmed: u64,
    n_retracted: u64,
    n_requeued: u64,
}

impl Oracle {
    fn new(seed: u64, base: &Commit) -> Self {
        Self {
            seed,
            trees: BTreeMap::from([(base.clone(), Tree::default())]),
            made_on: BTreeMap::new(),
            n_commits: 0,
            n_landed: 0,
            n_returns: 0,
            n_carried: 0,
            is_warm: seed.is_multiple_of(2),
            flawed: BTreeSet::new(),
            dropped: BTreeSet::new(),
            announced: BTreeSet::from([base.clone()]),
            n_confirmed: 0,
            n_retracted: 0,
            n_requeued: 0,
        }
    }

    /// The keys that a story writes; they are the same in every attempt.
    fn keys(&self, story: &str) -> BTreeSet<u64> {
        let mut random = self.dice(&[story]);
        (0..2).map(|_| random.draw() % 12).collect()
    }

    fn dice(&self, words: &[&str]) -> Random {
        let mut mixed = self.seed;
        for byte in words.join("/").bytes() {
            mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Random::new(mixed)
    }

    /// Whether two works are red together.
    fn clash(&self, one: &Work, other: &Work) -> bool {
        let knows = |work: &Work, of: &Work| {
            let on = self.made_on.get(work);
            on.is_some_and(|on| on.contains(of))
        };
        if knows(one, other) || knows(other, one) {
            return false;
        }
        let (first, second) = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        let words = [
            first.0.as_str(),
            &first.1.to_string(),
            &second.0,
            &second.1.to_string(),
        ];
        self.dice(&words).chance(25)
    }

    /// Whether a tree is green with everything built anew.
    fn is_green(&self, commit: &Commit) -> bool {
        let works = &self.trees[commit].works;
        self.seems_green(commit) && works.is_disjoint(&self.flawed)
    }

    /// Whether a tree is green with a reused build.
    fn seems_green(&self, commit: &Commit) -> bool {
        let works: Vec<&Work> = self.trees[commit].works.iter().collect();
        let mut pairs = works
            .iter()
            .enumerate()
            .flat_map(|(at, one)| works[at + 1..].iter().map(move |other| (*one, *other)));
        let lacks = |work: &&Work| self.lacks(work, &self.trees[commit].works);
        !pairs.any(|(one, other)| self.clash(one, other)) && !works.iter().any(lacks)
    }

    /// Whether a work needs another one that it was made on top of and that is not there any more.
    fn lacks(&self, work: &Work, there: &BTreeSet<Work>) -> bool {
        if self.dropped.is_empty() {
            return false;
        }
        let on = self.made_on.get(work).into_iter().flatten();
        let mut gone = on.filter(|on| !there.contains(*on));
        gone.any(|on| {
            let words = [
                &*work.0,
                &work.1.to_string(),
                &on.0,
                &on.1.to_string(),
                "needs",
            ];
            self.dice(&words).chance(30)
        })
    }

    /// A commit and everything below it, newest first.
    fn ancestors<'a>(&'a self, commit: &'a Commit) -> impl Iterator<Item = &'a Commit> {
        std::iter::successors(Some(commit), |one| self.trees[*one].parent.as_ref())
    }

    fn add(&mut self, tree: Tree) -> Commit {
        self.n_commits += 1;
        let commit = numbered_commit(self.n_commits);
        self.trees.insert(commit.clone(), tree);
        commit
    }

    /// What an implementor makes on top of a commit.
    fn make(&mut self, story: &str, attempt: u32, base: &Commit) -> Commit {
        let mut works = self.trees[base].works.clone();
        let work = (story.to_owned(), attempt);
        self.made_on.insert(work.clone(), works.clone());
        let flaw = self.dice(&[story, &attempt.to_string(), "flaw"]).chance(20);
        if self.is_warm && flaw {
            self.flawed.insert(work.clone());
        }
        works.insert(work);
        self.add(Tree {
            parent: Some(base.clone()),
            works,
        })
    }

    /// What becomes of a candidate on top of another commit.
    fn restack(&mut self, order: &RestackOrder) -> Event {
        let from = &self.trees[&order.from];
        let base = from.parent.clone().expect("it stands on something");
        let onto = &self.trees[&order.onto];
        // What landed, and what was taken back.
        let landed = onto.works.symmetric_difference(&self.trees[&base].works);
        let landed: BTreeSet<u64> = landed.flat_map(|(story, _)| self.keys(story)).collect();
        let own = self.keys(&order.story);
        let shared: Vec<&u64> = own.intersection(&landed).collect();
        let class = match shared[..] {
            [] => RestackClass::Disjoint,
            // Every third key is a binary file, which nobody can merge.
            _ if shared.iter().any(|key| **key % 3 == 0) => return restack_refused(order),
            _ => RestackClass::Mixed,
        };
        let new = from.works.difference(&self.trees[&base].works).cloned();
        let mut works = onto.works.clone();
        works.extend(new);
        let commit = self.add(Tree {
            parent: Some(order.onto.clone()),
            works,
        });
        Event::Restacked {
            story: order.story.clone(),
            attempt: order.attempt,
            round: order.round,
            what: order.what,
            from: order.from.clone(),
            onto: order.onto.clone(),
            commit,
            class,
            notes: order.notes.clone(),
            ask: None,
        }
    }
}

fn random_spec(random: &mut Random) -> LoopSpec {
    let count = 2 + random.below(7);
    let stories = (0..count).map(|index| {
        let on: Vec<String> = (0..index)
            .filter(|_| random.chance(8))
            .map(|on| format!("s{on}"))
            .collect();
        let mut one = story(
            &format!("s{index}"),
            random.below(10),
            &on.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        if random.chance(20) {
            one.files = vec![format!("src/{}", random.below(3))];
        }
        one
    });
    let mut spec = spec(stories.collect());
    spec.flow = *random.pick(&[Flow::Quartet, Flow::Tdd, Flow::Solo, Flow::Judged]);
    spec.max_retries = random.below(3);
    spec.max_iterations = random.chance(10).then_some(3);
    spec.failover = random.chance(40);
    spec.together = together(random);
    spec.budget = random.chance(25).then(|| kernel::TimeBudget {
        total_ms: 300_000 + i64::from(random.below::<u32>(900_000)),
        implement_cap_ms: CAP_MS,
        check_cap_ms: CAP_MS,
        judge_cap_ms: CAP_MS,
        review_cap_ms: CAP_MS,
        prove_cap_ms: CAP_MS,
    });
    spec
}

const CAP_MS: i64 = 30_000;

fn together(random: &mut Random) -> Together {
    let at_once = random
        .chance(20)
        .then(|| ("codex".into(), 1 + random.below::<u32>(2)));
    Together {
        parallel: 1 + random.below::<u32>(6),
        on_question: if random.chance(15) {
            OnQuestion::Stop
        } else {
            OnQuestion::GoOn
        },
        rejudge: if random.chance(20) {
            Rejudge::Always
        } else {
            Rejudge::WhenNeeded
        },
        checks_at_once: 1 + random.below::<u32>(3),
        agents_at_once: at_once.into_iter().collect(),
    }
}

/// One loop in the world.
struct World {
    played: Played,
    oracle: Oracle,
    random: Random,
    seed: u64,
    n_requests: u32,
    /// What is owed after the last record, until somebody has looked at it.
    owed: Option<Vec<Order>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let spec = random_spec(&mut random);
        let oracle = Oracle::new(seed, &spec.base);
        Self {
            played: Played::start(spec),
            oracle,
            random,
            seed,
            n_requests: 6,
            owed: None,
        }
    }

    /// Takes one step; what it recorded is looked at right away.
    fn step(&mut self) {
        self.played.clock_ms += i64::from(self.random.below::<u32>(4_000));
        if self.random.chance(3) {
            return self.die();
        }
        if self.n_requests > 0 && self.random.chance(2) {
            self.n_requests -= 1;
            return self.request();
        }
        if self.played.state.is_paused() && self.random.chance(40) {
            return self.record(Event::ResumeRequested);
        }
        // Where an order was lost, it is asked for again.
        let owed = self.owed.take();
        let owed = owed.unwrap_or_else(|| decide(&self.played.state));
        let asks = !self.played.state.questions().is_empty();
        if asks && (owed.is_empty() || self.random.chance(5)) {
            return self.answer();
        }
        if owed.is_empty() || self.random.chance(10) {
            return; // An order was lost: asking again must give it again.
        }
        let order = self.random.pick(&owed).clone();
        let Some(event) = self.outcome_of(&order) else {
            return;
        };
        self.record(event.clone());
        if self.random.chance(10) {
            self.double(&event);
        }
    }

    /// What an end left unconfirmed is confirmed where somebody asks for it.
    fn goes_on_confirming(&mut self) -> bool {
        let state = &self.played.state;
        let is_left = state.ended().is_some() && state.has_unconfirmed();
        let goes_on = is_left && self.random.chance(80);
        if goes_on {
            self.record(Event::PublishRequested);
        }
        goes_on
    }

    fn record(&mut self, event: Event) {
        let before = self.played.advance(event);
        let Stamped { event, .. } = self.played.journal.last().expect("a record").clone();
        self.check(&before, &event);
    }

    /// An outcome that comes twice is refused and changes nothing.
    fn double(&mut self, event: &Event) {
        let before = self.played.state.clone();
        // Whoever asks twice asks the same.
        if !matches!(event, Event::Hindered { .. }) {
            let again = self.played.try_record(event.clone());
            let seed = self.seed;
            assert!(again.is_err(), "seed {seed}: counted twice: {event:?}");
            assert_eq!(self.played.state, before, "seed {seed}");
        }
    }

    fn die(&self) {
        let replayed = State::replay(&self.played.journal).expect("it replays");
        assert_eq!(replayed, self.played.state, "seed {}: i03", self.seed);
    }

    fn request(&mut self) {
        let state = &self.played.state;
        if state.ended().is_some() || state.cancel_reason().is_some() {
            return;
        }
        let event = match self.random.below::<u32>(10) {
            0 => Event::CancelRequested {
                reason: "enough".to_owned(),
            },
            1..4 => Event::PauseRequested,
            4..7 => Event::Reloaded {
                settings: Arc::clone(&state.spec().settings),
                stories: state.spec().stories.clone(),
                together: Some(together(&mut self.random)),
            },
            _ => {
                let story = self.random.pick(state.stories()).spec.id.clone();
                let reason = "set aside by a person".to_owned();
                let wish = Event::SkipRequested { story, reason };
                let before = self.played.state.clone();
                if self.played.try_record(wish.clone()).is_ok() {
                    self.check(&before, &wish);
                }
                return;
            }
        };
        self.record(event);
    }

    fn answer(&mut self) {
        let questions = self.played.state.questions();
        let story = self.random.pick(&questions).story.clone();
        let choices = [
            "retry", "retry", "retry", "approve", "approve", "reject", "skip",
        ];
        let choice = *self.random.pick(&choices);
        let answer = Event::Answered {
            choice: choice.to_owned(),
            story: self.random.chance(80).then_some(story),
        };
        let before = self.played.state.clone();
        if self.played.try_record(answer.clone()).is_ok() {
            self.check(&before, &answer);
        }
    }

    fn outcome_of(&mut self, order: &Order) -> Option<Event> {
        let random = &mut self.random;
        Some(match &order.deed {
            Deed::Run(_) if random.chance(40) => return None,
            // Whoever builds everything anew takes long.
            Deed::Run(run) if run.place.run.stage == Stage::Confirm && random.chance(90) => {
                return None;
            }
            Deed::Run(order) => {
                let outcome = self.run_outcome(order);
                ended(order.place.run.clone(), outcome)
            }
            Deed::MakeCandidate(make) if random.chance(5) => Event::NothingNew {
                story: make.story.id.clone(),
                attempt: make.place.run.attempt,
                why: "no change".to_owned(),
            },
            Deed::MakeCandidate(make) => Event::CandidateMade {
                story: make.story.id.clone(),
                attempt: make.place.run.attempt,
                commit: self
                    .oracle
                    .make(&make.story.id, make.place.run.attempt, &make.base),
                notes: Vec::new(),
                ask: random.chance(6).then(|| "shall it land?".to_owned()),
            },
            Deed::MakeTests(make) => {
                let commit = self.oracle.add(Tree {
                    parent: Some(make.base.clone()),
                    works: self.oracle.trees[&make.base].works.clone(),
                });
                Event::TestsMade {
                    story: make.story.id.clone(),
                    attempt: make.place.run.attempt,
                    commit: Some(commit),
                    notes: Vec::new(),
                }
            }
            Deed::Restack(order) if order.what == Restackable::Candidate => {
                self.oracle.restack(order)
            }
            Deed::Restack(order) if random.chance(20) => restack_refused(order),
            Deed::Restack(order) => self.move_tests(order),
            Deed::Integrate { story, attempt, .. } if random.chance(2) => Event::Hindered {
                story: story.clone(),
                attempt: *attempt,
                question: "the branch is elsewhere".to_owned(),
            },
            Deed::Wait(wait) => match wait.event(self.played.clock_ms) {
                Some(event) => event,
                None => {
                    self.played.clock_ms = crate::support::wakes_at_ms(wait);
                    return None;
                }
            },
            _ => {
                let event = self.played.outcome_of(order);
                self.record(event);
                return None;
            }
        })
    }

    fn move_tests(&mut self, order: &RestackOrder) -> Event {
        let works = self.oracle.trees[&order.onto].works.clone();
        let commit = self.oracle.add(Tree {
            parent: Some(order.onto.clone()),
            works,
        });
        crate::support::restacked(order, commit, RestackClass::Disjoint)
    }

    fn run_outcome(&mut self, order: &RunOrder) -> RunOutcome {
        let run = &order.place.run;
        let roll = self.random.below::<u32>(40);
        match (run.stage, roll) {
            (_, 0) => limit(None),
            (_, 1) => fault(None),
            (_, 2) => interrupted(),
            (_, 3) => RunOutcome::NeedsHuman {
                question: "log in?".to_owned(),
                free: self.random.chance(50),
            },
            (Stage::Baseline, _) => crate::support::checked(true),
            (Stage::Implement | Stage::Prove, _) => worked(),
            (Stage::WriteTests, _) => written(),
            (Stage::Review, _) => reviewed(),
            (Stage::Check, roll) => self.measured(order, roll),
            (Stage::Confirm, _) => self.confirmed(order),
            (Stage::Arbitrate, roll) => RunOutcome::Ruled {
                fresh_tests: roll > 20,
                reason: String::new(),
            },
            (Stage::Judge, roll) => {
                RunOutcome::Judged(self.played.verdict_on(&run.story, roll > 7))
            }
        }
    }

    /// The oracle measures: a tree in which two works clash is red. A candidate may also be wrong by
    /// itself, which is seen where it was made.
    fn measured(&mut self, order: &RunOrder, roll: u32) -> RunOutcome {
        let run = &order.place.run;
        let attempt = self.played.state.attempt(&run.story).expect("an attempt");
        let commit = &attempt.candidate().expect("a candidate").commit;
        let is_first = attempt.judged.is_none();
        let warm = self.oracle.is_warm && !order.cold && self.random.chance(80);
        let is_green = if warm {
            self.oracle.seems_green(commit)
        } else {
            self.oracle.is_green(commit)
        };
        let is_green = is_green && !(is_first && roll < 8);
        let has_proof = self.random.chance(80);
        let is_gating = self.random.chance(90);
        facts(|facts| {
            facts.warm = warm;
            if has_proof {
                facts.proven = vec!["it works".to_owned()];
            }
            if !is_gating {
                facts.not_gating = vec!["lint".to_owned()];
            }
            if !is_green {
                facts.broken = vec!["somebody else's".to_owned()];
            }
        })
    }

    /// What landed is measured again, with everything built anew.
    fn confirmed(&mut self, order: &RunOrder) -> RunOutcome {
        let (seed, run) = (self.seed, &order.place.run);
        let state = &self.played.state;
        assert!(order.cold, "seed {seed}: {run} reuses a build");
        let attempt = state.attempt(&run.story).expect("an attempt");
        let commit = &attempt.candidate().expect("a candidate").commit;
        let is_green = self.oracle.is_green(commit);
        self.oracle.n_confirmed += u64::from(is_green);
        facts(|facts| {
            if !is_green {
                facts.broken = vec!["somebody else's".to_owned()];
            }
        })
    }

    /// What must hold at every moment, with the journal as the only witness.
    fn check(&mut self, before: &State, event: &Event) {
        let seed = self.seed;
        let after = &self.played.state;
        let owed = decide(after);
        let is_idle = after.ended().is_some()
            || after.is_paused()
            || !after.questions().is_empty()
            || after.is_with_person();
        assert!(
            !owed.is_empty() || is_idle,
            "seed {seed}: q5: nothing is owed and nobody is asked"
        );
        self.check_shown(before, &owed);
        self.owed = Some(owed);
        let after = &self.played.state;
        check_others(before, after, event, seed);
        check_bounds(after, seed);
        check_reservations(after, event, seed);
        match event {
            Event::Integrated { story, commit, .. } => self.check_landing(before, story, commit),
            Event::Announced { story, .. } => self.check_announced(before, story),
            Event::Retracted {
                story,
                commit,
                onto,
                ..
            } => self.check_retracted(before, story, commit, onto),
            Event::LoopEnded { .. } => check_named(after, seed),
            Event::RestackRefused { what, .. } => {
                self.oracle.n_returns += u64::from(*what == Restackable::Candidate);
            }
            _ => {}
        }
    }

    /// The operator's branch never moves backwards, and never to what is not confirmed or was taken back.
    fn check_shown(&mut self, before: &State, owed: &[Order]) {
        let (seed, after) = (self.seed, &self.played.state);
        for order in owed {
            let to = match &order.deed {
                Deed::Announce { to, .. } => to,
                Deed::Publish(order) => &order.to,
                Deed::Run(run) => {
                    let is_check = run.place.run.stage.is_check();
                    assert!(
                        run.cold || !is_check || after.warm_off().is_none(),
                        "seed {seed}: a build is reused after one was wrong"
                    );
                    continue;
                }
                _ => continue,
            };
            self.expect_confirmed(to);
        }
        let (was, is) = (before.published(), after.published());
        if was == is {
            return;
        }
        let is = is.expect("what was published stays published").clone();
        self.expect_confirmed(&is);
        let was = was.unwrap_or(&before.spec().base);
        let is_forward = self.oracle.ancestors(&is).any(|one| one == was);
        assert!(is_forward, "seed {seed}: the published branch went back");
    }

    /// Every commit up to this one is green with everything built anew, and none was taken back.
    fn expect_confirmed(&self, commit: &Commit) {
        let (seed, oracle) = (self.seed, &self.oracle);
        for one in oracle.ancestors(commit) {
            assert!(
                !oracle.dropped.contains(one),
                "seed {seed}: {one} was taken back and is shown"
            );
        }
        let shown = &oracle.trees[commit].works;
        let is_green = oracle.is_green(commit);
        assert!(is_green, "seed {seed}: q3: {shown:?} is shown and red");
    }

    /// The branch is at the last confirmed commit, and whatever had landed above is to land again.
    fn check_retracted(&mut self, before: &State, story: &str, commit: &Commit, onto: &Commit) {
        let (seed, after) = (self.seed, self.played.state.clone());
        let parent = self.oracle.trees[commit].parent.clone();
        assert_eq!(parent.as_ref(), Some(onto), "seed {seed}: another commit");
        assert_eq!(*after.head(), *onto, "seed {seed}: the branch went back");
        assert_eq!(after.confirmed(), onto, "seed {seed}: more is unconfirmed");
        assert!(after.warm_off().is_some(), "seed {seed}: builds are reused");
        assert!(
            !self.oracle.is_green(commit),
            "seed {seed}: what was green is taken back"
        );
        let dropped: Vec<Commit> = self
            .oracle
            .ancestors(before.head())
            .take_while(|one| *one != onto)
            .cloned()
            .collect();
        for (later, at) in before.unconfirmed() {
            assert!(dropped.contains(at), "seed {seed}: {later} stays");
            if *later == *story {
                continue;
            }
            let progress = after.story(later).expect("a story");
            let is_queued = progress.attempt().is_some_and(Attempt::is_queued);
            let is_put_off = progress.status == StoryStatus::Pending;
            assert!(is_queued || is_put_off, "seed {seed}: {later} is lost");
            self.oracle.n_requeued += u64::from(is_queued);
        }
        self.oracle.n_landed -= dropped.len() as u64;
        self.oracle.dropped.extend(dropped);
        self.oracle.n_retracted += 1;
    }

    /// Q4: the operator is shown the landings in their order.
    fn check_announced(&mut self, before: &State, story: &str) {
        let seed = self.seed;
        let attempt = before.attempt(story).expect("an attempt");
        let kernel::Step::Announce { commit, .. } = &attempt.step else {
            panic!("seed {seed}: {story} is not to be announced");
        };
        if attempt.is_recheck {
            return;
        }
        let parent = self.oracle.trees[commit].parent.as_ref();
        let is_next = parent.is_some_and(|parent| self.oracle.announced.contains(parent));
        assert!(is_next, "seed {seed}: q4: {story} is announced too early");
        self.oracle.announced.insert(commit.clone());
    }

    /// Q1 to Q4.
    fn check_landing(&mut self, before: &State, story: &str, commit: &Commit) {
        let seed = self.seed;
        assert!(
            !self.oracle.dropped.contains(commit),
            "seed {seed}: {commit} was taken back and lands again"
        );
        let tree = &self.oracle.trees[commit];
        assert_eq!(
            tree.parent.as_ref(),
            Some(before.head()),
            "seed {seed}: q1: another parent than the head"
        );
        // A reused build may have hidden something: then it is confirmed before anybody is shown it.
        let attempt = self.played.state.attempt(story).expect("it landed");
        assert!(
            self.oracle.is_green(commit) || attempt.is_unconfirmed(),
            "seed {seed}: q3: the branch is red after {story} landed: {:?}",
            tree.works
        );
        let head = &self.oracle.trees[before.head()].works;
        assert!(
            tree.works.is_superset(head) && tree.works.len() == head.len() + 1,
            "seed {seed}: q1: {story} undoes what landed, or lands more than itself"
        );
        let attempt = before.attempt(story).expect("an attempt");
        self.check_evidence(attempt, story, commit);
        let queue = before.queue();
        let ahead = queue.iter().take_while(|one| one.spec.id != *story);
        for other in ahead {
            assert!(
                is_stuck(before, other),
                "seed {seed}: q4: {story} overtakes {}",
                other.spec.id
            );
        }
        self.oracle.n_landed += 1;
    }

    /// Q2: the checks ran on that very commit, and the PASS is about it or carried to it.
    fn check_evidence(&mut self, attempt: &Attempt, story: &str, commit: &Commit) {
        let seed = self.seed;
        let candidate = attempt.candidate().expect("a candidate");
        let checked = candidate.checked.as_ref().expect("it was measured");
        assert_eq!(
            checked.commit, *commit,
            "seed {seed}: q2: measured elsewhere"
        );
        if !attempt.flow.has(Stage::Judge) {
            return;
        }
        let verdicts = self.played.journal.iter().rev();
        let verdicts = verdicts.filter_map(|record| match &record.event {
            Event::RunEnded {
                run,
                outcome: RunOutcome::Judged(verdict),
                ..
            } if run.story == *story => Some(verdict),
            _ => None,
        });
        let verdicts: Vec<&Verdict> = verdicts.collect();
        assert!(verdicts[0].pass, "seed {seed}: q2: the last word was no");
        let is_judged = |commit: &Commit| verdicts.iter().any(|one| one.commit == *commit);
        if is_judged(commit) {
            return;
        }
        let mut at = commit.clone();
        while !is_judged(&at) {
            let mut records = self.played.journal.iter();
            let from = records.find_map(|record| match &record.event {
                Event::Restacked {
                    commit,
                    from,
                    class,
                    ..
                } if *commit == at => Some((from, class)),
                _ => None,
            });
            let (from, class) = from.expect("it was restacked");
            assert_eq!(
                *class,
                RestackClass::Disjoint,
                "seed {seed}: q2: a PASS was carried over a merge"
            );
            at = from.clone();
        }
        let facts = candidate.facts().expect("facts");
        assert!(
            !facts.proven.is_empty() && facts.not_gating.is_empty(),
            "seed {seed}: q2: a PASS was carried without proof"
        );
        self.oracle.n_carried += 1;
    }
}

/// Whether a story that is ahead in the queue owes a run that cannot start.
fn is_stuck(state: &State, story: &StoryProgress) -> bool {
    let owes_much = state.spec().budget.is_some();
    let mut asking = state.questions().into_iter();
    story.attempt().is_some_and(|one| !one.lanes().is_empty())
        && (owes_much || asking.any(|one| !one.free))
}

/// Q6: what happens to one story changes nothing of another.
fn check_others(before: &State, after: &State, event: &Event, seed: u64) {
    let about = match event {
        Event::RunStarted { run }
        | Event::RunEnded { run, .. }
        | Event::WaitEnded { run }
        | Event::AgentSwitched { run, .. } => &run.story,
        Event::StoryPlanned { story, .. }
        | Event::TestsMade { story, .. }
        | Event::CandidateMade { story, .. }
        | Event::NothingNew { story, .. }
        | Event::Restacked { story, .. }
        | Event::RestackRefused { story, .. }
        | Event::Hindered { story, .. }
        | Event::Integrated { story, .. }
        | Event::Announced { story, .. }
        | Event::StorySkipped { story, .. } => story,
        _ => return,
    };
    let others = before.stories().iter().filter(|one| one.spec.id != *about);
    for other in others {
        assert_eq!(
            after.story(&other.spec.id),
            Some(other),
            "seed {seed}: q6: {about} changed another story"
        );
    }
}

/// Q7.
fn check_bounds(state: &State, seed: u64) {
    for story in state.stories() {
        assert!(
            story.returns <= 2 && story.attempts <= story.attempts_max(state.spec()),
            "seed {seed}: q7: {} has had too much",
            story.spec.id
        );
        let attempts = story.attempts - story.extra_attempts.min(story.attempts);
        assert!(
            attempts <= state.spec().max_retries + 1 + story.returns,
            "seed {seed}: q7: {} has had too many attempts",
            story.spec.id
        );
    }
}

/// Q8.
fn check_reservations(state: &State, event: &Event, seed: u64) {
    if let (Event::RunStarted { run }, Some(left)) = (event, state.left_ms()) {
        if run.stage == Stage::Confirm && state.was_asked_to_confirm() {
            return;
        }
        let running = i64::try_from(state.running().len()).expect("few");
        assert!(
            running * CAP_MS <= left,
            "seed {seed}: q8: {running} runs are under way with {left} ms left"
        );
    }
}

/// Q9: whoever is proven and has not landed is named.
fn check_named(state: &State, seed: u64) {
    let left = state.unlanded().into_iter().chain(state.unconfirmed());
    let named: Vec<&str> = left.map(|(id, _)| id.as_str()).collect();
    for story in state.stories() {
        let StoryStatus::Active(attempt) = &story.status else {
            continue;
        };
        let is_proven = attempt.is_queued() || attempt.judged.is_some() || attempt.has_landed();
        assert!(
            !is_proven || named.contains(&story.spec.id.as_str()),
            "seed {seed}: q9: {} is proven and nobody names it",
            story.spec.id
        );
    }
}

#[test]
fn world_of_several_stories() {
    const LOOP_STEPS_MAX: u32 = 20_000;
    let steps_wanted = number("LOOPWRIGHT_WORLD_STEPS", 300_000);
    let first_seed = number("LOOPWRIGHT_WORLD_SEED", 1);
    let (mut steps, mut loops, mut beside) = (0, 0, 0);
    let (mut landed, mut returned, mut carried) = (0, 0, 0);
    let (mut confirmed, mut retracted, mut requeued, mut went_on) = (0, 0, 0, 0);
    while steps < steps_wanted {
        let mut world = World::new(first_seed + loops);
        let mut own = 0;
        while world.played.state.ended().is_none() && own < LOOP_STEPS_MAX {
            world.step();
            beside += u64::from(world.played.state.running().len() > 1);
            own += 1;
            if world.goes_on_confirming() {
                went_on += 1;
            }
        }
        let seed = world.seed;
        assert!(
            world.played.state.ended().is_some(),
            "seed {seed}: q7: the loop does not end"
        );
        let on_branch = &world.oracle.trees[world.played.state.head()].works;
        assert_eq!(
            on_branch.len() as u64,
            world.oracle.n_landed,
            "seed {seed}: q1: one commit per landing"
        );
        steps += u64::from(own);
        loops += 1;
        landed += world.oracle.n_landed;
        returned += world.oracle.n_returns;
        carried += world.oracle.n_carried;
        confirmed += world.oracle.n_confirmed;
        retracted += world.oracle.n_retracted;
        requeued += world.oracle.n_requeued;
    }
    // A short world may never come to it.
    assert!(
        steps < 100_000 || (beside * 10 > steps && returned > 100 && carried > 100),
        "stories hardly ever meet: {beside} of {steps} steps, {returned} sent back, {carried} carried"
    );
    assert!(
        steps < 100_000 || (confirmed > 100 && retracted > 50 && requeued > 20 && went_on > 10),
        "hardly anything is confirmed: {confirmed} confirmed, {retracted} taken back, {requeued} \
         returned to the queue, {went_on} loops went on to confirm"
    );
    println!(
        "several stories: {steps} steps, {loops} loops from seed {first_seed}, {landed} landed, \
         {returned} did not fit, {carried} verdicts carried, {confirmed} confirmed, {retracted} taken \
         back, {requeued} returned to the queue, {went_on} loops went on to confirm, {beside} steps with \
         several runs"
    );
}
