//! A comparison in the making: bounded lists.

use kernel::{Obligation, ObligationKind};

use super::again::Redness;
use super::evidence::{Measured, RED_RERUNS_MAX, RERUNS_MAX, Side};
use super::facts::{Comparison, Failing, NAMES_MAX, SetupFailed, Wanted};
use crate::text::{EXCERPT_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, clip};

pub(super) struct Draft {
    facts: Comparison,
    n_strong: usize,
    /// What would make the proof surer, if nothing else is red.
    wanted_for_proof: Vec<Wanted>,
}

impl Draft {
    pub(super) fn new() -> Self {
        Self {
            facts: Comparison::default(),
            n_strong: 0,
            wanted_for_proof: Vec::new(),
        }
    }

    pub(super) fn stayed_green(&mut self) {
        self.facts.pass_to_pass += 1;
    }

    /// A test that is red on the base and green on the candidate: it proves the story if it is surely
    /// red.
    pub(super) fn proven(&mut self, name: &str, redness: Redness, strength: Strength) {
        self.proven_unless(name, redness, strength, Wanted::RedAgain);
    }

    /// The same of an existing test, which further runs of the base tell about.
    pub(super) fn proven_by_old(&mut self, name: &str, redness: Redness) {
        self.proven_unless(name, redness, Strength::Strong, Wanted::BaseRerun);
    }

    fn proven_unless(&mut self, name: &str, redness: Redness, strength: Strength, wanted: Wanted) {
        let list = match redness {
            Redness::Sure => {
                self.n_strong += usize::from(strength == Strength::Strong);
                &mut self.facts.fail_to_pass
            }
            Redness::Unsure => {
                self.wanted_for_proof.push(wanted);
                &mut self.facts.unconfirmed
            }
            Redness::Chance => &mut self.facts.by_chance,
            Redness::Unsteady => {
                self.wanted_for_proof.push(Wanted::Rerun);
                &mut self.facts.unsteady
            }
        };
        let name = clip(name, NAME_BYTES_MAX);
        push(list, name, &mut self.facts.n_left_out);
    }

    pub(super) fn proven_by_exit_code(&mut self, name: &str, redness: Redness, strength: Strength) {
        self.facts.by_exit_code |= redness == Redness::Sure;
        self.proven(name, redness, strength);
    }

