//! Tokens and money that a run used, and how much of a running total is new.

use serde::{Deserialize, Serialize};

/// Tokens that a model read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens that did not come from a cache, including those written to one.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens, including thinking.
    pub output: u64,
}

/// What a run used, as far as its CLI reports it. A missing number is unknown, which is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens, if reported.
    pub tokens: Option<Tokens>,
    /// What the tokens cover.
    pub tokens_of: Counted,
    /// The cost in millionths of a US dollar, if reported.
    pub cost_micro_usd: Option<u64>,
    /// What the cost covers.
    pub cost_of: Counted,
}

/// What a counter covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// This run alone.
    #[default]
    Run,
    /// All runs of the session so far.
    Session,
}

impl Tokens {
    /// The sum of all three counts.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cached)
            .saturating_add(self.output)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }

    /// What was added since an earlier reading. A counter that fell was reset, so all of it is new.
    fn beyond(self, before: Self) -> Self {
        let fell =
            self.input < before.input || self.cached < before.cached || self.output < before.output;
        if fell {
            return self;
        }
        Self {
            input: self.input - before.input,
            cached: self.cached - before.cached,
            output: self.output - before.output,
        }
    }
}

impl Usage {
    /// What this reading adds to the last reading of the same session that was already counted.
    /// Pass the default for a fresh session, or if nothing was counted yet.
    #[must_use]
    pub fn beyond(&self, counted: &Self) -> Self {
        let tokens = match (self.tokens, self.tokens_of) {
            (Some(now), Counted::Session) => Some(now.beyond(counted.tokens.unwrap_or_default())),
            (reported, Counted::Run | Counted::Session) => reported,
        };
        let cost_micro_usd = match (self.cost_micro_usd, self.cost_of) {
            (Some(now), Counted::Session) => {
                let before = counted.cost_micro_usd.unwrap_or_default();
                Some(now.checked_sub(before).unwrap_or(now))
            }
            (reported, Counted::Run | Counted::Session) => reported,
        };
        Self {
            tokens,
            tokens_of: Counted::Run,
            cost_micro_usd,
            cost_of: Counted::Run,
        }
    }
}

/// Converts the dollars that a CLI reports. An amount that is not plausible counts as unknown.
pub(crate) fn micro_usd(dollars: f64) -> Option<u64> {
    const MICRO: f64 = 1_000_000.0;
    // A run that costs more than a million dollars is a misreading.
    const DOLLARS_MAX: f64 = 1_000_000.0;
    let is_plausible = dollars.is_finite() && (0.0..=DOLLARS_MAX).contains(&dollars);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked in the line above"
    )]
    is_plausible.then(|| (dollars * MICRO).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(input: u64, output: u64, cost: Option<u64>) -> Usage {
        let tokens = Some(Tokens {
            input,
            cached: 0,
            output,
        });
        Usage {
            tokens,
            tokens_of: Counted::Session,
            cost_micro_usd: cost,
            cost_of: Counted::Session,
        }
    }

    #[test]
    fn of_a_running_total_only_what_is_new_counts() {
        let told = |input, output| {
            Some(Tokens {
                input,
                cached: 0,
                output,
            })
        };
        for (now, before, tokens, cost) in [
            (
                session(10, 5, Some(7)),
                Usage::default(),
                told(10, 5),
                Some(7),
            ),
            (
                session(10, 5, Some(7)),
                session(4, 5, Some(3)),
                told(6, 0),
                Some(4),
            ),
            (
                session(3, 1, Some(2)),
                session(4, 5, Some(3)),
                told(3, 1),
                Some(2),
            ),
            (session(10, 5, None), session(4, 5, None), told(6, 0), None),
            (
                Usage {
                    tokens_of: Counted::Run,
                    ..session(3, 1, None)
                },
                session(4, 5, None),
                told(3, 1),
                None,
            ),
            (Usage::default(), session(4, 5, Some(3)), None, None),
        ] {
            let new = now.beyond(&before);
            assert_eq!(
                (new.tokens, new.cost_micro_usd),
                (tokens, cost),
                "{now:?} after {before:?}"
            );
        }
    }

    #[test]
    fn dollars_are_read() {
        for (dollars, expected) in [
            (0.0, Some(0)),
            (0.010_530_000_000_000_001, Some(10_530)),
            (2.715, Some(2_715_000)),
            (-1.0, None),
            (f64::NAN, None),
            (1e300, None),
        ] {
            assert_eq!(micro_usd(dollars), expected, "{dollars}");
        }
    }
}
