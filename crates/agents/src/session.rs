//! Session ids. They come out of a transcript and go back into a command line, so they are
//! validated in between.

use serde::{Deserialize, Serialize};

/// The longest accepted id. The longest one that a CLI was seen to use has 36 characters.
const LENGTH_MAX: usize = 128;

/// A session's id in its CLI. It cannot be mistaken for a flag or a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Accepts an id if it is harmless: letters, digits, `-`, `_` and `.`, starting with a letter
    /// or digit.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_good = text.len() <= LENGTH_MAX
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(is_plain);
        is_good.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no session id"))
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

/// The session that a run works in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Session {
    /// A new session whose id the CLI chooses.
    #[default]
    Fresh,
    /// A new session with an id of ours, if the CLI supports that. claude requires a UUID.
    FreshAs(SessionId),
    /// An existing session.
    Resume(SessionId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken() {
        for (text, taken) in [
            ("01a1e0b9-c25c-7213-8d00-b6392e5d8d71", true),
            ("ses_e1f4c4370ffexQJUbCxe7QCdNp", true),
            ("s1", true),
            ("", false),
            ("-c", false),
            ("--last", false),
            ("../x", false),
            ("a b", false),
            ("a\nb", false),
            ("é", false),
        ] {
            assert_eq!(SessionId::parse(text).is_some(), taken, "{text:?}");
        }
        assert!(SessionId::parse(&"a".repeat(LENGTH_MAX + 1)).is_none());
    }
}
