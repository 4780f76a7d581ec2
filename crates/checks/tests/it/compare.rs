//! What follows from measurements, as a table.
//!
//! A row says what was measured on which tree: `base`, `tests` (base with the new tests), `cand`,
//! `rerun`, `without` (the candidate without the new tests), `old` (the candidate with the base's
//! tests); `writer`, `suites` and `edited` name files. A measurement is an exit code and its tests:
//! `a+` passed, `a-` failed, `a~` was skipped, `a@f+` stands in `f`. `BUILD` did not build,
//! `BROKEN=f` could not load one file, `CRASHED=f` ended early, `CUT` is a cut output, `AS=tap`
//! whose words these are, `t` a time-out, `s` a signal. Checks other than `test` stand before it:
//! `lint=1 | 0 a+`.

use checks::compare::{Comparison, Evidence, How, Measured, Measurement, SetupFailed, compare};
use checks::results::{Format, Occurrence, TestStatus};
use kernel::Finding;

#[derive(Default)]
struct Given {
    base: Measurement,
    tests: Option<Measurement>,
    cand: Measurement,
    reruns: Vec<Measurement>,
    without: Option<Measurement>,
    old: Option<Measurement>,
    writer: Vec<String>,
    edited: Vec<String>,
    suites: Vec<String>,
}

pub(crate) fn facts_of(row: &str) -> Comparison {
    let mut given = Given::default();
    for part in row.split(';') {
        let (key, value) = part.trim().split_once(':').unwrap_or((part, ""));
        let files = || value.split_whitespace().map(str::to_owned).collect();
        match key {
            "base" => given.base = measurement(value),
            "tests" => given.tests = Some(measurement(value)),
            "cand" => given.cand = measurement(value),
            "rerun" => given.reruns.push(measurement(value)),
            "without" => given.without = Some(measurement(value)),
            "old" => given.old = Some(measurement(value)),
            "writer" => given.writer = files(),
            "edited" => given.edited = files(),
            "suites" => given.suites = files(),
            other => panic!("unknown key {other}"),
        }
    }
    compare(&Evidence {
        base: &given.base,
        base_with_tests: given.tests.as_ref(),
        candidate: &given.cand,
        candidate_reruns: &given.reruns,
        candidate_without_tests: given.without.as_ref(),
        candidate_with_base_tests: given.old.as_ref(),
        writer_files: &given.writer,
        suite_files: &given.suites,
        edited_files: &given.edited,
    })
}

fn measurement(text: &str) -> Measurement {
    Measurement {
        checks: text
            .split('|')
            .map(|check| measured(check.trim()))
            .collect(),
    }
}

fn measured(text: &str) -> Measured {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("0");
    let (name, code) = first.split_once('=').unwrap_or(("test", first));
    let mut check = Measured {
        name: name.to_owned(),
        excerpt: format!("{name} said {code}"),
        ..Measured::default()
    };
    check.timed_out = code == "t";
    check.exit_code = code.parse().ok();
    for word in words {
        match word.split_once('=') {
            Some(("BROKEN", file)) => {
                check.results.broken_files.push(file.to_owned());
                check.results.build_failure = Some(format!("cannot load {file}"));
            }
            Some(("AS", "tap")) => check.format = Some(Format::Tap),
            Some(("AS", _)) => check.format = Some(Format::JunitXml),
            Some(("CRASHED", place)) => check.results.crashed.push(place.to_owned()),
            _ if word == "BUILD" => check.results.build_failure = Some("does not build".to_owned()),
            _ if word == "CUT" => check.results.truncated = true,
            _ => add_test(&mut check, word),
        }
    }
    check
}

fn add_test(check: &mut Measured, word: &str) {
    let (test, sign) = word.split_at(word.len() - 1);
    let status = match sign {
        "+" => TestStatus::Passed,
        "-" => TestStatus::Failed,
        "~" => TestStatus::Skipped,
        other => panic!("unknown sign {other}"),
    };
    let (name, place) = test
        .split_once('@')
        .map_or((test, None), |(name, place)| (name, Some(place.to_owned())));
    let message = (status == TestStatus::Failed).then(|| format!("{name} is off"));
    check
        .results
        .tests
        .entry(name.to_owned())
        .or_default()
        .push(Occurrence {
            place,
            status,
            message,
        });
}

