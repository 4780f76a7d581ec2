//! One file per verb.

mod agent_entries;
pub(crate) mod agents;
pub(crate) mod complete;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod explain;
mod finding;
mod image;
pub(crate) mod init;
mod jail;
pub(crate) mod loops;
pub(crate) mod man;
pub(crate) mod prd;
mod preflight;
mod programs;
pub(crate) mod ralph;
mod registries;
pub(crate) mod schema;
pub(crate) mod service;
pub(crate) mod setup;
mod system;
pub(crate) mod task;
pub(crate) mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::args::{Args, When};
use crate::failure::{Exit, Failure};
use crate::output::{Output, Style};

/// Answers a command line that clap refused, in the form that was asked for. Help and version are
/// no failures.
pub(crate) fn refuse_arguments(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        // A closed pipe is fine: whoever asked for help has seen enough of it.
        let _ = error.print();
        return Exit::Done.code();
    }
    if !json {
        let _ = error.print();
        return Exit::BadInput.code();
    }
    let text = error.render().to_string();
    let message = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    let failure =
        Failure::bad_input(message).hint("`loopwright --help` lists all commands and options");
    let mut output = Output::new(Style {
        json,
        color: When::Never,
    });
    let words = std::env::args_os().skip(1);
    output.command(&verb_in(&Args::command(), words));
    output.fail(&failure).code()
}

/// The verb that a command line names, as far as it names one: `prd check`.
fn verb_in(program: &clap::Command, words: impl Iterator<Item = OsString>) -> String {
    let (mut here, mut verb) = (program, Vec::new());
    for word in words {
        let known = here.find_subcommand(&word);
        if let Some(known) = known {
            here = known;
            verb.push(known.get_name());
        } else if !verb.is_empty() && !word.to_string_lossy().starts_with('-') {
            // What follows a verb and is none belongs to it.
            break;
        }
    }
    // `loop` is another way to the same verbs.
    let is_group = verb.len() > 1 && verb[0] == "loop";
    verb[usize::from(is_group)..].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_its_verb() {
        for (line, expected) in [
            ("status --wrong", "status"),
            ("--json status a b", "status"),
            ("--color never prd check", "prd check"),
            ("prd --json check list", "prd check"),
            ("loop pause", "pause"),
            ("answer list list list", "answer"),
            ("prd", "prd"),
            ("nonsense", ""),
            ("", ""),
        ] {
            let words = line.split_whitespace().map(OsString::from);
            assert_eq!(verb_in(&Args::command(), words), expected, "{line}");
        }
    }
}
