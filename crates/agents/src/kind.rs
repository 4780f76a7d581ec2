//! The CLIs that have an adapter.

use serde::{Deserialize, Serialize};

use crate::facts::{Facts, Family};
use crate::parser::Dialect;
use crate::renewal::Renewal;
use crate::spec::{CommandSpec, Task};
use crate::{acp, claude, codex, command, gemini, opencode, pi};

/// Makes the type from one list, so that no other list of kinds has to be kept beside it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident, $word:literal;)*) => {
        /// A CLI that has an adapter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// The names of all kinds in configuration.
            pub const WORDS: &[&str] = &[$($word),*];

            /// All kinds.
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$name),*];

            /// The kind's name in configuration.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// `OpenAI`'s codex.
    Codex, "codex";
    /// Anthropic's Claude Code.
    Claude, "claude";
    /// pi, which works with any provider.
    Pi, "pi";
    /// opencode, which works with any provider.
    Opencode, "opencode";
    /// Google's gemini.
    Gemini, "gemini";
    /// Any agent that speaks the Agent Client Protocol.
    Acp, "acp";
    /// Any program that reads its task from standard input and ends with an exit code.
    Command, "command";
}

impl Kind {
    /// Reads a kind's name in configuration.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// What is known about the CLI.
    pub fn facts(self) -> Facts {
        match self {
            Self::Codex => codex::facts(),
            Self::Claude => claude::facts(),
            Self::Pi => pi::facts(),
            Self::Opencode => opencode::facts(),
            Self::Gemini => gemini::facts(),
            Self::Acp => acp::facts(),
            Self::Command => command::facts(),
        }
    }

    /// The command that runs the CLI on a task.
    pub fn command(self, task: &Task) -> CommandSpec {
        match self {
            Self::Codex => codex::command(task),
            Self::Claude => claude::command(task),
            Self::Pi => pi::command(task),
            Self::Opencode => opencode::command(task),
            Self::Gemini => gemini::command(task),
            Self::Acp => acp::command(task),
            Self::Command => command::command(task),
        }
    }

    /// How the login that the CLI keeps in a file is renewed from outside, where that is known.
    pub fn renewal(self) -> Option<Renewal> {
        match self {
            Self::Codex => Some(Renewal::Codex),
            Self::Claude => Some(Renewal::Claude),
            Self::Pi | Self::Opencode | Self::Gemini | Self::Acp | Self::Command => None,
        }
    }

    /// The files of its config home that log it in.
    pub fn login_files(self) -> Vec<String> {
        let links = self.command(&Task::default()).links.into_iter();
        links.map(|link| link.at).collect()
    }

    /// The variables by which the CLI can be logged in.
    pub fn key_variables(self) -> Vec<String> {
        let mut names = self.command(&Task::default()).pass_env;
        names.retain(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"));
        names
    }

    /// Says whether the operator names the program, rather than the adapter.
    pub fn is_any_program(self) -> bool {
        matches!(self, Self::Acp | Self::Command)
    }

    /// Who made the model that will answer, as far as that is known before a run.
    pub fn family(self, model: Option<&str>) -> Option<Family> {
        model.and_then(Family::of_model).or(self.facts().family)
    }

    /// The reader for the CLI's event stream. `None` for a program that prints plain text.
    pub(crate) fn dialect(self) -> Option<Box<dyn Dialect>> {
        match self {
            Self::Codex => Some(Box::<codex::Stream>::default()),
            Self::Claude => Some(Box::<claude::Stream>::default()),
            Self::Pi => Some(Box::<pi::Stream>::default()),
            Self::Opencode => Some(Box::<opencode::Stream>::default()),
            Self::Gemini => Some(Box::<gemini::Stream>::default()),
            Self::Acp => Some(Box::<acp::Stream>::default()),
            Self::Command => None,
        }
    }
}
