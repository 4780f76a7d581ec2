//! A program to run, as data: it can be shown exactly as a person would type it, then run.
//!
//! There is no time limit here: a test run takes what it takes, and CI has a limit of its own.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::talk::Talk;

/// One program with its arguments and the variables set for it.
pub(crate) struct Invocation {
    program: OsString,
    shown_as: String,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Invocation {
    /// Takes the cargo that runs us, not the first on `PATH`: the toolchain must be the same.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self {
            program,
            shown_as: "cargo".to_owned(),
            ..Self::program("cargo", arguments)
        }
    }

    pub(crate) fn program(name: &str, arguments: &[&str]) -> Self {
        Self {
            program: name.into(),
            shown_as: name.to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            environment: Vec::new(),
        }
    }

    /// Runs a program by its path, which need not be valid UTF-8.
    pub(crate) fn file(path: &Path, arguments: &[&str]) -> Self {
        Self {
            program: path.into(),
            ..Self::program(&path.to_string_lossy(), arguments)
        }
    }

    pub(crate) fn with_env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Says the command, runs it with our own stdout and stderr, and fails if it does.
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        self.run_in(&mut Talk::Live, root)
    }

    /// Says the command, runs it, and fails if it does. Its output goes where the talk goes: where
    /// that is kept, stdout comes before stderr.
    pub(crate) fn run_in(&self, talk: &mut Talk, root: &Path) -> Result<()> {
        talk.say(format!("$ {self}"));
        let mut command = self.command(root);
        let status = match talk {
            Talk::Live => command.status(),
            Talk::Kept(text) => command.output().map(|output| {
                for printed in [output.stdout, output.stderr] {
                    text.push_str(&String::from_utf8_lossy(&printed));
                }
                output.status
            }),
        };
        let status = status.with_context(|| format!("cannot start `{}`", self.shown_as))?;
        if !status.success() {
            bail!("`{self}` failed: {status}");
        }
        Ok(())
    }

    /// Runs it silently and hands back its stdout; the error carries its stderr.
    pub(crate) fn read(&self, root: &Path) -> Result<String> {
        let output = self.command(root).stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start `{}`", self.shown_as))?;
        if !output.status.success() {
            let talk = String::from_utf8_lossy(&output.stderr);
            bail!("`{self}` failed: {}: {}", output.status, talk.trim());
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{self}` printed no valid UTF-8"))
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root);
        // What cargo notes for the next build makes this one slower, and CI builds a clone only once. It is
        // the same for every step, or the next would build everything anew.
        if env::var_os("CI").is_some() {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Shows the command so that it can be pasted into a shell.
impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", quoted(&self.shown_as))?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_typed() {
        for (invocation, expected) in [
            (
                Invocation::cargo(&["fmt", "--all", "--", "--check"]),
                "cargo fmt --all -- --check",
            ),
            (
                Invocation::cargo(&["test", "-E", "test(/fuzz/)"]),
                "cargo test -E 'test(/fuzz/)'",
            ),
            (
                Invocation::cargo(&["doc"]).with_env("RUSTDOCFLAGS", "-D warnings"),
                "RUSTDOCFLAGS='-D warnings' cargo doc",
            ),
            (
                Invocation::program("echo", &["it's", ""]),
                r"echo 'it'\''s' ''",
            ),
        ] {
            assert_eq!(invocation.to_string(), expected);
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Invocation::program("no-such-program-here", &[])
            .read(Path::new("."))
            .unwrap_err();
        assert_eq!(error.to_string(), "cannot start `no-such-program-here`");
    }

    #[test]
    fn output_is_kept_with_the_talk() {
        let script = "echo out; echo err >&2; exit 3";
        let mut talk = Talk::Kept(String::new());
        let outcome = Invocation::program("sh", &["-c", script]).run_in(&mut talk, Path::new("."));
        let Talk::Kept(text) = talk else {
            unreachable!("it was made so");
        };
        let command = format!("sh -c '{script}'");
        assert_eq!(text, format!("$ {command}\nout\nerr\n"));
        assert_eq!(
            outcome.unwrap_err().to_string(),
            format!("`{command}` failed: exit status: 3")
        );
    }
}
