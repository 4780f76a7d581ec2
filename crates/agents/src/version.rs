//! Versions of CLIs: read from the output of `--version` and compared with the versions that were
//! tried.

use std::fmt;

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

/// A range of versions that must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadVersion {
    /// The oldest bad version.
    pub from: Version,
    /// The newest bad version.
    pub to: Version,
    /// What is wrong with them, for people.
    pub why: &'static str,
}

/// What is known about a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionVerdict {
    /// It lies within the range of versions that were tried.
    Tried,
    /// It is older than any that was tried, so it may not know a flag of ours.
    Older,
    /// It is newer than any that was tried.
    Newer,
    /// It is known not to work.
    Bad {
        /// What is wrong with it, for people.
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

    /// Finds the first version in the output of `--version`: `codex-cli 0.166.0`, `2.1.325 (Claude
    /// Code)`, `v1.18.33`.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .find_map(Self::parse)
    }

    fn parse(word: &str) -> Option<Self> {
        let mut numbers = word.split('.').map(|part| part.parse().ok());
        let (major, minor, patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
        // `1.2.3.4` is something else, not a version with a part too many.
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

/// Compares a version with the bad ones first, because a bad version may lie within the tried
/// range.
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
