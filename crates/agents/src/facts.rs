//! What is known of a CLI beside its command line and its stream.

use crate::spec::StopSignal;
use crate::version::{self, BadVersion, Version, VersionVerdict};

/// What is known of a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name people call it by.
    pub name: &'static str,
    /// The program that is looked up in `PATH`.
    pub program: &'static str,
    /// The signal on which it ends its tools and saves its session.
    pub stop_signal: StopSignal,
    /// How long a run may take by default.
    pub wall_secs: u64,
    /// How long it may be silent by default. A tool that compiles for minutes prints nothing, so
    /// this is generous.
    pub idle_secs: u64,
    /// Who made its models, where it has only one maker's.
    pub family: Option<Family>,
    /// What can be done with its sessions.
    pub sessions: Sessions,
    /// Whether it takes a schema for its answer.
    pub takes_schema: bool,
    /// Whether it tells what a run cost.
    pub tells_cost: bool,
    /// Folders of the repository whose content it runs, whatever it is told: they must not be in
    /// the checkout.
    pub executes: &'static [&'static str],
    /// The oldest and the newest version that were tried.
    pub tried: Option<(Version, Version)>,
    /// Versions that must not be used.
    pub known_bad: &'static [BadVersion],
    /// How to ask it for its version; [`Version::find`] reads the answer.
    pub version_args: &'static [&'static str],
    /// How to see whether it is logged in without spending a token.
    pub login: LoginCheck,
    /// How a person installs it.
    pub install: &'static str,
    /// How a person logs in.
    pub log_in: &'static str,
}

/// Says what can be done with the sessions of a CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// It has none.
    None,
    /// One can be gone on with.
    Resumed,
    /// One can be gone on with, and a fresh one can be named by us.
    NamedAndResumed,
}

/// Says how a login is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginCheck {
    /// By a command that asks no model; [`Facts::login_state`] reads its end.
    Command(&'static [&'static str]),
    /// By the credentials being there: one of the linked files, or one of the variables that are
    /// passed on.
    Credentials,
    /// Not at all.
    Unknown,
}

/// Says whether a CLI is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// It has credentials; whether they are still good only a request can tell.
    LoggedIn,
    /// It has none.
    NotLoggedIn,
    /// The answer was not understood.
    Unknown,
}

/// Who made a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Claude.
    Anthropic,
    /// GPT and codex.
    OpenAi,
    /// Gemini and Gemma.
    Google,
    /// Grok.
    Xai,
    /// Mistral, Devstral, Codestral.
    Mistral,
    /// `DeepSeek`.
    DeepSeek,
    /// Qwen.
    Alibaba,
    /// Kimi.
    Moonshot,
    /// GLM.
    Zhipu,
    /// Llama.
    Meta,
}

/// Words in model names. The maker of the weights counts, not who serves them.
const FAMILY_WORDS: [(&str, Family); 22] = [
    ("claude", Family::Anthropic),
    ("opus", Family::Anthropic),
    ("sonnet", Family::Anthropic),
    ("haiku", Family::Anthropic),
    ("fable", Family::Anthropic),
    ("gpt", Family::OpenAi),
    ("codex", Family::OpenAi),
    ("o1", Family::OpenAi),
    ("o3", Family::OpenAi),
    ("o4", Family::OpenAi),
    ("gemini", Family::Google),
    ("gemma", Family::Google),
    ("grok", Family::Xai),
    ("mistral", Family::Mistral),
    ("devstral", Family::Mistral),
    ("codestral", Family::Mistral),
    ("deepseek", Family::DeepSeek),
    ("qwen", Family::Alibaba),
    ("qwq", Family::Alibaba),
    ("kimi", Family::Moonshot),
    ("glm", Family::Zhipu),
    ("llama", Family::Meta),
];

impl Family {
    /// Reads the maker from a model's name, if the name tells.
    pub fn of_model(model: &str) -> Option<Self> {
        let model = model.to_lowercase();
        let words: Vec<&str> = model.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let tells = |word: &str, sign: &str| {
            if sign.len() <= 2 {
                word == sign
            } else {
                word.starts_with(sign)
            }
        };
        let family = |word: &&str| {
            FAMILY_WORDS
                .iter()
                .find(|(sign, _)| tells(word, sign))
                .map(|(_, family)| *family)
        };
        // A served model's last word is its own: `deepseek/deepseek-r1-distill-llama` is the
        // exception that proves it.
        words.iter().find_map(family)
    }
}

impl Facts {
    /// Says what is known of a version.
    pub fn judge(&self, version: Version) -> VersionVerdict {
        self.tried.map_or(VersionVerdict::Tried, |tried| {
            version::judge(version, tried, self.known_bad)
        })
    }

    /// Reads the end of the login command.
    pub fn login_state(&self, code: Option<i32>, printed: &str) -> LoginState {
        let printed = printed.to_lowercase();
        let denies = [
            "not logged in",
            "\"loggedin\": false",
            "\"loggedin\":false",
            "0 credentials",
        ];
        match code {
            _ if denies.iter().any(|words| printed.contains(words)) => LoginState::NotLoggedIn,
            Some(0) => LoginState::LoggedIn,
            Some(_) | None => LoginState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_tells_its_maker() {
        for (model, expected) in [
            ("gpt-5.5", Some(Family::OpenAi)),
            ("o3", Some(Family::OpenAi)),
            ("o300", None),
            ("opus", Some(Family::Anthropic)),
            (
                "openrouter/anthropic/claude-sonnet-4-5",
                Some(Family::Anthropic),
            ),
            ("google/gemini-2.5-pro", Some(Family::Google)),
            ("ollama/qwen3-coder", Some(Family::Alibaba)),
            ("scripted-model", None),
            ("", None),
        ] {
            assert_eq!(Family::of_model(model), expected, "{model}");
        }
    }
}
