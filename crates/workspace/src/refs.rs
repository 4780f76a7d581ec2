//! Refs: how their names are made and checked, and how they are read and moved.
//!
//! A ref is moved by compare-and-swap only. Moving one never touches a work tree, an index or HEAD.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::GitError;
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::LoopRepo;
use crate::moments::moment;
use crate::project::common_git_dir;
use crate::scratch::absolute;

/// A file name may have 255 bytes, and git appends a few for its lock file.
const COMPONENT_BYTES_MAX: usize = 200;
/// No move of a ref takes this long, so an older lock was left by a process that died.
const LOCK_AGE_MAX: Duration = Duration::from_mins(1);

/// The result of moving a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// The ref was moved to the new commit.
    Done,
    /// The ref pointed to the new commit already.
    AlreadyThere,
    /// The ref is not where the caller expected it; it was left alone.
    Refused {
        /// The commit it points to; `None` if it does not exist.
        found: Option<CommitId>,
    },
}

/// Encodes any word as one component of a ref name. Different words give different components.
///
/// Letters, digits, `-`, `_` and `.` are kept where git allows them; every other byte becomes `%`
/// and two hexadecimal digits. A word that is too long for a file name is cut and ends in a hash of
/// the whole word.
pub fn ref_component(word: &str) -> String {
    let escaped = escape(word.as_bytes());
    if escaped.len() <= COMPONENT_BYTES_MAX {
        return escaped;
    }
    let hash = format!("%{:032x}", fnv_128(word.as_bytes()));
    // The cut may fall inside a `%2E`. That does no harm: the hash alone makes the name unique.
    format!("{}{hash}", &escaped[..COMPONENT_BYTES_MAX - hash.len()])
}

