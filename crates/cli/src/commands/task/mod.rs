//! `loopwright task …`: the tasks of a plan, and who works on which. Looking never claims.

mod common;
mod draw;
mod moves;
mod overview;
mod prompts;
mod request;

use crate::args::TaskCommand;
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(crate) use self::common::{failure, failure_of};

pub(crate) fn run(command: TaskCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        TaskCommand::Next { plan, story } => prompts::next(&plan, story.as_deref(), output),
        TaskCommand::Claim { id, plan, story } => {
            moves::claim(&plan, id.as_deref(), story.as_deref(), output)
        }
        TaskCommand::Prompt { id, plan } => prompts::prompt(&plan, &id, output),
        TaskCommand::Complete { id, plan, force } => {
            moves::complete(&plan, &id, moves::force(force), output)
        }
        TaskCommand::Reset { id, plan, force } => {
            moves::reset(&plan, &id, moves::force(force), output)
        }
        TaskCommand::Release { id, plan, force } => {
            moves::release(&plan, &id, moves::force(force), output)
        }
        TaskCommand::Status { plan } => overview::run(&plan, output),
        TaskCommand::Graph { plan, format } => draw::run(&plan, format, output),
        TaskCommand::Refresh { plan, tickets } => moves::refresh(&plan, tickets.as_deref(), output),
    }
}
