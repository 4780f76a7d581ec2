//! Which cases of a gallery are played: CI takes some of each class, chosen by a seed, and the soak
//! (`LOOPWRIGHT_SOAK=1`) takes all.
//!
//! `LOOPWRIGHT_SAMPLE_SEED` chooses other cases. The default never changes by itself, so that a red
//! run can be repeated.

use crate::{Random, number};

/// Says whether everything is to be played.
#[must_use]
pub fn is_soak() -> bool {
    std::env::var_os("LOOPWRIGHT_SOAK").is_some_and(|value| !value.is_empty())
}

/// One case of a class, or all of them in the soak.
pub fn sample<T: Clone>(class: &str, all: &[T]) -> Vec<T> {
    sample_of(class, 1, all)
}

/// So many cases of a class in their order, or all of them in the soak.
#[expect(
    clippy::print_stdout,
    reason = "whoever looks at a red run must see what was chosen"
)]
pub fn sample_of<T: Clone>(class: &str, n_cases: usize, all: &[T]) -> Vec<T> {
    assert!(!all.is_empty(), "the class `{class}` has no cases");
    if is_soak() {
        return all.to_vec();
    }
    let seed = seed();
    let chosen = choose(class, seed, n_cases, all.len());
    println!(
        "{class}: cases {chosen:?} of {}, LOOPWRIGHT_SAMPLE_SEED={seed}",
        all.len()
    );
    chosen.iter().map(|index| all[*index].clone()).collect()
}

/// One case of a class, or all of them in the soak. Two of three seeds take one that costs little,
/// where there is one: CI stays quick, and no case is out of its reach.
pub fn thrifty_sample<T: Clone>(class: &str, all: &[T], is_cheap: impl Fn(&T) -> bool) -> Vec<T> {
    let cheap: Vec<T> = all.iter().filter(|case| is_cheap(case)).cloned().collect();
    if is_soak() || cheap.is_empty() || may_be_costly(class, seed()) {
        return sample(class, all);
    }
    sample(class, &cheap)
}

fn may_be_costly(class: &str, seed: u64) -> bool {
    choose(&format!("what {class} may cost"), seed, 1, 3) == [0]
}

fn seed() -> u64 {
    number("LOOPWRIGHT_SAMPLE_SEED", 1)
}

/// Indexes in rising order. Every class draws for itself, so that a new case moves no other class.
fn choose(class: &str, seed: u64, n_cases: usize, n_all: usize) -> Vec<usize> {
    let mixed = class.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let mut random = Random::new(mixed);
    let mut left: Vec<usize> = (0..n_all).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < n_cases && !left.is_empty() {
        chosen.push(left.remove(random.below(left.len())));
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_repeats_differs_by_seed_and_reaches_every_case() {
        assert_eq!(choose("a", 1, 3, 10), choose("a", 1, 3, 10));
        assert_eq!(choose("a", 1, 5, 2), [0, 1], "no case comes twice");
        let seen: std::collections::BTreeSet<usize> =
            (0..200).flat_map(|seed| choose("a", seed, 1, 10)).collect();
        assert_eq!(seen.len(), 10, "some seed chooses each case");
    }

    #[test]
    fn about_a_third_of_the_seeds_may_be_costly() {
        let costly = (0..300).filter(|seed| may_be_costly("a", *seed)).count();
        assert!((70..130).contains(&costly), "{costly}");
    }
}
