//! Names of refs: made from any word, checked by git, read, and moved only from where they are
//! known to be.
//!
//! Moving a ref here never touches a work tree, an index or HEAD.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::LoopRepo;
use crate::moments::moment;

/// A file name holds 255 bytes, and git needs a few for its lock.
const COMPONENT_BYTES_MAX: usize = 200;
/// No move of a ref takes that long, so an older lock belongs to a process that is gone.
const LOCK_AGE_MAX: Duration = Duration::from_mins(1);

/// What came of moving a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It points to the new commit now.
    Done,
    /// It did so before.
    AlreadyThere,
    /// It is not where it was expected, and stays there.
    Refused {
        /// Where it is, if it exists.
        found: Option<CommitId>,
    },
}

/// Writes any word as one component of a ref name, different words as different components.
///
/// Letters, digits, `-`, `_` and `.` stay where git allows them; every other byte becomes `%` and
/// two digits. What would be too long for a file name keeps its beginning and ends in a hash of the
/// whole word.
pub fn ref_component(word: &str) -> String {
    let escaped = escape(word.as_bytes());
    if escaped.len() <= COMPONENT_BYTES_MAX {
        return escaped;
    }
    let hash = format!("%{:032x}", fnv_128(word.as_bytes()));
    // The cut may go through `%2E`; the hash keeps the whole apart from every other word.
    format!("{}{hash}", &escaped[..COMPONENT_BYTES_MAX - hash.len()])
}

fn escape(word: &[u8]) -> String {
    if word.is_empty() {
        // No other word gives a lone percent sign.
        return "%".to_owned();
    }
    let lock_at = word.len().checked_sub(".lock".len());
    let lock_at = lock_at.filter(|at| word[*at..].eq_ignore_ascii_case(b".lock"));
    let mut out = String::new();
    for (index, &byte) in word.iter().enumerate() {
        let edge = index == 0 || index + 1 == word.len();
        let plain = match byte {
            b'.' => !edge && word[index - 1] != b'.' && Some(index) != lock_at,
            // A name led by a dash is an option to some program.
            b'-' => index != 0,
            _ => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if plain {
            out.push(char::from(byte))
        } else {
            out.push_str(&format!("%{byte:02X}"))
        }
    }
    out
}

/// The FNV-1a hash with 128 bits: the same on every machine and in every version, which is all that
/// is asked of it.
fn fnv_128(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

/// Lets git judge a full name.
pub(crate) fn check_ref(name: &str) -> Result<(), GitError> {
    let bad = || GitError::BadRef {
        name: name.chars().take(300).collect(),
    };
    if !name.starts_with("refs/") || name.contains('\0') {
        return Err(bad());
    }
    let output = Git::alone().args(["check-ref-format", name]).outcome()?;
    if output.code == Some(0) {
        Ok(())
    } else {
        Err(bad())
    }
}

/// Where a ref of any repository points.
pub(crate) fn read_ref(git: Git, name: &str) -> Result<Option<CommitId>, GitError> {
    let git = git.args(["for-each-ref", "--format=%(objectname) %(refname)", name]);
    let command = git.command_line();
    let text = String::from_utf8(git.run()?).map_err(|_| GitError::Garbled { command })?;
    // The pattern also matches names below it.
    let found = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, found)| *found == name);
    found.map(|(id, _)| CommitId::parse(id)).transpose()
}

/// Moves a ref by compare-and-swap; git's own word is a failure that the caller looks into.
pub(crate) fn update_ref(
    git: Git,
    name: &str,
    from: Option<&CommitId>,
    to: &CommitId,
) -> Result<(), GitError> {
    let nothing = "0".repeat(to.as_str().len());
    let from = from.map_or(nothing.as_str(), CommitId::as_str);
    moment("before", name);
    let moved = git
        .args(["update-ref", "--no-deref", name, to.as_str(), from])
        .run()
        .map(drop);
    moment("after", name);
    moved
}

