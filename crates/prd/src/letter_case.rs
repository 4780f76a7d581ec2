//! Puts a word into the letter case of the one that it replaces.

/// A word in the case of another: `PENDING` → `DONE`, `Pending` → `Done`. A word that already has
/// capitals, as one taken from the file may, stays as it is.
pub(crate) fn in_case_of(like: &str, word: &str) -> String {
    let has_capitals = |word: &str| word.chars().any(char::is_uppercase);
    let all_capitals = !like.chars().any(char::is_lowercase) && has_capitals(like);
    if has_capitals(word) || !has_capitals(like) {
        return word.to_owned();
    }
    if all_capitals {
        return word.to_uppercase();
    }
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_takes_the_capitals_of_the_one_it_replaces() {
        for (like, word, expected) in [
            ("PENDING", "done", "DONE"),
            ("Pending", "done", "Done"),
            ("pending", "done", "done"),
            ("pending", "Complete", "Complete"),
        ] {
            assert_eq!(in_case_of(like, word), expected, "{like}");
        }
    }
}
