//! What follows from measurements, as a table.
//!
//! A row says what was measured on which tree: `base` and `again` (the base once more), `tests` (base
//! with the new tests), `cand` (what would land) and `rerun`, `proof` (the candidate's code with the
//! base's harness and the writer's tests) and `rerun-proof`, `old` (the code with the base's tests
//! alone), `look` (what is red with the new tests once more in the same checkout; the same as `tests`
//! where nothing is said), `late` (the same after the candidate was measured; the same as `look` where
//! nothing is said), `steady` (the candidate's second look; the same as its first run where nothing is
//! said) and `red` (the base with the new tests in a fresh checkout again); `writer`, `rewrote` (older files of the writer's), `suites`, `edited`, `shaky`, `support`,
//! `suspects` name files, `changed`, `acceptance` and `preserving` name tests. A measurement is an exit code and its tests:
//! `a+` passed, `a-` failed, `a~` was skipped, `a@f+` stands in `f`. `BUILD` did not build,
//! `BROKEN=f` could not load one file, `CRASHED=f` ended early, `CUT` is a cut output, `AS=tap`
//! whose words these are, `t` a time-out, `s` a signal. Checks other than `test` stand before it:
//! `lint=1 | 0 a+`.

use checks::compare::{
    ChangedFiles, Comparison, Evidence, Measured, Measurement, RedLook, SetupFailed, Wanted,
    compare, moment_looks, red_looks,
};
use checks::results::{Format, Occurrence, TestStatus};
use kernel::{Finding, ObligationKind};

#[derive(Default)]
struct Given {
    base: Measurement,
    tests: Option<Measurement>,
    looks: Option<Vec<Measurement>>,
    late: Option<Vec<Measurement>>,
    steady: Option<Vec<Measurement>>,
    red: Vec<Measurement>,
    again: Vec<Measurement>,
    cand: Measurement,
    reruns: Vec<Measurement>,
    proof: Option<Measurement>,
    proof_reruns: Vec<Measurement>,
    old: Option<Measurement>,
    files: ChangedFiles,
}

