//! Keys that need not be where a CLI is: the CLI is told another address for its model, and whoever is
//! there adds the key. This file knows how each CLI is told; who answers there is not its business.

use serde_json::{Value, json};

/// A key that need not be where the CLI is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gateway {
    /// The variable that holds the key.
    pub key_variable: &'static str,
    /// How the CLI is told the address.
    pub told_by: ToldBy,
    /// The address where nobody names another.
    pub upstream: &'static str,
    /// The header that carries the key.
    pub header: &'static str,
    /// What stands before the key in the header.
    pub value_prefix: &'static str,
}

/// How a CLI is told where its model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldBy {
    /// By a variable.
    Variable(&'static str),
    /// By a provider of its own in codex's configuration, given on the command line.
    CodexProvider,
    /// By an address for one of its providers in pi's `models.json`.
    PiProvider(&'static str),
    /// By an address for one of its providers in opencode's configuration, given by a variable.
    OpencodeProvider(&'static str),
}

/// The variable that opencode lays over its configuration files.
const OPENCODE_CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

impl Gateway {
    /// A provider of pi, whose key is a bearer token.
    pub(crate) const fn pi(
        provider: &'static str,
        key_variable: &'static str,
        upstream: &'static str,
    ) -> Self {
        Self::bearer(ToldBy::PiProvider(provider), key_variable, upstream)
    }

    /// A provider of opencode, whose key is a bearer token.
    pub(crate) const fn opencode(
        provider: &'static str,
        key_variable: &'static str,
        upstream: &'static str,
    ) -> Self {
        Self::bearer(ToldBy::OpencodeProvider(provider), key_variable, upstream)
    }

    const fn bearer(told_by: ToldBy, key_variable: &'static str, upstream: &'static str) -> Self {
        Self {
            key_variable,
            told_by,
            upstream,
            header: "authorization",
            value_prefix: "Bearer ",
        }
    }

    /// The same with the key alone in a header of another name.
    pub(crate) const fn in_header(mut self, header: &'static str) -> Self {
        self.header = header;
        self.value_prefix = "";
        self
    }

    /// The arguments by which the CLI is told an address; none where something else tells it.
    pub fn arguments(&self, url: &str) -> Vec<String> {
        match self.told_by {
            ToldBy::Variable(_) | ToldBy::PiProvider(_) | ToldBy::OpencodeProvider(_) => Vec::new(),
            ToldBy::CodexProvider => {
                let provider = format!(
                    "model_providers.loopwright={{name=\"OpenAI\",base_url=\"{url}\",env_key=\"{}\",wire_api=\"responses\"}}",
                    self.key_variable
                );
                ["-c", "model_provider=\"loopwright\"", "-c", &provider]
                    .map(str::to_owned)
                    .into()
            }
        }
    }

    /// The variable that tells the address, where one does.
    pub fn url_variable(&self) -> Option<&'static str> {
        match self.told_by {
            ToldBy::Variable(name) => Some(name),
            ToldBy::CodexProvider | ToldBy::PiProvider(_) | ToldBy::OpencodeProvider(_) => None,
        }
    }

    /// The provider that the key is for, where the CLI may have several at the same time.
    pub fn provider(&self) -> Option<&'static str> {
        match self.told_by {
            ToldBy::PiProvider(name) | ToldBy::OpencodeProvider(name) => Some(name),
            ToldBy::Variable(_) | ToldBy::CodexProvider => None,
        }
    }

    /// The file of the config home in which a person may have named an address of their own.
    pub fn config_file(&self) -> Option<&'static str> {
        match self.told_by {
            ToldBy::PiProvider(_) => Some("models.json"),
            ToldBy::OpencodeProvider(_) => Some("config/opencode/opencode.json"),
            ToldBy::Variable(_) | ToldBy::CodexProvider => None,
        }
    }

    /// Whether that file, as the person has it, leaves the address to us. Whoever names one knows where
    /// their key goes, and what we cannot read we do not change.
    pub fn is_free(&self, text: &str) -> bool {
        let Ok(config) = serde_json::from_str::<Value>(text) else {
            return false;
        };
        let place = match self.told_by {
            ToldBy::PiProvider(name) => format!("/providers/{name}/baseUrl"),
            ToldBy::OpencodeProvider(name) => format!("/provider/{name}/options/baseURL"),
            ToldBy::Variable(_) | ToldBy::CodexProvider => return true,
        };
        config.is_object() && config.pointer(&place).is_none()
    }

    /// The variable whose JSON has the addresses, where one does.
    pub fn config_variable(&self) -> Option<&'static str> {
        matches!(self.told_by, ToldBy::OpencodeProvider(_)).then_some(OPENCODE_CONFIG)
    }

    /// A configuration in JSON with the address of this provider in it.
    pub fn configured(&self, text: &str, url: &str) -> String {
        let mut config: Value = serde_json::from_str(text).unwrap_or_else(|_| json!({}));
        match self.told_by {
            ToldBy::PiProvider(name) => config["providers"][name]["baseUrl"] = url.into(),
            ToldBy::OpencodeProvider(name) => {
                config["provider"][name]["options"]["baseURL"] = url.into();
            }
            ToldBy::Variable(_) | ToldBy::CodexProvider => {}
        }
        config.to_string()
    }

    /// What stands for the key inside. Some CLIs tell by its beginning how to log in with it.
    pub fn placeholder(&self) -> &'static str {
        if self.key_variable.contains("OAUTH") {
            "sk-ant-oat01-held-by-loopwright"
        } else {
            "sk-held-by-loopwright"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_told_its_address_unless_the_person_names_one() {
        let pi = Gateway::pi("openai", "OPENAI_API_KEY", "https://api.openai.com/v1");
        let opencode = Gateway::opencode("openai", "OPENAI_API_KEY", "https://api.openai.com/v1");
        for (gateway, text, is_free, expected) in [
            (
                pi,
                "{}",
                true,
                r#"{"providers":{"openai":{"baseUrl":"u"}}}"#,
            ),
            (
                pi,
                r#"{"providers":{"own":{"baseUrl":"x"}}}"#,
                true,
                r#"{"providers":{"openai":{"baseUrl":"u"},"own":{"baseUrl":"x"}}}"#,
            ),
            (pi, r#"{"providers":{"openai":{"baseUrl":"x"}}}"#, false, ""),
            (pi, "not JSON", false, ""),
            (
                opencode,
                r#"{"share":"disabled"}"#,
                true,
                r#"{"provider":{"openai":{"options":{"baseURL":"u"}}},"share":"disabled"}"#,
            ),
            (
                opencode,
                r#"{"provider":{"openai":{"options":{"baseURL":"x"}}}}"#,
                false,
                "",
            ),
        ] {
            assert_eq!(gateway.is_free(text), is_free, "{text}");
            if is_free {
                let made: Value = serde_json::from_str(&gateway.configured(text, "u")).unwrap();
                let expected: Value = serde_json::from_str(expected).unwrap();
                assert_eq!(made, expected);
            }
        }
    }
}
