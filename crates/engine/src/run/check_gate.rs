//! What a check's measurements say of the candidate, as the kernel's facts and in people's words.
//!
//! What follows from the facts is not decided here: that is the kernel's gate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use checks::compare::{Comparison, Measured, Measurement, feedback, spread_over_files};
use checks::results::TestStatus;
use kernel::{
    Facts, Finding, Flag, FlagKind, Gate, Obligation, ObligationKind, Review, RunOrder, RunOutcome,
    Situation, gate,
};
use serde_json::json;
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::measurement::{CheckPlan, Report};
use crate::run::test_rules::{TestRules, read_text};

/// Names that are listed in words, and in the evidence.
const NAMES_MAX: usize = 30;

/// Bytes of what a test writer is told of the candidate's names.
const SURFACE_BYTES_MAX: usize = 6_000;

/// Bytes of the kept comparison; what is larger lies whole in the run's folder.
const EVIDENCE_BYTES_MAX: usize = 64 * 1024;

/// What a look at the base means: only a setup that fails is a reason to stop.
pub(crate) fn baseline_outcome(base: &Measurement) -> RunOutcome {
    let setup = base.checks.iter().find(|check| check.name == "setup");
    let passed = setup.is_none_or(|setup| setup.exit_code == Some(0));
    let report = if passed {
        counts("base", base)
    } else {
        setup.map(ending_of).unwrap_or_default()
    };
    RunOutcome::Checked {
        passed,
        report,
        facts: None,
    }
}

/// What the measurements of a candidate say; none if it was not measured.
pub(crate) fn check_outcome(
    plan: &CheckPlan,
    report: &Report,
    order: &RunOrder,
    surface: impl FnOnce() -> String,
) -> Option<RunOutcome> {
    let comparison = report.comparison(plan)?;
    let notes = &order.told.notes;
    let mut words = words(report, &comparison, notes);
    if plan.warm.is_some() {
        words += &format!("\nbuilt {}", report.built);
    }
    let told = feedback(&comparison, &held_back_in(report, order));
    let mut facts = Facts {
        blind: is_blind(report, &comparison),
        silent: is_silent(report),
        feedback: if told.trim().is_empty() {
            words.clone()
        } else {
            told
        },
        for_writer: for_writer(&comparison, surface),
        evidence: evidence(plan, report, &comparison, notes),
        warm: report.warm,
        ..comparison.facts()
    };
    watch(&mut facts, plan, report, &comparison);
    crate::run::owed_proof::owe_proof(&mut facts);
    if let Some(landing) = &order.landing {
        demand_proven(&mut facts, report, &landing.proven);
    }
    if order.is_recheck {
        // What gave way in the stories since then was explained when they landed.
        facts.obligations.clear();
    }
    let situation = Situation {
        flow: order.flow,
        is_recheck: order.is_recheck,
    };
    Some(RunOutcome::Checked {
        passed: gate(&facts, situation) == Gate::Open,
        report: words,
        facts: Some(Box::new(facts)),
    })
}

/// What proved the story where it was made must be green on top of what landed since. Whether it was
/// red before is known from there.
fn demand_proven(facts: &mut Facts, report: &Report, proven: &[String]) {
    for name in proven {
        if !facts.failing.contains(name) && !is_green(report, name) {
            facts.failing.push(name.clone());
            facts.feedback = format!(
                "`{name}` proved the story before and is not green now.\n\n{}",
                facts.feedback
            );
        }
    }
    facts.proven = proven.to_vec();
    facts.demands_proof = false;
}

/// Whether a test, or a check that is known by its exit code, is green on the candidate.
fn is_green(report: &Report, name: &str) -> bool {
    let runs = report.candidate.iter().chain(&report.reruns);
    let mut checks = runs.flat_map(|run| &run.checks);
    checks.any(|check| {
        let is_whole = check.name == name && check.is_green();
        let mut tests = check.results.tests.iter();
        is_whole
            || tests.any(|(test, places)| {
                places.iter().any(|found| {
                    let place = found.place.as_deref().unwrap_or_default();
                    let is_it = test == name || format!("{test} ({place})") == *name;
                    is_it && found.status == TestStatus::Passed
                })
            })
    })
}

