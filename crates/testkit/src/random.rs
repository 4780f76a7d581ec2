//! A small seeded source of randomness, so that a printed seed replays exactly.

/// `SplitMix64`: good enough to choose with, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers, for ever.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 when the bound is 0.
    pub fn below<N: TryFrom<u64> + Default>(&mut self, bound: N) -> N
    where
        u64: TryFrom<N>,
    {
        let bound = u64::try_from(bound).unwrap_or_default().max(1);
        N::try_from(self.draw() % bound).unwrap_or_default()
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100_u64) < percent
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A number that the caller of the tests may set by an environment variable: a seed, a count.
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
