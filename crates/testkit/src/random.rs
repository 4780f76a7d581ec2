//! A small seeded random generator, so that a failed test can be replayed from its printed seed.

/// `SplitMix64`: good enough for making choices, and the same on every machine and in every
/// version, which generators of libraries do not promise.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The same seed always gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, from the whole range of `u64`.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0 if `bound` is 0.
    pub fn below<N: TryFrom<u64> + Default>(&mut self, bound: N) -> N
    where
        u64: TryFrom<N>,
    {
        let bound = u64::try_from(bound).unwrap_or_default().max(1);
        // The remainder favours small numbers slightly, which does not matter for bounds this
        // small.
        N::try_from(self.draw() % bound).unwrap_or_default()
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100_u64) < percent
    }

    /// One of the items, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A number from an environment variable, such as a seed or a count, or `otherwise` if it is not
/// set.
pub fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_replays_and_bounds_hold() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        for bound in 0..100_u32 {
            let (first, second) = (one.below(bound), two.below(bound));
            assert_eq!(first, second);
            assert!(first < bound.max(1), "{first} below {bound}");
        }
        assert!(!one.chance(0) && one.chance(100));
        assert_eq!(one.pick(&[5]), &5);
    }
}