/// What was seen beside the tests' results: how the measurement itself went.
fn watch(facts: &mut Facts, plan: &CheckPlan, report: &Report, comparison: &Comparison) {
    let probed = &report.probed;
    facts.flags.extend(plan.flags.iter().cloned());
    facts.voided.extend(probed.voided.iter().cloned());
    facts.mutants = probed.mutants;
    if let Some(mutants) = probed.mutants
        // A single fault may be one that changes nothing.
        && mutants.tried > 1
        && mutants.noticed == 0
    {
        facts.flags.push(Flag {
            kind: FlagKind::NothingNoticed,
            place: plan.probes.code.first().cloned().unwrap_or_default(),
            text: format!(
                "none of {} small faults in the changed lines turned a test red",
                mutants.tried
            ),
        });
    }
    for test in &comparison.preserved {
        facts.proven.push(test.clone());
        if !probed.sensitive.contains(test) {
            facts.obligations.push(Obligation {
                kind: ObligationKind::Characterisation,
                subject: test.clone(),
            });
        }
    }
    watch_commands(facts, report);
    watch_files(facts, plan, report);
    watch_processes(facts, report);
    facts.flags.sort();
    facts.flags.dedup();
    let doubts = [
        ("The measurement cannot be trusted", facts.voided.join("; ")),
        (
            "Stable before, and now red in one run and green in another",
            facts.unstable.join(", "),
        ),
    ];
    for (what, which) in doubts.iter().filter(|(_, which)| !which.is_empty()) {
        facts.feedback = format!("{what}: {which}\n\n{}", facts.feedback);
    }
}

/// Files that commands changed on the candidate and not on the base. Tests and suspects must stay
/// what they are while they are measured.
fn watch_files(facts: &mut Facts, plan: &CheckPlan, report: &Report) {
    let changed = |measurement: &Measurement| -> BTreeSet<String> {
        let checks = measurement.checks.iter();
        checks
            .flat_map(|check| check.changed_files.clone())
            .collect()
    };
    // A test that was rewritten and put back was not the test that ran.
    let touched = |measurement: &Measurement| -> BTreeSet<String> {
        let checks = measurement.checks.iter();
        checks
            .flat_map(|check| check.touched_files.clone())
            .collect()
    };
    let before: BTreeSet<String> = &changed(&report.base) | &touched(&report.base);
    let trees = || report.proof.iter().chain(&report.candidate);
    for path in trees()
        .flat_map(touched)
        .collect::<BTreeSet<String>>()
        .difference(&before)
    {
        if plan.files.tests.contains(path) {
            facts.voided.push(format!(
                "`{path}` was rewritten and put back while a check command ran"
            ));
        }
    }
    let after: BTreeSet<String> = trees().flat_map(changed).collect();
    for path in after.difference(&before) {
        let text = "a check command changed it while it ran".to_owned();
        let is_code = plan.files.code.contains(path);
        if is_code {
            facts.flags.push(Flag {
                kind: FlagKind::ChangesFiles,
                place: path.clone(),
                text,
            });
        } else {
            facts.voided.push(format!("`{path}`: {text}"));
        }
    }
}

/// A test command that cannot even be started says nothing, and no judge can speak for it.
fn watch_commands(facts: &mut Facts, report: &Report) {
    const CANNOT_RUN: [i32; 2] = [126, 127];
    let test = report
        .candidate
        .as_ref()
        .and_then(|tree| tree.check("test"));
    let Some(test) = test.filter(|test| !test.results.is_per_test()) else {
        return;
    };
    if let Some(code) = test.exit_code.filter(|code| CANNOT_RUN.contains(code)) {
        facts.voided.push(format!(
            "the test command cannot be run (exit code {code}); mend `[checks] test`"
        ));
    }
}