/// The facts in one line, without what is empty.
pub(crate) fn line(facts: &Comparison) -> String {
    let finding = match (&facts.setup_failed, facts.finding()) {
        (Some(SetupFailed { on_base: true, .. }), _) => "setup-failed-on-base",
        (Some(_), _) => "setup-failed",
        (None, Finding::Green) => "green",
        (None, Finding::Red) => "red",
        (None, Finding::Unfit) => "mismatch",
        (None, Finding::Unproven) => "nothing-proven",
    };
    let mut parts = vec![finding.to_owned()];
    let failing = |list: &[checks::compare::Failing]| {
        list.iter()
            .map(|test| test.name.clone())
            .collect::<Vec<_>>()
    };
    let obliged = facts.obliged.iter().map(|test| {
        let how = match test.how {
            How::Red => "red",
            How::Removed => "removed",
            How::Skipped => "skipped",
        };
        format!("{}={how}", test.name)
    });
    for (name, list) in [
        (
            if facts.weak {
                "weakly proven"
            } else {
                "proven"
            },
            facts.fail_to_pass.clone(),
        ),
        ("vacuous", facts.vacuous.clone()),
        ("broken", failing(&facts.broken)),
        ("new failing", failing(&facts.new_failing)),
        ("checks", failing(&facts.failed_checks)),
        ("obliged", obliged.collect()),
        ("known red", facts.known_red.clone()),
        ("fixed", facts.fixed.clone()),
        ("flaky", facts.flaky.clone()),
        ("not gating", facts.not_gating.clone()),
    ] {
        if !list.is_empty() {
            parts.push(format!("{name} {}", list.join(" ")));
        }
    }
    if facts.pass_to_pass > 0 {
        parts.push(format!("kept {}", facts.pass_to_pass));
    }
    if facts.old_tests_do_not_build.is_some() {
        parts.push("old tests do not build".to_owned());
    }
    parts.join(", ")
}

fn check(rows: &[(&str, &str)]) {
    for (row, expected) in rows {
        assert_eq!(line(&facts_of(row)), *expected, "{row}");
    }
}

#[test]
fn i08_new_tests_prove_a_change() {
    check(&[
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+",
            "green, proven n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 1 a+ n-",
            "red, new failing n, kept 1",
        ),
        (
            "base: 0 a+; tests: 0 a+ n+; cand: 0 a+ n+",
            "nothing-proven, vacuous n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n- m+; cand: 0 a+ n+ m+",
            "green, proven n, vacuous m, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n- m+; cand: 1 a+ n+ m-",
            "red, proven n, new failing m, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n~",
            "red, new failing n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+",
            "red, new failing n, kept 1",
        ),
        (
            "base: 0 a+; tests: 0 a+ n~; cand: 0 a+ n~",
            "nothing-proven, vacuous n, kept 1",
        ),
        (
            "base: 0 a+; tests: 0 a+; cand: 0 a+",
            "nothing-proven, kept 1",
        ),
        (
            "base: 0 a+; cand: 0 a+ n+; writer: t",
            "nothing-proven, kept 1",
        ),
        ("base: 0; tests: 1 n-; cand: 0 n+", "green, proven n"),
        // A new test may bear an old name in another file.
        (
            "base: 0 a@f+; tests: 1 a@f+ a@g-; cand: 0 a@f+ a@g+; writer: g",
            "green, proven a (g), kept 1",
        ),
        (
            "base: 0 a@f+; tests: 1 a@f+ a@g-; cand: 0 a@g+; writer: g",
            "red, proven a (g), broken a (f)",
        ),
        // The writer may change an old test so that it demands the new behaviour.
        (
            "base: 0 a+ b+; tests: 1 a+ b-; cand: 0 a+ b+",
            "green, proven b, kept 2",
        ),
        (
            "base: 0 a+ b+; tests: 1 a+ b-; cand: 1 a+ b-",
            "red, new failing b, kept 1",
        ),
        // What the implementor wrote proves nothing, and may not be red.
        (
            "base: 0 a+; tests: 0 a+; cand: 0 a+ own+",
            "nothing-proven, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 1 a+ n+ own-",
            "red, proven n, new failing own, kept 1",
        ),
    ]);
}

