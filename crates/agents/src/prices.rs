//! What tokens cost, by the operator's own table, for CLIs that do not tell.

use serde::{Deserialize, Serialize};

use crate::usage::Tokens;

/// The price of models whose name fits, in millionths of a US dollar per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Which models: `*` stands for any characters, case does not matter.
    pub models: String,
    /// For tokens read anew.
    pub input: u64,
    /// For tokens from a cache; without it they cost as much as others, since too high is the safe
    /// side.
    pub cached: Option<u64>,
    /// For tokens written.
    pub output: u64,
}

/// A table of prices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prices(Vec<Price>);

impl Prices {
    /// Takes a table. Of several rows that fit a model the most exact one counts, and of those the
    /// first.
    pub fn new(rows: Vec<Price>) -> Self {
        Self(rows)
    }

    /// The price of a model, if the table knows it.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let model = model.to_lowercase();
        let fitting = self
            .0
            .iter()
            .filter(|price| fits(&price.models.to_lowercase(), &model));
        // `max_by_key` would take the last of equals.
        fitting
            .rev()
            .max_by_key(|price| price.models.chars().filter(|&c| c != '*').count())
    }

    /// What tokens of a model cost, in millionths of a US dollar, rounded up; nothing where the
    /// price is not known.
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

/// Matches a name against a pattern with `*`, in time that grows with their product at most.
fn fits(pattern: &str, name: &str) -> bool {
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
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
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