fn watch_processes(facts: &mut Facts, report: &Report) {
    let left = |measurement: &Measurement, name: &str| {
        measurement
            .check(name)
            .is_some_and(|check| check.n_left_running > 0)
    };
    if let Some(candidate) = &report.candidate {
        for check in &candidate.checks {
            if check.n_left_running > 0 && !left(&report.base, &check.name) {
                facts.flags.push(Flag {
                    kind: FlagKind::LeftRunning,
                    place: check.name.clone(),
                    text: format!("it left {} processes running", check.n_left_running),
                });
            }
        }
    }
}

/// The tests that no implementor is told by name, spread over the files that were seen to run.
fn held_back_in(report: &Report, order: &RunOrder) -> BTreeMap<String, String> {
    let tests = order.tests.as_ref();
    let held_back = tests
        .map(|tests| held_back(&tests.review))
        .unwrap_or_default();
    let candidate = report.candidate.as_ref();
    match candidate.and_then(|candidate| candidate.check("test")) {
        Some(seen) => spread_over_files(&held_back, &seen.results),
        None => held_back,
    }
}

/// Says whether no check speaks for the candidate: none is green, and none tells its tests apart.
fn is_silent(report: &Report) -> bool {
    let checks = report
        .candidate
        .as_ref()
        .map(|candidate| &candidate.checks[..])
        .unwrap_or_default();
    !checks
        .iter()
        .any(|check| check.name != "setup" && (check.is_green() || check.results.is_per_test()))
}

/// Says whether the project's tests are known by an exit code alone that is red anyway, so that no
/// test can prove a thing.
fn is_blind(report: &Report, comparison: &Comparison) -> bool {
    let all = [
        Some(&report.base),
        report.base_with_tests.as_ref(),
        report.candidate.as_ref(),
    ];
    let mut checks = all
        .into_iter()
        .flatten()
        .flat_map(|measurement| &measurement.checks);
    comparison.not_gating.iter().any(|check| check == "test")
        && !checks.any(|check| check.results.is_per_test())
}

/// The names of tests that implementors are not told, with the criterion that each covers.
///
/// Where the writer held none back, the last of several tests for a criterion is.
fn held_back(review: &Review) -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    for coverage in &review.criteria {
        let marked = coverage.held_back.iter();
        let last = coverage
            .tests
            .last()
            .filter(|_| coverage.held_back.is_empty() && coverage.tests.len() > 1);
        held.extend(
            marked
                .chain(last)
                .map(|test| (test.clone(), coverage.criterion.clone())),
        );
    }
    held
}

fn for_writer(comparison: &Comparison, surface: impl FnOnce() -> String) -> String {
    if let Some(excerpt) = &comparison.unfit_tests {
        return format!(
            "Your tests do not fit the names that the implementation has. Change imports and calls \
             so that they do; keep every assertion.\n\n### What the build says\n\n{excerpt}\n\n\
             ### What there is\n\n{}",
            surface()
        );
    }
    if comparison.finding() != Finding::Unproven {
        return String::new();
    }
    if !comparison.by_text.is_empty() {
        return format!(
            "The change has no code, only comments and blank lines, and yet it turned these tests \
             green, so they look at the text of the source and prove nothing: {}. Write tests of \
             what the code does.",
            names(&comparison.by_text)
        );
    }
    if !comparison.made_red.is_empty() {
        return format!(
            "These older tests were green, and your files alone made them red, so they prove \
             nothing: {}. Write new tests that are red because the story is not done, and leave \
             others alone.",
            names(&comparison.made_red)
        );
    }
    if !comparison.unsteady.is_empty() {
        return format!(
            "These tests were green on the candidate, and in another look there they were not, so \
             they prove nothing: {}. Write tests that are green each time once the story is done: \
             without chance, without the time, whatever runs before them.",
            names(&comparison.unsteady)
        );
    }
    if !comparison.by_chance.is_empty() || !comparison.unconfirmed.is_empty() {
        let doubted = [&comparison.by_chance[..], &comparison.unconfirmed].concat();
        return format!(
            "These tests were red on the project as it is now, and in another run there they were \
             not, so they prove nothing: {}. Write tests that are red each time, because the story \
             is not done: without chance, without the time, whatever runs before them.",
            names(&doubted)
        );
    }
    if comparison.vacuous.is_empty() {
        return "No test of yours was seen to run and to be red on the project as it is now, so \
                they prove nothing."
            .to_owned();
    }
    format!(
        "These tests are green on the project as it is now, before the story is done, so they \
         prove nothing: {}. Write tests that are red now, because the story is not done.",
        names(&comparison.vacuous)
    )
}

