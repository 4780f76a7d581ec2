//! What a check's measurements mean for the candidate: the comparison in the kernel's words, and in
//! people's.

use std::collections::BTreeMap;
use std::path::Path;

use checks::compare::{Facts, Gate, Measured, Measurement, feedback, spread_over_files};
use kernel::{Review, RunOutcome, Stage, StoryProgress};
use serde_json::json;
use workspace::{LoopRepo, TreeId};

use crate::measure::{Plan, Report};
use crate::rules::{TestRules, read_text};

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

/// What the measurements of a candidate mean.
pub(crate) fn check_outcome(
    plan: &Plan,
    report: &Report,
    flags: &[String],
    story: &StoryProgress,
    surface: impl FnOnce() -> String,
) -> RunOutcome {
    let Some(facts) = report.facts(plan) else {
        return crate::runs::ours("the candidate was not measured".to_owned());
    };
    let held_back = story
        .tests
        .as_ref()
        .map(|tests| held_back(&tests.review))
        .unwrap_or_default();
    let seen = report
        .candidate
        .as_ref()
        .and_then(|candidate| candidate.check("test"));
    let held_back = seen.map_or(held_back.clone(), |seen| {
        spread_over_files(&held_back, &seen.results)
    });
    let recheck = matches!(&story.status, kernel::StoryStatus::Active(attempt) if attempt.recheck);
    let is_judged = matches!(&story.status, kernel::StoryStatus::Active(attempt) if attempt.flow.has(Stage::Judge));
    let is_silent = !is_judged && facts.gate == Gate::Green && is_silent(report);
    let gate = match facts.gate {
        // Where the checks have the last word, somebody must have said yes.
        Gate::Green if is_silent => kernel::Gate::Red,
        Gate::Green => kernel::Gate::Green,
        // Better tests would not be seen either; what is left is the judge, who is told so.
        Gate::NothingProven if !recheck && is_judged && is_blind(report, &facts) => {
            kernel::Gate::Green
        }
        Gate::SurfaceMismatch { .. } => kernel::Gate::SurfaceMismatch,
        Gate::NothingProven => kernel::Gate::NothingProven,
        Gate::Red | Gate::SetupFailed { .. } => kernel::Gate::Red,
    };
    let words = words(report, &facts, flags);
    let told = if is_silent {
        SILENT.to_owned()
    } else {
        feedback(&facts, &held_back)
    };
    let kernel_facts = kernel::Facts {
        gate,
        failing: facts
            .new_failing
            .iter()
            .map(|failing| failing.name.clone())
            .collect(),
        // What gave way in the stories since then was explained when they landed.
        obliged: facts
            .obliged
            .iter()
            .filter(|_| !recheck)
            .map(|changed| changed.name.clone())
            .collect(),
        feedback: if told.trim().is_empty() {
            words.clone()
        } else {
            told
        },
        for_writer: for_writer(&facts, surface),
        evidence: evidence(plan, report, &facts, flags),
    };
    let passed = gate == kernel::Gate::Green;
    RunOutcome::Checked {
        passed,
        report: words,
        facts: Some(Box::new(kernel_facts)),
    }
}