pub(crate) fn facts_of(row: &str) -> Comparison {
    let mut given = Given::default();
    for part in row.split(';') {
        let (key, value) = part.trim().split_once(':').unwrap_or((part, ""));
        let files = || value.split_whitespace().map(str::to_owned).collect();
        match key {
            "base" => given.base = measurement(value),
            "tests" => given.tests = Some(measurement(value)),
            "look" if value.is_empty() => given.looks = Some(Vec::new()),
            "look" => given.looks.get_or_insert_default().push(measurement(value)),
            "late" if value.is_empty() => given.late = Some(Vec::new()),
            "late" => given.late.get_or_insert_default().push(measurement(value)),
            "steady" if value.is_empty() => given.steady = Some(Vec::new()),
            "steady" => given
                .steady
                .get_or_insert_default()
                .push(measurement(value)),
            "red" => given.red.push(measurement(value)),
            "no-code" => given.files.is_without_code = true,
            "shaky" => given.files.shaky = files(),
            "cand" => given.cand = measurement(value),
            "rerun" => given.reruns.push(measurement(value)),
            "again" => given.again.push(measurement(value)),
            "proof" => given.proof = Some(measurement(value)),
            "rerun-proof" => given.proof_reruns.push(measurement(value)),
            "old" => given.old = Some(measurement(value)),
            "writer" => given.files.writer = files(),
            "rewrote" => given.files.writer_edited = files(),
            "removed" => given.files.writer_removed = files(),
            "edited" => given.files.edited = files(),
            "suites" => given.files.suites = files(),
            "support" => given.files.support = files(),
            "suspects" => given.files.suspects = files(),
            "changed" => given.files.changed_tests = files(),
            "acceptance" => given.files.acceptance = files(),
            "preserving" => given.files.preserving = files(),
            other => panic!("unknown key {other}"),
        }
    }
    let files = &mut given.files;
    files.writer.extend(files.writer_edited.clone());
    files.demands_tests =
        given.tests.is_some() || !files.writer.is_empty() || !files.acceptance.is_empty();
    let looks = given.looks.take();
    let looks = looks.unwrap_or_else(|| given.tests.iter().cloned().collect());
    let late = given.late.take().unwrap_or_else(|| looks.clone());
    let proving = given.proof.as_ref().unwrap_or(&given.cand);
    let steady = given.steady.take();
    let as_is = steady.clone().unwrap_or_else(|| vec![given.cand.clone()]);
    let steady = steady.unwrap_or_else(|| vec![proving.clone()]);
    compare(&Evidence {
        red_looks: &looks,
        late_looks: &late,
        proof_looks: &steady,
        candidate_looks: &as_is,
        red_reruns: &given.red,
        base_reruns: &given.again,
        base_with_tests: given.tests.as_ref(),
        candidate_reruns: &given.reruns,
        proof: given.proof.as_ref(),
        proof_reruns: &given.proof_reruns,
        old_form: given.old.as_ref(),
        ..Evidence::of(&given.base, &given.cand, &given.files)
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
    let obliged = facts.obligations.iter().map(|each| {
        let kind = match each.kind {
            ObligationKind::OldTestRed => "red",
            ObligationKind::OldTestRemoved => "removed",
            ObligationKind::OldTestSkipped => "skipped",
            ObligationKind::OldTestChanged => "changed",
            ObligationKind::Harness => "harness",
            ObligationKind::TestSupport => "support",
            ObligationKind::Characterisation => "characterisation",
            ObligationKind::Unproven => "unproven",
        };
        format!("{}={kind}", each.subject)
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
        ("unconfirmed", facts.unconfirmed.clone()),
        ("by chance", facts.by_chance.clone()),
        ("unsteady", facts.unsteady.clone()),
        ("made red", facts.made_red.clone()),
        ("by text", facts.by_text.clone()),
        ("vacuous", facts.vacuous.clone()),
        ("broken", failing(&facts.broken)),
        ("new failing", failing(&facts.new_failing)),
        ("checks", failing(&facts.failed_checks)),
        ("obliged", obliged.collect()),
        ("known red", facts.known_red.clone()),
        ("fixed", facts.fixed.clone()),
        ("flaky", facts.flaky.clone()),
        ("unstable", facts.unstable.clone()),
        ("preserved", facts.preserved.clone()),
        ("not gating", facts.not_gating.clone()),
    ] {
        if !list.is_empty() {
            parts.push(format!("{name} {}", list.join(" ")));
        }
    }
    if facts.pass_to_pass > 0 {
        parts.push(format!("kept {}", facts.pass_to_pass));
    }
    let wanted = [
        (Wanted::RedAgain, "wants red again"),
        (Wanted::BaseRerun, "wants base again"),
    ];
    if facts.wants(Wanted::Rerun) && !facts.unsteady.is_empty() {
        parts.push("wants candidate again".to_owned());
    }
    for (wanted, words) in wanted {
        if facts.wants(wanted) && facts.finding() != Finding::Red {
            parts.push(words.to_owned());
        }
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
        // A test that fails twice, as in its teardown, passes once.
        (
            "base: 0 a+; tests: 1 a+ n@t- n@t-; cand: 0 a+ n@t+; writer: t",
            "green, proven n (t), kept 1",
        ),
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
            "base: 0 a+ b+; tests: 1 a+ b-; cand: 0 a+ b+; rewrote: f; old: 0 a+ b+",
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
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; old: 0 a+; writer: t",
            "mismatch, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; old: 1 BUILD; writer: t",
            "red, checks test",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; writer: t",
            "red, checks test",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 BUILD; old: 1 a-; writer: t",
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
            "base: lint=0 | 0 a+; tests: lint=1 | 1 a+ n-; cand: lint=1 | 0 a+ n+; old: lint=0 | 0 a+",
            "mismatch, proven n, kept 1",
        ),
        (
            "base: lint=0 | 0 a+; tests: lint=0 | 1 a+ n-; cand: lint=1 | 0 a+ n+; old: lint=1 | 0 a+",
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
        // What the implementor took out of its own version is told by the texts, test by test.
        (
            "base: 0 a@f+ b@f+; proof: 0 a@f+ b@f+; cand: 0 a@f+; edited: f; changed: b",
            "green, obliged b=changed, kept 2",
        ),
        (
            "base: 0 a@f+ b@f+; proof: 0 a@f+ b@f+; cand: 0 a@f+; edited: g",
            "red, broken b, kept 1",
        ),
        (
            "base: 0 a@f+ b@f+; proof: 0 a@f+ b@f+; cand: 0 a@f+ b@f~; edited: f",
            "green, obliged b=skipped, kept 2",
        ),
        (
            "base: 0 a@f+; cand: 0 a@f+ b@g+; proof: 1 a@f-; edited: f",
            "green, obliged a=red, kept 1",
        ),
        (
            "base: 0 a@f+ b@f+; cand: 0 a@f+; edited: g",
            "red, broken b, kept 1",
        ),
        // Whoever wrote the story's tests may rename and regroup older ones that still hold.
        (
            "base: 0 a@f+; tests: 1 b@f+ n@f-; cand: 0 b@f+ n@f+; old: 0 a@f+; rewrote: f",
            "green, proven n, vacuous b, kept 1",
        ),
        // A file that the writer removes takes no test along unseen, and moves those that it moves.
        (
            "base: 0 a@f+; tests: 1 n@g-; cand: 0 n@g+; old: 0 a@f+; writer: g; rewrote: f; removed: f",
            "green, proven n, obliged a=removed",
        ),
        (
            "base: 0 a@f+; tests: 1 a@g+ n@g-; cand: 0 a@g+ n@g+; old: 0 a@f+; writer: g; rewrote: f; removed: f",
            "green, proven n, vacuous a (g), kept 1",
        ),
        (
            "base: 0 a@f+; tests: 1 b@f- n@f-; cand: 0 b@f+ n@f+; old: 1 a@f-; rewrote: f",
            "green, proven b n, obliged a=removed",
        ),
        (
            "base: 0 a@f+; tests: 1 a@f-; cand: 0 a@f+; old: 1 a@f-; rewrote: f",
            "green, proven a, obliged a=red, kept 1",
        ),
        // An old form that does not build, load or report is red.
        (
            "base: 0 a@f+ b@g+; tests: 1 a@f- b@g+; cand: 0 a@f+ b@g+; old: 1 BUILD; rewrote: f",
            "green, proven a, obliged a=red, kept 2",
        ),
        (
            "base: 0 a@f+; tests: 1 a@f-; cand: 0 a@f+; old: 0 a@f+; rewrote: f",
            "green, proven a, kept 1",
        ),
        // Names that vary from run to run.
        (
            "base: 0 a+; tests: 1 a+ n[1]-; look: 1 n[2]-; cand: 0 a+ n[3]+; rerun: 0 a+ n[1]+",
            "green, weakly proven n[1], kept 1",
        ),
        ("base: 0 a[1]+ a[2]+; cand: 0 a[3]+ a[4]+", "green, kept 2"),
        (
            "base: 0 a[x]+ a[y]+; cand: 0 a[x]+",
            "green, obliged a[y]=removed, kept 1",
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
            "red, unstable a, not gating test",
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
            "base: 0; tests: 1; cand: 1 BUILD; old: 0; writer: t",
            "mismatch",
        ),
        (
            "base: 0; tests: 1; cand: 1; old: 0; writer: t",
            "red, checks test",
        ),
        (
            "base: 0; tests: 1; cand: 0; old: 1; rewrote: t",
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
fn what_the_candidate_made_unstable_fails() {
    check(&[
        (
            "base: 0 a+ b+; cand: 1 a+ b-; rerun: 0 a+ b+",
            "red, unstable b, kept 1",
        ),
        (
            "base: 0 a+ b+; cand: 1 a+ b-; rerun: 1 a+ b-",
            "red, broken b, kept 1",
        ),
        (
            "base: 0 a+ b+; again: 1 a+ b-; cand: 1 a+ b-; rerun: 1 a+ b-; rerun: 0 a+ b+",
            "green, flaky b, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 1 a+ n-; rerun: 0 a+ n+",
            "red, unstable n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n- m-; cand: 1 a+ n- m+; rerun: 0 a+ n+ m+",
            "red, proven m, unstable n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; rerun: 1 a+ n-",
            "red, unstable n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; cand: 1 a+ n@t-; rerun: 0 a+ n@t+; writer: t",
            "red, unstable n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: t; steady: 0 n+; rerun: 0 a+ n+",
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
fn a_test_that_is_red_now_and_then_on_the_base_excuses_nothing_that_is_red_always() {
    check(&[
        ("base: 1 a-; again: 0 a+; cand: 1 a-", "green, flaky a"),
        (
            "base: 1 a-; again: 0 a+; cand: 1 a-; rerun: 1 a-; rerun: 1 a-",
            "red, broken a",
        ),
        (
            "base: 1 a-; again: 1 a-; cand: 1 a-; rerun: 1 a-; rerun: 1 a-",
            "green, known red a",
        ),
    ]);
}

#[test]
fn i08_with_and_without() {
    check(&[
        // Green without the suspects: proven.
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 0 a+ n+; cand: 0 a+ n+; suspects: conf",
            "green, proven n, kept 1",
        ),
        // Green only with them: each is an obligation.
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 1 a+ n-; cand: 0 a+ n+; suspects: conf setup",
            "green, proven n, obliged conf=harness setup=harness, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 1 a+ n-; cand: 0 a+ n+; support: tests/conftest.py",
            "green, proven n, obliged tests/conftest.py=support, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 BUILD; proof: 1 BUILD; cand: 0 a+ n@t+; writer: t; old: 1 BUILD; suspects: m",
            "green, weakly proven n, obliged m=harness, kept 1",
        ),
        // What lands must be green too.
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 0 a+ n+; cand: 1 a- n+; suspects: conf",
            "red, proven n, broken a",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 0 a+ n+; cand: 0 n+; suspects: conf",
            "red, proven n, broken a",
        ),
        // Red both ways.
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 1 a- n+; cand: 1 a- n+; suspects: conf",
            "red, proven n, broken a",
        ),
    ]);
}

#[test]
fn existing_tests_may_be_those_of_a_story() {
    check(&[
        (
            "base: 1 a+ n-; again: 1 a+ n-; cand: 0 a+ n+; acceptance: n",
            "green, proven n, fixed n, kept 1",
        ),
        (
            "base: 1 a+ n-; cand: 0 a+ n+; acceptance: n",
            "nothing-proven, unconfirmed n, fixed n, kept 1, wants base again",
        ),
        (
            "base: 1 a+ n-; again: 1 a+; again: 1 a+; again: s; cand: 0 a+ n+; acceptance: n",
            "nothing-proven, unconfirmed n, fixed n, kept 1",
        ),
        (
            "base: 1 a+ n-; again: 1 a+ n-; again: 0 a+ n+; cand: 0 a+ n+; acceptance: n",
            "nothing-proven, by chance n, flaky n, kept 1",
        ),
        // Green with the new tests alone: whatever made it so, the candidate's code did not.
        (
            "base: 1 a+ n-; again: 1 a+ n-; tests: 1 a+ n+ m-; cand: 0 a+ n+ m+; acceptance: n",
            "green, proven m, vacuous n, fixed n, kept 1",
        ),
        (
            "base: 0 a+ n+; cand: 0 a+ n+; acceptance: n",
            "nothing-proven, kept 2",
        ),
        (
            "base: 0 a+; tests: 0 a+ n+; cand: 0 a+ n+; preserving: n",
            "nothing-proven, preserved n, kept 1",
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

#[test]
fn i08_what_is_red_by_chance_on_the_base_proves_nothing() {
    check(&[
        // Nobody has looked yet.
        (
            "base: 0 a+; tests: 1 a+ n-; look:; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        // Green in a second look says nothing yet: what ran before it may be the reason.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; red: 0 a+ n+; cand: 0 a+ n+",
            "nothing-proven, by chance n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; red: 1 a+ n-; red: 1 a+ n-; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; red: 1 a+ n-; red: 1 a+ n-; red: 0 a+ n+; cand: 0 a+ n+",
            "nothing-proven, by chance n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; red: 1 a+ n-; red: 1 a+ n-; red: 1 a+ n-; cand: 0 a+ n+",
            "green, proven n, kept 1",
        ),
        // A run that says nothing of a test does not say that it is red.
        (
            "base: 0 a+; tests: 1 a+ n-; look: s; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n~; red: t; red: s; red: 1 a+; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1",
        ),
        // Others may prove the story meanwhile, and what is red needs no surer proof.
        (
            "base: 0 a+; tests: 1 a+ n- m-; look: 1 m- n+; red: 1 a+ m- n+; cand: 0 a+ n+ m+",
            "green, proven m, by chance n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n- m-; look:; cand: 1 a+ n+ m-",
            "red, unconfirmed n, new failing m, kept 1",
        ),
        // An older test that nobody changed, red only now.
        (
            "base: 0 a@f+ b@f+; tests: 1 a@f+ b@f-; cand: 0 a@f+ b@f+; writer: g.py",
            "nothing-proven, made red b, kept 2",
        ),
        // It may read data that the writer changed.
        (
            "base: 0 a@f+ b@f+; tests: 1 a@f+ b@f-; cand: 0 a@f+ b@f+; rewrote: data.json; old: 0 a@f+ b@f+",
            "nothing-proven, unconfirmed b, kept 2, wants red again",
        ),
        (
            "base: 0 a@f+ b@f+; tests: 1 a@f+ b@f-; red: 0 a@f+ b@f+; cand: 0 a@f+ b@f+; rewrote: data.json; old: 0 a@f+ b@f+",
            "nothing-proven, by chance b, kept 2",
        ),
        // A text that decides by chance must be red each time.
        (
            "base: 0 a+; tests: 1 a+ n@t-; cand: 0 a+ n@t+; writer: t; shaky: t",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n@t- m@u-; cand: 0 a+ n@t+ m@u+; writer: t u; shaky: t",
            "green, proven m, unconfirmed n, kept 1, wants red again",
        ),
        // Names that vary from run to run.
        (
            "base: 0 a+; tests: 1 a+ n[1]-; look: 1 n[2]-; cand: 0 a+ n[3]+",
            "green, weakly proven n[1], kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n[1]-; look: 0 n[2]+; red: 0 a+ n[2]+; cand: 0 a+ n[3]+",
            "nothing-proven, by chance n[1], kept 1",
        ),
        // Where no tests are demanded nothing is asked.
        ("base: 0 a+; cand: 0 a+", "green, kept 1"),
    ]);
}

#[test]
fn i08_an_older_test_is_no_new_one_whatever_its_name() {
    check(&[
        // Made red by a new file of the writer's.
        (
            "base: 0 a@f+; tests: 1 a@f- n@g+; cand: 0 a@f+ n@g+; writer: g.py g; red: 1 a@f-; red: 1 a@f-; red: 1 a@f-",
            "nothing-proven, made red a, vacuous n, kept 1",
        ),
        // Numbers that moved on, since a new test came first; and one that did not.
        (
            "base: 0 1+; tests: 1 1- 2+; cand: 0 1+ 2+; writer: g.sh; red: 1 1- 2+; red: 1 1- 2+; red: 1 1- 2+",
            "green, proven 1, vacuous 2, kept 1",
        ),
        (
            "base: 0 1+; tests: 1 1-; cand: 0 1+; writer: g.sh; red: 1 1-; red: 1 1-; red: 1 1-",
            "nothing-proven, made red 1, kept 1",
        ),
        // A name with the time in it.
        (
            "base: 0 a+ at-17+; tests: 1 a+ at-18- n-; cand: 0 a+ at-19+ n+",
            "green, proven n, made red at-18, kept 2",
        ),
        (
            "base: 0 a+ at-17+; tests: 101 BUILD; cand: 0 a+ at-19+ n+",
            "green, weakly proven n, kept 2",
        ),
        // One more of a family is new.
        (
            "base: 0 a[1]+; tests: 1 a[1]+ a[2]-; cand: 0 a[1]+ a[2]+",
            "green, proven a[2], kept 1",
        ),
    ]);
}

#[test]
fn i08_what_a_comment_turns_green_proves_nothing() {
    check(&[
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; no-code:",
            "nothing-proven, by text n, kept 1",
        ),
        (
            "base: 0; tests: 1; cand: 0; no-code:",
            "nothing-proven, by text test, kept 1",
        ),
        // What else changed may have turned it green, and must be answered for.
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 1 a+ n-; cand: 0 a+ n+; suspects: conf; no-code:",
            "green, proven n, obliged conf=harness, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; proof: 0 a+ n+; cand: 0 a+ n+; suspects: conf; no-code:",
            "green, proven n, obliged conf=harness, kept 1",
        ),
    ]);
}

#[test]
fn i08_what_a_moment_decides_proves_nothing() {
    check(&[
        // Red before the candidate was measured, and green on the base after it.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n-; late: 0 n+; cand: 0 a+ n+",
            "nothing-proven, by chance n, kept 1",
        ),
        // The same where three reruns of an earlier attempt were red.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n-; late: 0 n+; red: 1 n-; red: 1 n-; red: 1 n-; cand: 0 a+ n+",
            "nothing-proven, by chance n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n-; late:; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        // Green alone each time, and red in every fresh checkout after others.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 0 n+; late: 0 n+; red: 1 a+ n-; red: 1 a+ n-; red: 1 a+ n-; cand: 0 a+ n+",
            "green, proven n, kept 1",
        ),
        // Green on the candidate once.
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady: 1 n-",
            "nothing-proven, unsteady n, kept 1, wants candidate again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady:",
            "nothing-proven, unsteady n, kept 1, wants candidate again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady: 1 n-; rerun: 1 a+ n-",
            "red, unstable n, kept 1",
        ),
        // A test that leaves something behind is green in every fresh checkout.
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady: 1 n-; rerun: 0 a+ n+; rerun: 0 a+ n+",
            "green, proven n, kept 1",
        ),
        // Others prove the story meanwhile.
        (
            "base: 0 a+; tests: 1 a+ n- m-; cand: 0 a+ n+ m+; steady: 1 n- m+; rerun: 0 a+ n+ m+; rerun: 0 a+ m+",
            "green, proven m, unsteady n, kept 1",
        ),
        // What does not build needs no further look.
        (
            "base: 0 a+; tests: 101 BUILD; late:; steady:; cand: 0 a+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        // A file that could not be loaded while others ran may have waited for a moment.
        (
            "base: 0 a@o+; tests: 2 a@o+ BROKEN=t; look: 2 BROKEN=t; late: 0 n@t+; cand: 0 a@o+ n@t+; writer: t",
            "nothing-proven, by chance n, kept 1",
        ),
        // What was seen to build on the base after all is no sure thing either.
        (
            "base: 0 a+; tests: 101 BUILD; look: 101 BUILD; late: 0 a+ n@t+; cand: 0 a+ n@t+; writer: t",
            "nothing-proven, by chance n, kept 1",
        ),
        // Looks that do not agree.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n-; look: 0 n+; late: 1 n-; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady: 0 n+; steady: 1 n-",
            "nothing-proven, unsteady n, kept 1, wants candidate again",
        ),
        // What is skipped is neither red nor green.
        (
            "base: 0 a+; tests: 1 a+ n-; look: 1 n~; red: 1 a+ n~; cand: 0 a+ n+",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a+; tests: 1 a+ n-; cand: 0 a+ n+; steady: 0 n~",
            "nothing-proven, unsteady n, kept 1, wants candidate again",
        ),
        // A name that varies, of which one is red in the second look.
        (
            "base: 0 a+; tests: 1 a+ n[1]-; look: 1 n[2]-; cand: 0 a+ n[3]+; steady: 1 n[4]+ n[5]-",
            "nothing-proven, unsteady n[1], kept 1, wants candidate again",
        ),
        // What took too long was not seen to be broken in the same way.
        (
            "base: 0 a@o+; tests: 2 a@o+ BROKEN=t; look: t BROKEN=t; cand: 0 a@o+ n@t+; writer: t",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        // Exit codes alone.
        (
            "base: 0; tests: 1; look: 1; late: 0; cand: 0",
            "nothing-proven, by chance test, kept 1",
        ),
        (
            "base: 0; tests: 1; cand: 0; writer: t; shaky: t",
            "nothing-proven, unconfirmed test, kept 1, wants red again",
        ),
        (
            "base: 0; tests: 1; cand: 0; steady: 1",
            "nothing-proven, unsteady test, kept 1, wants candidate again",
        ),
    ]);
}

#[test]
fn what_does_not_build_needs_no_look_after_the_candidate() {
    let files = ChangedFiles {
        demands_tests: true,
        ..ChangedFiles::default()
    };
    for (base, tests, n_looks) in [
        ("0 a@f+", "1 a@f+ n@t-", 1),
        ("0 a@f+", "2 a@f+ BROKEN=t", 1),
        ("0", "1", 1),
        ("0 a@f+", "101 BUILD", 0),
        ("0 a@f+", "0 a@f+ n@t+", 0),
    ] {
        let (base, tests) = (measurement(base), measurement(tests));
        let looks = moment_looks(&base, &tests, &files);
        assert_eq!(looks.len(), n_looks, "{tests:?}");
    }
}

#[test]
fn i08_what_does_not_load_by_chance_on_the_base_proves_nothing() {
    check(&[
        (
            "base: 0 a+; tests: 101 BUILD; look: 101 BUILD; cand: 0 a+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a+; tests: 101 BUILD; look: t; cand: 0 a+ n@t+; writer: t",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        (
            "base: 0 a@o+; tests: 2 a@o+ BROKEN=t; look: 0 n@t+; red: 0 a@o+ n@t+; cand: 0 a@o+ n@t+; writer: t",
            "nothing-proven, by chance n, kept 1",
        ),
        // Loaded the second time, and red.
        (
            "base: 0 a@o+; tests: 2 a@o+ BROKEN=t; look: 1 n@t-; cand: 0 a@o+ n@t+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        // A runner that dies of an exception ends in the same way each time.
        (
            "base: 0 a+; tests: 1 a+; look: 1 a+; cand: 0 a+ n+; writer: t",
            "green, weakly proven n, kept 1",
        ),
        (
            "base: 0 a+; tests: 1 a+; look: 137 a+; cand: 0 a+ n+; writer: t",
            "nothing-proven, unconfirmed n, kept 1, wants red again",
        ),
        // Exit codes alone.
        (
            "base: 0; tests: 1; look: 0; cand: 0",
            "nothing-proven, unconfirmed test, kept 1, wants red again",
        ),
        (
            "base: 0; tests: 1; look: 0; red: 0; cand: 0",
            "nothing-proven, by chance test, kept 1",
        ),
        (
            "base: 0; tests: 1; look: s; red: 127; red: t; red: s; cand: 0",
            "nothing-proven, unconfirmed test, kept 1",
        ),
        (
            "base: 1; tests: 1; look: 0; red: 0; cand: 0",
            "nothing-proven, by chance test, fixed test",
        ),
    ]);
}

#[test]
fn what_may_prove_a_story_is_looked_at_again() {
    let look = |files: &[&str]| {
        vec![RedLook {
            check: "test".to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        }]
    };
    for (base, tests, expected) in [
        ("0 a@f+", "1 a@f+ n@t-", look(&["t"])),
        ("0 a@f+", "1 a@f+ n@t- m@u- k@t-", look(&["t", "u"])),
        ("0 a@f+", "1 a@f- n@t+", look(&["f"])),
        ("0 a@f+", "2 a@f+ BROKEN=t", look(&["t"])),
        // Only the whole command can tell.
        ("0 a+", "1 a+ n-", look(&[])),
        ("0 a@f+", "101 BUILD", look(&[])),
        ("0", "1", look(&[])),
        ("0 a@f+", "1 a@f+", look(&[])),
        // What was red before, what is green and what ran out of time.
        ("1 a@f-", "1 a@f- n@t+", vec![]),
        ("2 BROKEN=f a@o+", "2 BROKEN=f a@o+", vec![]),
        ("0 a@f+", "0 a@f+ n@t+", vec![]),
        ("0 a@f+", "t", vec![]),
        ("lint=0 | 0 a@f+", "lint=1 | 0 a@f+", vec![]),
    ] {
        let files = ChangedFiles {
            demands_tests: true,
            ..ChangedFiles::default()
        };
        let (base, tests) = (measurement(base), measurement(tests));
        assert_eq!(red_looks(&base, &tests, &files), expected, "{tests:?}");
        let nobody_asks = ChangedFiles::default();
        assert_eq!(red_looks(&base, &tests, &nobody_asks), vec![]);
    }
}
