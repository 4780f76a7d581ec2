//! What tokens cost by the operator's own table, for CLIs that do not report costs.

use serde::{Deserialize, Serialize};

use crate::usage::Tokens;

/// The price of the models whose name matches, in millionths of a US dollar per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Pattern for model names. `*` stands for any characters, and case is ignored.
    pub models: String,
    /// Price of input tokens that do not come from a cache.
    pub input: u64,
    /// Price of cached input tokens. Without it they cost as much as other input, because an
    /// estimate that is too high is the safe side.
    pub cached: Option<u64>,
    /// Price of output tokens.
    pub output: u64,
}

/// A table of prices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prices(Vec<Price>);

impl Prices {
    /// Makes a table. If several rows match a model, the one with the most literal characters wins,
    /// and among equals the first.
    pub fn new(rows: Vec<Price>) -> Self {
        Self(rows)
    }

    /// The price of a model, if the table knows it.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let model = model.to_lowercase();
        let matching = self
            .0
            .iter()
            .filter(|price| matches(&price.models.to_lowercase(), &model));
        // `max_by_key` returns the last of equals, so go through the rows backwards.
        matching
            .rev()
            .max_by_key(|price| price.models.chars().filter(|&c| c != '*').count())
    }

    /// What tokens of a model cost, in millionths of a US dollar, rounded up. `None` if the price
    /// is unknown.
    pub fn cost_micro_usd(&self, model: &str, tokens: &Tokens) -> Option<u64> {
        const MILLION: u128 = 1_000_000;
        let price = self.of(model)?;
        let part = |count: u64, price: u64| u128::from(count) * u128::from(price);
        let sum = part(tokens.input, price.input)
            .saturating_add(part(tokens.cached, price.cached.unwrap_or(price.input)))
            .saturating_add(part(tokens.output, price.output));
        u64::try_from(sum.div_ceil(MILLION)).ok()
    }
}

/// Matches a name against a pattern with `*`. Taking the leftmost match of each part is enough, so
/// there is no backtracking: the time grows at most with the product of the lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits() {
        for (pattern, name, expected) in [
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5.5", false),
            ("gpt-5*", "gpt-5.5", true),
            ("*", "", true),
            ("*sonnet*", "claude-sonnet-4-5", true),
            ("claude-*-4-5", "claude-sonnet-4-5", true),
            ("claude-*-4-5", "claude-4-5", false),
            ("a*a", "a", false),
            ("**b", "ab", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let row = |models: &str, input, cached, output| Price {
            models: models.to_owned(),
            input,
            cached,
            output,
        };
        let prices = Prices::new(vec![
            row("gpt-*", 1_000_000, None, 2_000_000),
            row("GPT-5*", 3_000_000, Some(300_000), 6_000_000),
            row("gpt-5?", 9, None, 9),
        ]);
        let tokens = Tokens {
            input: 1_000_000,
            cached: 100_000,
            output: 10,
        };
        for (model, expected) in [
            ("gpt-4", Some(1_000_000 + 100_000 + 20)),
            ("gpt-5.5", Some(3_000_000 + 30_000 + 60)),
            ("claude-opus", None),
        ] {
            assert_eq!(prices.cost_micro_usd(model, &tokens), expected, "{model}");
        }
        let one = Tokens {
            input: 0,
            cached: 1,
            output: 0,
        };
        assert_eq!(
            prices.cost_micro_usd("gpt-5.5", &one),
            Some(1),
            "a part of a millionth is rounded up"
        );
    }
}
