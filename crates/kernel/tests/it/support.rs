//! Small loops to play with, and short words for what happens to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernel::{
    AgentName, Commit, CriterionVerdict, Deed, Event, Facts, FaultCause, Flow, InterruptCause,
    LoopSpec, Order, PublishResult, RestackClass, RestackOrder, Restackable, Resume, Review,
    RunKey, RunOrder, RunOutcome, Stage, Stamped, State, StorySpec, Together, Verdict, WaitOrder,
    WriteBack, decide,
};

/// A commit id made of one letter.
pub(crate) fn commit(letter: char) -> Commit {
    Commit::new(&letter.to_string().repeat(40)).expect("hexadecimal")
}

/// A commit id made of a number.
pub(crate) fn numbered_commit(number: u64) -> Commit {
    Commit::new(&format!("{number:040x}")).expect("hexadecimal")
}

pub(crate) fn story(id: &str, rank: u32, depends_on: &[&str]) -> StorySpec {
    StorySpec {
        id: id.into(),
        title: format!("Story {id}"),
        description: String::new(),
        criteria: vec!["it works".to_owned()],
        rank,
        depends_on: depends_on.iter().map(|on| (*on).into()).collect(),
        ..StorySpec::default()
    }
}

pub(crate) fn spec(stories: Vec<StorySpec>) -> LoopSpec {
    LoopSpec {
        loop_id: "L".to_owned(),
        project: "project".to_owned(),
        prd_path: "prd.json".to_owned(),
        base: commit('a'),
        branch: "agent-loop/L".to_owned(),
        stories: stories.into_iter().map(Arc::new).collect(),
        implementor: "codex".into(),
        judge: "judge".into(),
        ladder: vec!["codex".into(), "claude".into(), "codex".into()],
        failover: false,
        max_retries: 2,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        allowance: None,
        flow: Flow::Legacy,
        reviewer: "rev".into(),
        prover: "prove".into(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
        together: Together::default(),
        settings: "the engine's own".into(),
    }
}

/// A loop with its journal.
#[derive(Clone)]
pub(crate) struct Played {
    pub(crate) state: State,
    pub(crate) journal: Vec<Stamped>,
    pub(crate) clock_ms: i64,
}

impl Played {
    pub(crate) fn start(spec: LoopSpec) -> Self {
        let first = Stamped {
            at_ms: 0,
            event: Event::LoopStarted {
                spec: Box::new(spec),
            },
        };
        Self {
            state: State::begin(&first).expect("a first state"),
            journal: vec![first],
            clock_ms: 0,
        }
    }

    pub(crate) fn try_record(&mut self, event: Event) -> Result<(), kernel::IllegalMove> {
        let record = Stamped {
            at_ms: self.clock_ms,
            event,
        };
        self.state.apply(&record)?;
        self.journal.push(record);
        Ok(())
    }

    pub(crate) fn record(&mut self, event: Event) {
        drop(self.advance(event));
    }

    /// Records an event and gives the state before it.
    pub(crate) fn advance(&mut self, event: Event) -> State {
        let record = Stamped {
            at_ms: self.clock_ms,
            event,
        };
        let after = self.state.clone().after(&record);
        let after = after.unwrap_or_else(|illegal| panic!("{illegal}"));
        self.journal.push(record);
        std::mem::replace(&mut self.state, after)
    }

    /// Records an event that must be refused, and gives the reason.
    pub(crate) fn refused(&mut self, event: Event) -> String {
        let before = self.state.clone();
        let illegal = self
            .try_record(event)
            .expect_err("the event must be refused");
        assert_eq!(self.state, before, "a refused move changed something");
        illegal.why
    }

    pub(crate) fn owed(&self) -> Vec<Order> {
        decide(&self.state)
    }

    /// What is owed, in short words.
    pub(crate) fn owed_words(&self) -> Vec<String> {
        self.owed().iter().map(words).collect()
    }

    /// Begins an attempt at a story, whatever else is under way: `decide` begins one at a time, and
    /// the kernel allows several.
    pub(crate) fn begin(&mut self, story: &str) {
        self.record(planned(&self.state, story));
    }

    /// Carries out everything up to the point where a run's outcome is needed.
    pub(crate) fn go(&mut self) -> RunKey {
        for _ in 0..50 {
            let owed = self.owed();
            let starts = owed.iter().find(|order| order.deed.starts().is_some());
            let running = owed.iter().find_map(running);
            match (starts, running) {
                (Some(order), _) => self.carry_out(order),
                (None, Some(run)) => return run.clone(),
                (None, None) => self.carry_out(owed.first().expect("something is owed")),
            }
        }
        panic!("no run begins");
    }

    /// Carries out an order that needs no outcome from outside.
    pub(crate) fn carry_out(&mut self, order: &Order) {
        let event = self.outcome_of(order);
        self.record(event);
    }

    /// What comes of such an order.
    pub(crate) fn outcome_of(&mut self, order: &Order) -> Event {
        if let Some(decision) = order.deed.decision() {
            return decision;
        }
        let number = self.journal.len() as u64;
        match order.deed.clone() {
            Deed::Prepare { .. } => Event::LoopPrepared,
            Deed::MakeTests(order) => Event::TestsMade {
                story: order.place.run.story,
                attempt: order.place.run.attempt,
                commit: Some(numbered_commit(number)),
                notes: Vec::new(),
            },
            Deed::MakeCandidate(order) => {
                let run = &order.place.run;
                made(&run.story, run.attempt, numbered_commit(number))
            }
            Deed::MakeAccepted(order) => made(&order.story, order.attempt, numbered_commit(number)),
            Deed::Restack(order) => {
                restacked(&order, numbered_commit(number), RestackClass::Disjoint)
            }
            Deed::Integrate {
                story, attempt, to, ..
            } => Event::Integrated {
                story,
                attempt,
                commit: to,
            },
            Deed::Retract(order) => retracted(&order),
            Deed::Announce { story, .. } => Event::Announced {
                story,
                branch: PublishResult::Done,
                prd: WriteBack::Done,
            },
            Deed::Publish(order) => Event::PublishTried {
                commit: order.to,
                branch: PublishResult::Done,
            },
            Deed::Skip { story, reason, .. } => Event::StorySkipped {
                story,
                reason,
                prd: WriteBack::Done,
            },
            Deed::End { reason } => Event::LoopEnded { reason },
            Deed::StopRun(order) => ended(order.place.run, RunOutcome::Stopped),
            Deed::Wait(wait) => {
                if wait.event(self.clock_ms).is_none() {
                    self.clock_ms = wakes_at_ms(&wait);
                }
                wait.event(self.clock_ms).expect("its time has come")
            }
            other => panic!("{other:?} needs an outcome"),
        }
    }

    /// Ends the run that is under way.
    pub(crate) fn end_run(&mut self, outcome: RunOutcome) {
        let run = self.go();
        self.record(ended(run, outcome));
    }

    /// One attempt from its beginning to the judge's word.
    pub(crate) fn attempt(&mut self, pass: bool) {
        self.end_run(worked());
        self.end_run(checked(true));
        let outcome = RunOutcome::Judged(self.verdict(pass));
        self.end_run(outcome);
    }

    /// A verdict on the candidate that is being judged.
    pub(crate) fn verdict(&mut self, pass: bool) -> Verdict {
        let run = self.go();
        self.verdict_on(&run.story, pass)
    }

    /// A verdict on a story's candidate.
    pub(crate) fn verdict_on(&self, story: &str, pass: bool) -> Verdict {
        let candidate = self
            .state
            .attempt(story)
            .and_then(|attempt| attempt.candidate());
        let criteria = vec![CriterionVerdict {
            criterion: "it works".to_owned(),
            pass,
            evidence: "seen".to_owned(),
        }];
        Verdict {
            pass,
            commit: candidate.expect("a candidate").commit.clone(),
            reason: "because".to_owned(),
            criteria,
            guidance: vec!["try harder".to_owned()],
            obliged: Vec::new(),
        }
    }

    /// Ends the run of a stage, which must be under way or owed.
    pub(crate) fn end_stage(&mut self, stage: Stage, outcome: RunOutcome) {
        let run = self.start_stage(None, stage);
        self.record(ended(run, outcome));
    }

    /// The same for one of several stories; the others stay where they are.
    pub(crate) fn end_stage_of(&mut self, story: &str, stage: Stage, outcome: RunOutcome) {
        let run = self.start_stage(Some(story), stage);
        self.record(ended(run, outcome));
    }

    /// Carries out what is owed until a run of the stage is under way.
    pub(crate) fn start_stage(&mut self, story: Option<&str>, stage: Stage) -> RunKey {
        let is_its = |order: &&Order| story.is_none_or(|story| story_of(order) == Some(story));
        for _ in 0..50 {
            let owed = self.owed();
            let mut runs = owed.iter().filter(is_its).filter_map(running);
            if let Some(run) = runs.find(|run| run.stage == stage) {
                return run.clone();
            }
            let mut others = owed.iter().filter(is_its);
            match others.find(|order| running(order).is_none()) {
                Some(order) => self.carry_out(order),
                None => panic!("{} is not owed: {:?}", stage.word(), self.owed_words()),
            }
        }
        panic!("{} never comes", stage.word());
    }

    /// The order of a stage's run, once it is under way.
    pub(crate) fn run_order(&mut self, stage: Stage) -> RunOrder {
        let run = self.start_stage(None, stage);
        let orders = self.owed();
        let mut runs = orders.into_iter().filter_map(|order| match order.deed {
            Deed::Run(order) => Some(*order),
            _ => None,
        });
        runs.find(|order| order.place.run == run)
            .expect("its order")
    }

    /// Carries out everything until nothing is owed or a run is needed.
    pub(crate) fn settle(&mut self) {
        loop {
            let owed = self.owed();
            match owed.first() {
                None => return,
                Some(order) => match order.deed {
                    Deed::Run(_) | Deed::StartRun { .. } | Deed::Wait(_) => return,
                    _ => self.carry_out(order),
                },
            }
        }
    }

    /// The session that the next try of a stage resumes.
    pub(crate) fn resume(&self, stage: Stage) -> Option<Resume> {
        let (_, attempt) = self.state.attempts().next()?;
        let lane = attempt.lanes().iter().find(|lane| lane.stage == stage)?;
        lane.run.resume.clone()
    }

    /// Who does a stage of the only story that is worked on.
    pub(crate) fn agent(&self, stage: Stage) -> Option<&str> {
        let (_, attempt) = self.state.attempts().next()?;
        attempt.agent(stage).map(AgentName::as_str)
    }

    pub(crate) fn answer(&mut self, choice: &str) {
        self.record(answered(choice));
    }
}

/// The record of a story's next attempt, as `decide` would plan it.
pub(crate) fn planned(state: &State, id: &str) -> Event {
    let story = state.story(id).expect("a story");
    let (spec, attempt) = (state.spec(), story.attempts + 1);
    let cast = spec.cast_for(&story.spec, attempt);
    Event::StoryPlanned {
        story: story.spec.id.clone(),
        attempt,
        implementor: cast.implementor.clone(),
        base: state.head().clone(),
        flow: spec.flow_of(&story.spec),
        cast: Some(cast),
        keeps_tests: false,
    }
}

/// Work that was put onto the head.
pub(crate) fn restacked(order: &RestackOrder, commit: Commit, class: RestackClass) -> Event {
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

/// A landing that was taken back.
pub(crate) fn retracted(order: &kernel::RetractOrder) -> Event {
    Event::Retracted {
        story: order.story.clone(),
        attempt: order.attempt,
        commit: order.commit.clone(),
        onto: order.to.clone(),
        why: order.why.clone(),
    }
}

/// Work that does not fit onto the head.
pub(crate) fn restack_refused(order: &RestackOrder) -> Event {
    Event::RestackRefused {
        story: order.story.clone(),
        attempt: order.attempt,
        round: order.round,
        what: order.what,
        from: order.from.clone(),
        onto: order.onto.clone(),
        paths: vec!["src/shared".to_owned()],
    }
}

/// When a wait has an end or another agent.
pub(crate) fn wakes_at_ms(wait: &WaitOrder) -> i64 {
    let free = wait.others.iter().map(|other| other.free_at_ms);
    free.fold(wait.until_ms, i64::min)
}

/// The run that an order looks after.
pub(crate) fn running(order: &Order) -> Option<&RunKey> {
    match &order.deed {
        Deed::Run(order) => Some(&order.place.run),
        _ => None,
    }
}

/// The story that an order is about, if it is about one.
pub(crate) fn story_of(order: &Order) -> Option<&str> {
    let story = match &order.deed {
        Deed::Plan(plan) => &plan.story,
        Deed::Integrate { story, .. }
        | Deed::Announce { story, .. }
        | Deed::Skip { story, .. }
        | Deed::Block { story, .. } => story,
        _ => &order.run()?.story,
    };
    Some(story.as_str())
}

pub(crate) fn ended(run: RunKey, outcome: RunOutcome) -> Event {
    Event::RunEnded {
        run,
        outcome,
        usage: None,
        walls: kernel::Walls::default(),
    }
}

pub(crate) fn answered(choice: &str) -> Event {
    Event::Answered {
        choice: choice.to_owned(),
        story: None,
    }
}

pub(crate) fn worked() -> RunOutcome {
    RunOutcome::Worked {
        learned: Vec::new(),
        proof: None,
    }
}

pub(crate) fn failed(why: &str) -> RunOutcome {
    RunOutcome::Failed {
        why: why.to_owned(),
    }
}

pub(crate) fn bad_answer(why: &str) -> RunOutcome {
    RunOutcome::BadAnswer {
        why: why.to_owned(),
    }
}

/// A fault that is not the agent's own.
pub(crate) fn fault(until_ms: Option<i64>) -> RunOutcome {
    RunOutcome::Infrastructure {
        why: "disk".to_owned(),
        until_ms,
        elsewhere: false,
        cause: FaultCause::DiskFull,
    }
}

/// An agent at its limit.
pub(crate) fn limit(until_ms: Option<i64>) -> RunOutcome {
    RunOutcome::Infrastructure {
        why: "limit".to_owned(),
        until_ms,
        elsewhere: true,
        cause: FaultCause::UsageLimit,
    }
}

pub(crate) fn interrupted() -> RunOutcome {
    RunOutcome::interrupted(InterruptCause::KeeperLost, "lost")
}

pub(crate) fn checked(passed: bool) -> RunOutcome {
    let report = if passed { "green" } else { "1 failed" };
    RunOutcome::Checked {
        passed,
        report: report.to_owned(),
        facts: None,
    }
}

pub(crate) fn written() -> RunOutcome {
    RunOutcome::TestsWritten(Review::default())
}

pub(crate) fn reviewed() -> RunOutcome {
    RunOutcome::Reviewed(Review::default())
}

/// Results of the checks with single facts.
pub(crate) fn facts(change: impl FnOnce(&mut Facts)) -> RunOutcome {
    let mut facts = Facts {
        measured: true,
        feedback: "for the implementor".to_owned(),
        for_writer: "for the writer".to_owned(),
        ..Facts::default()
    };
    change(&mut facts);
    RunOutcome::Checked {
        passed: true,
        report: "the report".to_owned(),
        facts: Some(Box::new(facts)),
    }
}

pub(crate) fn green() -> RunOutcome {
    facts(|_| {})
}

/// New tests are red on the candidate.
pub(crate) fn red(failing: &[&str]) -> RunOutcome {
    facts(|facts| facts.failing = strings(failing))
}

/// The new tests do not build on the candidate.
pub(crate) fn unfit() -> RunOutcome {
    facts(|facts| facts.unfit_tests = true)
}

/// No new test proves anything.
pub(crate) fn unproven() -> RunOutcome {
    facts(|facts| facts.demands_proof = true)
}

pub(crate) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn made(story: &str, attempt: u32, commit: Commit) -> Event {
    Event::CandidateMade {
        story: story.into(),
        attempt,
        commit,
        notes: Vec::new(),
        ask: None,
    }
}

pub(crate) fn asked(question: &str) -> RunOutcome {
    RunOutcome::NeedsHuman {
        question: question.to_owned(),
        free: false,
    }
}

fn words(order: &Order) -> String {
    match &order.deed {
        Deed::Prepare { .. } => "prepare".to_owned(),
        Deed::Plan(plan) if plan.is_recheck => {
            format!("recheck {} attempt {}", plan.story, plan.attempt)
        }
        Deed::Plan(plan) => {
            let who = &plan.cast.implementor;
            format!("plan {} attempt {} with {who}", plan.story, plan.attempt)
        }
        Deed::StartRun { run } => format!("start {run}"),
        Deed::Run(order) => format!("run {}", order.place.run),
        Deed::StopRun(order) => format!("stop {}", order.place.run),
        Deed::Wait(wait) => {
            let or =
                |other: &kernel::StandIn| format!(", or {} from {}", other.agent, other.free_at_ms);
            let others: Vec<String> = wait.others.iter().map(or).collect();
            format!("wait until {}{}", wait.until_ms, others.concat())
        }
        Deed::MakeTests(order) => {
            let run = &order.place.run;
            format!("make tests {} {}", run.story, run.attempt)
        }
        Deed::MakeCandidate(order) => {
            let run = &order.place.run;
            format!("make candidate {} {}", run.story, run.attempt)
        }
        Deed::MakeAccepted(order) => format!("make accepted {} {}", order.story, order.attempt),
        Deed::Restack(order) => {
            let what = match order.what {
                Restackable::Tests => "tests of ",
                Restackable::Candidate => "",
            };
            format!(
                "restack {what}{} {} {}",
                order.story, order.attempt, order.round
            )
        }
        Deed::Integrate { story, .. } => format!("integrate {story}"),
        Deed::Retract(order) => format!("retract {} {}", order.story, order.attempt),
        Deed::Announce { story, .. } => format!("announce {story}"),
        Deed::Publish(order) => {
            let known = order.known.as_deref().unwrap_or("nothing known");
            format!("publish {:.4} ({known})", order.to.as_str())
        }
        Deed::Skip { story, .. } => format!("skip {story}"),
        Deed::Block { story, on } => format!("block {story} on {on}"),
        Deed::End { reason } => format!("end {reason:?}"),
    }
}
