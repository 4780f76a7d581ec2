//! Tokens and money: what a loop may use, and whether that could be kept at all.

use std::sync::Arc;

use home::Settings;
use kernel::{Allowance, StorySpec, StoryStart};

use super::casting::Casting;
use crate::config::Config;
use crate::failure::Failure;

/// The budget of tokens and money; refused where an agent would not say what it uses, since unknown
/// is not nothing.
pub(super) fn allowance(
    config: &Config,
    settings: &Settings,
    casting: &Casting,
) -> Result<Option<Allowance>, Failure> {
    let budget = &config.budget;
    if budget.usd.is_none() && budget.tokens.is_none() {
        return Ok(None);
    }
    let named = [
        &casting.implementor,
        &casting.reviewer,
        &casting.prover,
        &casting.judge,
    ];
    for name in named.into_iter().chain(&config.retry.ladder) {
        tells(name, settings, budget.usd.is_some())?;
    }
    Ok(Some(Allowance {
        tokens: budget.tokens,
        micro_usd: budget.usd.map(micro),
        run_tokens: budget.run_tokens,
        run_micro_usd: budget.run_usd.map(micro),
    }))
}

/// Agents that single stories name must tell what they use too.
pub(super) fn tell_of_stories(
    allowance: Option<&Allowance>,
    stories: &[Arc<StorySpec>],
    settings: &Settings,
) -> Result<(), Failure> {
    let Some(allowance) = allowance else {
        return Ok(());
    };
    for story in stories
        .iter()
        .filter(|story| story.start == StoryStart::Open)
    {
        let assigned = &story.assigned;
        let named = [
            &story.tool,
            &assigned.implementor,
            &assigned.reviewer,
            &assigned.judge,
        ];
        named
            .into_iter()
            .flatten()
            .try_for_each(|name| tells(name, settings, allowance.micro_usd.is_some()))?;
    }
    Ok(())
}

/// Refuses an agent that does not say what it uses.
fn tells(name: &str, settings: &Settings, in_dollars: bool) -> Result<(), Failure> {
    let Some(agent) = settings.agents.get(name) else {
        return Ok(());
    };
    let kind = agent.kind.as_deref().and_then(agents::Kind::of_word);
    let facts = kind
        .filter(|kind| !kind.is_any_program())
        .map(agents::Kind::facts);
    let Some(facts) = facts else {
        let what = match kind {
            Some(agents::Kind::Acp) => "speaks ACP, where not every agent says what it uses",
            _ => "is a command and does not say what it costs",
        };
        return Err(Failure::bad_input(format!(
            "[budget] usd and tokens cannot be kept: `{name}` {what}"
        ))
        .hint("limit the time instead: [budget] hours = 2.0"));
    };
    let prices = agents::Prices::new(settings.prices.clone());
    let has_price = agent
        .model
        .as_deref()
        .is_some_and(|model| prices.of(model).is_some());
    if in_dollars && !facts.tells_cost && !has_price {
        return Err(Failure::bad_input(format!(
            "[budget] usd cannot be kept: `{name}` does not say what it costs, and its model has no price"
        ))
        .hint("name its model, and give that a price: [prices.\"MODEL\"] input = 1.25, output = 10.0 (dollars per million tokens)"));
    }
    Ok(())
}

/// The price table, in millionths of a dollar per million tokens.
pub(super) fn prices(config: &Config) -> Vec<agents::Price> {
    let price = |(models, price): (&String, &crate::config::PriceConfig)| agents::Price {
        models: models.clone(),
        input: micro(price.input),
        cached: (price.cached > 0.0).then(|| micro(price.cached)),
        output: micro(price.output),
    };
    config.prices.iter().map(price).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded right before"
)]
fn micro(dollars: f64) -> u64 {
    (dollars.clamp(0.0, 1e9) * 1e6).round() as u64
}
