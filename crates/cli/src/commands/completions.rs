//! `loopwright completions SHELL`

use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(
    shell: clap_complete::Shell,
    command: &mut clap::Command,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("completions");
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "loopwright", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    output.data(&script)?;
    output.result(|| serde_json::json!({ "shell": shell.to_string(), "script": script }))?;
    Ok(Exit::Done)
}