#[test]
fn tests_that_did_not_build_on_the_base_prove_weakly() {
    check(&[
        (
            "base: 0 a+; tests: 101 BUILD; cand: 0 a+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a+; tests: 101 BUILD; cand: 0 a+ n+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a+; tests: 101 BUILD; cand: 0 a+ own@src/lib.rs+; writer: tests/t.rs",
            "nothing-proven, kept 1",
        ),
        (
            "base: 0 a+; tests: 101 BUILD; cand: 0 a+; writer: t",
            "nothing-proven, kept 1",
        ),
        (
            "base: 0 a+; tests: 101 BUILD; cand: 101 a+ n@t-; writer: t",
            "red, new failing n, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t; cand: 0 a@o+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ m@u- BROKEN=t; cand: 0 a@o+ n@t+ m@u+; writer: t u",
            "green, proven m n, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ CRASHED=t; cand: 0 a@o+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ CRASHED=t; cand: 1 a@o+ CRASHED=t; writer: t",
            "red, checks test, kept 1",
        ),
        // A runner that dies of an exception lists neither that test nor those after it.
        (
            "base: 0 a+ b+; tests: 1 a+; cand: 0 a+ b+ n+; writer: t",
            "green, weakly proven n, kept 2",
        ),
        (
            "base: 0 a+; tests: 1 a+ n+; cand: 0 a+ n+; writer: t",
            "nothing-proven, vacuous n, kept 1",
        ),
        (
            "base: 1 a+; tests: 1 a+; cand: 1 a+ n+; writer: t",
            "nothing-proven, not gating test, kept 1",
        ),
        // Only what could not be loaded there counts.
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t; cand: 0 a@o+ own@x+; writer: t",
            "nothing-proven, kept 1",
        ),
    ]);
}

#[test]
fn new_tests_that_do_not_build_on_the_candidate() {
    check(&[
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; without: 0 a+; writer: t",
            "mismatch, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; without: 1 BUILD; writer: t",
            "red, checks test",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; writer: t",
            "red, checks test",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; without: 1 a-; writer: t",
            "red, broken a",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t; cand: 1 a@o+ BROKEN=t; writer: t",
            "mismatch, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ n@t-; cand: 1 a@o+ BROKEN=t; writer: t",
            "mismatch, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ n@t-; cand: 1 BROKEN=o n@t+; writer: t",
            "red, proven n, checks test",
        ),
        // The writer's version of an old file does not load: its old tests are not blamed on the
        // implementor.
        (
            "base: 0 a@o+ b@t+; tests: 1 a@o+ BROKEN=t; cand: 1 a@o+ BROKEN=t; writer: t",
            "mismatch, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; tests: lint=1 | 1 a+ n-; cand: lint=1 | 0 a+ n+; without: lint=0 | 0 a+",
            "mismatch, proven n, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; tests: lint=0 | 1 a+ n-; cand: lint=1 | 0 a+ n+; without: lint=1 | 0 a+",
            "red, proven n, checks lint, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; tests: 1 a+ n-; cand: lint=1 | 0 a+ n+",
            "red, proven n, checks lint, kept 1",
        ),
    ]);
}

