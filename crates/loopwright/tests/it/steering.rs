//! People steer stories with the real binary: the cases of `steering/`, each a script of its own. CI
//! plays one of each group, the soak all.

use std::path::PathBuf;
use std::process::Command;

use crate::sample::sample;
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

fn play(group: &str) {
    for case in sample(group, &cases(group)) {
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

#[test]
fn every_case_is_of_a_group() {
    let groups = [
        "base_",
        "h_accept",
        "h_help",
        "h_retry",
        "h_skip",
        "h_take",
        "x_accept",
        "x_cli",
        "x_known",
        "x_passed",
        "x_retry",
        "x_skip",
        "x_take",
        "x_unknown",
    ];
    for case in cases("") {
        let name = case
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        assert!(groups.iter().any(|group| name.starts_with(group)), "{name}");
    }
}

#[test]
fn a_story_is_tried_again() {
    play("h_retry");
    play("x_retry");
}

#[test]
fn a_story_is_set_aside() {
    play("h_skip");
    play("x_skip");
}

#[test]
fn i01_a_person_accepts_a_candidate() {
    play("h_accept");
    play("x_accept");
}

#[test]
fn a_person_does_a_story() {
    play("h_take");
    play("x_take");
}

#[test]
fn steering_is_explained_and_refused_in_words() {
    for group in [
        "base_",
        "h_help",
        "x_cli",
        "x_known",
        "x_passed",
        "x_unknown",
    ] {
        play(group);
    }
}
