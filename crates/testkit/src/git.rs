//! Git as an operator or an agent runs it, in scratch folders: an identity, fixed dates, nobody's
//! configuration.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder; anything but success stops the test. Gives what it said, without the last
/// line break.
pub fn git(folder: &Path, words: &[&str]) -> String {
    let output = command(folder, words).output().expect("git runs");
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Runs git in a folder; says whether it succeeded, and all that it said.
pub fn try_git(folder: &Path, words: &[&str]) -> (bool, String) {
    let output = command(folder, words).output().expect("git runs");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent");
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Operator");
        command.env(format!("GIT_{role}_EMAIL"), "operator@localhost");
        // Commits of two tests with the same files are the same commit.
        command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    command
}

/// Makes a repository of a folder, with these of its files in one commit on `main`; without files
/// there is no commit.
pub fn init(folder: &Path, files: &[&str]) {
    git(folder, &["init", "--quiet", "--initial-branch=main", "."]);
    if !files.is_empty() {
        git(folder, &[&["add", "--"], files].concat());
        git(folder, &["commit", "--quiet", "-m", "start"]);
    }
}
