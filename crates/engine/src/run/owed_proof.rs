//! What a judge owes where nothing can be proven.

use kernel::{Facts, Finding, Obligation, ObligationKind};

/// Where every test is hidden behind one exit code that was red before, no test can say yes or no to the
/// story. A judge may still pass it, but not without a word about that.
pub(crate) fn owe_proof(facts: &mut Facts) {
    let is_unproven = facts.blind && facts.finding() == Finding::Unproven;
    let is_test = |check: &&String| *check == "test";
    if let Some(check) = facts.not_gating.iter().find(is_test)
        && (is_unproven || facts.silent)
    {
        facts.obligations.push(Obligation {
            kind: ObligationKind::Unproven,
            subject: check.clone(),
        });
    }
}