impl LoopRepo {
    /// Where a ref of the loop's repository points, by its full name.
    pub fn read_ref(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        check_ref(name)?;
        read_ref(self.git(), name)
    }

    /// Moves a ref from where it is known to be; `None` means that it must not exist.
    pub fn move_ref(
        &self,
        name: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<Moved, GitError> {
        check_ref(name)?;
        match self.try_move(name, from, to) {
            Err(GitError::Failed { .. }) if clear_stale_lock(self.path(), name) => {
                self.try_move(name, from, to)
            }
            moved => moved,
        }
    }

    fn try_move(
        &self,
        name: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<Moved, GitError> {
        let found = read_ref(self.git(), name)?;
        if found.as_ref() == Some(to) {
            return Ok(Moved::AlreadyThere);
        }
        if found.as_ref() != from {
            return Ok(Moved::Refused { found });
        }
        let Err(error) = update_ref(self.git(), name, from, to) else {
            return Ok(Moved::Done);
        };
        // Somebody may have been faster than we between reading and writing.
        let now = read_ref(self.git(), name)?;
        if now == found {
            Err(error)
        } else {
            Ok(Moved::Refused { found: now })
        }
    }
}

/// Clears away the lock that a power cut left on a ref of our own repository; without this no move
/// would ever succeed.
fn clear_stale_lock(git_dir: &Path, name: &str) -> bool {
    let lock = git_dir.join(format!("{name}.lock"));
    let age = fs::symlink_metadata(&lock)
        .and_then(|found| found.modified())
        .ok();
    let stale = age
        .and_then(|since| since.elapsed().ok())
        .is_some_and(|age| age > LOCK_AGE_MAX);
    stale && fs::remove_file(&lock).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_becomes_a_component() {
        for (word, expected) in [
            ("login-1", "login-1"),
            ("US_001.b", "US_001.b"),
            ("", "%"),
            ("%", "%25"),
            ("-x", "%2Dx"),
            (".hidden", "%2Ehidden"),
            ("end.", "end%2E"),
            (".", "%2E"),
            ("a..b", "a.%2Eb"),
            ("a...b", "a.%2E%2Eb"),
            ("x.lock", "x%2Elock"),
            ("x.LOCK", "x%2ELOCK"),
            (".lock", "%2Elock"),
            ("x.lock.y", "x.lock.y"),
            ("a/b", "a%2Fb"),
            ("@", "%40"),
            ("a@{1}", "a%40%7B1%7D"),
            ("two words", "two%20words"),
            ("a~^:?*[\\", "a%7E%5E%3A%3F%2A%5B%5C"),
            ("zwölf", "zw%C3%B6lf"),
            ("a\u{0}b\n", "a%00b%0A"),
        ] {
            let component = ref_component(word);
            assert_eq!(component, expected, "{word:?}");
            for name in [
                format!("refs/loopwright/{component}"),
                format!("refs/heads/{component}/1"),
            ] {
                check_ref(&name).unwrap_or_else(|error| panic!("{word:?}: {error}"));
            }
        }
    }

    #[test]
    fn a_long_word_is_hashed_and_stays_its_own() {
        let (one, two) = ("ö".repeat(500), format!("{}x", "ö".repeat(500)));
        let (first, second) = (ref_component(&one), ref_component(&two));
        assert_eq!(first.len(), COMPONENT_BYTES_MAX);
        assert_ne!(first, second);
        check_ref(&format!("refs/heads/{first}")).expect("a name that git takes");
    }

    #[test]
    fn names_that_git_does_not_take_are_refused() {
        for name in [
            "",
            "HEAD",
            "refs/heads/a..b",
            "refs/heads/x.lock",
            "refs/heads/a b",
            "--help",
            "refs/a\0b",
        ] {
            assert!(
                matches!(check_ref(name), Err(GitError::BadRef { .. })),
                "{name:?}"
            );
        }
    }
}
