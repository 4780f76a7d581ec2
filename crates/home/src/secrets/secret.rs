//! A value that nobody should see.

use std::ffi::OsString;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// What is shown in the place of a value.
const HIDDEN: &str = "[secret]";

/// A value that does not show itself: not by `Debug`, not by `Display`, not when it is serialised.
/// Whoever needs it asks for it by name, with [`Secret::expose`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

/// For the environment of a program that is meant to have it, which is never shown.
impl From<&Secret> for OsString {
    fn from(secret: &Secret) -> Self {
        OsString::from(secret.expose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_shown_nowhere() {
        let secret = Secret::new("hunter2");
        let json = serde_json::to_string(&[&secret]).expect("JSON");
        let shown = format!("{secret} {secret:?} {:#?} {json}", Some(&secret));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(OsString::from(&secret), "hunter2");
        let read: Secret = serde_json::from_str("\"hunter2\"").expect("read");
        assert_eq!(read, secret);
    }
}
