//! `loopwright acp-client -- PROGRAM ARGS`: one turn with an agent that speaks ACP. A keeper starts
//! it; people do not.

use std::io::Read as _;

use acp::{Fault, Orders};

use cli::{AcpClient, Exit, Failure};

pub(crate) fn run(client: AcpClient) -> Result<Exit, Failure> {
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::environment("cannot find the folder to work in", &error))?;
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(|error| Failure::environment("cannot read the prompt", &error))?;
    let AcpClient {
        model,
        effort,
        resume,
        program,
        args,
    } = client;
    let orders = Orders {
        program,
        args,
        cwd,
        model,
        effort,
        resume,
    };
    acp::run(&orders, &prompt, Box::new(std::io::stdout()))
        .map(|()| Exit::Done)
        .map_err(|fault| failure(&fault))
}

/// What goes to standard error is read again by the adapter, where the turn has told of no end.
fn failure(fault: &Fault) -> Failure {
    let mut failure = Failure::environment("the turn failed", fault);
    if matches!(fault, Fault::Cancelled) {
        failure.exit = Exit::Interrupted;
    }
    failure
}
