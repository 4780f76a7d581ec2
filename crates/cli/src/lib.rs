//! The command line: reads views, writes requests, prints. It never calls the engine; the processes
//! that do (worker, keeper and their helpers) are started as programs of their own.

mod args;
mod commands;
mod config;
mod crash_report;
mod failure;
mod help;
mod interrupt;
mod output;
mod prd_input;
mod project_folder;
mod signals;
mod state_folder;
mod steer_args;
mod table;
mod words;
mod worker_trouble;
mod wrapping;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

pub use crate::args::{AcpClient, OnFailure, PlanArgs, ProcessCommand, RalphArgs};
use crate::args::{Args, Command, read_started};
pub use crate::commands::loops::{ensure_worker, is_work_owed};
pub use crate::commands::ralph::{RalphSetup, ralph_dry_run, ralph_setup, tell_setup};
pub use crate::config::{WorkerLimits, read_worker_limits};
pub use crate::failure::{Exit, Failure};
pub use crate::output::Output;
use crate::output::Style;
use crate::project_folder::project_folder;
pub use crate::signals::Signals;
pub use crate::state_folder::home;
pub use crate::words::{counted, visible_line};

/// What the binary knows and the command line does not.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The version with the commit that it was built from, as `--version` prints it.
    pub long_version: &'static str,
    /// Runs the commands that are processes of their own: the worker, a keeper, and what they start.
    pub process: fn(ProcessCommand, &mut Output) -> Result<Exit, Failure>,
}

/// An id that nobody else has.
pub fn new_id() -> String {
    ulid::Ulid::generate().to_string()
}

/// Reads the command line and runs one command.
pub fn main(program: Program) -> ExitCode {
    crash_report::install(program.long_version);
    let started = read_started(std::env::args_os().skip(1));
    let args = match started.map_or_else(|| read_words(program.long_version), Ok) {
        Ok(args) => args,
        Err(error) => {
            let json_wanted = std::env::args_os().any(|arg| arg == "--json");
            return commands::refuse_arguments(&error, json_wanted);
        }
    };
    let style = Style {
        json: args.global.json,
        color: args.global.color,
    };
    let mut output = Output::new(style);
    let result = match args.command {
        Command::Process(command) => (program.process)(command, &mut output),
        command => run(command, program.long_version, &mut output),
    };
    match result.and_then(|exit| output.finish().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(failure) => output.fail(&failure).code(),
    }
}

/// Reads what a person typed. To lay the help out costs more than to read the words, so that is done for
/// those who are going to see it.
fn read_words(long_version: &'static str) -> Result<Args, clap::Error> {
    let read = |words: clap::Command| {
        words
            .long_version(long_version)
            .try_get_matches()
            .and_then(|matches| Args::from_arg_matches(&matches))
    };
    read(Args::command()).or_else(|_| read(help::dressed(Args::command())))
}

fn run(command: Command, long_version: &str, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Prd(command) => commands::prd::run(command, output),
        Command::Task(command) => commands::task::run(command, output),
        Command::Loop(command) | Command::LoopVerb(command) => {
            commands::loops::run(command, output)
        }
        Command::Init {
            project,
            dry_run,
            just: true,
        } => commands::init::just(&project_folder(project.as_deref()), dry_run, output),
        Command::Init {
            project, dry_run, ..
        } => commands::init::init(&project_folder(project.as_deref()), dry_run, output),
        Command::Doctor { project } => {
            commands::setup::doctor(&project_folder(project.as_deref()), long_version, output)
        }
        Command::Agents { project } => {
            commands::agents::run(&project_folder(project.as_deref()), output)
        }
        Command::Config(command) => commands::config::run(&command, output),
        Command::Service(command) => commands::service::run(&command, output),
        Command::Worker(command) => commands::worker::run(&command, output),
        Command::Explain { topic } => commands::explain::run(topic.as_deref(), output),
        Command::Schema { name } => commands::schema::run(name, output),
        Command::Completions { shell } => {
            commands::complete::script(shell, &mut Args::command(), output)
        }
        Command::Man { command, folder } => {
            let program = help::dressed(Args::command());
            commands::man::run(program, &command, folder.as_deref(), output)
        }
        Command::Complete { words } => {
            let mut program = Args::command();
            program.build();
            commands::complete::run(&words, &program, output)
        }
        Command::Demo { keep } => commands::demo::run(keep.as_deref(), output),
        Command::Process(_) => unreachable!("processes are run by the program itself"),
    }
}