    /// An older test that was green and is red with the new tests, although nobody changed it.
    pub(super) fn made_red(&mut self, name: &str) {
        push(
            &mut self.facts.made_red,
            clip(name, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn vacuous(&mut self, name: &str) {
        push(
            &mut self.facts.vacuous,
            clip(name, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    /// A test that shows that behaviour stays.
    pub(super) fn preserved(&mut self, name: &str) {
        push(
            &mut self.facts.preserved,
            clip(name, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn known_red(&mut self, name: &str) {
        push(
            &mut self.facts.known_red,
            clip(name, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn fixed(&mut self, name: &str) {
        push(
            &mut self.facts.fixed,
            clip(name, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn flaky(&mut self, name: &str) {
        let name = clip(name, NAME_BYTES_MAX);
        if !self.facts.flaky.contains(&name) {
            push(&mut self.facts.flaky, name, &mut self.facts.n_left_out);
        }
    }

    pub(super) fn not_gating(&mut self, check: &str) {
        push(
            &mut self.facts.not_gating,
            clip(check, NAME_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn broken(&mut self, name: &str, message: &str) {
        push(
            &mut self.facts.broken,
            failing(name, message),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn new_failing(&mut self, name: &str, message: &str) {
        push(
            &mut self.facts.new_failing,
            failing(name, message),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn obliged(&mut self, kind: ObligationKind, subject: &str) {
        let obligation = Obligation {
            kind,
            subject: clip(subject, NAME_BYTES_MAX),
        };
        if !self.facts.obligations.contains(&obligation) {
            push(
                &mut self.facts.obligations,
                obligation,
                &mut self.facts.n_left_out,
            );
        }
    }

    pub(super) fn unstable(&mut self, name: &str) {
        let name = clip(name, NAME_BYTES_MAX);
        if !self.facts.unstable.contains(&name) {
            push(&mut self.facts.unstable, name, &mut self.facts.n_left_out);
        }
    }

    /// A whole check is red. `why` comes first, what it said after it.
    pub(super) fn failed_check(&mut self, check: &str, why: &str, said: &str) {
        let message = clip(&format!("{why}\n{said}"), EXCERPT_BYTES_MAX)
            .trim()
            .to_owned();
        let failed = Failing {
            name: clip(check, NAME_BYTES_MAX),
            message,
        };
        push(
            &mut self.facts.failed_checks,
            failed,
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn mismatch(&mut self, measured: &Measured) {
        self.facts
            .unfit_tests
            .get_or_insert_with(|| clip(said_by(measured), EXCERPT_BYTES_MAX));
    }

    pub(super) fn note(&mut self, note: &str) {
        push(
            &mut self.facts.notes,
            clip(note, MESSAGE_BYTES_MAX),
            &mut self.facts.n_left_out,
        );
    }

    pub(super) fn want(&mut self, wanted: Wanted) {
        if !self.facts.wanted.contains(&wanted) {
            self.facts.wanted.push(wanted);
        }
    }

    /// Nothing was measured.
    pub(super) fn setup_failed(mut self, on_base: bool, setup: &Measured) -> Comparison {
        self.facts.setup_failed = Some(SetupFailed {
            on_base,
            excerpt: clip(&setup.excerpt, EXCERPT_BYTES_MAX),
        });
        self.facts
    }

    /// What would not be green even if everything that may prove it did needs no surer proof.
    fn want_surer_proof(&mut self, evidence: &Side<'_>) {
        let mut proven = self.facts.facts();
        proven.proven.extend(self.facts.unconfirmed.iter().cloned());
        proven.proven.extend(self.facts.unsteady.iter().cloned());
        let is_worth_it =
            evidence.files.demands_tests && proven.finding() == kernel::Finding::Green;
        for wanted in std::mem::take(&mut self.wanted_for_proof) {
            let (n_made, n_max) = match wanted {
                Wanted::BaseRerun => (evidence.base_reruns.len(), RED_RERUNS_MAX),
                Wanted::Rerun => (evidence.reruns.len(), RERUNS_MAX),
                _ => (evidence.red_reruns.len(), RED_RERUNS_MAX),
            };
            if is_worth_it && n_made < n_max {
                self.want(wanted);
            }
        }
    }

    pub(super) fn finish(mut self, evidence: &Side<'_>) -> Comparison {
        let facts = &mut self.facts;
        facts.weak = !facts.fail_to_pass.is_empty() && self.n_strong == 0;
        facts.demands_tests = evidence.files.demands_tests;
        if evidence.files.is_without_code && !evidence.is_as_is {
            facts.by_text = std::mem::take(&mut facts.fail_to_pass);
        }
        // A red test may be chance: only another run of the same tree can tell. What does not build
        // will not do so the next time.
        let is_red = facts.finding() == kernel::Finding::Red;
        let did_not_build = evidence.tree.checks.iter().any(Measured::did_not_build);
        let may_be_chance = !did_not_build && facts.setup_failed.is_none();
        if is_red && may_be_chance && evidence.reruns.len() < RERUNS_MAX {
            self.want(Wanted::Rerun);
        }
        self.want_surer_proof(evidence);
        self.facts.wanted.sort();
        self.facts
    }
}

/// How a test was red on the base.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// It ran there and failed.
    Strong,
    /// It did not build there.
    Weak,
}

fn failing(name: &str, message: &str) -> Failing {
    Failing {
        name: clip(name, NAME_BYTES_MAX),
        message: clip(message.trim(), MESSAGE_BYTES_MAX),
    }
}

fn push<T>(list: &mut Vec<T>, item: T, n_left_out: &mut usize) {
    if list.len() < NAMES_MAX {
        list.push(item);
    } else {
        *n_left_out += 1;
    }
}

/// The most telling words of a red check.
pub(super) fn said_by(measured: &Measured) -> &str {
    measured
        .results
        .build_failure
        .as_deref()
        .unwrap_or(&measured.excerpt)
}
