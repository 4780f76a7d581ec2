//! The `loopwright` program. Everything that people ask for is in `cli`; here are the processes that
//! carry the engine: the worker, the keeper, and what they start.

mod acp_client;
mod crash_switch;
mod keeper;
mod ralph;
mod serve;
mod worker_log;

use std::process::ExitCode;

use cli::{Exit, Failure, Output, ProcessCommand, Program};

fn main() -> ExitCode {
    // Before anything else: the first process of a jail must not own a file yet, nor read the
    // configuration of whoever is inside.
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    match args.next() {
        Some(command) if command == sandbox::SHIM_COMMAND => return sandbox::shim(args),
        Some(command) if command == sandbox::LAYERS_COMMAND => {
            return sandbox::layers_command(&name, args);
        }
        Some(_) | None => {}
    }
    crash_switch::arm();
    cli::main(Program {
        // `build.rs` finds it out.
        long_version: env!("LOOPWRIGHT_LONG_VERSION"),
        process: run,
    })
}

fn run(command: ProcessCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        ProcessCommand::Serve {
            until_idle,
            detached,
        } => serve::run(until_idle, detached, output),
        ProcessCommand::Ralph(args) => ralph::run(&args, output),
        ProcessCommand::Wake => keeper::wake(),
        ProcessCommand::Measure { folder } => keeper::measure(&folder),
        ProcessCommand::AcpClient(client) => acp_client::run(client),
        ProcessCommand::Keeper { folder } => keeper::run(&folder),
    }
}
