//! The `loopwright` program: reads the command line, runs one command, ends with a stable exit
//! code.
//!
//! Commands live in `commands`; this file only wires them to the terminal.

mod args;
mod commands;
mod config;
mod crash_switch;
mod failure;
mod home;
mod output;
mod prd_input;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::args::{Args, Command};
use crate::failure::Failure;
use crate::output::{Output, Style};

fn main() -> ExitCode {
    let json_wanted = std::env::args_os().any(|arg| arg == "--json");
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return commands::refuse_arguments(&error, json_wanted),
    };
    crash_switch::arm();
    let style = Style {
        json: args.global.json,
        color: args.global.color,
    };
    let mut output = Output::new(style);
    let result = run(args.command, &mut output);
    match result.and_then(|exit| output.finish().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(failure) => output.fail(&failure).code(),
    }
}

fn run(command: Command, output: &mut Output) -> Result<failure::Exit, Failure> {
    match command {
        Command::Prd(command) => commands::prd::run(command, output),
        Command::Loop(command) => commands::loops::run(command, output),
        Command::Wake { loop_id, until_ms } => commands::keeper::wake(&loop_id, until_ms),
        Command::Measure { folder } => commands::keeper::measure(&folder),
        Command::AcpClient(client) => commands::acp_client::run(client),
        Command::Keeper { folder } => commands::keeper::run(&folder),
        Command::Init { project } => commands::setup::init(&project, output),
        Command::Doctor { project } => commands::setup::doctor(&project, output),
        Command::Agents { project } => commands::agents::run(&project, output),
        Command::Config(command) => commands::config::run(&command, output),
        Command::Service(command) => commands::service::run(&command, output),
        Command::Explain { code } => commands::explain::run(code.as_deref(), output),
        Command::Completions { shell } => {
            commands::completions::run(shell, &mut Args::command(), output)
        }
        Command::Demo { keep } => commands::demo::run(keep.as_deref(), output),
    }
}
