//! Versions of CLIs: read from what `--version` prints, compared with what was tried.

use std::fmt;

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Breaking changes.
    pub major: u32,
    /// New things.
    pub minor: u32,
    /// Repairs.
    pub patch: u32,
}

/// A row of versions that must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadVersion {
    /// The first of them.
    pub from: Version,
    /// The last of them.
    pub to: Version,
    /// What is wrong, for people.
    pub why: &'static str,
}

/// Says what is known of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionVerdict {
    /// It lies within the versions that were tried.
    Tried,
    /// It is older than any that was tried; it may not know a flag of ours.
    Older,
    /// It is newer than any that was tried.
    Newer,
    /// It is known not to work.
    Bad {
        /// What is wrong, for people.
        why: &'static str,
    },
}

impl Version {
    /// Makes a version.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Finds the first version in what `--version` printed: `codex-cli 0.166.0`, `2.1.325 (Claude
    /// Code)`, `v1.18.33`.
    pub fn find(text: &str) -> Option<Self> {
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        text.split(|c: char| !is_of_number(c)).find_map(Self::parse)
    }

    fn parse(word: &str) -> Option<Self> {
        let mut numbers = word.split('.').map(|part| part.parse().ok());
        let (major, minor, patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(Self {
            major,
            minor,
            patch,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Compares a version with the tried ones and the bad ones.
pub(crate) fn judge(
    version: Version,
    tried: (Version, Version),
    bad: &[BadVersion],
) -> VersionVerdict {
    if let Some(row) = bad
        .iter()
        .find(|row| (row.from..=row.to).contains(&version))
    {
        return VersionVerdict::Bad { why: row.why };
    }
    if version < tried.0 {
        VersionVerdict::Older
    } else if version > tried.1 {
        VersionVerdict::Newer
    } else {
        VersionVerdict::Tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in() {
        for (text, expected) in [
            ("codex-cli 0.166.0\n", Some(Version::new(0, 166, 0))),
            ("2.1.325 (Claude Code)", Some(Version::new(2, 1, 325))),
            ("v1.18.33", Some(Version::new(1, 18, 33))),
            ("0.87.1", Some(Version::new(0, 87, 1))),
            ("node 22\npi 1.5.0-beta.2", Some(Version::new(1, 5, 0))),
            ("1.2", None),
            ("1.2.3.4", None),
            ("99999999999.1.1", None),
            ("", None),
        ] {
            assert_eq!(Version::find(text), expected, "{text}");
        }
    }

    #[test]
    fn a_version_is_judged() {
        let at = |minor| Version::new(1, minor, 0);
        let bad = [BadVersion {
            from: at(6),
            to: at(7),
            why: "it hangs",
        }];
        for (minor, expected) in [
            (1, VersionVerdict::Older),
            (2, VersionVerdict::Tried),
            (5, VersionVerdict::Tried),
            (6, VersionVerdict::Bad { why: "it hangs" }),
            (8, VersionVerdict::Newer),
        ] {
            assert_eq!(
                judge(at(minor), (at(2), at(5)), &bad),
                expected,
                "1.{minor}.0"
            );
        }
    }
}
