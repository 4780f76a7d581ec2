//! The `loopwright` program. Everything that people ask for is in `cli`; here are the processes that
//! carry the engine: the worker, the keeper, and what they start.

mod acp_client;
mod crash_switch;
mod keeper;
mod serve;
mod worker_log;

use std::process::ExitCode;

use cli::{Exit, Failure, Output, ProcessCommand};

fn main() -> ExitCode {
    crash_switch::arm();
    cli::main(run)
}

fn run(command: ProcessCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        ProcessCommand::Serve {
            until_idle,
            detached,
        } => serve::run(until_idle, detached, output),
        ProcessCommand::Wake => keeper::wake(),
        ProcessCommand::Measure { folder } => keeper::measure(&folder),
        ProcessCommand::AcpClient(client) => acp_client::run(client),
        ProcessCommand::Keeper { folder } => keeper::run(&folder),
    }
}
