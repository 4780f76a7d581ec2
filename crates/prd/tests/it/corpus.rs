//! The real PRD files: every one is read, nearly all give stories, and marking changes states only.

use prd::{Mark, Options, mark};

use crate::support::{assert_only_state_changed, drawn, read_text, real_files};

/// The files of the folder that really hold no stories, each checked by hand: four empty lists, two
/// product descriptions, an audit report and a design document.
const WITHOUT_STORIES: &[(&str, &str)] = &[
    ("0xfauzi__ralph-loop__prd.json", "this holds no stories"),
    (
        "EkinAthor__nonotion__docs_prd.json",
        "no key of this object holds a list of stories",
    ),
    (
        "Stuhlmuller__ai-pr-reviewer__plans_prd.json",
        "a list of objects, but not under a key for stories",
    ),
    (
        "TheSmuks__pike-language-server__ralph_audit-prd.json",
        "a list of objects, but not under a key for stories",
    ),
    ("jenreh__runic__plans_prd.json", "this holds no stories"),
    ("jobackman__lui__plans_prd.json", "this list is empty"),
    (
        "jongschneider__gbm__spec_prd.json",
        "a list of objects, but not under a key for stories",
    ),
    (
        "kccarlos__gitcontext__.agents_tasks_prd-gitcontext.json",
        "this holds no stories",
    ),
];

#[expect(
    clippy::print_stdout,
    reason = "a test that is passed over must say so"
)]
fn passed_over(test: &str) {
    println!("{test} passed over: the folder of real PRD files is not beside the project");
}

#[test]
fn every_real_file_gives_stories_or_a_reason() {
    let Some(files) = real_files() else {
        return passed_over("every_real_file_gives_stories_or_a_reason");
    };
    let mut with_stories = 0;
    for (name, bytes) in &files {
        let reading = read_text(name, bytes.clone());
        let reason = WITHOUT_STORIES
            .iter()
            .find(|(file, _)| file == name)
            .map(|(_, reason)| *reason);
        match (&reading.prd, reason) {
            (Some(_), None) => {
                with_stories += 1;
                assert!(!reading.has_errors(), "{name}\n{}", drawn(&reading));
            }
            (None, Some(reason)) => {
                let labels: Vec<&str> = reading
                    .diagnostics
                    .iter()
                    .map(|found| found.label.as_str())
                    .collect();
                assert_eq!(labels, [reason], "{name}");
            }
            (prd, _) => panic!("{name}: stories: {}\n{}", prd.is_some(), drawn(&reading)),
        }
    }
    println!("{with_stories} of {} real files give stories", files.len());
    assert_eq!(with_stories, files.len() - WITHOUT_STORIES.len());
}

#[test]
fn marking_a_story_of_a_real_file_changes_its_state_and_nothing_else() {
    let Some(files) = real_files() else {
        return passed_over("marking_a_story_of_a_real_file");
    };
    let (mut stories, mut n_files) = (0, 0);
    for (name, bytes) in &files {
        let reading = read_text(name, bytes.clone());
        let Some(prd) = &reading.prd else { continue };
        n_files += 1;
        for story in &prd.stories {
            for state in [Mark::Passed, Mark::Skipped, Mark::Open] {
                let marked = mark(&reading, story.id.as_str(), state, &Options::default());
                let marked = marked
                    .unwrap_or_else(|refused| panic!("{name} {}: {}", story.id, refused.message));
                assert_only_state_changed(&reading, &marked, &story.id, state);
                stories += 1;
            }
        }
    }
    println!("{stories} marks in {n_files} real files");
}

#[test]
fn the_canonical_form_of_a_real_file_says_the_same() {
    let Some(files) = real_files() else {
        return passed_over("the_canonical_form_of_a_real_file");
    };
    for (name, bytes) in &files {
        if let Some(prd) = read_text(name, bytes.clone()).prd {
            crate::canonical::assert_says_the_same(name, &prd);
        }
    }
}
