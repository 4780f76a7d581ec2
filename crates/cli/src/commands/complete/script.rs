//! `loopwright completions SHELL`

use clap_complete::Shell;

use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(
    shell: Shell,
    command: &mut clap::Command,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("completions");
    let script = match shell {
        Shell::Bash => include_str!("loopwright.bash").to_owned(),
        Shell::Zsh => include_str!("loopwright.zsh").to_owned(),
        Shell::Fish => include_str!("loopwright.fish").to_owned(),
        // For the others there are verbs and flags alone.
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, command, "loopwright", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    output.data(&script)?;
    output.result(|| serde_json::json!({ "shell": shell.to_string(), "script": script }))?;
    Ok(Exit::Done)
}
