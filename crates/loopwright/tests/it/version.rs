//! `loopwright --version` names the commit that the program was built from.

use std::process::Command;

use crate::support::{TestEnv, project};

/// What stands behind the number: what whoever builds a package says, else the commit as git tells
/// it, else nothing.
fn commit() -> String {
    let told = option_env!("LOOPWRIGHT_COMMIT").filter(|commit| !commit.is_empty());
    if let Some(commit) = told {
        let date = option_env!("LOOPWRIGHT_COMMIT_DATE").unwrap_or_default();
        return shown(commit, date);
    }
    if !project().join(".git").exists() {
        return String::new();
    }
    let output = Command::new("git")
        .args(["log", "-1", "--date=format-local:%Y-%m-%d"])
        .arg("--format=%H %cd")
        .env("TZ", "UTC")
        .current_dir(project())
        .output()
        .expect("git");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    let (commit, date) = told.trim().split_once(' ').expect("two words");
    shown(commit, date)
}

fn shown(commit: &str, date: &str) -> String {
    format!(" ({})", format!("{} {date}", &commit[..7]).trim_end())
}

#[test]
fn the_version_names_commit_and_day() {
    let env = TestEnv::new();
    let number = env!("CARGO_PKG_VERSION");
    let commit = commit();
    let long = format!("loopwright {number}{commit}\n");
    assert_eq!(env.run(&["--version"]).stdout, long);
    assert_eq!(env.run(&["-V"]).stdout, format!("loopwright {number}\n"));
    let doctor = env.run(&["doctor"]).stdout;
    let first = format!("ok   loopwright: {number}{commit} on Linux");
    assert!(doctor.starts_with(&first), "{doctor}");
}
