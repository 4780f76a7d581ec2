//! Which trees tell about an attempt: the plan that a check's own process carries out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernel::{Stage, Tests};
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::measurement::{CheckPlan, Trees};
use crate::run::preparing::Preparing;
use crate::run::test_rules::{TestRules, read_text};
use crate::run::trees::{commit_id, with_files_of};
use crate::run::trusted_config::with_trusted_config;

/// What a check's run measures.
#[derive(Default)]
struct Measuring {
    trees: Trees,
    writer_files: Vec<PathBuf>,
    suite_files: Vec<PathBuf>,
    edited_files: Vec<PathBuf>,
}

/// Makes the plan of a check's run.
pub(crate) fn check_plan(
    preparing: &Preparing<'_>,
    env: BTreeMap<String, String>,
) -> Result<CheckPlan, Fault> {
    let measuring = trees(preparing)?;
    let settings = preparing.settings;
    Ok(CheckPlan {
        repository: preparing.repository.path().to_owned(),
        scratch: preparing.files.checkout.clone(),
        cache: preparing.ports.home.measured(&preparing.order.loop_id),
        project: PathBuf::from(&preparing.order.project),
        subdir: settings.subdir.clone(),
        copy: settings.copy.clone(),
        checks: settings.checks.clone(),
        timeout_secs: settings.check_timeout_secs,
        env,
        trees: measuring.trees,
        writer_files: texts(&measuring.writer_files),
        suite_files: texts(&measuring.suite_files),
        edited_files: texts(&measuring.edited_files),
    })
}

fn trees(preparing: &Preparing<'_>) -> Result<Measuring, Fault> {
    let (run, repository) = (preparing.run, preparing.repository);
    let base = repository.tree_of(&commit_id(&run.base)?)?;
    let candidate = match &run.candidate {
        Some(candidate) if run.place.run.stage != Stage::Baseline => candidate,
        _ => {
            let trees = Trees {
                base: base.to_string(),
                ..Trees::default()
            };
            return Ok(Measuring {
                trees,
                ..Measuring::default()
            });
        }
    };
    let candidate = repository.tree_of(&commit_id(candidate)?)?;
    match tests_commit(run.tests.as_ref()) {
        Some(tests) => trees_with_writer(preparing, tests, &candidate),
        None => trees_without_writer(preparing, &base, &candidate),
    }
}

/// The commit of the tests that stand for a story.
pub(crate) fn tests_commit(tests: Option<&Tests>) -> Option<&kernel::Commit> {
    tests?.commit.as_ref()
}

fn trees_with_writer(
    preparing: &Preparing<'_>,
    tests: &kernel::Commit,
    candidate: &TreeId,
) -> Result<Measuring, Fault> {
    let (repository, settings) = (preparing.repository, preparing.settings);
    let tests = commit_id(tests)?;
    // The tests stand on the base that they were written for, which a recheck's head has left
    // behind.
    let base = repository.tree_of(&repository.parent_of(&tests)?)?;
    let tests = repository.tree_of(&tests)?;
    let rules = TestRules::of(repository, settings, &base)?;
    let laid = repository.overlay(&base, candidate, &tests, &|path| rules.is_test(path))?;
    // What the test writer made counts as the base's: it may change tests and nothing else.
    let measured = with_trusted_config(repository, settings, &tests, &laid.tree)?.tree;
    let code = with_files_of(repository, &base, candidate, &laid.writer_files)?;
    let code = with_trusted_config(repository, settings, &base, &code)?.tree;
    let edited = edited_tests(repository, &base, &measured, &rules, &laid.writer_files)?;
    let before = repository.reader(&base)?;
    let is_old = |path: &&PathBuf| before.entry(path).is_some();
    // What was green is looked at without the new tests, so that neither of the two authors can
    // weaken what was there.
    let weakened = laid.writer_files.iter().filter(is_old).cloned();
    let changed: Vec<PathBuf> = edited.iter().cloned().chain(weakened).collect();
    let trees = Trees {
        base: base.to_string(),
        base_with_tests: Some(tests.to_string()),
        candidate: Some(measured.to_string()),
        without_tests: Some(code.to_string()),
        with_base_tests: with_base_tests(repository, &base, &measured, &changed)?,
    };
    Ok(Measuring {
        trees,
        suite_files: suites(repository, &tests, &laid.writer_files)?,
        edited_files: edited.iter().filter(is_old).cloned().collect(),
        writer_files: laid.writer_files,
    })
}

fn trees_without_writer(
    preparing: &Preparing<'_>,
    base: &TreeId,
    candidate: &TreeId,
) -> Result<Measuring, Fault> {
    let (repository, settings) = (preparing.repository, preparing.settings);
    let measured = with_trusted_config(repository, settings, base, candidate)?.tree;
    let rules = TestRules::of(repository, settings, base)?;
    let edited = edited_tests(repository, base, &measured, &rules, &[])?;
    let trees = Trees {
        base: base.to_string(),
        candidate: Some(measured.to_string()),
        with_base_tests: with_base_tests(repository, base, &measured, &edited)?,
        ..Trees::default()
    };
    Ok(Measuring {
        trees,
        edited_files: edited,
        ..Measuring::default()
    })
}

/// The writer's files that hold single tests, as the tests of node do.
fn suites(
    repository: &dyn Repository,
    tests: &TreeId,
    files: &[PathBuf],
) -> Result<Vec<PathBuf>, Fault> {
    const CALLS: [&str; 4] = ["test(", "it(", "describe(", "suite("];
    let reader = repository.reader(tests)?;
    let has_tests = |path: &&PathBuf| {
        let text = read_text(&*reader, path);
        CALLS.iter().any(|call| text.contains(call))
    };
    Ok(files.iter().filter(has_tests).cloned().collect())
}

/// Existing test files that the implementor changed or removed, and new ones that other tests may
/// stand on.
fn edited_tests(
    repository: &dyn Repository,
    base: &TreeId,
    measured: &TreeId,
    rules: &TestRules,
    writer_files: &[PathBuf],
) -> Result<Vec<PathBuf>, Fault> {
    let mut edited = Vec::new();
    for change in repository.tree_changes(base, measured)? {
        let is_support = checks::rules::is_test_support(&change.path.to_string_lossy());
        let is_edit = change.before.is_some() || is_support;
        if rules.is_test(&change.path) && is_edit && !writer_files.contains(&change.path) {
            edited.push(change.path);
        }
    }
    Ok(edited)
}

/// The candidate with older tests as they are in the base, where anybody changed one.
fn with_base_tests(
    repository: &dyn Repository,
    base: &TreeId,
    measured: &TreeId,
    edited: &[PathBuf],
) -> Result<Option<String>, Fault> {
    if edited.is_empty() {
        return Ok(None);
    }
    let tree = with_files_of(repository, base, measured, edited)?;
    Ok(Some(tree.to_string()))
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    let text = |path: &PathBuf| Path::to_string_lossy(path).into_owned();
    paths.iter().map(text).collect()
}
