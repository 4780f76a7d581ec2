//! Small loops to play with, and short words for what happens to them.

use kernel::{
    Commit, CriterionVerdict, Effect, Event, LoopSpec, PublishResult, RunKey, RunOutcome, Stamped, State,
    StorySpec, StoryStart, Verdict, WriteBack, decide,
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
        id: id.to_owned(),
        title: format!("Story {id}"),
        description: String::new(),
        criteria: vec!["it works".to_owned()],
        rank,
        depends_on: depends_on.iter().map(|on| (*on).to_owned()).collect(),
        tool: None,
        start: StoryStart::Open,
    }
}

pub(crate) fn spec(stories: Vec<StorySpec>) -> LoopSpec {
    LoopSpec {
        loop_id: "L".to_owned(),
        project: "project".to_owned(),
        prd_path: "prd.json".to_owned(),
        base: commit('a'),
        branch: "agent-loop/L".to_owned(),
        stories,
        implementor: "codex".to_owned(),
        judge: "claude".to_owned(),
        ladder: vec!["codex".to_owned(), "claude".to_owned(), "codex".to_owned()],
        max_retries: 2,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        settings: String::new(),
    }
}

/// A loop with its journal.
pub(crate) struct Played {
    pub(crate) state: State,
    pub(crate) journal: Vec<Stamped>,
    pub(crate) clock_ms: i64,
}

impl Played {
    pub(crate) fn start(spec: LoopSpec) -> Self {
        let first = Stamped { at_ms: 0, event: Event::LoopStarted { spec: Box::new(spec) } };
        Self { state: State::begin(&first).expect("a first state"), journal: vec![first], clock_ms: 0 }
    }

    pub(crate) fn try_record(&mut self, event: Event) -> Result<(), kernel::IllegalMove> {
        let record = Stamped { at_ms: self.clock_ms, event };
        self.state.apply(&record)?;
        self.journal.push(record);
        Ok(())
    }

    pub(crate) fn record(&mut self, event: Event) {
        self.try_record(event).unwrap_or_else(|illegal| panic!("{illegal}"));
    }

    pub(crate) fn owed(&self) -> Vec<Effect> {
        decide(&self.state).into_iter().collect()
    }

    /// What is owed, in short words.
    pub(crate) fn owed_words(&self) -> Vec<String> {
        self.owed().iter().map(words).collect()
    }

    /// Carries out everything up to the point where a run's outcome is needed.
    pub(crate) fn go(&mut self) -> RunKey {
        for _ in 0..50 {
            let owed = self.owed();
            match owed.first().expect("something is owed") {
                Effect::WatchRun(run) => return run.clone(),
                Effect::StartRun(run) => self.record(Event::RunStarted { run: run.clone() }),
                effect => self.carry_out(&effect.clone()),
            }
        }
        panic!("no run begins");
    }

    /// Carries out an effect that needs no outcome from outside.
    pub(crate) fn carry_out(&mut self, effect: &Effect) {
        if let Some(decision) = effect.decision() {
            return self.record(decision);
        }
        let number = self.journal.len() as u64;
        let event = match effect.clone() {
            Effect::Prepare => Event::LoopPrepared,
            Effect::MakeCandidate { story, attempt } => {
                Event::CandidateMade { story, attempt, commit: numbered_commit(number) }
            }
            Effect::Integrate { story, attempt, commit } => Event::Integrated { story, attempt, commit },
            Effect::Announce { story, .. } => {
                Event::Announced { story, branch: PublishResult::Done, prd: WriteBack::Done }
            }
            Effect::Skip { story, reason } => Event::StorySkipped { story, reason, prd: WriteBack::Done },
            Effect::End(reason) => Event::LoopEnded { reason: reason.reason() },
            Effect::WakeAt { until_ms, run } => {
                self.clock_ms = self.clock_ms.max(until_ms);
                Event::WaitEnded { run }
            }
            other => panic!("{other:?} needs an outcome"),
        };
        self.record(event);
    }

    /// Ends the run that is under way.
    pub(crate) fn end_run(&mut self, outcome: RunOutcome) {
        let run = self.go();
        self.record(Event::RunEnded { run, outcome });
    }

    /// One attempt from its beginning to the judge's word.
    pub(crate) fn attempt(&mut self, pass: bool) {
        self.end_run(RunOutcome::Worked);
        self.end_run(RunOutcome::Checked { passed: true, report: "green".to_owned() });
        let outcome = RunOutcome::Judged(self.verdict(pass));
        self.end_run(outcome);
    }

    /// A verdict on the candidate that is being judged.
    pub(crate) fn verdict(&mut self, pass: bool) -> Verdict {
        self.go();
        let commit =
            self.state.active().and_then(|(_, attempt)| attempt.candidate()).expect("a candidate").clone();
        let criteria =
            vec![CriterionVerdict { criterion: "it works".to_owned(), pass, evidence: "seen".to_owned() }];
        Verdict {
            pass,
            commit,
            reason: "because".to_owned(),
            criteria,
            guidance: vec!["try harder".to_owned()],
        }
    }

    /// Carries out everything until nothing is owed or a run is needed.
    pub(crate) fn settle(&mut self) {
        loop {
            let owed = self.owed();
            match owed.first() {
                None | Some(Effect::WatchRun(_) | Effect::StartRun(_) | Effect::WakeAt { .. }) => return,
                Some(effect) => self.carry_out(&effect.clone()),
            }
        }
    }
}

fn words(effect: &Effect) -> String {
    match effect {
        Effect::Prepare => "prepare".to_owned(),
        Effect::Plan { story, attempt, implementor: Some(agent), .. } => {
            format!("plan {story} attempt {attempt} with {agent}")
        }
        Effect::Plan { story, attempt, implementor: None, .. } => {
            format!("recheck {story} attempt {attempt}")
        }
        Effect::StartRun(run) => format!("start {run}"),
        Effect::WatchRun(run) => format!("watch {run}"),
        Effect::StopRun(run) => format!("stop {run}"),
        Effect::WakeAt { until_ms, .. } => format!("wake at {until_ms}"),
        Effect::MakeCandidate { story, attempt } => format!("make candidate {story} {attempt}"),
        Effect::Integrate { story, .. } => format!("integrate {story}"),
        Effect::Announce { story, .. } => format!("announce {story}"),
        Effect::Skip { story, .. } => format!("skip {story}"),
        Effect::Block { story, on } => format!("block {story} on {on}"),
        Effect::End(reason) => format!("end {reason:?}"),
    }
}