fn escape(word: &[u8]) -> String {
    if word.is_empty() {
        // No other word is encoded as a lone percent sign.
        return "%".to_owned();
    }
    // Git refuses a component that ends in `.lock`. Upper case counts too, since some file systems
    // ignore case.
    let lock_at = word.len().checked_sub(".lock".len());
    let lock_at = lock_at.filter(|at| word[*at..].eq_ignore_ascii_case(b".lock"));
    let mut out = String::new();
    for (index, &byte) in word.iter().enumerate() {
        let edge = index == 0 || index + 1 == word.len();
        let plain = match byte {
            b'.' => !edge && word[index - 1] != b'.' && Some(index) != lock_at,
            // Some program would take a name that starts with a dash for an option.
            b'-' => index != 0,
            _ => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if plain {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The FNV-1a hash with 128 bits. It must be the same on every machine and in every version, which
/// the standard library's hasher does not promise; it need not resist attacks.
fn fnv_128(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

/// Whether a full ref name is valid; git is asked only about one that is not plain.
pub(crate) fn check_ref(name: &str) -> Result<(), GitError> {
    let bad = || GitError::BadRef {
        name: name.chars().take(300).collect(),
    };
    if !name.starts_with("refs/") || name.contains('\0') {
        return Err(bad());
    }
    if is_plain(name) || git_takes(name)? {
        Ok(())
    } else {
        Err(bad())
    }
}

fn git_takes(name: &str) -> Result<bool, GitError> {
    let git = Git::without_repository().args(["check-ref-format", name]);
    Ok(git.outcome()?.code == Some(0))
}

/// Whether a name is of words that no rule of git's is about, as nearly all of ours are.
fn is_plain(name: &str) -> bool {
    let is_plain_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_%".contains(&byte);
    name.split('/')
        .all(|word| !word.is_empty() && word.bytes().all(is_plain_byte))
}

/// The commit that a ref of any repository points to.
pub(crate) fn read_ref(git: Git, name: &str) -> Result<Option<CommitId>, GitError> {
    let git = git.args(["for-each-ref", "--format=%(objectname) %(refname)", name]);
    let command = git.command_line();
    let text = String::from_utf8(git.run()?).map_err(|_| GitError::Garbled { command })?;
    // The pattern matches names below it too, such as `refs/heads/a/b` for `refs/heads/a`.
    let found = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, found)| *found == name);
    found.map(|(id, _)| CommitId::parse(id)).transpose()
}

impl LoopRepo {
    /// The commit that a ref of ours points to. Nobody else writes there, so that its file tells it
    /// without a process; git is asked about whatever is not a plain file with an id.
    pub(crate) fn find_ref(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let written = fs::read_to_string(self.path().join(name));
        let is_nowhere = |error: &io::Error| {
            let has_others = ["packed-refs", "reftable"]
                .iter()
                .any(|other| self.path().join(other).exists());
            error.kind() == io::ErrorKind::NotFound && !has_others
        };
        match written {
            Ok(text) => match text.strip_suffix('\n').map(CommitId::parse) {
                Some(Ok(id)) => Ok(Some(id)),
                _ => read_ref(self.git(), name),
            },
            Err(error) if is_nowhere(&error) => Ok(None),
            Err(_) => read_ref(self.git(), name),
        }
    }
}

/// The commit that a branch of the operator's points to; `None` if there is no such branch. One that
/// git cannot read is [`GitError::BrokenRef`].
pub fn read_branch(project_root: &Path, branch: &str) -> Result<Option<CommitId>, GitError> {
    let theirs = common_git_dir(&absolute(project_root)?)?;
    read_their_ref(&theirs, &format!("refs/heads/{branch}"), None)
}

/// The commit that a ref of the operator's repository points to. Git passes over a file without an
/// id as if there were none, yet refuses to write the ref; `last` is what it should hold.
pub(crate) fn read_their_ref(
    theirs: &Path,
    name: &str,
    last: Option<&CommitId>,
) -> Result<Option<CommitId>, GitError> {
    let file = theirs.join(name);
    let read = || read_ref(Git::of_operator(theirs), name);
    read_with_file(read, file, last)
}

/// Reads a ref, and looks at its file where there seems to be none.
fn read_with_file(
    mut read: impl FnMut() -> Result<Option<CommitId>, GitError>,
    file: PathBuf,
    last: Option<&CommitId>,
) -> Result<Option<CommitId>, GitError> {
    const TRIES: usize = 3;
    for _ in 0..TRIES {
        let found = read()?;
        if found.is_some() {
            return Ok(found);
        }
        match RefFile::at(&file) {
            RefFile::Missing => return Ok(None),
            RefFile::Garbled => {
                let last = last.map(|last| last.as_str().to_owned());
                return Err(GitError::BrokenRef { file, last });
            }
            // Somebody has mended it since git looked; a branch that is there was not removed.
            RefFile::Sound => {}
        }
    }
    read()
}

/// What a ref's own file holds.
enum RefFile {
    Missing,
    Garbled,
    Sound,
}

impl RefFile {
    fn at(file: &Path) -> Self {
        let Ok(bytes) = fs::read(file) else {
            return Self::Missing;
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if text.starts_with("ref: ") || CommitId::parse(text).is_ok() {
            Self::Sound
        } else {
            Self::Garbled
        }
    }
}

/// The lock that keeps a ref of the operator's from being moved, if there is one.
pub(crate) fn their_lock(theirs: &Path, name: &str) -> Option<GitError> {
    let places = [format!("{name}.lock"), "reftable/tables.list.lock".into()];
    let mut files = places.iter().map(|place| theirs.join(place));
    let file = files.find(|file| file.exists())?;
    Some(GitError::RefLocked { file })
}

/// Moves a ref by compare-and-swap. It fails in the same way whether the ref has moved or the write
/// failed; the caller reads the ref again to tell which.
pub(crate) fn update_ref(
    git: Git,
    name: &str,
    from: Option<&CommitId>,
    to: &CommitId,
) -> Result<(), GitError> {
    // Git's way to say that the ref must not exist yet.
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
    /// The commit that a ref of the loop's repository points to, given its full name.
    pub fn read_ref(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        check_ref(name)?;
        self.find_ref(name)
    }

    /// Moves a ref to `to` if it points to `from`; `None` means that it must not exist yet.
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
        let found = self.find_ref(name)?;
        if found.as_ref() == Some(to) {
            return Ok(Moved::AlreadyThere);
        }
        if found.as_ref() != from {
            return Ok(Moved::Refused { found });
        }
        let Err(error) = update_ref(self.git(), name, from, to) else {
            return Ok(Moved::Done);
        };
        // Somebody else may have moved the ref between our read and our write.
        let now = self.find_ref(name)?;
        if now == found {
            Err(error)
        } else {
            Ok(Moved::Refused { found: now })
        }
    }
}

/// Removes the lock that a power cut left on a ref of our own repository; otherwise no move of that
/// ref would ever succeed again. In the operator's repository we remove no locks.
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
    fn a_ref_that_is_mended_while_git_looks_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("branch");
        let id = CommitId::parse(&"ab".repeat(20)).expect("an id");
        fs::write(&file, "rubbish\n").expect("garbled");
        let nothing = || Ok(None);
        let found = read_with_file(nothing, file.clone(), None);
        assert!(
            matches!(found, Err(GitError::BrokenRef { .. })),
            "{found:?}"
        );
        let mut reads = [None, Some(id.clone())].into_iter();
        let mended = || {
            fs::write(&file, format!("{id}\n")).expect("mended");
            Ok(reads.next().expect("at most two reads"))
        };
        let found = read_with_file(mended, file.clone(), None);
        assert_eq!(found.expect("read"), Some(id.clone()));
        fs::remove_file(&file).expect("removed");
        let found = read_with_file(nothing, file.clone(), None);
        assert_eq!(found.expect("read"), None);
    }

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
                let is_taken = git_takes(&name).expect("git answers");
                assert!(is_taken, "{word:?}: {name}");
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
