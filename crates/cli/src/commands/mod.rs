//! One file per verb.

mod agent_entries;
pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod explain;
mod finding;
pub(crate) mod loops;
pub(crate) mod prd;
mod preflight;
mod programs;
pub(crate) mod service;
pub(crate) mod setup;
pub(crate) mod worker;

use std::process::ExitCode;

use crate::args::When;
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
    Output::new(Style {
        json,
        color: When::Never,
    })
    .fail(&failure)
    .code()
}
