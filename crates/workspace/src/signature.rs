//! Who a commit is by: a name and an e-mail address that git can write down.

use std::fmt;

/// Whose commits these are where nobody else is named. Ids of commits that exist depend on it.
pub(crate) const OUR_NAME: &str = "Loopwright";
pub(crate) const OUR_EMAIL: &str = "loopwright@localhost";

/// A name and an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    name: String,
    email: String,
}

impl Signature {
    /// Loopwright's own.
    pub fn ours() -> Self {
        Self {
            name: OUR_NAME.to_owned(),
            email: OUR_EMAIL.to_owned(),
        }
    }

    /// A name and an address without what would end them in a commit; none where nothing that git
    /// accepts is left.
    pub fn new(name: &str, email: &str) -> Option<Self> {
        let cleaned = |text: &str| -> String {
            let kept = text.chars().filter(|letter| !"<>".contains(*letter));
            let kept: String = kept
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect();
            kept.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        // Git drops these at both ends, and refuses what has nothing else.
        let is_empty = |text: &str| {
            text.trim_matches([' ', '.', ',', ':', ';', '"', '\\', '\''])
                .is_empty()
        };
        let (name, email) = (cleaned(name), cleaned(email));
        let fits = !is_empty(&name) && !is_empty(&email) && !email.contains(' ');
        fits.then_some(Self { name, email })
    }

    /// Reads `Name <mail>`; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.trim().split_once('<')?;
        let email = rest.strip_suffix('>')?;
        let is_plain =
            |part: &str| !part.contains(['<', '>']) && !part.chars().any(char::is_control);
        if is_plain(name) && is_plain(email) {
            Self::new(name, email)
        } else {
            None
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn email(&self) -> &str {
        &self.email
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} <{}>", self.name, self.email)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_read_or_refused() {
        for (text, expected) in [
            ("A Person <a@b.example>", Some("A Person <a@b.example>")),
            ("  A   Person<a@b>  ", Some("A Person <a@b>")),
            ("A Person", None),
            ("<a@b>", None),
            ("... <a@b>", None),
            ("A <>", None),
            ("A <a b>", None),
            ("A <a@b> more", None),
            ("A <a@b>\nSigned-off-by: B <b@b>", None),
            ("A\nB <a@b>", None),
            ("A <a@b><c>", None),
        ] {
            let found = Signature::parse(text).map(|signature| signature.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_git_has_is_cleaned() {
        for (name, email, expected) in [
            ("A\nB", "a@b", Some("A B <a@b>")),
            ("A <x>", "<a@b>", Some("A x <a@b>")),
            (" . ", "a@b", None),
            ("A", " ", None),
        ] {
            let found = Signature::new(name, email).map(|signature| signature.to_string());
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}
