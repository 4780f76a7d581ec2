//! What a prompt is made of: what the order tells, and what the repository shows.

use std::path::Path;

use kernel::{Base, Rewrite};
use roles::Context;
use workspace::TreeId;

use crate::fault::Fault;
use crate::run::preparing::Preparing;
use crate::run::test_rules::TestRules;
use crate::run::trees::{commit_id, inventory};

/// Bytes of a diff that a judge is shown.
const DIFF_BYTES_MAX: usize = 200 * 1024;

/// Bytes of a guide of the project that are read.
const GUIDE_BYTES_MAX: usize = 64 * 1024;

/// Files in which projects talk to agents.
const GUIDES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

pub(crate) fn context(preparing: &Preparing<'_>) -> Result<Context, Fault> {
    let (run, settings) = (preparing.run, preparing.settings);
    let repository = preparing.repository;
    let base = repository.tree_of(&commit_id(&run.base)?)?;
    let sees_tests = run.row.base == Base::StoryWithTests;
    let told = run.told.clone();
    Ok(Context {
        base: Some(run.base.clone()),
        candidate: run.candidate.clone(),
        diff: diff(preparing)?,
        checks: told.checks,
        feedback: told.feedback,
        answers: told.answers,
        tests: if sees_tests {
            test_files(preparing, &base)?
        } else {
            Vec::new()
        },
        order: run.rewrite.as_ref().map(Rewrite::why).map(str::to_owned),
        test_paths: TestRules::of(repository, settings, &base)?.words(),
        failing: told.failing,
        obliged: told.obliged,
        review: told.review,
        notes: told.notes,
        patterns: settings.patterns.clone(),
        guides: guides(preparing, &base)?,
        learned: told.learned,
        inventory: inventory(repository, &base, &settings.subdir)?,
        repair: run.has_bad_answer,
        recheck: run.is_recheck,
        goes_on: false,
    })
}

/// Exactly base..candidate of this attempt, for those who may see it.
fn diff(preparing: &Preparing<'_>) -> Result<String, Fault> {
    let run = preparing.run;
    let Some(candidate) = run
        .candidate
        .as_ref()
        .filter(|_| run.row.base == Base::Candidate)
    else {
        return Ok(String::new());
    };
    let (base, candidate) = (commit_id(&run.base)?, commit_id(candidate)?);
    preparing.repository.diff(&base, &candidate, DIFF_BYTES_MAX)
}

/// The names of the tests that stand for the story.
fn test_files(preparing: &Preparing<'_>, base: &TreeId) -> Result<Vec<String>, Fault> {
    let tests = preparing.run.tests.as_ref();
    let Some(commit) = tests.and_then(|tests| tests.commit.as_ref()) else {
        return Ok(Vec::new());
    };
    let tree = preparing.repository.tree_of(&commit_id(commit)?)?;
    let changes = preparing.repository.tree_changes(base, &tree)?;
    let names = changes.iter().map(|change| change.path.to_string_lossy());
    Ok(names.map(std::borrow::Cow::into_owned).collect())
}

/// What the project asks of agents, as the base has it.
fn guides(preparing: &Preparing<'_>, base: &TreeId) -> Result<Vec<(String, String)>, Fault> {
    let files = preparing.repository.reader(base)?;
    let mut guides = Vec::new();
    for name in GUIDES {
        let path = Path::new(&preparing.settings.subdir).join(name);
        let text = files
            .read(&path, GUIDE_BYTES_MAX)
            .and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            guides.push((name.to_owned(), text));
        }
    }
    Ok(guides)
}