/// The exported names and signatures of the files that a candidate adds or changes; no bodies.
pub(crate) fn surface_of(
    repository: &dyn Repository,
    base: &TreeId,
    code: &TreeId,
    rules: &TestRules,
) -> Result<String, Fault> {
    let reader = repository.reader(code)?;
    let changes = repository.tree_changes(base, code)?;
    let mut out = String::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let path: &Path = &change.path;
        if rules.is_test(path) {
            continue;
        }
        let lines = checks::surface::surface(&path.to_string_lossy(), &read_text(&*reader, path));
        if !lines.is_empty() && out.len() < SURFACE_BYTES_MAX {
            out.push_str(&format!("{}:\n{}\n", path.display(), lines.join("\n")));
        }
    }
    Ok(out.chars().take(SURFACE_BYTES_MAX).collect())
}

/// The tests of each kind, by name.
fn named_lists(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    let weak = if comparison.weak {
        " (on the base they do not build, a weak red)"
    } else {
        ""
    };
    for (what, list) in [
        (
            format!("new tests that are red on the base and green now{weak}"),
            &comparison.fail_to_pass,
        ),
        (
            "new tests that prove nothing, since they are green on the base".to_owned(),
            &comparison.vacuous,
        ),
        (
            "new tests that PROVE NOTHING, since they are red in one run of the base and green in another"
                .to_owned(),
            &comparison.by_chance,
        ),
        (
            "new tests that PROVE NOTHING, since they were not seen to be red on the base again"
                .to_owned(),
            &comparison.unconfirmed,
        ),
        (
            "new tests that PROVE NOTHING, since they were not seen to be green on the candidate again"
                .to_owned(),
            &comparison.unsteady,
        ),
        (
            "older tests that PROVE NOTHING, since only the new files made them red".to_owned(),
            &comparison.made_red,
        ),
        (
            "tests that PROVE NOTHING, since comments and blank lines alone turned them green: they \
             look at the text of the source"
                .to_owned(),
            &comparison.by_text,
        ),
        (
            "red before the story and red now".to_owned(),
            &comparison.known_red,
        ),
        (
            "red before the story and green now".to_owned(),
            &comparison.fixed,
        ),
        (
            "flaky on the base too, so that they neither fail nor prove anything".to_owned(),
            &comparison.flaky,
        ),
        (
            "UNSTABLE: stable on the base, red in one run and green in another of the candidate"
                .to_owned(),
            &comparison.unstable,
        ),
        (
            "NOT GATING, since it is red on the base and known only by its exit code".to_owned(),
            &comparison.not_gating,
        ),
    ] {
        if !list.is_empty() {
            lines.push(format!("{what}: {}", names(list)));
        }
    }
    lines
}

