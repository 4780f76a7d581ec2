//! What an adapter is asked for and what it gives: a task in, a command out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::session::Session;

/// What one run of an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// What it is asked, in full; it goes in by standard input.
    pub prompt: String,
    /// The model, in the CLI's own words; its default without one.
    pub model: Option<String>,
    /// How hard it is to think, in the CLI's own words.
    pub effort: Option<String>,
    /// The JSON Schema that the answer should have. CLIs without a flag for it ignore this, and no
    /// flag is a promise: the answer is validated by us in any case.
    pub schema: Option<String>,
    /// The session to work in.
    pub session: Session,
    /// The folder it works in, as it sees it itself, links resolved.
    pub checkout: PathBuf,
    /// The folder where the CLI keeps its configuration and sessions; ours, and only for this
    /// agent.
    pub config_home: PathBuf,
    /// The program, where it is not to be looked up by its usual name.
    pub program: Option<String>,
    /// Our own program, for adapters that need a client of ours between.
    pub client: PathBuf,
    /// Arguments of the operator, added to ours.
    pub extra_args: Vec<String>,
}

/// How to start a program; starting it is the sandbox's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program; without a slash it is looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it must have.
    pub env: BTreeMap<String, String>,
    /// Variables that it must not have, wherever they come from: they would lead it to another
    /// configuration.
    pub removed_env: Vec<String>,
    /// Variables by which the operator may have given it credentials or a gateway; passed on by
    /// name where they are set.
    pub pass_env: Vec<String>,
    /// All of its standard input, which is closed after it: an open one hangs several CLIs for
    /// ever.
    pub stdin: String,
    /// Files to be in the config home before it starts.
    pub files: Vec<HomeFile>,
    /// The operator's credentials, to be linked into the config home and never copied: a copy would
    /// lose the token that the CLI refreshes, or spend a token that is good for one use only.
    pub links: Vec<HomeLink>,
    /// How it is best asked to end.
    pub stop_signal: StopSignal,
    /// How long it may run, unless configured otherwise.
    pub wall_secs: u64,
    /// How long it may be silent, unless configured otherwise.
    pub idle_secs: u64,
}

/// A file of ours in the config home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// Where, relative to the config home.
    pub path: String,
    /// What is in it.
    pub content: String,
    /// What to do when it is there already.
    pub keep: Keep,
}

/// Says whether a file that is there already stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is written anew.
    Ours,
    /// It stays: the CLI adds to it, or the operator gave it.
    Theirs,
}

/// A link in the config home to a file of the operator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeLink {
    /// Where, relative to the config home.
    pub at: String,
    /// A variable that names the folder of the file, if the operator has set it.
    pub folder_variable: Option<&'static str>,
    /// The same folder when the variable is not set, relative to the operator's home.
    pub folder: &'static str,
    /// The file's name in that folder. Where it does not exist no link is made.
    pub file: &'static str,
}

/// Names the signal by which a program is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    /// `SIGTERM`.
    Term,
    /// `SIGINT`.
    Int,
}

/// Where an agent without a config home of its own kind finds ours, and what stands for it in the
/// operator's words.
pub(crate) const CONFIG_HOME: &str = "LOOPWRIGHT_CONFIG_HOME";
pub(crate) const CONFIG_HOME_PLACEHOLDER: &str = "{config_home}";

impl CommandSpec {
    /// The operator's variables, the config home filled in where the agent is told of one.
    pub fn filled_in(&self, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let Some(home) = self.env.get(CONFIG_HOME) else {
            return env.clone();
        };
        let filled = |(name, value): (&String, &String)| {
            (name.clone(), value.replace(CONFIG_HOME_PLACEHOLDER, home))
        };
        env.iter().map(filled).collect()
    }

    /// The text of the command for people: arguments quoted where they need it, no environment.
    pub fn shown(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words
            .map(|word| shell_word(word))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Names a file after its content, so that two runs with different content never share one.
pub(crate) fn named_by_content(stem: &str, extension: &str, content: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = content.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{stem}-{hash:016x}.{extension}")
}
