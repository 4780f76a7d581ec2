//! The input and output of an adapter's first half: a [`Task`] in, a [`CommandSpec`] out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::session::Session;

/// What one run of an agent should do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// The full prompt. It is passed on standard input, because one argument over 128 KiB fails
    /// with `E2BIG`.
    pub prompt: String,
    /// The model, as the CLI names it. Without one the CLI uses its default.
    pub model: Option<String>,
    /// Reasoning effort to ask the model for, as the CLI names it.
    pub effort: Option<String>,
    /// The JSON Schema that the answer should match. CLIs without a flag for it ignore this. The
    /// flags of the others guarantee nothing, so the caller must validate the answer anyway.
    pub schema: Option<String>,
    /// The session to work in.
    pub session: Session,
    /// The working directory as the agent sees it, with links resolved.
    pub checkout: PathBuf,
    /// The folder where the CLI keeps its configuration and sessions. It belongs to us and serves
    /// only this agent.
    pub config_home: PathBuf,
    /// The program to start instead of the CLI's usual name.
    pub program: Option<String>,
    /// Our own program, for adapters that run the agent through a client of ours.
    pub client: PathBuf,
    /// Arguments from the operator, added to ours.
    pub extra_args: Vec<String>,
}

/// How to start a program. Starting it is the sandbox's job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program. A name without a slash is looked up in `PATH`.
    pub program: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Environment variables to set.
    pub env: BTreeMap<String, String>,
    /// Environment variables to remove wherever they come from, because they would point the
    /// program at another configuration.
    pub removed_env: Vec<String>,
    /// Environment variables to pass on if they are set: those through which the operator may
    /// provide credentials or a gateway.
    pub pass_env: Vec<String>,
    /// The whole of standard input. It must be closed afterwards: several CLIs wait forever on an
    /// open one.
    pub stdin: String,
    /// Files that must be in the config home before the program starts.
    pub files: Vec<HomeFile>,
    /// The operator's credentials, of which the config home gets a copy. A CLI that refreshes its copy
    /// leaves the operator with a spent one, so what it wrote must go back.
    pub links: Vec<HomeLink>,
    /// The signal that makes the program end cleanly.
    pub stop_signal: StopSignal,
    /// How long the program may run, unless configured otherwise.
    pub wall_secs: u64,
    /// How long the program may print nothing, unless configured otherwise.
    pub idle_secs: u64,
}

/// A file that we put into the config home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// The file's path, relative to the config home.
    pub path: String,
    /// The file's content.
    pub content: String,
    /// What to do if the file already exists.
    pub keep: Keep,
}

/// Says whether an existing file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is overwritten with our content.
    Ours,
    /// It is kept: the CLI adds to it, or the operator provided it.
    Theirs,
}

/// A file of the config home that is one of the operator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeLink {
    /// Its path, relative to the config home.
    pub at: String,
    /// The environment variable that names the file's folder, if the CLI has one.
    pub folder_variable: Option<&'static str>,
    /// The file's folder while that variable is not set, relative to the operator's home.
    pub folder: &'static str,
    /// The file's name in that folder. If the file does not exist, there is none in the config home either.
    pub file: &'static str,
}

/// The signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// `SIGTERM`.
    Term,
    /// `SIGINT`.
    Int,
}

/// The variable that holds our config home, for agents that have no variable of their own for it.
pub(crate) const CONFIG_HOME: &str = "LOOPWRIGHT_CONFIG_HOME";
/// Stands for the config home in the operator's arguments and variables.
pub(crate) const CONFIG_HOME_PLACEHOLDER: &str = "{config_home}";

impl CommandSpec {
    /// The operator's variables with the config home filled in, if this command sets one.
    pub fn filled_in(&self, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let Some(home) = self.env.get(CONFIG_HOME) else {
            return env.clone();
        };
        env.iter()
            .map(|(name, value)| (name.clone(), value.replace(CONFIG_HOME_PLACEHOLDER, home)))
            .collect()
    }

    /// The command as text for people, quoted for a shell. It leaves the environment out, which may
    /// hold secrets.
    pub fn shown(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words
            .map(|word| shell_word(word))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Appends a flag and its value if there is a value.
pub(crate) fn push_flag(args: &mut Vec<String>, flag: &str, value: Option<&str>) {
    if let Some(value) = value {
        args.extend([flag.to_owned(), value.to_owned()]);
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Names a file after a hash of its content, so that runs with different content that share a
/// config home do not overwrite each other's file. The hash is 64-bit FNV-1a: it must be stable,
/// but it guards against no attacker.
pub(crate) fn named_by_content(stem: &str, extension: &str, content: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = content.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{stem}-{hash:016x}.{extension}")
}