/// What an attempt is told whose checks say nothing of it.
const SILENT: &str = "No check says yes: each is red, was red before, and is known by its exit code alone. Where nobody judges, \
                      that is not enough.";

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
fn is_blind(report: &Report, facts: &Facts) -> bool {
    let all = [
        Some(&report.base),
        report.base_with_tests.as_ref(),
        report.candidate.as_ref(),
    ];
    let mut checks = all
        .into_iter()
        .flatten()
        .flat_map(|measurement| &measurement.checks);
    facts.not_gating.iter().any(|check| check == "test")
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

fn for_writer(facts: &Facts, surface: impl FnOnce() -> String) -> String {
    match &facts.gate {
        Gate::SurfaceMismatch { excerpt } => format!(
            "Your tests do not fit the names that the implementation has. Change imports and calls so that they do; keep \
             every assertion.\n\n### What the build says\n\n{excerpt}\n\n### What there is\n\n{}",
            surface()
        ),
        Gate::NothingProven if facts.vacuous.is_empty() => {
            "No test of yours was seen to run and to be red on the project as it is now, so they prove nothing.".to_owned()
        }
        Gate::NothingProven => format!(
            "These tests are green on the project as it is now, before the story is done, so they prove nothing: {}. Write \
             tests that are red now, because the story is not done.",
            names(&facts.vacuous)
        ),
        Gate::Green | Gate::Red | Gate::SetupFailed { .. } => String::new(),
    }
}

/// The exported names and signatures of the files that a candidate adds or changes; no bodies.
pub(crate) fn surface_of(
    repository: &LoopRepo,
    base: &TreeId,
    code: &TreeId,
    rules: &TestRules,
) -> Result<String, String> {
    let reader = repository.reader(code).map_err(|error| error.to_string())?;
    let changes = repository
        .tree_changes(base, code)
        .map_err(|error| error.to_string())?;
    let mut out = String::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let path: &Path = &change.path;
        if rules.is_test(path) {
            continue;
        }
        let lines = checks::surface::surface(&path.to_string_lossy(), &read_text(&reader, path));
        if !lines.is_empty() && out.len() < SURFACE_BYTES_MAX {
            out.push_str(&format!("{}:\n{}\n", path.display(), lines.join("\n")));
        }
    }
    Ok(out.chars().take(SURFACE_BYTES_MAX).collect())
}

/// What the checks showed, for judges and people.
fn words(report: &Report, facts: &Facts, flags: &[String]) -> String {
    let mut lines = vec![counts("base", &report.base)];
    lines.extend(
        report
            .candidate
            .as_ref()
            .map(|candidate| counts("candidate", candidate)),
    );
    let weak = if facts.weak {
        " (on the base they do not build, a weak red)"
    } else {
        ""
    };
    for (what, list) in [
        (
            format!("new tests that are red on the base and green now{weak}"),
            &facts.fail_to_pass,
        ),
        (
            "new tests that prove nothing, since they are green on the base".to_owned(),
            &facts.vacuous,
        ),
        (
            "red before the story and red now".to_owned(),
            &facts.known_red,
        ),
        (
            "red before the story and green now".to_owned(),
            &facts.fixed,
        ),
        (
            "flaky, so that they neither fail nor prove anything".to_owned(),
            &facts.flaky,
        ),
        (
            "NOT GATING, since it is red on the base and known only by its exit code".to_owned(),
            &facts.not_gating,
        ),
    ] {
        if !list.is_empty() {
            lines.push(format!("{what}: {}", names(list)));
        }
    }
    lines.push(format!(
        "green before the story and green now: {}",
        facts.pass_to_pass
    ));
    if facts.gate == Gate::NothingProven && is_blind(report, facts) {
        lines.push(
            "NOTHING IS PROVEN by the new tests: what they say cannot be told from what was red before"
                .to_owned(),
        );
    }
    for (what, list) in [
        ("green before and red now", &facts.broken),
        ("new and red", &facts.new_failing),
        ("red as a whole", &facts.failed_checks),
    ] {
        for failing in list.iter().take(NAMES_MAX) {
            lines.push(format!("{what}: {}\n{}", failing.name, failing.message));
        }
    }
    lines.extend(facts.notes.iter().chain(flags).cloned());
    if facts.gate != Gate::Green {
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

fn evidence(plan: &Plan, report: &Report, facts: &Facts, flags: &[String]) -> String {
    let of = |measurement: Option<&Measurement>| measurement.map(each_count);
    let whole = json!({
        "facts": facts, "flags": flags, "writerFiles": plan.writer_files, "tookMs": report.took_ms,
        "baselineMs": report.baseline_ms,
        "base": of(Some(&report.base)), "baseWithTests": of(report.base_with_tests.as_ref()),
        "candidate": of(report.candidate.as_ref()), "reruns": report.reruns.len(),
    });
    let text = whole.to_string();
    if text.len() <= EVIDENCE_BYTES_MAX {
        text
    } else {
        json!({ "tooLarge": text.len() }).to_string()
    }
}
