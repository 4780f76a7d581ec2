//! The power fails at every single crash point of every scenario, and the loop ends as if it had not.
//!
//! Crash points are before and after every record, ref, commit, checkout, spec and launch. CI cuts the
//! power at all of them in one scenario per flow, and at some in one per class, all chosen by
//! `LOOPWRIGHT_SAMPLE_SEED`; the soak (`LOOPWRIGHT_SOAK=1`) at all of them in all scenarios.

use std::collections::{BTreeMap, BTreeSet};

use testkit::{Random, is_soak, number};

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

/// One in so many crash points is played in CI where not all of them are.
const ONE_IN: u64 = 36;

/// Cuts the power at every point in turn, or at one in so many; says at how many.
fn survives_points(scenario: &Scenario, one_in: u64) -> usize {
    let (calm, points) = calm(scenario);
    let mut random = Random::new(number("LOOPWRIGHT_SAMPLE_SEED", 1));
    let mut cuts: Vec<usize> = (1..=points.len())
        .filter(|_| random.draw().is_multiple_of(one_in))
        .collect();
    if cuts.is_empty() {
        cuts.push(1 + random.below(points.len()));
    }
    for point in &cuts {
        ends_alike(scenario, vec![*point], &calm);
    }
    cuts.len()
}

/// A scenario and how much of it is played.
#[derive(Clone)]
struct Chosen {
    scenario: Scenario,
    /// One in so many crash points.
    one_in: u64,
}

/// Cuts the power at some points, or at every one in the soak.
fn survives_some_points(scenario: &Scenario) -> usize {
    survives_points(scenario, if is_soak() { 1 } else { ONE_IN })
}

/// The scenarios of a flow that are played. The soak plays all; CI plays one per flow in full, and a
/// part of one per class, whichever flow that is of. The one in full has as few stories as any: another
/// story meets the same moments once more.
fn chosen(flow: &str) -> Vec<Chosen> {
    let all = all();
    let every = |scenario: &Scenario| Chosen {
        scenario: scenario.clone(),
        one_in: 1,
    };
    if is_soak() {
        let of_flow = all.iter().filter(|scenario| scenario.flow == flow);
        return of_flow.map(every).collect();
    }
    let mut random = Random::new(number("LOOPWRIGHT_SAMPLE_SEED", 1));
    let mut sample: BTreeMap<String, Chosen> = BTreeMap::new();
    for (key, one_in) in [("class", ONE_IN), ("flow", 1)] {
        let of = |scenario: &Scenario| match key {
            "class" => scenario.class.clone(),
            _ => scenario.flow.clone(),
        };
        let values: BTreeSet<String> = all.iter().map(of).collect();
        for value in values {
            let mut fitting: Vec<&Scenario> = all.iter().filter(|one| of(one) == value).collect();
            let fewest = fitting.iter().map(|one| one.story.len()).min();
            fitting.retain(|one| one_in > 1 || Some(one.story.len()) == fewest);
            let scenario = (*random.pick(&fitting)).clone();
            let picked = Chosen { scenario, one_in };
            sample.insert(picked.scenario.name.clone(), picked);
        }
    }
    let of_flow = |chosen: &Chosen| chosen.scenario.flow == flow;
    sample.into_values().filter(of_flow).collect()
}

fn flow_survives(flow: &str) {
    let chosen = chosen(flow);
    assert!(!chosen.is_empty(), "{flow} has scenarios");
    let mut n_points = 0;
    for Chosen { scenario, one_in } in &chosen {
        n_points += survives_points(scenario, *one_in);
    }
    println!(
        "{flow}: {} scenarios, {n_points} crash points",
        chosen.len()
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
    survives_points(&named("stand-in-then-judge-interrupted"), 1);
}

#[test]
fn i04_a_crash_around_a_session_that_goes_on_changes_nothing() {
    survives_points(&named("session-resumed-twice"), 1);
}

#[test]
fn i04_a_crash_around_what_a_person_wants_changes_nothing() {
    for scenario in all() {
        if scenario.class.starts_with("steer-") {
            survives_some_points(&scenario);
        }
    }
}

/// One clean restack, one semantic conflict, one textual conflict, one question, one story that is sent
/// back twice. What agents wait for fixes the order in which they end.
#[test]
fn i04_a_crash_around_several_stories_changes_nothing() {
    for name in [
        "disjoint-two-quartet",
        "semantic-own-code-breaks-landed-test",
        "two-additions-conflict",
        "lane-judge-asks",
        "twice-sent-back-then-alone",
    ] {
        survives_some_points(&named(name));
    }
}

/// A landing that is confirmed, one that is taken back with others above it, and one that a cancel leaves
/// unconfirmed: published equally whenever the power failed.
#[test]
fn i04_a_crash_around_a_confirmation_changes_nothing() {
    let all = all();
    let confirming = all.iter().filter(|scenario| scenario.class == "confirm");
    let n_points: usize = confirming.map(survives_some_points).sum();
    println!("{n_points} crash points around confirmations");
}

#[test]
fn i04_crashes_at_every_record_in_a_row_change_nothing() {
    let played = [chosen("quartet"), chosen("proof")].concat();
    for Chosen { scenario, .. } in played.iter().filter(|chosen| chosen.one_in == 1) {
        let (calm, points) = calm(scenario);
        // Every worker lives for exactly two crash points: a point that was cut off comes again in
        // the next life, so the count runs on.
        let every_second = (1..=points.len() * 3)
            .filter(|point| point % 3 == 0)
            .collect();
        ends_alike(scenario, every_second, &calm);
    }
}
