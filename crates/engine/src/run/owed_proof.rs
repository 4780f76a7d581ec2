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

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of a story that asks for proof, where the named checks decide nothing.
    fn facts(not_gating: &[&str]) -> Facts {
        Facts {
            measured: true,
            demands_proof: true,
            not_gating: not_gating.iter().map(|name| (*name).to_owned()).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn i08_where_no_test_can_prove_anything_a_judge_says_why_it_passes() {
        let blind = |facts| Facts {
            blind: true,
            ..facts
        };
        let silent = |facts| Facts {
            silent: true,
            ..facts
        };
        let proven = |facts| Facts {
            proven: vec!["doubles".to_owned()],
            ..facts
        };
        for (what, mut facts, expected) in [
            ("blind", blind(facts(&["lint", "test"])), vec!["test"]),
            ("silent", silent(proven(facts(&["test"]))), vec!["test"]),
            // The new tests could be told apart, so they must prove something themselves.
            ("neither", facts(&["test"]), vec![]),
            ("blind and proven", blind(proven(facts(&["test"]))), vec![]),
            ("blind without tests", blind(facts(&["lint"])), vec![]),
            ("blind with tests that count", blind(facts(&[])), vec![]),
        ] {
            owe_proof(&mut facts);
            let is_unproven = |owed: &Obligation| owed.kind == ObligationKind::Unproven;
            assert!(facts.obligations.iter().all(is_unproven), "{what}");
            let owed = facts.obligations.iter().map(|owed| owed.subject.as_str());
            assert_eq!(owed.collect::<Vec<_>>(), expected, "{what}");
        }
    }
}
