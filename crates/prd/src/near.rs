//! Finds the word that was probably meant.

/// The most similar of some words, if it is similar enough to be a typo.
pub fn nearest<'w>(wanted: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    const WORD_CHARS_MAX: usize = 64;
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(WORD_CHARS_MAX).collect();
    // Very short words are all similar to each other, so allow no difference.
    let allowed = if wanted.len() < 4 {
        0
    } else {
        (wanted.len() / 4).clamp(1, 3)
    };
    let similar = words.filter_map(|word| {
        let letters: Vec<char> = word.to_lowercase().chars().take(WORD_CHARS_MAX).collect();
        // The lengths alone rule most words out, before the costly comparison.
        if letters.len().abs_diff(wanted.len()) > allowed {
            return None;
        }
        let distance = distance(&wanted, &letters);
        (distance <= allowed).then_some((distance, word))
    });
    similar
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
/// word into the other (the optimal string alignment distance, which needs only three rows).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut here = vec![row; to.len() + 1];
        for column in 1..=to.len() {
            let replaced = last[column - 1] + usize::from(from[row - 1] != to[column - 1]);
            here[column] = replaced.min(last[column] + 1).min(here[column - 1] + 1);
            let swapped = row > 1
                && column > 1
                && from[row - 1] == to[column - 2]
                && from[row - 2] == to[column - 1];
            if swapped {
                here[column] = here[column].min(before_last[column - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, here);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word() {
        for (wanted, expected) in [
            ("login-l", Some("login-1")),
            ("LOGIN-1", Some("login-1")),
            ("logn-2", Some("login-2")),
            ("sginup", Some("signup")),
            ("4", None),
            ("checkout", None),
            ("", None),
        ] {
            assert_eq!(
                nearest(wanted, ["login-1", "login-2", "signup", "2"].into_iter()),
                expected,
                "{wanted}"
            );
        }
    }
}
