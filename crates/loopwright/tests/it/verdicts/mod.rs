//! The gallery of verdicts (`verdicts/`): bad work that must not land although its judge says yes,
//! and honest work that must. Every case runs the real program on a small project with the real
//! runner of its ecosystem; only the agents are played.
//!
//! CI plays a seeded sample of each test, the soak (`LOOPWRIGHT_SOAK=1`) all cases.
//! `LOOPWRIGHT_VERDICTS=name,name` plays these cases only, in the test of their class.

mod case;
mod outcome;
mod random_builds;
mod scene;
mod several;
mod soundness;
mod stage;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use case::{Case, Kind};

use crate::ecosystems::toolbox;
use crate::sample::{is_soak, thrifty_sample};

/// A test for each group of classes, small enough to run in a minute, and the list of all classes.
macro_rules! groups {
    ($($test:ident: $($class:literal)+;)+) => {
        $(#[test]
        fn $test() {
            show(&[$($class),+]);
        })+

        const CLASSES: &[&str] = &[$($($class,)+)+];
    };
}

groups! {
    old_forms_that_do_not_run: "1";
    tests_outside_the_known_paths: "2";
    configuration_that_is_read_otherwise: "3";
    what_configuration_loads: "4";
    tests_made_unstable: "5";
    tests_rewritten_while_they_run: "6";
    namesakes_and_printed_results: "7";
    links_out_of_the_tree: "8";
    a_judge_that_is_blinded: "9";
    code_that_knows_when_it_is_checked: "10";
    edits_that_reach_the_writers_tests: "11";
    code_that_patches_its_runner: "12";
    tests_that_are_red_by_chance: "13";
    work_that_is_simply_bad: "control";
    honest_work: "honest" "plain";
    honest_configuration: "guarded" "package" "codegen";
    honest_moves: "moved" "rename-module" "writer-renames";
    honest_tests: "strengthened" "helpers" "red-acceptance";
    honest_changes_of_behaviour: "behaviour" "breaking" "dead-code";
    honest_rebuilding: "refactor" "data" "folder";
    honest_work_with_odd_runners: "bail" "flake" "tap-unnamed";
    honest_work_with_odd_words: "words" "multi";
}

/// Plays cases of these classes and tells all that came out wrong at once.
#[expect(clippy::print_stdout, reason = "a table that people read")]
fn show(classes: &[&'static str]) {
    let runners = toolbox::verdict_runners();
    let (cases, known_wrong) = (case::all(&runners), case::known_wrong());
    let chosen = chosen(classes, &cases, &known_wrong);
    let (mut faults, mut named, mut unnamed) = (Vec::new(), 0, Vec::new());
    for case in &chosen {
        let shown = show_one(case, &runners);
        match shown.names_subject {
            Some(true) => named += 1,
            Some(false) => unnamed.push(case.name.as_str()),
            None => {}
        }
        match (shown.fault, known_wrong.contains(&case.name)) {
            (Some(fault), false) => faults.push(format!("{}: {fault}", case.name)),
            (Some(_), true) => println!("      {} is known to be wrong", case.name),
            // Outside the soak it may be luck, and nobody should have to mend a list for it.
            (None, true) if is_soak() => faults.push(format!(
                "{}: it is right now; take it from verdicts/known-wrong.txt",
                case.name
            )),
            (None, _) => {}
        }
    }
    println!(
        "{classes:?}: {named} of {} subjects named, not: {unnamed:?}",
        named + unnamed.len()
    );
    assert!(
        faults.is_empty(),
        "{} of {} cases are wrong; LOOPWRIGHT_VERDICTS=name plays one alone\n{}",
        faults.len(),
        chosen.len(),
        faults.join("\n")
    );
}

/// The cases to play: those that were asked for by name, all of them in the soak, or a sample of
/// those that must be right.
fn chosen<'a>(
    classes: &[&'static str],
    cases: &'a [Case],
    known_wrong: &BTreeSet<String>,
) -> Vec<&'a Case> {
    let of_class = |class: &&'static str| {
        let class = *class;
        cases.iter().filter(move |case| case.class == class)
    };
    if let Ok(names) = std::env::var("LOOPWRIGHT_VERDICTS") {
        let is_asked = |case: &&Case| names.split(',').any(|name| name == case.name);
        let asked: Vec<&Case> = classes.iter().flat_map(of_class).filter(is_asked).collect();
        assert!(
            !asked.is_empty(),
            "none of `{names}` is of the classes {classes:?}; run the test of its class alone"
        );
        return asked;
    }
    // What the cases of one test have in common is what CI must see; the finer classes take turns.
    let by_chance = case::by_chance();
    let is_steady =
        |case: &Case| !known_wrong.contains(&case.name) && !by_chance.contains(&case.name);
    let is_played = |case: &&Case| is_soak() || is_steady(case);
    let mut all: Vec<&Case> = classes
        .iter()
        .flat_map(of_class)
        .filter(is_played)
        .collect();
    // CI takes what costs little: one run of jest or cargo costs as much as all else of a case, and so do
    // the six runs of pytest that one story takes.
    if !is_soak() && all.iter().any(|case| case.is_cheap()) {
        all.retain(|case| case.is_cheap());
    }
    let class = format!("verdicts {}", classes.join(" "));
    thrifty_sample(&class, &all, |case| case.is_of_shell())
}

/// What was seen of a case.
struct Shown {
    fault: Option<String>,
    names_subject: Option<bool>,
}

#[expect(clippy::print_stdout, reason = "a table that people read")]
fn show_one(case: &Case, runners: &Path) -> Shown {
    let start = Instant::now();
    let outcome = outcome::play(case, runners);
    let secs = start.elapsed().as_secs_f32();
    let name = &case.name;
    let kind = match case.kind {
        Kind::Attack => "attack",
        Kind::Honest => "honest",
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(why) => {
            println!("WRONG {kind} {name:<36} no outcome {secs:.1} s");
            return Shown {
                fault: Some(format!("no outcome: {why}")),
                names_subject: None,
            };
        }
    };
    let fault = outcome.fault(case);
    let word = if fault.is_some() { "WRONG" } else { "right" };
    println!(
        "{word} {kind} {name:<36} landed {} truth {:?} {secs:.1} s",
        outcome.landed, outcome.truth
    );
    Shown {
        fault: fault.map(|fault| format!("{fault}\n{}", outcome.report)),
        names_subject: outcome.names_subject(case),
    }
}

#[test]
fn every_class_is_played_by_one_test() {
    let cases = case::all(Path::new("runners"));
    let of_cases: BTreeSet<&str> = cases.iter().map(|case| case.class.as_str()).collect();
    let mut played = CLASSES.to_vec();
    played.sort_unstable();
    let of_cases: Vec<&str> = of_cases.into_iter().collect();
    assert_eq!(played, of_cases, "a class without a test, or one in two");
}
