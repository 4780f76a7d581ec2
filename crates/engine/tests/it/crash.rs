//! The power fails at every single crash point of every scenario, and the loop ends as if it had not.
//!
//! Crash points are before and after every record, ref, commit, checkout, spec and launch. CI cuts the
//! power at all of them in one scenario per class and per flow, chosen by `LOOPWRIGHT_SAMPLE_SEED`; the
//! soak (`LOOPWRIGHT_SOAK=1`) in all scenarios.

use std::collections::{BTreeMap, BTreeSet};

use testkit::{Random, number};

use crate::play::Play;
use crate::scenario::{Scenario, all};
use crate::scenarios::calm;

/// Plays a scenario with the power failing at these points.
fn ends_alike(scenario: &Scenario, cut_at: Vec<usize>, calm: &crate::play::Ending) {
    let when = format!("{}: the power failed at {cut_at:?}", scenario.name);
    let play = Play::new(scenario, cut_at);
    let points = play.out();
    let ending = play.ending();
    assert_eq!(
        ending,
        *calm,
        "{when}, after {:?}",
        points.iter().rev().take(3).collect::<Vec<_>>()
    );
    play.assert_one_start_each();
}

/// Cuts the power at every point in turn; says how many there were.
fn survives_every_point(scenario: &Scenario) -> usize {
    let (calm, points) = calm(scenario);
    for point in 1..=points.len() {
        ends_alike(scenario, vec![point], &calm);
    }
    points.len()
}

/// The scenarios of a flow that are played. The soak plays all; CI plays one per class, whichever flow
/// that is of, and at least one per flow.
fn chosen(flow: &str) -> Vec<Scenario> {
    let all = all();
    let of_flow = |scenario: &&Scenario| scenario.flow == flow;
    if std::env::var_os("LOOPWRIGHT_SOAK").is_some() {
        return all.iter().filter(of_flow).cloned().collect();
    }
    let mut random = Random::new(number("LOOPWRIGHT_SAMPLE_SEED", 1));
    let mut sample: BTreeMap<String, &Scenario> = BTreeMap::new();
    for key in ["class", "flow"] {
        let of = |scenario: &Scenario| match key {
            "class" => scenario.class.clone(),
            _ => scenario.flow.clone(),
        };
        let values: BTreeSet<String> = all.iter().map(of).collect();
        for value in values {
            let fitting: Vec<&Scenario> = all.iter().filter(|one| of(one) == value).collect();
            let picked = *random.pick(&fitting);
            sample.insert(picked.name.clone(), picked);
        }
    }
    sample.into_values().filter(of_flow).cloned().collect()
}

fn flow_survives(flow: &str) {
    let scenarios = chosen(flow);
    assert!(!scenarios.is_empty(), "{flow} has scenarios");
    let mut n_points = 0;
    for scenario in &scenarios {
        n_points += survives_every_point(scenario);
    }
    println!(
        "{flow}: {} scenarios, {n_points} crash points",
        scenarios.len()
    );
}

fn named(name: &str) -> Scenario {
    let found = all().into_iter().find(|scenario| scenario.name == name);
    found.unwrap_or_else(|| panic!("there is no scenario {name}"))
}

#[test]
fn i04_a_crash_at_any_moment_changes_nothing() {
    flow_survives("judged");
}

#[test]
fn i04_quartet_survives_crashes() {
    flow_survives("quartet");
}

#[test]
fn i04_tdd_survives_crashes() {
    flow_survives("tdd");
}

#[test]
fn i04_proof_survives_crashes() {
    flow_survives("proof");
}

#[test]
fn i04_solo_survives_crashes() {
    flow_survives("solo");
}

#[test]
fn i04_a_crash_around_a_stand_in_changes_nothing() {
    survives_every_point(&named("stand-in-then-judge-interrupted"));
}

#[test]
fn i04_a_crash_around_a_session_that_goes_on_changes_nothing() {
    survives_every_point(&named("session-resumed-twice"));
}

#[test]
fn i04_crashes_at_every_record_in_a_row_change_nothing() {
    for scenario in chosen("quartet").iter().chain(&chosen("proof")) {
        let (calm, points) = calm(scenario);
        // Every worker lives for exactly two crash points: a point that was cut off comes again in
        // the next life, so the count runs on.
        let every_second = (1..=points.len() * 3)
            .filter(|point| point % 3 == 0)
            .collect();
        ends_alike(scenario, every_second, &calm);
    }
}
