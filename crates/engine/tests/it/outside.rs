//! What is outside of the journal in the seeded world: processes, refs, the people. It outlives
//! every worker.

use std::collections::BTreeMap;

use kernel::{
    Commit, Event, FaultCause, InterruptCause, RestackClass, RestackOrder, Restackable, Review,
    RunKey, RunOutcome, Stage, StoryId, Verdict,
};
use testkit::Random;

/// One loop's share of the outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Every run that was ever launched: none is launched twice.
    runs: BTreeMap<RunKey, Process>,
    /// Candidates by story and attempt: making one again finds it.
    candidates: BTreeMap<(StoryId, u32), Commit>,
    /// What came of each restack: doing it again gives the same.
    restacks: BTreeMap<(StoryId, u32, u32, bool), Event>,
    /// The loop's branch.
    pub(crate) head: Option<Commit>,
}

#[derive(Debug, Clone, PartialEq)]
enum Process {
    Alive,
    Ended(RunOutcome),
    KeeperLost,
}

/// What a look at a run finds.
pub(crate) enum Look {
    NotStarted,
    Alive,
    Over(RunOutcome),
}

impl Outside {
    pub(crate) fn look(&self, run: &RunKey) -> Look {
        match self.runs.get(run) {
            None => Look::NotStarted,
            Some(Process::Alive) => Look::Alive,
            Some(Process::Ended(outcome)) => Look::Over(outcome.clone()),
            Some(Process::KeeperLost) => {
                Look::Over(RunOutcome::interrupted(InterruptCause::KeeperLost, "lost"))
            }
        }
    }

    pub(crate) fn launch(&mut self, run: &RunKey) {
        let before = self.runs.insert(run.clone(), Process::Alive);
        assert_eq!(before, None, "i04: {run} was launched twice");
    }

    pub(crate) fn stop(&mut self, run: &RunKey) {
        if let Some(process) = self.runs.get_mut(run) {
            *process = Process::Ended(RunOutcome::Stopped);
        }
    }

    /// Processes that are alive, of checks or of agents.
    pub(crate) fn n_alive(&self, checks: bool) -> usize {
        let counts = |(run, process): &(&RunKey, &Process)| {
            **process == Process::Alive && run.stage.is_check() == checks
        };
        self.runs.iter().filter(counts).count()
    }

    /// Some processes end, well or badly, and some keepers die.
    pub(crate) fn go_on(&mut self, random: &mut Random) {
        let candidates = &self.candidates;
        for (run, process) in self
            .runs
            .iter_mut()
            .filter(|(_, process)| **process == Process::Alive)
        {
            if random.chance(30) {
                *process = Process::Ended(outcome(run, candidates, random));
            } else if random.chance(3) {
                *process = Process::KeeperLost;
            }
        }
    }

    /// The same files give the same commit, however often it is made; some agents change nothing.
    pub(crate) fn make_candidate(
        &mut self,
        story: &StoryId,
        attempt: u32,
        random: &mut Random,
    ) -> Option<Commit> {
        let key = (story.clone(), attempt);
        if !self.candidates.contains_key(&key) {
            if random.chance(8) {
                return None;
            }
            self.candidates.insert(key.clone(), numbered(random.draw()));
        }
        self.candidates.get(&key).cloned()
    }
}

impl Outside {
    pub(crate) fn integrate(&mut self, story: StoryId, attempt: u32, commit: Commit) -> Event {
        self.head = Some(commit.clone());
        Event::Integrated {
            story,
            attempt,
            commit,
        }
    }

    pub(crate) fn retract(&mut self, owed: kernel::RetractOrder) -> Event {
        self.head = Some(owed.to.clone());
        Event::Retracted {
            story: owed.story,
            attempt: owed.attempt,
            commit: owed.commit,
            onto: owed.to,
            why: owed.why,
        }
    }

    /// Puts work onto the head; now and then it does not fit.
    pub(crate) fn restack(&mut self, owed: &RestackOrder, random: &mut Random) -> Event {
        let is_candidate = owed.what == Restackable::Candidate;
        let key = (owed.story.clone(), owed.attempt, owed.round, is_candidate);
        let event = self.restacks.entry(key);
        let event = event.or_insert_with(|| restacked(owed, random)).clone();
        if let (Event::Restacked { commit, .. }, true) = (&event, is_candidate) {
            let key = (owed.story.clone(), owed.attempt);
            self.candidates.insert(key, commit.clone());
        }
        event
    }
}

fn restacked(owed: &RestackOrder, random: &mut Random) -> Event {
    if random.chance(20) {
        return Event::RestackRefused {
            story: owed.story.clone(),
            attempt: owed.attempt,
            round: owed.round,
            what: owed.what,
            from: owed.from.clone(),
            onto: owed.onto.clone(),
            paths: vec!["shared".to_owned()],
        };
    }
    Event::Restacked {
        story: owed.story.clone(),
        attempt: owed.attempt,
        round: owed.round,
        what: owed.what,
        from: owed.from.clone(),
        onto: owed.onto.clone(),
        commit: numbered(random.draw()),
        class: if random.chance(50) {
            RestackClass::Disjoint
        } else {
            RestackClass::Mixed
        },
        notes: owed.notes.clone(),
        ask: None,
    }
}

pub(crate) fn numbered(number: u64) -> Commit {
    Commit::new(&format!("{number:040x}")).expect("hexadecimal")
}

fn outcome(
    run: &RunKey,
    candidates: &BTreeMap<(StoryId, u32), Commit>,
    random: &mut Random,
) -> RunOutcome {
    let why = || "as it happens".to_owned();
    match (run.stage, random.below(14)) {
        (_, 0) => RunOutcome::fault(FaultCause::Ours, why()),
        (_, 1) => RunOutcome::NeedsHuman {
            question: why(),
            free: false,
        },
        (Stage::Baseline | Stage::Check | Stage::Confirm, roll) => RunOutcome::Checked {
            passed: roll > 4,
            report: String::new(),
            facts: None,
        },
        (_, 2) => RunOutcome::Failed { why: why() },
        (Stage::Implement, _) => RunOutcome::Worked {
            learned: Vec::new(),
            proof: None,
        },
        (_, 3) => RunOutcome::BadAnswer { why: why() },
        (Stage::Prove, _) => RunOutcome::Worked {
            learned: Vec::new(),
            proof: None,
        },
        (Stage::WriteTests, _) => RunOutcome::TestsWritten(Review::default()),
        (Stage::Review, _) => RunOutcome::Reviewed(Review::default()),
        (Stage::Arbitrate, roll) => RunOutcome::Ruled {
            fresh_tests: roll > 8,
            reason: why(),
        },
        (Stage::Judge, roll) => match candidates.get(&(run.story.clone(), run.attempt)) {
            Some(commit) => RunOutcome::Judged(verdict(commit, roll > 6)),
            // A recheck looks at the head of the branch, which no candidate of its own is.
            None => RunOutcome::BadAnswer { why: why() },
        },
    }
}

fn verdict(commit: &Commit, pass: bool) -> Verdict {
    let (criteria, guidance) = (Vec::new(), Vec::new());
    Verdict {
        pass,
        commit: commit.clone(),
        reason: "seen".to_owned(),
        criteria,
        guidance,
        obliged: Vec::new(),
    }
}
