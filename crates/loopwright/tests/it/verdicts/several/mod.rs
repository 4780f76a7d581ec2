//! Several stories at once with real runners (`verdicts/several/`): nothing that is red together lands,
//! and everything that is honest lands in the end or is named. The cases were written by somebody who
//! had not seen the program.
//!
//! CI plays a seeded sample, one cheap case of each of the nine situations; the soak (`LOOPWRIGHT_SOAK=1`) plays all.
//! `LOOPWRIGHT_VERDICTS=name,name` plays these cases only.

mod case;
mod outcome;
mod scene;
mod turnstile;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use case::Case;

use crate::ecosystems::toolbox;
use crate::sample::{is_soak, sample};

/// A test for each situation, and the list of all.
macro_rules! situations {
    ($($test:ident: $situation:literal;)+) => {
        $(#[test]
        fn $test() {
            show($situation);
        })+

        const SITUATIONS: &[&str] = &[$($situation,)+];
    };
}

situations! {
    one_renames_what_another_calls: "rename";
    both_add_the_same_file: "same-file";
    both_bump_one_lock_file: "lock";
    one_deletes_what_another_extends: "delete";
    two_migrations_with_one_number: "migrations";
    a_test_that_passes_only_beside_its_neighbour: "neighbour";
    servers_on_one_port: "port";
    a_flaky_test_in_the_lane: "flaky";
    a_story_that_is_sent_back_and_then_passes: "sent-back";
    other_ways_to_meet: "extra";
}

#[expect(clippy::print_stdout, reason = "a table that people read")]
fn show(situation: &str) {
    let runners = toolbox::verdict_runners();
    let cases = case::all(&runners);
    let mut wrong = Vec::new();
    let chosen = chosen(situation, &cases);
    for case in &chosen {
        let start = Instant::now();
        let mut faults = outcome::play(case, &runners);
        if case.by_chance && !faults.is_empty() {
            println!("once  {:<46} {}", case.name, faults[0]);
            faults = outcome::play(case, &runners);
        }
        let word = if faults.is_empty() { "right" } else { "WRONG" };
        let secs = start.elapsed().as_secs_f32();
        println!("{word} {:<46} {secs:.1} s", case.name);
        if !faults.is_empty() {
            wrong.push(format!("{}:\n{}", case.name, faults.join("\n")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases are wrong; LOOPWRIGHT_VERDICTS=name plays one alone\n{}",
        wrong.len(),
        chosen.len(),
        wrong.join("\n")
    );
}

fn chosen<'a>(situation: &str, cases: &'a [Case]) -> Vec<&'a Case> {
    let fitting = cases.iter().filter(|case| case.situation == situation);
    if let Ok(names) = std::env::var("LOOPWRIGHT_VERDICTS") {
        let is_asked = |case: &&Case| names.split(',').any(|name| name == case.name);
        return fitting.filter(is_asked).collect();
    }
    let mut all: Vec<&Case> = fitting
        .filter(|case| is_soak() || !case.by_chance)
        .collect();
    // CI takes what costs little: a case with cargo or vitest takes four times the time.
    let is_cheap = |case: &&Case| case.ecosystem == "pytest" && case.stories.len() <= 2;
    if !is_soak() && all.iter().any(&is_cheap) {
        all.retain(is_cheap);
    }
    sample(&format!("several {situation}"), &all)
}

#[test]
fn every_situation_is_played_by_one_test() {
    let cases = case::all(Path::new("runners"));
    let of_cases: BTreeSet<&str> = cases.iter().map(|case| case.situation.as_str()).collect();
    let mut played = SITUATIONS.to_vec();
    played.sort_unstable();
    let of_cases: Vec<&str> = of_cases.into_iter().collect();
    assert_eq!(
        played, of_cases,
        "a situation without a test, or one in two"
    );
}
