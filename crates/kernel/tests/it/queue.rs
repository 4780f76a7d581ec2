//! The steps of stories that land one after another, for the tests of the queue.

use kernel::{Commit, Flow, LoopSpec, Order, RunOutcome, Stage};

use crate::support::{Played, checked, facts, spec, story, strings, worked};

pub(crate) fn proven() -> RunOutcome {
    facts(|facts| facts.proven = strings(&["it works"]))
}

/// Checks that proved the story with a reused build.
pub(crate) fn warm() -> RunOutcome {
    facts(|facts| {
        facts.proven = strings(&["it works"]);
        facts.warm = true;
    })
}

pub(crate) fn broken() -> RunOutcome {
    facts(|facts| facts.broken = strings(&["an older test"]))
}

/// Three stories that are worked on at the same time and judged.
pub(crate) fn judged() -> LoopSpec {
    let mut spec = spec(vec![
        story("a", 0, &[]),
        story("b", 1, &[]),
        story("c", 2, &[]),
    ]);
    spec.flow = Flow::Judged;
    spec.together.parallel = 3;
    spec.together.checks_at_once = 3;
    spec
}

/// Begins a story and takes it to its checks.
pub(crate) fn begin(played: &mut Played, id: &str) {
    played.begin(id);
    played.end_stage_of(id, Stage::Baseline, checked(true));
    played.end_stage_of(id, Stage::Implement, worked());
}

pub(crate) fn judge(played: &mut Played, id: &str, pass: bool) -> Commit {
    played.start_stage(Some(id), Stage::Judge);
    let verdict = played.verdict_on(id, pass);
    let commit = verdict.commit.clone();
    played.end_stage_of(id, Stage::Judge, RunOutcome::Judged(verdict));
    commit
}

/// Takes a story from its checks through the judge.
pub(crate) fn prove(played: &mut Played, id: &str, outcome: RunOutcome) {
    played.end_stage_of(id, Stage::Check, outcome);
    judge(played, id, true);
}

pub(crate) fn order_like(played: &Played, words: &str) -> Order {
    let owed = played.owed();
    let found = owed.iter().find(|order| order.key().starts_with(words));
    let found = found.unwrap_or_else(|| panic!("no {words}: {:?}", played.owed_words()));
    found.clone()
}

pub(crate) fn carry(played: &mut Played, words: &str) {
    let order = order_like(played, words);
    played.carry_out(&order);
}

/// Begins a story on the head, proves it and lands it.
pub(crate) fn land(played: &mut Played, id: &str, outcome: RunOutcome) -> Commit {
    begin(played, id);
    prove(played, id, outcome);
    carry(played, &format!("integrate {id}"));
    played.state.head().clone()
}

pub(crate) fn owed_to(played: &Played, id: &str) -> Vec<String> {
    let mut words = played.owed_words();
    words.retain(|word| word.split(' ').any(|part| part == id));
    words
}
