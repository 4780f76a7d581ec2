//! Turns what a test writer left into the tests of a story, or says why it cannot be used.

use std::path::Path;

use kernel::{Event, MakeTestsOrder, Order, Rewrite};
use workspace::{Overlay, TreeId};

use crate::fault::Fault;
use crate::orders::authored::{Authoring, NOTES_MAX};
use crate::orders::leaks::Search;
use crate::ports::{Ports, Repository, TreeFiles};
use crate::redaction::known_of;
use crate::run::files::RunFiles;
use crate::run::test_rules::{TestRules, read_text};
use crate::run::trees::{all_files, commit_id, commit_of, reference};
use crate::settings_of::settings_of;

/// Files that cannot be used are their author's fault, and trying again would find the same ones: the
/// tests are to be written again.
pub(crate) fn make_tests(
    order: &Order,
    make: &MakeTestsOrder,
    ports: &Ports,
) -> Result<Event, Fault> {
    match make_of(order, make, ports) {
        Err(Fault::BadTree { why }) => Ok(refused(make, &why)),
        event => event,
    }
}

fn make_of(order: &Order, make: &MakeTestsOrder, ports: &Ports) -> Result<Event, Fault> {
    let settings = settings_of(order)?;
    let repository = ports.repositories.open(&order.loop_id)?;
    let files = RunFiles::of(&ports.home, &order.loop_id, &make.place);
    let authoring = Authoring {
        repository: &*repository,
        settings: &settings,
        base: &make.base,
        planned_at_ms: make.planned_at_ms,
    };
    let id = &make.story.id;
    // Each time that tests are asked for is one more of these, whether they could be used or not.
    let name = reference("written", id, &(make.rewrites + 1).to_string());
    let left = authoring.keep(&name, &files, &format!("written: {id}\n"));
    if matches!(left, Err(Fault::BadTree { .. })) && !settings.keep_checkouts {
        files.discard_checkout(ports, &order.loop_id);
    }
    let Some(left) = left? else {
        return Ok(refused(make, "the test writer left no checkout behind"));
    };
    if !settings.keep_checkouts {
        files.discard_checkout(ports, &order.loop_id);
    }
    let base = repository.tree_of(&commit_id(&make.base)?)?;
    let rules = TestRules::of(&*repository, &settings, &base)?;
    let overlay = repository.overlay(&base, &base, &left.tree, &|path| rules.is_test(path))?;
    if overlay.writer_files.is_empty() {
        return Ok(without_tests(make, &rules));
    }
    if let Some(why) = unusable(&*repository, make, &overlay)? {
        return Ok(refused(make, &why));
    }
    let search = Search {
        repository: &*repository,
        settings: &settings,
        known: &known_of(&ports.home, &order.loop_id)?,
        base: &base,
        at_secs: make.planned_at_ms / 1000,
    };
    if let Some(why) = search.in_tree(&overlay.tree)?.why() {
        return Ok(refused(make, &why));
    }
    commit_tests(order, make, &*repository, &overlay, left.notes)
}

fn commit_tests(
    order: &Order,
    make: &MakeTestsOrder,
    repository: &dyn Repository,
    overlay: &Overlay,
    left_out: Vec<String>,
) -> Result<Event, Fault> {
    let id = &make.story.id;
    let round = make
        .rounds
        .max(make.before.as_ref().map_or(0, |tests| tests.round))
        + 1;
    let message = format!("test: [{}] [{id}] round-{round}\n", order.loop_id);
    let base = commit_id(&make.base)?;
    let at_secs = make.planned_at_ms / 1000;
    let commit = repository.commit(&overlay.tree, &base, &message, at_secs)?;
    let name = reference("tests", id, &round.to_string());
    repository.move_ref(&name, None, &commit)?;
    let mut notes = left_out;
    for path in overlay.dropped.iter().take(NOTES_MAX) {
        let path = path.display();
        notes.push(format!("the test writer's change to `{path}` was dropped"));
    }
    Ok(Event::TestsMade {
        story: id.clone(),
        attempt: make.place.run.attempt,
        commit: Some(commit_of(&commit)?),
        notes,
    })
}

