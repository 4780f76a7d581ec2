//! The project's own tasks: what CI runs, the long tests, and the house rules that no other tool
//! checks.
//!
//! This file reads the command line and hands over. It holds no task of its own. The command line
//! is matched by hand, because a few commands with a few options do not earn a parser crate here.

mod agents;
mod changelog;
mod ci;
mod dist;
mod invocation;
mod metadata;
mod packages;
mod scratch;
mod shims;
mod soak;
mod talk;
mod tidy;
mod tools;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::ci::Selection;
use crate::talk::{hand_out, say};

const HELP: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  ci [--from STEP | --only STEP]  run the steps of CI in order; stop at the first that fails
  ci --list                       list the steps
  soak [--minutes N]              play everything that CI plays a sample of; N (30 unless told) is for
                                  the fuzz tests, the rest takes what it takes
  soak --only PLAY                play one part of it; a wrong name lists them
  tidy                            check the house rules; print every complaint at once
  dist [--try]                    make the archive and the Debian package for this machine's target;
                                  with --try, run them on a bare root file system
  changelog                       write CHANGELOG.md from changes/

Exit codes: 0 passed, 1 failed, 2 the command line was not understood.";

const SOAK_MINUTES: u32 = 30;

/// A fuzz run of more than a week is a slip of the keyboard; the limit also keeps the seconds in
/// range.
const SOAK_MINUTES_MAX: u32 = 7 * 24 * 60;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match parse(&words) {
        Err(error) => {
            say(format!("error: {error:#}\n\n{HELP}"));
            ExitCode::from(2)
        }
        Ok(task) => match carry_out(&task) {
            Err(error) => {
                say(format!("error: {error:#}"));
                ExitCode::FAILURE
            }
            Ok(()) => ExitCode::SUCCESS,
        },
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Help,
    Ci(Selection),
    ListSteps,
    Soak { minutes: u32, only: Option<usize> },
    Tidy,
    Dist,
    DistAndTry,
    Changelog,
}

fn parse(words: &[&str]) -> Result<Task> {
    Ok(match words {
        []
        | ["help" | "--help" | "-h"]
        | [
            "ci" | "soak" | "tidy" | "dist" | "changelog",
            "--help" | "-h",
        ] => Task::Help,
        ["ci"] => Task::Ci(Selection::All),
        ["ci", "--list"] => Task::ListSteps,
        ["ci", "--from", step] => Task::Ci(Selection::From(ci::position(step)?)),
        ["ci", "--only", step] => Task::Ci(Selection::Only(ci::position(step)?)),
        ["soak"] => Task::Soak {
            minutes: SOAK_MINUTES,
            only: None,
        },
        ["soak", "--minutes", minutes] => Task::Soak {
            minutes: parse_minutes(minutes)?,
            only: None,
        },
        ["soak", "--only", play] => Task::Soak {
            minutes: SOAK_MINUTES,
            only: Some(soak::position(play)?),
        },
        ["tidy"] => Task::Tidy,
        ["dist"] => Task::Dist,
        ["dist", "--try"] => Task::DistAndTry,
        ["changelog"] => Task::Changelog,
        _ => bail!("`{}` is not understood", words.join(" ")),
    })
}

fn parse_minutes(word: &str) -> Result<u32> {
    match word.parse() {
        Ok(minutes @ 1..=SOAK_MINUTES_MAX) => Ok(minutes),
        _ => bail!("`{word}` is not a number of minutes from 1 to {SOAK_MINUTES_MAX}"),
    }
}

fn carry_out(task: &Task) -> Result<()> {
    let root = workspace_root()?;
    match task {
        Task::Help => hand_out(HELP),
        Task::Ci(selection) => ci::run(&root, *selection),
        Task::ListSteps => hand_out(ci::list()),
        Task::Soak { minutes, only } => soak::run(&root, *minutes, *only),
        Task::Tidy => tidy::run(&root),
        Task::Dist => dist::run(&root),
        Task::DistAndTry => dist::run_and_try(&root),
        Task::Changelog => changelog::write(&root),
    }
}

/// Finds the workspace from the folder of this package. The variable that `cargo run` sets goes
/// first: the one from compile time is stale when a checkout was moved.
fn workspace_root() -> Result<PathBuf> {
    let package =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&package)
        .parent()
        .context("the package `xtask` lies in no folder")?;
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_means() {
        let at = |step| ci::position(step).unwrap();
        for (words, expected) in [
            ("", Ok(Task::Help)),
            ("--help", Ok(Task::Help)),
            ("soak --help", Ok(Task::Help)),
            ("ci", Ok(Task::Ci(Selection::All))),
            ("ci --list", Ok(Task::ListSteps)),
            ("ci --from tidy", Ok(Task::Ci(Selection::From(at("tidy"))))),
            ("ci --only doc", Ok(Task::Ci(Selection::Only(at("doc"))))),
            (
                "soak",
                Ok(Task::Soak {
                    minutes: 30,
                    only: None,
                }),
            ),
            (
                "soak --minutes 5",
                Ok(Task::Soak {
                    minutes: 5,
                    only: None,
                }),
            ),
            (
                "soak --only kills",
                Ok(Task::Soak {
                    minutes: 30,
                    only: Some(soak::position("kills").unwrap()),
                }),
            ),
            ("tidy", Ok(Task::Tidy)),
            ("dist", Ok(Task::Dist)),
            ("dist --try", Ok(Task::DistAndTry)),
            ("changelog", Ok(Task::Changelog)),
            (
                "ci --from tidy --only doc",
                Err("`ci --from tidy --only doc` is not understood"),
            ),
            (
                "soak --minutes 0",
                Err("`0` is not a number of minutes from 1 to 10080"),
            ),
            (
                "soak --minutes ten",
                Err("`ten` is not a number of minutes from 1 to 10080"),
            ),
            ("sweep", Err("`sweep` is not understood")),
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            let seen = parse(&words).map_err(|error| error.to_string());
            assert_eq!(seen, expected.map_err(str::to_owned), "{words:?}");
        }
    }

    #[test]
    fn an_unknown_step_is_answered_with_the_known_ones() {
        let error = parse(&["ci", "--only", "lint"]).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no step `lint`; the steps are: tools, fmt, clippy"),
            "{error}"
        );
    }
}
