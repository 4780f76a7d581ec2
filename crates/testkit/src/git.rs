//! Runs git as an operator or an agent would, in scratch folders, with a fixed identity, fixed
//! dates and no user configuration.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder and returns its output without the last line break. Panics if git fails.
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

/// Runs git in a folder; returns whether it succeeded, and its output and errors.
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
    // Git refuses local paths for submodules by default; tests have nothing but local paths.
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
        // With fixed dates, the same files give the same commit id in every test run.
        command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    command
}

/// Makes a folder a repository, with these of its files in one commit on `main`. Without files
/// there is no commit.
pub fn init(folder: &Path, files: &[&str]) {
    git(folder, &["init", "--quiet", "--initial-branch=main", "."]);
    if !files.is_empty() {
        git(folder, &[&["add", "--"], files].concat());
        git(folder, &["commit", "--quiet", "-m", "start"]);
    }
}
