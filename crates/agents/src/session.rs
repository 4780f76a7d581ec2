//! Session ids: they come out of a transcript and go back into a command line, so they are checked
//! on the way.

use serde::{Deserialize, Serialize};

/// The longest id that any CLI has been seen to use is 36 characters.
const LENGTH_MAX: usize = 128;

/// A session's name in its CLI. It cannot be taken for a flag or a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Takes a name if it is harmless: letters, digits, `-`, `_` and `.`, beginning with a letter
    /// or digit.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_good = text.len() <= LENGTH_MAX
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(is_plain);
        is_good.then(|| Self(text.to_owned()))
    }

    /// The name.
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

/// Says in which session a run works.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Session {
    /// A new one, named by the CLI.
    #[default]
    Fresh,
    /// A new one, named by us where the CLI allows it; claude wants a UUID.
    FreshAs(SessionId),
    /// One that was there before.
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
