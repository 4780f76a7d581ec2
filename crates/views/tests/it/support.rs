//! Small loops: whatever needs no outcome from outside is carried out, and a test says how runs end.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernel::{
    Commit, Coverage, CriterionVerdict, Deed, Event, FaultCause, Flow, LoopSpec, Obliged, Order,
    PublishResult, Review, RunKey, RunOutcome, RunUsage, Stage, Stamped, State, StorySpec, Verdict,
    WriteBack, decide,
};

/// Every record comes so long after the one before.
pub(crate) const STEP_MS: i64 = 1_000;

pub(crate) const CRITERION: &str = "it works";

pub(crate) fn commit(number: usize) -> Commit {
    Commit::new(&format!("{number:040x}")).expect("hexadecimal")
}

pub(crate) fn story(id: &str) -> StorySpec {
    StorySpec {
        id: id.into(),
        title: format!("Story {id}"),
        description: String::new(),
        criteria: vec![CRITERION.to_owned()],
        rank: 0,
        depends_on: Vec::new(),
        ..StorySpec::default()
    }
}

/// A loop over these stories; a story `b<a` depends on `a`.
pub(crate) fn spec(flow: Flow, stories: &[&str]) -> LoopSpec {
    let each = |words: &&str| {
        let (id, on) = words.split_once('<').unwrap_or((words, ""));
        let depends_on = on.split_terminator(',').map(Into::into).collect();
        Arc::new(StorySpec {
            depends_on,
            ..story(id)
        })
    };
    LoopSpec {
        loop_id: "L".to_owned(),
        project: "project".to_owned(),
        prd_path: "prd.json".to_owned(),
        base: commit(0),
        branch: "agent-loop/L".to_owned(),
        stories: stories.iter().map(each).collect(),
        implementor: "codex".into(),
        judge: "judge".into(),
        ladder: Vec::new(),
        failover: false,
        max_retries: 0,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        allowance: None,
        flow,
        reviewer: "rev".into(),
        prover: "prove".into(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
        together: kernel::Together::default(),
        settings: "{}".into(),
    }
}

/// A loop with its records.
#[derive(Clone)]
pub(crate) struct Played {
    pub(crate) state: State,
    pub(crate) records: Vec<Stamped>,
    /// What becomes of the branch when a story lands.
    pub(crate) branch: PublishResult,
    /// Why a person must agree to the next candidate.
    pub(crate) ask: Option<String>,
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
            records: vec![first],
            branch: PublishResult::Done,
            ask: None,
        }
    }

    pub(crate) fn record(&mut self, event: Event) -> &mut Self {
        let record = Stamped {
            at_ms: self.state.last_at_ms() + STEP_MS,
            event,
        };
        self.state.apply(&record).expect("a legal move");
        self.records.push(record);
        self
    }

    /// Carries out what is owed until a run of this stage is under way.
    pub(crate) fn reach(&mut self, stage: Stage) -> RunKey {
        self.reach_in(None, stage)
    }

    /// The same for a run of one story.
    pub(crate) fn reach_in(&mut self, story: Option<&str>, stage: Stage) -> RunKey {
        let is_wanted = |run: &RunKey| {
            run.stage == stage && story.is_none_or(|story| run.story.as_str() == story)
        };
        for _ in 0..50 {
            if let Some(run) = self.state.running().into_iter().find(is_wanted) {
                return run;
            }
            let next = decide(&self.state)
                .into_iter()
                .find_map(|order| self.carried_out(&order));
            let Some(event) = next else {
                unreachable!("{} is not owed: {:?}", stage.word(), decide(&self.state));
            };
            self.record(event);
        }
        unreachable!("{} never comes", stage.word());
    }

    /// Ends the run of a stage, which must be owed or under way.
    pub(crate) fn end(&mut self, stage: Stage, outcome: RunOutcome) -> &mut Self {
        let run = self.reach(stage);
        self.record(Event::RunEnded {
            run,
            outcome,
            usage: None,
            walls: kernel::Walls::default(),
        })
    }

    /// The same for a run of one story among several.
    pub(crate) fn end_in(&mut self, story: &str, stage: Stage, outcome: RunOutcome) -> &mut Self {
        let run = self.reach_in(Some(story), stage);
        self.record(Event::RunEnded {
            run,
            outcome,
            usage: None,
            walls: kernel::Walls::default(),
        })
    }

    /// The same for a run that reports what it used.
    pub(crate) fn end_using(
        &mut self,
        stage: Stage,
        outcome: RunOutcome,
        usage: RunUsage,
    ) -> &mut Self {
        let run = self.reach(stage);
        self.record(Event::RunEnded {
            run,
            outcome,
            usage: Some(usage),
            walls: kernel::Walls::default(),
        })
    }

    /// Ends the judge's run with a verdict on the candidate.
    pub(crate) fn judge(&mut self, pass: bool) -> &mut Self {
        self.judge_with(pass, Vec::new())
    }

    /// The same with answers to obligations.
    pub(crate) fn judge_with(&mut self, pass: bool, obliged: Vec<Obliged>) -> &mut Self {
        let run = self.reach(Stage::Judge);
        let attempt = self.state.attempt(&run.story).expect("an attempt");
        let candidate = attempt.candidate().expect("a candidate");
        let verdict = Verdict {
            pass,
            commit: candidate.commit.clone(),
            reason: "because".to_owned(),
            criteria: vec![CriterionVerdict {
                criterion: CRITERION.to_owned(),
                pass,
                evidence: "seen".to_owned(),
            }],
            guidance: Vec::new(),
            obliged,
        };
        self.end(Stage::Judge, RunOutcome::Judged(verdict))
    }

    /// One attempt of the flow `judged`, up to the verdict.
    pub(crate) fn attempt(&mut self, pass: bool) -> &mut Self {
        self.end(Stage::Baseline, checked())
            .end(Stage::Implement, worked())
            .end(Stage::Check, checked())
            .judge(pass)
    }

    /// Carries out everything that is owed and needs no run.
    pub(crate) fn settle(&mut self) -> &mut Self {
        loop {
            let starts = |order: &Order| order.deed.starts().is_some();
            let mut orders = decide(&self.state)
                .into_iter()
                .filter(|order| !starts(order));
            match orders.find_map(|order| self.carried_out(&order)) {
                Some(event) => self.record(event),
                None => return self,
            };
        }
    }

    /// What comes of an order that needs no outcome from outside.
    fn carried_out(&mut self, order: &Order) -> Option<Event> {
        if let Some(decision) = order.deed.decision() {
            return Some(decision);
        }
        let number = self.records.len();
        Some(match order.deed.clone() {
            Deed::Prepare { .. } => Event::LoopPrepared,
            Deed::MakeTests(order) => Event::TestsMade {
                story: order.place.run.story,
                attempt: order.place.run.attempt,
                commit: Some(commit(number)),
                notes: vec!["a file was dropped".to_owned()],
            },
            Deed::MakeCandidate(order) => Event::CandidateMade {
                story: order.place.run.story,
                attempt: order.place.run.attempt,
                commit: commit(number),
                notes: vec!["no test was changed".to_owned()],
                ask: self.ask.take(),
            },
            Deed::Restack(order) => restacked(*order, commit(number)),
            Deed::MakeAccepted(order) => Event::CandidateMade {
                story: order.story,
                attempt: order.attempt,
                commit: commit(number),
                notes: vec![format!("accepted by {}", order.acceptance.by)],
                ask: None,
            },
            Deed::Integrate {
                story, attempt, to, ..
            } => Event::Integrated {
                story,
                attempt,
                commit: to,
            },
            Deed::Retract(order) => Event::Retracted {
                story: order.story,
                attempt: order.attempt,
                commit: order.commit,
                onto: order.to,
                why: order.why,
            },
            Deed::Announce { story, .. } => Event::Announced {
                story,
                branch: self.branch.clone(),
                prd: WriteBack::Done,
            },
            Deed::Publish(order) => Event::PublishTried {
                commit: order.to,
                branch: self.branch.clone(),
            },
            Deed::Skip { story, reason, .. } => Event::StorySkipped {
                story,
                reason,
                prd: WriteBack::Done,
            },
            Deed::StopRun(order) => Event::RunEnded {
                run: order.place.run,
                outcome: RunOutcome::Stopped,
                usage: None,
                walls: kernel::Walls::default(),
            },
            Deed::End { reason } => Event::LoopEnded { reason },
            Deed::Wait(wait) => wait.event(self.state.last_at_ms())?,
            Deed::Plan(_) | Deed::StartRun { .. } | Deed::Block { .. } => {
                unreachable!("a decision was taken above")
            }
            Deed::Run(_) => return None,
        })
    }
}