#[test]
fn i08_what_was_green_stays_green() {
    check(&[
        ("base: 0 a+ b+; cand: 0 a+ b+", "green, kept 2"),
        ("base: 0 a+ b+; cand: 1 a+ b-", "red, broken b, kept 1"),
        ("base: 0 a+ b+; cand: 0 a+", "red, broken b, kept 1"),
        ("base: 0 a+ b+; cand: 0 a+ b~", "red, broken b, kept 1"),
        ("base: 0 a+ b+; cand: 0", "red, broken a b"),
        ("base: 0 a@f+ b@f+; cand: 0 a@f+ b@g+", "green, kept 2"),
        (
            "base: 0 a@f+ a@g+; cand: 0 a@f+",
            "red, broken a (g), kept 1",
        ),
        (
            "base: 0 a@f+ b@f+; cand: 0 a@f+; edited: f",
            "green, obliged b=removed, kept 1",
        ),
        (
            "base: 0 a@f+ b@f+; cand: 0 a@f+ b@f~; edited: f",
            "green, obliged b=skipped, kept 1",
        ),
        (
            "base: 0 a@f+ b@f+; cand: 0 a@f+; edited: g",
            "red, broken b, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 0 a+; old: 0 a+ b+",
            "green, obliged b=removed, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 0 a+ b+; old: 1 a+ b-",
            "green, obliged b=red, kept 2",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; old: 1 a+ n-",
            "green, proven n, obliged n=red, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; old: 0 a+ n+",
            "green, proven n, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t; cand: 0 a@o+ n@t+; old: 1 a@o+ n@t-; writer: t",
            "green, weakly proven n, obliged n=red, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 0 a+ b+; old: 1 BUILD",
            "green, kept 2, old tests do not build",
        ),
        (
            "base: 0 a+ b+; cand: 1 a+ b-; old: 0 a+ b+; edited: f",
            "red, broken b, kept 1",
        ),
        ("base: 0 a+; cand: 101 BUILD", "red, checks test"),
        ("base: 0 a+; cand: t a+", "red, checks test, kept 1"),
        ("base: 0 a+; cand: t", "red, checks test"),
        ("base: 0 a+; cand: s", "red, checks test"),
        ("base: 0 a+; cand: 1 a+", "red, checks test, kept 1"),
        ("base: 0 a+ b+; cand: 0 a+ CUT", "red, checks test, kept 1"),
        ("base: 0 a~; cand: 1 a-", "red, new failing a"),
        (
            "base: 1 a@f- b@g+; cand: 1 a@f- CRASHED=g",
            "red, checks test, known red a",
        ),
        (
            "base: lint=0 | 0 a+; cand: 0 a+",
            "red, checks lint, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; cand: lint=1 | 0 a+",
            "red, checks lint, kept 1",
        ),
    ]);
}

#[test]
fn i08_what_was_red_cannot_fail_a_candidate() {
    check(&[
        ("base: 1 a- b+; cand: 1 a- b+", "green, known red a, kept 1"),
        ("base: 1 a- b+; cand: 0 a+ b+", "green, fixed a, kept 1"),
        ("base: 1 a- b+; cand: 0 b+", "green, known red a, kept 1"),
        (
            "base: 1 a-; tests: 1 a- n-; cand: 1 a- n+",
            "green, proven n, known red a",
        ),
        (
            "base: 1 a-; tests: 1 a- n-; cand: 0 a+ n+",
            "green, proven n, fixed a",
        ),
        (
            "base: 1 a-; tests: 1 a-; cand: 0 a+",
            "nothing-proven, fixed a",
        ),
        ("base: 1 a+; cand: 1 a+", "green, not gating test, kept 1"),
        (
            "base: 1 a- b+; cand: 1 a+ b+",
            "red, checks test, fixed a, kept 1",
        ),
        ("base: 1 BUILD; cand: 1 BUILD", "green, not gating test"),
        ("base: 1 a+; cand: 1", "red, checks test"),
        (
            "base: t a+ b+; cand: t a+",
            "red, broken b, not gating test, kept 1",
        ),
        (
            "base: t a+; cand: t; rerun: t a+",
            "green, flaky a, not gating test",
        ),
        ("base: t a+; cand: t a+", "green, not gating test, kept 1"),
        (
            "base: 1 a+ BROKEN=f; cand: 1 a+ BROKEN=f",
            "green, known red f, kept 1",
        ),
        (
            "base: 1 a+ BROKEN=f; cand: 1 a+ BROKEN=f BROKEN=g",
            "red, checks test, known red f, kept 1",
        ),
        (
            "base: lint=1 | 0 a+; cand: lint=1 | 0 a+",
            "green, not gating lint, kept 1",
        ),
        (
            "base: lint=1 | 0 a+; cand: lint=0 | 0 a+",
            "green, fixed lint, kept 1",
        ),
        (
            "base: setup=1 | 0; cand: setup=0 | 0",
            "setup-failed-on-base",
        ),
        ("base: setup=0 | 0 a+; cand: setup=1", "setup-failed"),
    ]);
}

