//! What the next attempt is told.

use std::collections::BTreeMap;

use checks::compare::{Comparison, FEEDBACK_BYTES_MAX, Failing, feedback};

use crate::compare::facts_of;

#[test]
fn feedback_names_what_is_red() {
    let mut facts =
        facts_of("base: lint=0 | 0 a+ b+; tests: 1 a+ b+ n- m-; cand: lint=1 | 1 a+ b- n- m-");
    facts.failed_checks[0].message =
        "exit code 1\n --> tests/new.rs:2:3\n2 | secret source\n  | ^^^\nin `m` something is off\nm_other"
            .to_owned();
    let held_back = BTreeMap::from([("m".to_owned(), "multiplying by zero gives zero".to_owned())]);
    assert_eq!(
        feedback(&facts, &held_back),
        "These were green before the change and are not any more: b\n- b\n    b is off\nThese new tests are not green: n\n\
         - n\n    n is off\nNot met: multiplying by zero gives zero\nThe check `lint` is red:\nexit code 1\n --> \
         tests/new.rs:2:3\nin `m` something is off\nm_other"
    );
}

#[test]
fn lines_that_name_a_held_back_test_are_left_out() {
    let mut facts = facts_of("base: 0; cand: 1");
    facts.failed_checks[0].message =
        "exit code 1\nFAIL multiplies_by_zero: left 1\nother line".to_owned();
    let held_back = BTreeMap::from([("math::multiplies_by_zero".to_owned(), "zero".to_owned())]);
    assert_eq!(
        feedback(&facts, &held_back),
        "The check `test` is red:\nexit code 1\nother line"
    );
}

#[test]
fn feedback_is_bounded() {
    let mut facts: Comparison = facts_of("base: 0 a+; cand: 1 a-");
    facts.broken = (0..200)
        .map(|n| Failing {
            name: format!("test {n}"),
            message: "x".repeat(2_000),
        })
        .collect();
    let text = feedback(&facts, &BTreeMap::new());
    assert!(text.len() <= FEEDBACK_BYTES_MAX);
    assert!(text.contains("- test 0\n"));
}
