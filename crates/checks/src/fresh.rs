//! Which lines of a file are new.

use std::collections::BTreeMap;

/// Says of each line of a text whether the base has fewer lines like it. White space at the ends of
/// lines does not count.
pub(crate) fn new_lines(base: &str, text: &str) -> Vec<bool> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for line in base.lines() {
        *known.entry(line.trim()).or_default() += 1;
    }
    text.lines()
        .map(
            |line| match known.get_mut(line.trim()).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    false
                }
                None => true,
            },
        )
        .collect()
}
