//! The proof's tree and the tree that would land, put together.
//!
//! Green without the implementor's tests and suspects is proven, and what lands must be green too.
//! Green only with them means that the proof rests on them: each is an obligation. Red both ways is
//! red.

use kernel::{Finding, Obligation, ObligationKind};

use super::check::compare_side;
use super::evidence::{ChangedFiles, Evidence};
use super::facts::{Comparison, Failing, Wanted};

/// Compares a candidate with its base.
pub fn compare(evidence: &Evidence<'_>) -> Comparison {
    let proof = compare_side(&evidence.proving());
    let mut whole = if evidence.proof.is_none() {
        proof
    } else {
        let as_is = compare_side(&evidence.as_is());
        together(proof, as_is, evidence.files)
    };
    // Harness and what it reads may hide each other: then nothing of either is in the proof.
    let is_mixed_red = evidence
        .mixing()
        .is_some_and(|side| compare_side(&side).finding() == Finding::Red);
    if is_mixed_red && whole.finding() == Finding::Green {
        for path in &evidence.files.harness {
            oblige(&mut whole, ObligationKind::Harness, path);
        }
    }
    for test in &evidence.files.changed_tests {
        oblige(&mut whole, ObligationKind::OldTestChanged, test);
    }
    whole
}

fn together(proof: Comparison, as_is: Comparison, files: &ChangedFiles) -> Comparison {
    match (proof.finding(), as_is.finding()) {
        (Finding::Green, Finding::Green) => both_green(proof, as_is),
        (Finding::Red | Finding::Unfit | Finding::Unproven, Finding::Green) => {
            resting(&proof, as_is, files)
        }
        (Finding::Green, _) => only_as_is_red(proof, as_is),
        (Finding::Red, Finding::Unfit | Finding::Unproven) => Comparison {
            wanted: wanted_by_both(&proof, &as_is),
            ..proof
        },
        (_, _) => both_red(&proof, as_is),
    }
}

/// What would make the proof's tree surer, and the tree that would land: where that one is not proven
/// for want of a look at the base, nobody knows yet whether it rests on what differs.
fn wanted_by_both(proof: &Comparison, as_is: &Comparison) -> Vec<Wanted> {
    let mut wanted = proof.wanted.clone();
    if as_is.wants(Wanted::RedAgain) && !proof.wants(Wanted::RedAgain) {
        wanted.push(Wanted::RedAgain);
    }
    if !as_is.unsteady.is_empty() {
        wanted.push(Wanted::RerunAsIs);
    }
    wanted
}

/// What the proof's tree shows stands; what would land is at fault.
fn only_as_is_red(proof: Comparison, as_is: Comparison) -> Comparison {
    let mut whole = Comparison {
        fail_to_pass: proof.fail_to_pass,
        ..as_is
    };
    for wanted in &mut whole.wanted {
        if *wanted == Wanted::Rerun {
            *wanted = Wanted::RerunAsIs;
        }
    }
    whole
}

fn both_green(proof: Comparison, as_is: Comparison) -> Comparison {
    let mut whole = proof;
    for obligation in as_is.obligations {
        oblige(&mut whole, obligation.kind, &obligation.subject);
    }
    whole.notes.extend(as_is.notes);
    whole.flaky.extend(as_is.flaky);
    whole.flaky.sort();
    whole.flaky.dedup();
    whole
}

/// The proof's tree is red, and what would land is green: it rests on what differs between them.
fn resting(proof: &Comparison, as_is: Comparison, files: &ChangedFiles) -> Comparison {
    let mut whole = as_is;
    // Single tests may be red by chance. What does not build or cannot be set up is not.
    whole.wanted.clear();
    if proof.failed_checks.is_empty() && proof.setup_failed.is_none() {
        whole.wanted.extend(proof.wanted.iter().copied());
    }
    for obligation in &proof.obligations {
        oblige(&mut whole, obligation.kind, &obligation.subject);
    }
    let is_changed = !files.edited.is_empty();
    for Failing { name, .. } in proof.broken.iter().filter(|_| is_changed) {
        oblige(&mut whole, ObligationKind::OldTestRed, name);
    }
    let explained = is_changed
        && !proof.broken.is_empty()
        && proof.new_failing.is_empty()
        && proof.failed_checks.is_empty()
        && files.suspects.is_empty();
    if explained {
        return whole;
    }
    for path in &files.suspects {
        oblige(&mut whole, ObligationKind::Harness, path);
    }
    for path in &files.support {
        oblige(&mut whole, ObligationKind::TestSupport, path);
    }
    // Nobody can answer for a difference that has no name.
    if whole.obligations.is_empty() {
        return both_red(proof, whole);
    }
    whole
}

fn both_red(proof: &Comparison, as_is: Comparison) -> Comparison {
    let mut whole = as_is;
    whole.wanted = wanted_by_both(proof, &whole);
    for failing in &proof.broken {
        if !whole.broken.iter().any(|known| known.name == failing.name) {
            whole.broken.push(failing.clone());
        }
    }
    for failing in &proof.new_failing {
        if !whole
            .new_failing
            .iter()
            .any(|known| known.name == failing.name)
        {
            whole.new_failing.push(failing.clone());
        }
    }
    whole
}

fn oblige(whole: &mut Comparison, kind: ObligationKind, subject: &str) {
    let obligation = Obligation {
        kind,
        subject: subject.to_owned(),
    };
    if !whole.obligations.contains(&obligation) {
        whole.obligations.push(obligation);
    }
}

impl Comparison {
    /// Whether a measurement would make it surer.
    pub fn wants(&self, wanted: Wanted) -> bool {
        self.wanted.contains(&wanted)
    }
}
