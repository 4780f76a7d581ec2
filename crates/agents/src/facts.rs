//! What is known about a CLI besides its command line and its stream.

use crate::gateway::Gateway;
use crate::spec::StopSignal;
use crate::version::{self, BadVersion, Version, VersionVerdict};

/// What is known about a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name people call it by.
    pub name: &'static str,
    /// The program to look up in `PATH`.
    pub program: &'static str,
    /// The signal that makes it end its tools and save its session.
    pub stop_signal: StopSignal,
    /// How long a run may take by default.
    pub wall_secs: u64,
    /// How long it may print nothing by default. This is generous, because a tool that compiles for
    /// minutes prints nothing.
    pub idle_secs: u64,
    /// Who made its models, if they all come from one maker.
    pub family: Option<Family>,
    /// How far it supports sessions.
    pub sessions: Sessions,
    /// Whether it takes a schema for its answer.
    pub takes_schema: bool,
    /// Whether it reports what a run cost.
    pub tells_cost: bool,
    /// Folders of the repository whose content it executes and cannot be kept from executing. They
    /// must not be in the checkout.
    pub executes: &'static [&'static str],
    /// The oldest and the newest version that were tried.
    pub tried: Option<(Version, Version)>,
    /// Versions that must not be used.
    pub known_bad: &'static [BadVersion],
    /// Arguments that make it print its version; [`Version::find`] reads the output.
    pub version_args: &'static [&'static str],
    /// How to check whether it is logged in without spending a token.
    pub login: LoginCheck,
    /// The hosts that it must reach to do its work: its makers' models and logins.
    pub hosts: &'static [&'static str],
    /// How its keys can stay outside of a jail.
    pub gateways: &'static [Gateway],
    /// How a person installs it.
    pub install: &'static str,
    /// How a person logs in.
    pub log_in: &'static str,
}

/// Says how far a CLI supports sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// It has no sessions.
    None,
    /// A session can be resumed.
    Resumed,
    /// A session can be resumed, and we can choose the id of a new one.
    NamedAndResumed,
}

/// Says how to check for a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginCheck {
    /// Run a command that asks no model; [`Facts::login_state`] reads its result.
    Command(&'static [&'static str]),
    /// Look for credentials: one of the linked files, or one of the variables that are passed on.
    Credentials,
    /// There is no way to check.
    Unknown,
}

/// Says whether a CLI is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// It has credentials. Only a request can show whether they are still valid.
    LoggedIn,
    /// It has no credentials.
    NotLoggedIn,
    /// The command's output was not understood.
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

/// The hosts of the makers whose models a CLI without a maker of its own may be told to use.
pub(crate) const MODEL_HOSTS: &[&str] = &[
    "api.anthropic.com",
    "api.openai.com",
    "generativelanguage.googleapis.com",
    "openrouter.ai",
    "api.x.ai",
    "api.mistral.ai",
    "api.deepseek.com",
    "opencode.ai",
    "models.dev",
];

/// Words in model names and who made the model. The maker of the weights counts, not who serves
/// them.
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
    /// Reads the maker from a model's name, if the name shows it.
    pub fn of_model(model: &str) -> Option<Self> {
        // The first word that is known decides: `deepseek/deepseek-r1-distill-llama` is DeepSeek's.
        model
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .find_map(Self::of_word)
    }

    /// The maker's name, as the maker writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Google => "Google",
            Self::Xai => "xAI",
            Self::Mistral => "Mistral",
            Self::DeepSeek => "DeepSeek",
            Self::Alibaba => "Alibaba",
            Self::Moonshot => "Moonshot",
            Self::Zhipu => "Zhipu",
            Self::Meta => "Meta",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let is_named = |name: &str| {
            // A short name must match whole, so that `o300` is not taken for `o3`.
            if name.len() <= 2 {
                word == name
            } else {
                word.starts_with(name)
            }
        };
        FAMILY_WORDS
            .iter()
            .find(|(name, _)| is_named(name))
            .map(|(_, family)| *family)
    }
}

impl Facts {
    /// Says what is known about a version.
    pub fn judge(&self, version: Version) -> VersionVerdict {
        self.tried.map_or(VersionVerdict::Tried, |tried| {
            version::judge(version, tried, self.known_bad)
        })
    }

    /// Reads the exit code and the output of the login command.
    pub fn login_state(&self, code: Option<i32>, printed: &str) -> LoginState {
        let printed = printed.to_lowercase();
        // The output goes first: an exit code of 0 does not prove a login.
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