pub(crate) fn worked() -> RunOutcome {
    RunOutcome::Worked {
        learned: Vec::new(),
        proof: None,
    }
}

pub(crate) fn checked() -> RunOutcome {
    RunOutcome::Checked {
        passed: true,
        report: "all green".to_owned(),
        facts: None,
    }
}

/// Checks that reused an earlier build.
pub(crate) fn warm() -> RunOutcome {
    measured(|facts| facts.warm = true)
}

/// Checks with everything built anew, one of which is red.
pub(crate) fn red() -> RunOutcome {
    measured(|facts| {
        facts.broken = vec!["an older test".to_owned()];
        facts.feedback.push_str("`an older test` is red");
    })
}

fn measured(change: impl FnOnce(&mut kernel::Facts)) -> RunOutcome {
    let mut facts = kernel::Facts {
        measured: true,
        ..kernel::Facts::default()
    };
    change(&mut facts);
    RunOutcome::Checked {
        passed: facts.broken.is_empty(),
        report: "1 check".to_owned(),
        facts: Some(Box::new(facts)),
    }
}

pub(crate) fn limit(until_ms: i64) -> RunOutcome {
    RunOutcome::Infrastructure {
        why: "usage limit".to_owned(),
        until_ms: Some(until_ms),
        elsewhere: true,
        cause: FaultCause::UsageLimit,
    }
}

pub(crate) fn question(free: bool) -> RunOutcome {
    RunOutcome::NeedsHuman {
        question: "which colour?".to_owned(),
        free,
    }
}

pub(crate) fn cancel() -> Event {
    Event::CancelRequested {
        reason: "not wanted".to_owned(),
    }
}

/// A review in which one test covers the criterion.
pub(crate) fn review(test: &str) -> Review {
    Review {
        summary: "one test".to_owned(),
        criteria: vec![Coverage {
            criterion: CRITERION.to_owned(),
            tests: vec![test.to_owned()],
            held_back: Vec::new(),
            untestable: None,
            preserves: false,
        }],
        findings: vec!["look at the parser".to_owned()],
    }
}

pub(crate) fn usage(tokens: u64, cost_micro_usd: u64) -> RunUsage {
    RunUsage {
        input_tokens: Some(tokens),
        cost_micro_usd: Some(cost_micro_usd),
        ..RunUsage::default()
    }
}

fn restacked(order: kernel::RestackOrder, commit: Commit) -> Event {
    Event::Restacked {
        story: order.story,
        attempt: order.attempt,
        round: order.round,
        what: order.what,
        from: order.from,
        onto: order.onto,
        commit,
        class: kernel::RestackClass::Disjoint,
        notes: order.notes,
        ask: None,
    }
}