/// No test file is there: that is fine only where no criterion can be tested by a machine, and the
/// writer must say so of every one in its words. Else one that nobody speaks of would be proven by
/// nothing.
fn without_tests(make: &MakeTestsOrder, rules: &TestRules) -> Event {
    if make.review.names_tests_for(&make.story.criteria) {
        return made_without_commit(make, "the reviewer names existing tests as the story's own");
    }
    if !make.review.nothing_is_testable(&make.story.criteria) {
        let places = rules.words();
        let why = format!(
            "no test file was added or changed; tests belong into {places}. Where no machine can \
             test any criterion, name every one in its exact words with the reason in `untestable`"
        );
        return refused(make, &why);
    }
    made_without_commit(
        make,
        "the reviewer says that no criterion can be tested by a machine",
    )
}

fn made_without_commit(make: &MakeTestsOrder, note: &str) -> Event {
    Event::TestsMade {
        story: make.story.id.clone(),
        attempt: make.place.run.attempt,
        commit: None,
        notes: vec![note.to_owned()],
    }
}

/// Why tests cannot be used, whatever they would show.
fn unusable(
    repository: &dyn Repository,
    make: &MakeTestsOrder,
    overlay: &Overlay,
) -> Result<Option<String>, Fault> {
    let new = repository.reader(&overlay.tree)?;
    let base = repository.reader(&repository.tree_of(&commit_id(&make.base)?)?)?;
    let files = all_files(&*base);
    let is_asked_for = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        make.story
            .criteria
            .iter()
            .any(|criterion| criterion.contains(name))
    };
    let is_source = |name: &str| {
        // A criterion may be about the very text of a file.
        if is_asked_for(name) {
            return false;
        }
        let name = name.trim_start_matches("./").trim_start_matches("../");
        files.iter().any(|path| path.ends_with(name)) || !base.list(Path::new(name)).is_empty()
    };
    for path in &overlay.writer_files {
        let text = read_text(&*new, path);
        let path_words = path.to_string_lossy();
        if let Some(why) = checks::rules::reads_source_text(&path_words, &text, &is_source) {
            return Ok(Some(format!(
                "`{}` looks at source text and not at behaviour: {why}",
                path.display()
            )));
        }
    }
    let (Some(Rewrite::Repair(_)), Some(before)) = (&make.rewrite, tests_tree(repository, make)?)
    else {
        return Ok(None);
    };
    let old = repository.reader(&before)?;
    if n_assertions(&*new, overlay) < n_assertions(&*old, overlay) {
        let why = "a repair may change imports and calls, and it took assertions away";
        return Ok(Some(why.to_owned()));
    }
    Ok(None)
}

/// The tree of the tests that stood before.
fn tests_tree(repository: &dyn Repository, make: &MakeTestsOrder) -> Result<Option<TreeId>, Fault> {
    let before = make.before.as_ref().and_then(|tests| tests.commit.as_ref());
    match before {
        Some(commit) => repository.tree_of(&commit_id(commit)?).map(Some),
        None => Ok(None),
    }
}

/// Lines of the writer's files that say what must be.
fn n_assertions(files: &dyn TreeFiles, overlay: &Overlay) -> usize {
    const WORDS: [&str; 7] = [
        "assert", "expect", "should", "is(", "ok(", "raises", "throws",
    ];
    let mut count = 0;
    for path in overlay.writer_files.iter().chain(&overlay.removed) {
        let text = read_text(files, path);
        let lines = text.lines();
        count += lines
            .filter(|line| WORDS.iter().any(|word| line.contains(word)))
            .count();
    }
    count
}

fn refused(make: &MakeTestsOrder, why: &str) -> Event {
    Event::TestsRefused {
        story: make.story.id.clone(),
        attempt: make.place.run.attempt,
        why: why.to_owned(),
    }
}
