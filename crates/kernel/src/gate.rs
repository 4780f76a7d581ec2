//! The gate: the one place that decides what measurements mean for a candidate.
//!
//! Facts come in as types, and one decision comes out. No agent can overrule a closed gate.

use crate::facts::Obligation;
use crate::facts::{Facts, Setup, StoredGate};
use crate::flow::{Base, Flow, Stage};
use crate::numbered::numbered;

/// Where the candidate stands in its story, as far as the gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// The flow of the attempt.
    pub flow: Flow,
    /// Whether a skipped story is looked at again: nobody writes anything for it any more.
    pub is_recheck: bool,
}

/// What follows from the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The candidate may go on.
    Open,
    /// The new tests do not fit the candidate's names, and its author never saw them: the tests
    /// must be mended, and nothing counts against the story.
    RepairTests,
    /// The new tests prove nothing: better ones are needed, and nothing counts against the story.
    BetterTests,
    /// The candidate is rejected.
    Closed(Closed),
}

/// Why a candidate is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Something is red.
    Red,
    /// Nothing is red, and nothing proves the story.
    Unproven,
    /// No check says yes, and nobody else has a word.
    Silent,
    /// Something is owed an answer, and nobody judges who could name the criterion that asks for it.
    Unexplained,
}

/// Decides what the facts mean.
pub fn gate(facts: &Facts, situation: Situation) -> Gate {
    let flow = situation.flow;
    let has_writer = flow.has(Stage::WriteTests) && !situation.is_recheck;
    let is_judged = flow.has(Stage::Judge);
    let author_saw_tests = flow.row(Stage::Implement).base == Base::StoryWithTests;
    match facts.finding() {
        // Whoever saw the tests and does not fit them is at fault, and so is a branch that a story
        // is rechecked on.
        Finding::Unfit if has_writer && !author_saw_tests => Gate::RepairTests,
        Finding::Red | Finding::Unfit => Gate::Closed(Closed::Red),
        // Better tests would not be seen either. What is left is the judge, who is told so.
        Finding::Unproven if facts.blind && is_judged && !situation.is_recheck => Gate::Open,
        Finding::Unproven if has_writer => Gate::BetterTests,
        Finding::Unproven => Gate::Closed(Closed::Unproven),
        Finding::Green if is_judged => Gate::Open,
        Finding::Green if facts.silent => Gate::Closed(Closed::Silent),
        Finding::Green if !facts.owed().is_empty() => Gate::Closed(Closed::Unexplained),
        Finding::Green => Gate::Open,
    }
}

/// The facts in one word, before anybody asks whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing that was green is red, and where proof is demanded there is some.
    Green,
    /// Something is red.
    Red,
    /// The new tests do not build on the candidate, which builds without them.
    Unfit,
    /// Nothing is red, and no new test proves anything.
    Unproven,
}

impl Facts {
    /// What was found.
    pub fn finding(&self) -> Finding {
        match self.gate {
            Some(StoredGate::Green) => return Finding::Green,
            Some(StoredGate::Red) => return Finding::Red,
            Some(StoredGate::SurfaceMismatch) => return Finding::Unfit,
            Some(StoredGate::NothingProven) => return Finding::Unproven,
            None => {}
        }
        let old_are_red = !self.broken.is_empty() || !self.failed_checks.is_empty();
        // A measurement that cannot be trusted, or that says something else each time, says no.
        let is_doubtful = !self.voided.is_empty() || !self.unstable.is_empty();
        if !self.measured || self.setup == Setup::Failed || old_are_red || is_doubtful {
            return Finding::Red;
        }
        // Tests that do not build are not counted as red tests: nothing of them ran.
        if self.unfit_tests {
            return Finding::Unfit;
        }
        if !self.failing.is_empty() {
            return Finding::Red;
        }
        if self.demands_proof && self.proven.is_empty() {
            return Finding::Unproven;
        }
        Finding::Green
    }
}

impl Closed {
    /// What the next attempt is told, where the measurements have no words of their own for it.
    pub(crate) fn words(self, facts: &Facts) -> Option<String> {
        match self {
            Self::Silent => Some(
                "No check says yes: each is red, was red before, and is known by its exit code \
                 alone. Where nobody judges, that is not enough."
                    .to_owned(),
            ),
            Self::Unexplained => Some(unjudged(&facts.owed())),
            Self::Red | Self::Unproven => None,
        }
    }
}

/// What an attempt is told that owes answers where nobody judges.
fn unjudged(owed: &[Obligation]) -> String {
    format!(
        "Nobody judges in this flow who could say which criterion asks for this:\n{}\n\
         Do without it, use another flow such as quartet, or let a person accept it.",
        lines(owed)
    )
}

/// What an attempt is told whose PASS leaves obligations without a criterion.
pub(crate) fn without_criterion(missing: &[Obligation]) -> String {
    format!(
        "the judge's PASS names no criterion of the story that asks for this:\n{}",
        lines(missing)
    )
}

