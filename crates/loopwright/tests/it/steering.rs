//! People steer stories with the real binary: the cases of `steering/`, each a script of its own. CI
//! plays one of each group, the soak all.

use std::path::PathBuf;
use std::process::Command;

use crate::sample::sample;
use crate::scene::Scene;
use crate::support::{TestEnv, project};

/// The scripts whose names begin like this.
fn cases(group: &str) -> Vec<PathBuf> {
    let folder = project().join("steering/cases");
    let files = std::fs::read_dir(folder).expect("the cases");
    let files = files.map(|file| file.expect("a file").path());
    let is_of_group = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(group)
    };
    let mut cases: Vec<PathBuf> = files.filter(is_of_group).collect();
    cases.sort();
    cases
}

fn play_some(class: &str, cases: &[PathBuf]) {
    for case in sample(class, cases) {
        let env = TestEnv::new();
        let mut command = Command::new("bash");
        command
            .arg(&case)
            .env("LW", env!("CARGO_BIN_EXE_loopwright"))
            .env("TMPDIR", env.path(""));
        let output = env.output(&mut command);
        let said = String::from_utf8_lossy(&output.stdout);
        let more = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{more}");
    }
}

/// Honest and hostile cases of these verbs.
fn play_both(verb: &str) {
    let [honest, hostile] = ["h", "x"].map(|kind| cases(&format!("{kind}_{verb}")));
    assert!(!honest.is_empty() && !hostile.is_empty(), "{verb}");
    play_some(verb, &[honest, hostile].concat());
}

#[test]
fn a_story_is_tried_again() {
    play_both("retry");
}

#[test]
fn a_story_is_set_aside() {
    play_both("skip");
}

#[test]
fn i01_a_person_accepts_a_candidate() {
    play_some("honest accept", &cases("h_accept"));
    play_some("hostile accept", &cases("x_accept"));
}

#[test]
fn a_person_does_a_story() {
    play_both("take");
}

#[test]
fn steering_is_explained_and_refused_in_words() {
    let is_of_verb = |case: &PathBuf| {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        let verb = name.split(['_', '.']).nth(1).unwrap_or_default();
        ["retry", "skip", "accept", "take"].contains(&verb)
    };
    let all = cases("").into_iter();
    let others: Vec<PathBuf> = all.filter(|case| !is_of_verb(case)).collect();
    play_some("all verbs", &others);
}

#[test]
fn whoever_names_no_loop_is_told_which_one_may_be_meant() {
    let scene = Scene::new(&["never-one"]);
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    let mut command = scene.env.command(&["retry", "never-one"]);
    let output = scene
        .env
        .output(command.current_dir(scene.env.path("project")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let hint = format!("loopwright retry {id}");
    assert!(said.contains(&hint), "{said}");
}
