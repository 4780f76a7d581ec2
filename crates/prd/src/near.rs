//! Finds the word that was probably meant.

/// The most similar of some words, if it is similar enough to be a typo.
pub fn nearest<'w>(wanted: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    const WORD_CHARS_MAX: usize = 64;
    let bounded =
        |word: &str| -> String { word.to_lowercase().chars().take(WORD_CHARS_MAX).collect() };
    let wanted = bounded(wanted);
    let n_letters = wanted.chars().count();
    // Very short words are all similar to each other, so allow no difference.
    let allowed = if n_letters < 4 {
        0
    } else {
        (n_letters / 4).clamp(1, 3)
    };
    let similar = words.filter_map(|word| {
        let letters = bounded(word);
        // The lengths alone rule most words out, before the costly comparison.
        if letters.chars().count().abs_diff(n_letters) > allowed {
            return None;
        }
        // Swapping two neighbours is one slip, as typing it is.
        let distance = strsim::osa_distance(&wanted, &letters);
        (distance <= allowed).then_some((distance, word))
    });
    similar
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
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
