//! Tokens and money of one run, and how much of a running total is new.

use serde::{Deserialize, Serialize};

/// Tokens that a model read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Read anew, those written to a cache included.
    pub input: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written, thinking included.
    pub output: u64,
}

/// What a run used, as far as its CLI tells. What is not told is unknown, which is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens, if told.
    pub tokens: Option<Tokens>,
    /// What the tokens count.
    pub tokens_of: Counted,
    /// Millionths of a US dollar, if told.
    pub cost_micro_usd: Option<u64>,
    /// What the cost counts.
    pub cost_of: Counted,
}

/// Says what a counter counts.
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
    /// All of them.
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

    /// What came on top of an earlier reading; a counter that fell began anew, and all of it is
    /// new.
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
    /// What of this reading is new, given the last reading of the same session that was already
    /// counted (the default one for a fresh session, or when nothing of it was counted yet).
    #[must_use]
    pub fn beyond(&self, counted: &Self) -> Self {
        let tokens = match (self.tokens, self.tokens_of) {
            (Some(now), Counted::Session) => Some(now.beyond(counted.tokens.unwrap_or_default())),
            (told, Counted::Run | Counted::Session) => told,
        };
        let cost_micro_usd = match (self.cost_micro_usd, self.cost_of) {
            (Some(now), Counted::Session) => {
                let before = counted.cost_micro_usd.unwrap_or_default();
                Some(now.checked_sub(before).unwrap_or(now))
            }
            (told, Counted::Run | Counted::Session) => told,
        };
        Self {
            tokens,
            tokens_of: Counted::Run,
            cost_micro_usd,
            cost_of: Counted::Run,
        }
    }
}

/// Reads dollars as told by a CLI; what is no sensible amount is unknown.
pub(crate) fn micro_usd(dollars: f64) -> Option<u64> {
    const MICRO: f64 = 1_000_000.0;
    const MOST_DOLLARS: f64 = 1_000_000.0;
    let is_sensible = dollars.is_finite() && (0.0..=MOST_DOLLARS).contains(&dollars);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked in the line above"
    )]
    is_sensible.then(|| (dollars * MICRO).round() as u64)
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