fn lines(obligations: &[Obligation]) -> String {
    let lines = numbered(obligations).into_iter();
    let lines: Vec<String> = lines.map(|each| format!("- {}", each.line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ObligationKind;

    fn facts(change: impl FnOnce(&mut Facts)) -> Facts {
        let mut facts = Facts {
            measured: true,
            ..Facts::default()
        };
        change(&mut facts);
        facts
    }

    fn one(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    fn removed(test: &str) -> Obligation {
        Obligation {
            kind: ObligationKind::OldTestRemoved,
            subject: test.to_owned(),
        }
    }

    fn check(rows: &[(&str, Facts, Flow, bool, Gate)]) {
        for (name, facts, flow, is_recheck, expected) in rows {
            let situation = Situation {
                flow: *flow,
                is_recheck: *is_recheck,
            };
            assert_eq!(
                gate(facts, situation),
                *expected,
                "{name} in {flow:?}, recheck {is_recheck}"
            );
        }
    }

    const RED: Gate = Gate::Closed(Closed::Red);
    const UNPROVEN: Gate = Gate::Closed(Closed::Unproven);

    #[test]
    fn what_is_red_is_closed() {
        let red = || facts(|facts| facts.failing = one("new"));
        let broken = || facts(|facts| facts.broken = one("old"));
        let failed = || facts(|facts| facts.failed_checks = one("lint"));
        let no_setup = || facts(|facts| facts.setup = Setup::Failed);
        let void = || facts(|facts| facts.voided = one("the report was written by hand"));
        let unstable = || facts(|facts| facts.unstable = one("now and then"));
        let unfit = || facts(|facts| facts.unfit_tests = true);
        let unfit_and_broken = facts(|facts| {
            facts.unfit_tests = true;
            facts.broken = one("old");
        });
        check(&[
            ("nothing said", Facts::default(), Flow::Solo, false, RED),
            ("red", red(), Flow::Quartet, false, RED),
            ("broken", broken(), Flow::Solo, false, RED),
            ("failed", failed(), Flow::Tdd, false, RED),
            ("no setup", no_setup(), Flow::Quartet, false, RED),
            ("void", void(), Flow::Quartet, false, RED),
            ("void", void(), Flow::Solo, true, RED),
            ("unstable", unstable(), Flow::Judged, false, RED),
            ("unfit", unfit(), Flow::Quartet, false, Gate::RepairTests),
            ("unfit", unfit(), Flow::Quartet, true, RED),
            ("unfit", unfit(), Flow::Tdd, false, RED),
            ("both", unfit_and_broken, Flow::Quartet, false, RED),
        ]);
    }

    #[test]
    fn what_proves_nothing_is_not_open() {
        let unproven = || facts(|facts| facts.demands_proof = true);
        let blind = || Facts {
            blind: true,
            ..unproven()
        };
        let proven = Facts {
            proven: one("new"),
            ..unproven()
        };
        let silent = || facts(|facts| facts.silent = true);
        let gave_way = || facts(|facts| facts.obliged = one("old"));
        let owes = || facts(|facts| facts.obligations = vec![removed("old")]);
        let (silent_gate, unexplained) = (
            Gate::Closed(Closed::Silent),
            Gate::Closed(Closed::Unexplained),
        );
        check(&[
            ("green", facts(|_| {}), Flow::Quartet, false, Gate::Open),
            (
                "unproven",
                unproven(),
                Flow::Quartet,
                false,
                Gate::BetterTests,
            ),
            ("unproven", unproven(), Flow::Tdd, false, Gate::BetterTests),
            ("unproven", unproven(), Flow::Quartet, true, UNPROVEN),
            ("blind", blind(), Flow::Quartet, false, Gate::Open),
            ("blind", blind(), Flow::Quartet, true, UNPROVEN),
            ("proven", proven, Flow::Tdd, false, Gate::Open),
            ("silent", silent(), Flow::Solo, false, silent_gate),
            ("silent", silent(), Flow::Quartet, false, Gate::Open),
            ("gave way", gave_way(), Flow::Solo, false, unexplained),
            ("gave way", gave_way(), Flow::Quartet, false, Gate::Open),
            ("owes", owes(), Flow::Solo, false, unexplained),
            ("owes", owes(), Flow::Judged, false, Gate::Open),
        ]);
    }

    #[test]
    fn where_nobody_judges_an_attempt_is_told_what_it_owes_and_how_to_go_on() {
        let owes = facts(|facts| {
            facts.obligations = vec![removed("a"), removed("b")];
            facts.obliged = one("c");
        });
        assert_eq!(
            Closed::Unexplained.words(&owes).unwrap_or_default(),
            "Nobody judges in this flow who could say which criterion asks for this:\n\
             - the older test `c` is red in its old form\n\
             - the older test `a` is gone\n\
             - the older test `b` is gone\n\
             Do without it, use another flow such as quartet, or let a person accept it."
        );
    }
}