#[test]
fn exit_codes_alone_prove_and_fail() {
    check(&[
        ("base: 0; tests: 1; cand: 0", "green, proven test, kept 1"),
        (
            "base: 0; tests: 1 BUILD; cand: 0",
            "green, weakly proven test, kept 1",
        ),
        ("base: 0; tests: 0; cand: 0", "nothing-proven, kept 1"),
        ("base: 0; tests: 1; cand: 1", "red, checks test"),
        ("base: 0; tests: 1; cand: t", "red, checks test"),
        ("base: 0; cand: 0", "green, kept 1"),
        ("base: 0; cand: 1", "red, checks test"),
        ("base: 1; cand: 1", "green, not gating test"),
        (
            "base: 1; tests: 1; cand: 1",
            "nothing-proven, not gating test",
        ),
        (
            "base: 1; tests: 1; cand: 0",
            "green, weakly proven test, fixed test",
        ),
        (
            "base: 0; tests: 1; cand: 1; rerun: 0",
            "nothing-proven, flaky test, kept 1",
        ),
        (
            "base: 0; tests: 1; cand: 1 BUILD; without: 0; writer: t",
            "mismatch",
        ),
        (
            "base: 0; tests: 1; cand: 1; without: 0; writer: t",
            "red, checks test",
        ),
        (
            "base: 0; tests: 1; cand: 0; old: 1",
            "green, proven test, obliged test=red, kept 1",
        ),
        // A type checker that the new tests turn red on the base proves nothing.
        (
            "base: typecheck=0 | 0; tests: typecheck=1 | 0; cand: typecheck=0 | 0",
            "nothing-proven, kept 2",
        ),
        // The test script that says nothing any more.
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0",
            "red, broken a, new failing n",
        ),
    ]);
}

#[test]
fn flaky_tests_neither_fail_nor_prove() {
    check(&[
        (
            "base: 0 a+ b+; cand: 1 a+ b-; rerun: 0 a+ b+",
            "green, flaky b, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 1 a+ b-; rerun: 1 a+ b-",
            "red, broken b, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 1 a+ b-; rerun: 1 a+ b-; rerun: 0 a+ b+",
            "green, flaky b, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 1 a+ n-; rerun: 0 a+ n+",
            "nothing-proven, flaky n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n- m-; cand: 1 a+ n- m+; rerun: 0 a+ n+ m+",
            "green, proven m, flaky n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; rerun: 1 a+ n-",
            "nothing-proven, flaky n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 a+ n@t-; rerun: 0 a+ n@t+; writer: t",
            "nothing-proven, flaky n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: t; rerun: 0 a+ n+",
            "green, proven n, flaky test, kept 1",
        ),
        (
            "base: setup=0 | 0 a+; cand: setup=1; rerun: setup=0 | 0 a+",
            "green, flaky setup, kept 1",
        ),
        (
            "base: 0 a+; cand: 1 a+; rerun: 0 a+",
            "green, flaky test, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; cand: lint=1 | 0 a+; rerun: lint=0 | 0 a+",
            "green, flaky lint, kept 2",
        ),
    ]);
}

#[test]
fn i08_a_run_that_hides_its_tests_proves_nothing() {
    check(&[
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t.mjs; cand: 0 a@o+ t.mjs+; writer: t.mjs",
            "green, weakly proven t.mjs, kept 1",
        ),
        (
            "base: 0 a@o+; tests: 1 a@o+ BROKEN=t.mjs; cand: 0 a@o+ t.mjs+; writer: t.mjs; suites: t.mjs",
            "red, new failing t.mjs, kept 1",
        ),
        (
            "base: 1 a+ b- AS=tap; tests: 1 a+ b- n- AS=tap; cand: 1 a+ b- n+ AS=tap",
            "green, proven n, known red b, kept 1",
        ),
        (
            "base: 1 a+ b- AS=tap; tests: 1 a+ b- n- AS=tap; cand: 1 a+ b- n+ AS=junit",
            "red, proven n, checks test, known red b, kept 1",
        ),
    ]);
}
