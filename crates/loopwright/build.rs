//! Finds out which commit the program is built from, for `loopwright --version`.
//!
//! The variables come first: whoever builds a package knows the commit and has no repository. Then
//! comes the repository that these sources lie in, then what `cargo package` wrote down. Where none
//! of them tells anything, the version is the plain number. The date is that of the commit, never of
//! the build, so that the same sources give the same program.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

/// What a package's maker may set: the commit, and its day as `2026-11-17`.
const COMMIT: &str = "LOOPWRIGHT_COMMIT";
const COMMIT_DATE: &str = "LOOPWRIGHT_COMMIT_DATE";

/// So many characters of a commit's name are shown.
const COMMIT_CHARS: usize = 7;

fn main() -> io::Result<()> {
    let stamp = told()
        .or_else(of_repository)
        .or_else(of_package)
        .unwrap_or_default();
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let long = match (stamp.commit.as_str(), stamp.date.as_str()) {
        ("", _) => version,
        (commit, "") => format!("{version} ({commit})"),
        (commit, date) => format!("{version} ({commit} {date})"),
    };
    let mut instructions = format!("cargo::rustc-env=LOOPWRIGHT_LONG_VERSION={long}\n");
    for variable in [COMMIT, COMMIT_DATE] {
        instructions += &format!("cargo::rerun-if-env-changed={variable}\n");
    }
    for file in ["build.rs".to_owned()].into_iter().chain(stamp.made_from) {
        instructions += &format!("cargo::rerun-if-changed={file}\n");
    }
    // Tests start this program many thousand times, and each start would relocate 100,000 addresses
    // of a debug build. Releases stay at an address that nobody can guess.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        instructions += "cargo::rustc-link-arg-bins=-no-pie\n";
    }
    io::stdout().write_all(instructions.as_bytes())
}

#[derive(Default)]
struct Stamp {
    commit: String,
    date: String,
    /// Files that change when another commit is checked out.
    made_from: Vec<String>,
}

fn told() -> Option<Stamp> {
    let value = |name| env::var(name).ok().filter(|text| !text.is_empty());
    Some(Stamp {
        commit: shortened(&value(COMMIT)?),
        date: value(COMMIT_DATE).unwrap_or_default(),
        made_from: Vec::new(),
    })
}

/// Asks git, but only where the workspace itself is a repository: sources that somebody unpacked
/// inside another repository are not of its commits.
fn of_repository() -> Option<Stamp> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let told = git(&[
        "log",
        "-1",
        "--date=format-local:%Y-%m-%d",
        "--format=%H %cd",
    ])?;
    let (commit, date) = told.trim().split_once(' ')?;
    let file = |name| Some(git(&["rev-parse", "--git-path", name])?.trim().to_owned());
    let files = [file("HEAD"), file("logs/HEAD")].into_iter().flatten();
    Some(Stamp {
        commit: shortened(commit),
        date: date.to_owned(),
        // Cargo takes a file that is not there for one that has changed.
        made_from: files.filter(|file| Path::new(file).exists()).collect(),
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .env("TZ", "UTC")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

/// `cargo package` notes the commit in a file of its own, without a date.
fn of_package() -> Option<Stamp> {
    let note = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = note.split_once("\"sha1\": \"")?;
    let (commit, _) = rest.split_once('"')?;
    Some(Stamp {
        commit: shortened(commit),
        ..Stamp::default()
    })
}

fn shortened(commit: &str) -> String {
    commit.chars().take(COMMIT_CHARS).collect()
}
