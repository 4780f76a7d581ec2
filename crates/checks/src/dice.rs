//! Choices that follow from a seed, so that the same seed gives the same answer for ever.

/// A row of numbers that looks random (`SplitMix64`). It is good for choosing, not for secrets.
pub(crate) struct Dice(u64);

impl Dice {
    /// Starts a row.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 where the limit is 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.roll().checked_rem(limit).unwrap_or(0)
    }
}
