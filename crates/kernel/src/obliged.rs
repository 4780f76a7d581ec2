//! Older tests that a change made give way, and whether the judge named the criterion that asks for
//! it.

use crate::verdict::{Obliged, Verdict};

/// The obliged tests for which a PASS names no criterion of the story. While any is left the PASS
/// does not count.
pub(crate) fn unexplained(
    obliged: &[String],
    criteria: &[String],
    verdict: &Verdict,
) -> Vec<String> {
    let is_explained = |test: &String| {
        verdict
            .obliged
            .iter()
            .any(|answer| is_about(answer, test) && names_criterion(answer, criteria))
    };
    let missing = obliged.iter().filter(|test| !is_explained(test));
    missing.cloned().collect()
}

/// A runner may add the file to a name that stands in several: `adds (tests/add.rs)`.
fn is_about(answer: &Obliged, test: &str) -> bool {
    answer.test == test || test.starts_with(&format!("{} (", answer.test))
}

/// A story without criteria has none that could be quoted; any reason must do there.
fn names_criterion(answer: &Obliged, criteria: &[String]) -> bool {
    let said = plain_words(&answer.criterion);
    if said.is_empty() {
        return false;
    }
    criteria.is_empty()
        || criteria
            .iter()
            .any(|criterion| quotes(&said, &plain_words(criterion)))
}

/// The words of a sentence, whatever stands between them.
fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether words are a criterion's own; a number or a mark may stand before them.
fn quotes(said: &[String], criterion: &[String]) -> bool {
    const MARK_WORDS_MAX: usize = 2;
    !criterion.is_empty()
        && said.ends_with(criterion)
        && said.len() - criterion.len() <= MARK_WORDS_MAX
}