/// What the checks showed, for judges and people.
fn words(report: &Report, comparison: &Comparison, flags: &[String]) -> String {
    let mut lines = vec![counts("base", &report.base)];
    lines.extend(
        report
            .candidate
            .as_ref()
            .map(|candidate| counts("candidate", candidate)),
    );
    lines.extend(named_lists(comparison));
    lines.push(format!(
        "green before the story and green now: {}",
        comparison.pass_to_pass
    ));
    if comparison.finding() == Finding::Unproven && is_blind(report, comparison) {
        lines.push(
            "NOTHING IS PROVEN by the new tests: what they say cannot be told from what was red before"
                .to_owned(),
        );
    }
    for (what, list) in [
        ("green before and red now", &comparison.broken),
        ("new and red", &comparison.new_failing),
        ("red as a whole", &comparison.failed_checks),
    ] {
        for failing in list.iter().take(NAMES_MAX) {
            lines.push(format!("{what}: {}\n{}", failing.name, failing.message));
        }
    }
    lines.extend(
        comparison
            .notes
            .iter()
            .chain(&report.probed.notes)
            .chain(flags)
            .cloned(),
    );
    if comparison.finding() != Finding::Green {
        lines.extend(report.candidate.iter().flat_map(red_ends));
    }
    lines.join("\n")
}

/// The end of what each red command said.
fn red_ends(measurement: &Measurement) -> Vec<String> {
    let red = measurement
        .checks
        .iter()
        .filter(|check| check.exit_code != Some(0));
    red.map(ending_of).collect()
}

fn ending_of(check: &Measured) -> String {
    let how = match (check.timed_out, check.exit_code) {
        (true, _) => "ran out of time".to_owned(),
        (false, Some(code)) => format!("ended with exit code {code}"),
        (false, None) => "was ended by a signal".to_owned(),
    };
    format!("`{}` {how}:\n{}", check.name, check.excerpt)
}

/// One line per tree.
fn counts(tree: &str, measurement: &Measurement) -> String {
    format!("{tree}: {}", each_count(measurement))
}

/// Each command with its counts, or its exit code where single tests are not known.
fn each_count(measurement: &Measurement) -> String {
    let of = |check: &Measured| {
        let counts = check.results.counts();
        if check.results.is_per_test() {
            return format!(
                "{} {} passed, {} failed, {} skipped",
                check.name, counts.passed, counts.failed, counts.skipped
            );
        }
        match (check.timed_out, check.exit_code) {
            (true, _) => format!("{} out of time", check.name),
            (false, Some(0)) => format!("{} green", check.name),
            (false, Some(code)) => format!("{} red (exit code {code})", check.name),
            (false, None) => format!("{} red (ended by a signal)", check.name),
        }
    };
    let checks: Vec<String> = measurement.checks.iter().map(of).collect();
    if checks.is_empty() {
        "no checks".to_owned()
    } else {
        checks.join(", ")
    }
}

fn names(list: &[String]) -> String {
    let more = list.len().saturating_sub(NAMES_MAX);
    let shown: Vec<&str> = list.iter().take(NAMES_MAX).map(String::as_str).collect();
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

fn evidence(
    plan: &CheckPlan,
    report: &Report,
    comparison: &Comparison,
    flags: &[String],
) -> String {
    let of = |measurement: Option<&Measurement>| measurement.map(each_count);
    let whole = json!({
        "facts": comparison, "flags": flags, "writerFiles": plan.files.writer, "tookMs": report.took_ms,
        "baselineMs": report.baseline_ms, "built": report.built,
        "base": of(Some(&report.base)), "baseWithTests": of(report.base_with_tests.as_ref()),
        "candidate": of(report.candidate.as_ref()), "reruns": report.reruns.len(),
        "proof": of(report.proof.as_ref()), "oldForm": of(report.old_form.as_ref()),
        "probed": report.probed.notes,
    });
    let text = whole.to_string();
    if text.len() <= EVIDENCE_BYTES_MAX {
        text
    } else {
        json!({ "tooLarge": text.len() }).to_string()
    }
}
