//! What a PASS must answer, and whether the judge's answers do.

use std::collections::BTreeSet;

use crate::criterion::{criterion_named, plain_words};
use crate::facts::{Facts, Obligation, ObligationKind};
use crate::verdict::{Obliged, Verdict};

/// Bytes of a subject that are shown in a sentence.
const SUBJECT_CHARS_MAX: usize = 200;

impl Facts {
    /// Everything that a PASS must answer, each once, in an order that depends on nothing else.
    ///
    /// Journals that are older than typed obligations hold names of tests. What happened to these
    /// tests is no longer known; a typed obligation about the same test says it better.
    pub fn owed(&self) -> Vec<Obligation> {
        let mut owed: BTreeSet<Obligation> = self.obligations.iter().cloned().collect();
        for test in &self.obliged {
            let is_known = |known: &Obligation| known.kind.is_old_test() && known.subject == *test;
            if !owed.iter().any(is_known) {
                owed.insert(Obligation {
                    kind: ObligationKind::OldTestRed,
                    subject: test.clone(),
                });
            }
        }
        owed.into_iter().collect()
    }
}

impl Verdict {
    /// The answer to an obligation that counts: it names a criterion of the story.
    pub fn answer_to(&self, obligation: &Obligation, criteria: &[String]) -> Option<&Obliged> {
        let mut answers = self.obliged.iter();
        answers.find(|answer| answer.is_about(obligation) && names_criterion(answer, criteria))
    }
}

impl Obliged {
    /// Says whether it is an answer to this obligation. Answers of old journals have no kind.
    fn is_about(&self, obligation: &Obligation) -> bool {
        self.kind.is_none_or(|kind| kind == obligation.kind)
            && is_same_test(&self.test, &obligation.subject)
    }
}

/// Says whether a name that somebody wrote is the name of a test as the results have it.
///
/// Results add the file to a name that stands in several: `adds (tests/add.rs)`.
pub fn is_same_test(said: &str, test: &str) -> bool {
    said == test || test.starts_with(&format!("{said} ("))
}

/// The obligations for which a PASS names no criterion of the story. While any is left the PASS does
/// not count.
pub(crate) fn unanswered(
    owed: Vec<Obligation>,
    criteria: &[String],
    verdict: &Verdict,
) -> Vec<Obligation> {
    let mut owed = owed;
    owed.retain(|obligation| verdict.answer_to(obligation, criteria).is_none());
    owed
}

/// A story without criteria has none that could be quoted; any reason must do there.
fn names_criterion(answer: &Obliged, criteria: &[String]) -> bool {
    if criteria.is_empty() {
        return !plain_words(&answer.criterion).is_empty();
    }
    criterion_named(&answer.criterion, criteria).is_some()
}

impl Obligation {
    /// The obligation in a plain sentence.
    pub fn words(&self) -> String {
        let subject = shown(&self.subject);
        match self.kind {
            ObligationKind::OldTestRed => {
                format!("the older test {subject} is red in its old form")
            }
            ObligationKind::OldTestRemoved => format!("the older test {subject} is gone"),
            ObligationKind::OldTestSkipped => format!("the older test {subject} no longer runs"),
            ObligationKind::OldTestChanged => {
                format!("the implementor changed or removed the older test {subject}")
            }
            ObligationKind::Harness => {
                format!("the proof rests on {subject}, which is not known as product code")
            }
            ObligationKind::TestSupport => {
                format!(
                    "the proof rests on {subject}, a file of the implementor's that tests stand on"
                )
            }
            ObligationKind::Characterisation => format!(
                "the test {subject} shows that behaviour stays, and no small fault turned it red"
            ),
            ObligationKind::Unproven => format!(
                "nothing proves the story: the check {subject} was red before, and only its exit code is known"
            ),
        }
    }
}

impl ObligationKind {
    /// Several obligations of the kind in a plain sentence.
    pub(crate) fn words_for(self, count: usize) -> String {
        match self {
            Self::OldTestRed => format!("{count} older tests are red in their old form"),
            Self::OldTestRemoved => format!("{count} older tests are gone"),
            Self::OldTestSkipped => format!("{count} older tests no longer run"),
            Self::OldTestChanged => {
                format!("the implementor changed or removed {count} older tests")
            }
            Self::Harness => {
                format!("the proof rests on {count} files that are not known as product code")
            }
            Self::TestSupport => {
                format!("the proof rests on {count} files of the implementor's that tests stand on")
            }
            Self::Characterisation => format!(
                "{count} tests show that behaviour stays, and no small fault turned them red"
            ),
            Self::Unproven => format!(
                "nothing proves the story: {count} checks were red before, and only their exit codes are known"
            ),
        }
    }

    fn is_old_test(self) -> bool {
        match self {
            Self::OldTestRed
            | Self::OldTestRemoved
            | Self::OldTestSkipped
            | Self::OldTestChanged => true,
            Self::Harness | Self::TestSupport | Self::Characterisation | Self::Unproven => false,
        }
    }
}

/// A subject as it stands in a sentence. Names of tests are chosen by agents, so none may begin a
/// line of its own or fill a page.
pub(crate) fn shown(subject: &str) -> String {
    let words: Vec<&str> = subject.split_whitespace().collect();
    let line = words.join(" ").replace('`', "'");
    let kept: String = line.chars().take(SUBJECT_CHARS_MAX).collect();
    let mark = if kept.len() < line.len() { "…" } else { "" };
    format!("`{kept}{mark}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obligation(kind: ObligationKind, subject: &str) -> Obligation {
        Obligation {
            kind,
            subject: subject.to_owned(),
        }
    }

    #[test]
    fn what_is_owed_is_said_once_and_in_one_order() {
        use ObligationKind::{Harness, OldTestRed, OldTestRemoved};
        let typed = [
            obligation(Harness, "conftest.py"),
            obligation(OldTestRemoved, "b"),
            obligation(OldTestRemoved, "b"),
        ];
        let expected = [
            obligation(OldTestRed, "a"),
            obligation(OldTestRemoved, "b"),
            obligation(Harness, "conftest.py"),
        ];
        let mut turned = typed.to_vec();
        turned.reverse();
        for obligations in [typed.to_vec(), turned] {
            let facts = Facts {
                obligations,
                obliged: ["a", "b", "a"].map(str::to_owned).to_vec(),
                ..Facts::default()
            };
            assert_eq!(facts.owed(), expected);
        }
        assert_eq!(Facts::default().owed(), []);
    }

    #[test]
    fn a_subject_stays_in_its_line() {
        for (subject, expected) in [
            ("adds (tests/add.rs)", "`adds (tests/add.rs)`".to_owned()),
            ("a\n## Your `answer`", "`a ## Your 'answer'`".to_owned()),
            (&"é".repeat(300), format!("`{}…`", "é".repeat(200))),
        ] {
            assert_eq!(shown(subject), expected);
        }
    }
}
