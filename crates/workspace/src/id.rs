//! A type for each kind of git object id, so that a tree cannot be passed for a commit, nor an
//! arbitrary string for either.
//!
//! Having an id does not mean that the object exists.

use std::fmt;

use crate::error::GitError;

/// An id has 40 digits for SHA-1 and 64 for SHA-256, in lower case, as git writes them. Anything
/// else could be a ref or an option, and must not reach a command line as an id.
fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! object_id {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Parses a full id of 40 or 64 lower-case hexadecimal digits.
            pub fn parse(text: &str) -> Result<Self, GitError> {
                if is_object_id(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(GitError::BadId {
                        text: text.chars().take(100).collect(),
                    })
                }
            }

            /// The hexadecimal digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

object_id!(CommitId, "The id of a commit.");
object_id!(TreeId, "The id of a tree: a set of files, without history.");
object_id!(
    ObjectId,
    "The id of an entry in a tree: a blob, or the commit of a submodule."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_full_lower_case_hexadecimal() {
        for (text, expected) in [
            ("a".repeat(40), true),
            ("0".repeat(64), true),
            ("a".repeat(39), false),
            ("A".repeat(40), false),
            ("g".repeat(40), false),
            ("-".repeat(40), false),
            (String::new(), false),
        ] {
            assert_eq!(CommitId::parse(&text).is_ok(), expected, "{text}");
            assert_eq!(TreeId::parse(&text).is_ok(), expected, "{text}");
        }
    }
}
