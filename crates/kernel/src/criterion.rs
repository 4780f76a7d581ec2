//! When an agent's words are a criterion's own.
//!
//! Agents quote with other quotation marks, another case and a number before it. More than that is
//! no quotation: whoever may reword a criterion may also make one up.

/// Says which of a story's criteria an agent's words quote.
///
/// Words that are exactly a criterion's quote that one, also where another criterion ends with the
/// same words.
pub fn criterion_named<'c>(said: &str, criteria: &'c [String]) -> Option<&'c str> {
    let said = plain_words(said);
    let quoted = criteria.iter().map(|each| (each, plain_words(each)));
    let quoted = quoted.filter(|(_, words)| quotes(&said, words));
    // The longest leaves the fewest words for the mark before it.
    let longest = quoted.max_by_key(|(_, words)| words.len());
    longest.map(|(criterion, _)| criterion.as_str())
}

/// Says whether an agent's words quote this criterion, which is one of the story's.
pub fn quotes_criterion(said: &str, criterion: &str, criteria: &[String]) -> bool {
    let named = criterion_named(said, criteria);
    named.is_some_and(|named| plain_words(named) == plain_words(criterion))
}

/// Lists the criteria that none of an agent's words quote.
pub fn criteria_left_out<'s>(
    criteria: &[String],
    said: impl IntoIterator<Item = &'s str>,
) -> Vec<String> {
    let said: Vec<&str> = said.into_iter().collect();
    let is_left_out = |criterion: &&String| {
        let mut said = said.iter();
        !said.any(|said| quotes_criterion(said, criterion, criteria))
    };
    criteria.iter().filter(is_left_out).cloned().collect()
}

/// The words of a sentence, whatever stands between them. A text without any word is one by itself,
/// since it must be possible to quote it.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    match text.trim() {
        "" => Vec::new(),
        signs if words.is_empty() => vec![signs.to_owned()],
        _ => words,
    }
}

/// Whether words are a criterion's own; a number or a mark may stand before them.
fn quotes(said: &[String], criterion: &[String]) -> bool {
    const MARK_WORDS_MAX: usize = 2;
    !criterion.is_empty()
        && said.ends_with(criterion)
        && said.len() - criterion.len() <= MARK_WORDS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_quote_a_criterion() {
        let criteria = ["it works", "Now it works!", "✓", "adds 1 + 1"].map(str::to_owned);
        for (said, expected) in [
            ("it works", Some("it works")),
            ("1. It works.", Some("it works")),
            ("Criterion 1: `it works`", Some("it works")),
            ("now it works", Some("Now it works!")),
            ("2. Now it works", Some("Now it works!")),
            ("✓", Some("✓")),
            ("adds 1+1", Some("adds 1 + 1")),
            ("I am sure that it works", None),
            ("it works well", None),
            ("works", None),
            ("✗", None),
            (" ", None),
            ("", None),
        ] {
            assert_eq!(criterion_named(said, &criteria), expected, "{said}");
        }
    }

    #[test]
    fn what_is_left_out_is_listed() {
        let criteria = ["it works", "now it works", "It works."].map(str::to_owned);
        for (said, expected) in [
            (vec!["it works", "now it works"], vec![]),
            (vec!["now it works"], vec!["it works", "It works."]),
            (vec![], vec!["it works", "now it works", "It works."]),
        ] {
            assert_eq!(
                criteria_left_out(&criteria, said.iter().copied()),
                expected,
                "{said:?}"
            );
        }
        assert_eq!(criteria_left_out(&[], ["more"]), Vec::<String>::new());
    }
}
