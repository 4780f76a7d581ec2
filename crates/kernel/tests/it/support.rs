//! Small loops to play with, and short words for what happens to them.

use std::collections::BTreeMap;

use kernel::{
    Assigned, Commit, CriterionVerdict, Effect, Event, Facts, Flow, Gate, LoopSpec, PublishResult,
    Review, RunKey, RunOutcome, Stage, Stamped, State, StorySpec, StoryStart, Verdict, WriteBack,
    decide,
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
        assigned: Assigned::default(),
        flow: None,
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
        judge: "judge".to_owned(),
        ladder: vec!["codex".to_owned(), "claude".to_owned(), "codex".to_owned()],
        failover: false,
        max_retries: 2,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        allowance: None,
        flow: Flow::Legacy,
        reviewer: "rev".to_owned(),
        prover: "prove".to_owned(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
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
        self.try_record(event)
            .unwrap_or_else(|illegal| panic!("{illegal}"));
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
            Effect::MakeTests { story, attempt } => {
                let commit = Some(numbered_commit(number));
                Event::TestsMade {
                    story,
                    attempt,
                    commit,
                    notes: Vec::new(),
                }
            }
            Effect::MakeCandidate { story, attempt } => {
                made(&story, attempt, numbered_commit(number))
            }
            Effect::Integrate {
                story,
                attempt,
                commit,
            } => Event::Integrated {
                story,
                attempt,
                commit,
            },
            Effect::Announce { story, .. } => Event::Announced {
                story,
                branch: PublishResult::Done,
                prd: WriteBack::Done,
            },
            Effect::Skip { story, reason } => Event::StorySkipped {
                story,
                reason,
                prd: WriteBack::Done,
            },
            Effect::End(reason) => Event::LoopEnded {
                reason: reason.reason(),
            },
            Effect::WakeAt {
                until_ms, others, ..
            } => {
                if effect.waited(self.clock_ms).is_none() {
                    self.clock_ms = others
                        .iter()
                        .map(|(_, at_ms)| *at_ms)
                        .fold(until_ms, i64::min);
                }
                effect.waited(self.clock_ms).expect("its time has come")
            }
            other => panic!("{other:?} needs an outcome"),
        };
        self.record(event);
    }

    /// Ends the run that is under way.
    pub(crate) fn end_run(&mut self, outcome: RunOutcome) {
        let run = self.go();
        self.record(Event::RunEnded {
            run,
            outcome,
            usage: None,
        });
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
        self.go();
        let commit = self
            .state
            .active()
            .and_then(|(_, attempt)| attempt.candidate())
            .expect("a candidate")
            .clone();
        let criteria = vec![CriterionVerdict {
            criterion: "it works".to_owned(),
            pass,
            evidence: "seen".to_owned(),
        }];
        Verdict {
            pass,
            commit,
            reason: "because".to_owned(),
            criteria,
            guidance: vec!["try harder".to_owned()],
            obliged: Vec::new(),
        }
    }

    /// Ends the run of a stage, which must be under way or owed.
    pub(crate) fn end_stage(&mut self, stage: Stage, outcome: RunOutcome) {
        for _ in 0..50 {
            let watched = self.owed().into_iter().find_map(|effect| match effect {
                Effect::WatchRun(run) if run.stage == stage => Some(run),
                _ => None,
            });
            if let Some(run) = watched {
                return self.record(Event::RunEnded {
                    run,
                    outcome,
                    usage: None,
                });
            }
            let owed = self.owed();
            let next = owed
                .iter()
                .find(|effect| !matches!(effect, Effect::WatchRun(_)));
            match next
                .unwrap_or_else(|| panic!("{} is not owed: {:?}", stage.word(), self.owed_words()))
            {
                Effect::StartRun(run) => self.record(Event::RunStarted { run: run.clone() }),
                effect => self.carry_out(&effect.clone()),
            }
        }
        panic!("{} never comes", stage.word());
    }

    /// Carries out everything until nothing is owed or a run is needed.
    pub(crate) fn settle(&mut self) {
        loop {
            let owed = self.owed();
            match owed.first() {
                None | Some(Effect::WatchRun(_) | Effect::StartRun(_) | Effect::WakeAt { .. }) => {
                    return;
                }
                Some(effect) => self.carry_out(&effect.clone()),
            }
        }
    }
}

pub(crate) fn worked() -> RunOutcome {
    RunOutcome::Worked {
        learned: Vec::new(),
    }
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

pub(crate) fn facts(gate: Gate, failing: &[&str]) -> RunOutcome {
    let failing = failing.iter().map(|test| (*test).to_owned()).collect();
    let for_writer = "for the writer".to_owned();
    let facts = Facts {
        gate,
        failing,
        feedback: "for the implementor".to_owned(),
        for_writer,
        ..Facts::default()
    };
    RunOutcome::Checked {
        passed: gate == Gate::Green,
        report: String::new(),
        facts: Some(Box::new(facts)),
    }
}

pub(crate) fn made(story: &str, attempt: u32, commit: Commit) -> Event {
    Event::CandidateMade {
        story: story.to_owned(),
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

fn words(effect: &Effect) -> String {
    match effect {
        Effect::Prepare => "prepare".to_owned(),
        Effect::Plan {
            story,
            attempt,
            cast,
            recheck: false,
            ..
        } => {
            format!("plan {story} attempt {attempt} with {}", cast.implementor)
        }
        Effect::Plan {
            story,
            attempt,
            recheck: true,
            ..
        } => {
            format!("recheck {story} attempt {attempt}")
        }
        Effect::StartRun(run) => format!("start {run}"),
        Effect::WatchRun(run) => format!("watch {run}"),
        Effect::StopRun(run) => format!("stop {run}"),
        Effect::WakeAt {
            until_ms, others, ..
        } => {
            let others: Vec<String> = others
                .iter()
                .map(|(agent, at_ms)| format!(", or {agent} from {at_ms}"))
                .collect();
            format!("wake at {until_ms}{}", others.concat())
        }
        Effect::MakeTests { story, attempt } => format!("make tests {story} {attempt}"),
        Effect::MakeCandidate { story, attempt } => format!("make candidate {story} {attempt}"),
        Effect::Integrate { story, .. } => format!("integrate {story}"),
        Effect::Announce { story, .. } => format!("announce {story}"),
        Effect::Skip { story, .. } => format!("skip {story}"),
        Effect::Block { story, on } => format!("block {story} on {on}"),
        Effect::End(reason) => format!("end {reason:?}"),
    }
}
