//! What holds for all measurements, whatever they are.

use std::sync::LazyLock;

use checks::compare::{ChangedFiles, Evidence, Measured, Measurement, compare, feedback};
use checks::results::{Occurrence, Results, TestStatus};
use kernel::Finding;
use proptest::prelude::*;

fn status() -> impl Strategy<Value = TestStatus> {
    prop_oneof![
        Just(TestStatus::Passed),
        Just(TestStatus::Failed),
        Just(TestStatus::Skipped)
    ]
}

fn results() -> impl Strategy<Value = Results> {
    let test = ("[a-e]", proptest::option::of("[f-h]"), status());
    (
        proptest::collection::vec(test, 0..8),
        proptest::option::weighted(0.2, "[f-h]"),
        any::<bool>(),
    )
        .prop_map(|(tests, broken, truncated)| {
            let mut results = Results {
                truncated: truncated && broken.is_some(),
                ..Results::default()
            };
            for (name, place, status) in tests {
                results.tests.entry(name).or_default().push(Occurrence {
                    place,
                    status,
                    message: None,
                });
            }
            results.build_failure.clone_from(&broken);
            results.broken_files = broken.into_iter().collect();
            results
        })
}

fn measurement() -> impl Strategy<Value = Measurement> {
    let check = (
        prop_oneof![Just(Some(0)), Just(Some(1)), Just(None)],
        proptest::bool::weighted(0.1),
        results(),
    );
    (check, proptest::option::of(0..2_i32)).prop_map(
        |((exit_code, timed_out, mut results), lint)| {
            // What does not build is never content.
            if exit_code == Some(0) {
                results.build_failure = None;
                results.broken_files.clear();
            }
            let lint = lint.map(|code| Measured {
                name: "lint".to_owned(),
                exit_code: Some(code),
                ..Measured::default()
            });
            let test = Measured {
                name: "test".to_owned(),
                exit_code,
                timed_out,
                results,
                ..Measured::default()
            };
            Measurement {
                checks: lint.into_iter().chain([test]).collect(),
            }
        },
    )
}

/// The same measurement with one more test; a red one makes the command red.
fn with(measurement: &Measurement, name: &str, status: TestStatus) -> Measurement {
    let mut more = measurement.clone();
    for check in more
        .checks
        .iter_mut()
        .filter(|check| check.name == "test" && !check.did_not_build())
    {
        let occurrence = Occurrence {
            place: None,
            status,
            message: None,
        };
        check
            .results
            .tests
            .entry(name.to_owned())
            .or_default()
            .push(occurrence);
        if status == TestStatus::Failed {
            check.exit_code = check.exit_code.map(|code| code.max(1));
        }
    }
    more
}

static WITH_TESTS: LazyLock<ChangedFiles> = LazyLock::new(|| ChangedFiles {
    demands_tests: true,
    ..ChangedFiles::default()
});
static WITHOUT: LazyLock<ChangedFiles> = LazyLock::new(ChangedFiles::default);

fn is_per_test(measurement: &Measurement) -> bool {
    measurement
        .check("test")
        .is_some_and(|test| test.results.is_per_test())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_candidate_like_its_base_is_never_green_where_tests_are_demanded(base in measurement()) {
        let evidence = Evidence { base_with_tests: Some(&base), red_looks: std::slice::from_ref(&base), ..Evidence::of(&base, &base, &WITH_TESTS) };
        prop_assert_ne!(compare(&evidence).finding(), Finding::Green);
    }

    #[test]
    fn a_candidate_that_shows_what_the_tests_show_on_the_base_is_never_green(
        base in measurement(), tests in measurement(),
    ) {
        let evidence = Evidence { base_with_tests: Some(&tests), red_looks: std::slice::from_ref(&tests), ..Evidence::of(&base, &tests, &WITH_TESTS) };
        prop_assert_ne!(compare(&evidence).finding(), Finding::Green);
    }

    #[test]
    fn a_candidate_like_its_base_keeps_everything(base in measurement()) {
        let facts = compare(&Evidence::of(&base, &base, &WITHOUT));
        prop_assert_eq!(facts.broken.clone(), vec![]);
        prop_assert_eq!(facts.finding(), Finding::Green);
    }

    #[test]
    fn a_test_that_is_red_on_every_tree_never_turns_green_to_red(
        base in measurement(), candidate in measurement(), is_close in proptest::bool::weighted(0.8),
    ) {
        let candidate = if is_close { with(&base, "n", TestStatus::Passed) } else { candidate };
        let tests = with(&base, "n", TestStatus::Failed);
        let before = Evidence { base_with_tests: Some(&tests), red_looks: std::slice::from_ref(&tests), ..Evidence::of(&base, &candidate, &WITH_TESTS) };
        if compare(&before).finding() == Finding::Green && is_per_test(&base) && is_per_test(&candidate) {
            let [base, tests, candidate] = [&base, &tests, &candidate].map(|tree| with(tree, "z", TestStatus::Failed));
            let after = Evidence { base_with_tests: Some(&tests), red_looks: std::slice::from_ref(&tests), ..Evidence::of(&base, &candidate, &WITH_TESTS) };
            prop_assert_eq!(compare(&after).finding(), Finding::Green);
        }
    }

    #[test]
    fn a_rerun_never_makes_a_red_candidate_green_but_for_chance_on_the_base(base in measurement(), candidate in measurement(), rerun in measurement()) {
        let reruns = [rerun];
        let twice = compare(&Evidence { candidate_reruns: &reruns, ..Evidence::of(&base, &candidate, &WITHOUT) });
        let once = compare(&Evidence::of(&base, &candidate, &WITHOUT));
        if once.finding() == Finding::Red && !once.broken.is_empty() && twice.flaky.is_empty() {
            prop_assert_eq!(twice.finding(), Finding::Red);
        }
    }

    #[test]
    fn facts_survive_being_written_down(base in measurement(), tests in measurement(), candidate in measurement()) {
        let evidence = Evidence { base_with_tests: Some(&tests), red_looks: std::slice::from_ref(&tests), ..Evidence::of(&base, &candidate, &WITH_TESTS) };
        let facts = compare(&evidence);
        let text = serde_json::to_string(&facts).expect("is written");
        prop_assert_eq!(serde_json::from_str::<checks::compare::Comparison>(&text).expect("is read"), facts);
    }

    #[test]
    fn of_tests_that_are_held_back_only_the_criterion_is_told(base in measurement(), candidate in measurement()) {
        let mut candidate = candidate;
        for occurrence in candidate.checks.iter_mut().flat_map(|check| check.results.tests.values_mut()).flatten() {
            occurrence.message = Some("SECRET".to_owned());
        }
        let facts = compare(&Evidence::of(&base, &candidate, &WITHOUT));
        let held_back = ["a", "b", "c", "d", "e"].map(|name| (name.to_owned(), "the sum is right".to_owned()));
        prop_assert!(!feedback(&facts, &held_back.into_iter().collect()).contains("SECRET"));
    }
}
