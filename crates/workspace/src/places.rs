//! Where repositories lie, as git told it: one process asks for the same few places again and again.
//!
//! An answer is believed while the configuration in the project's `.git` is the same file, unchanged. Where
//! there is no `.git` at the project's own top, or it is no folder, git is asked each time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::GitError;

/// Beyond so many answers all are forgotten.
const ANSWERS_MAX: usize = 1000;

/// A project and the words of the question.
type Question = (PathBuf, String);

static KNOWN: Mutex<BTreeMap<Question, (Stamp, PathBuf)>> = Mutex::new(BTreeMap::new());

/// What the kernel says of the configuration: device, number, time of the last change and size. Another
/// repository has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, i64, i64, u64);

impl Stamp {
    /// None where `.git` is no folder.
    fn of(project: &Path) -> Option<Self> {
        let config = fs::symlink_metadata(project.join(".git/config")).ok()?;
        Some(Self(
            config.dev(),
            config.ino(),
            config.ctime(),
            config.ctime_nsec(),
            config.size(),
        ))
    }
}

/// The answer of before, or what `ask` finds now.
pub(crate) fn known_or_asked(
    project: &Path,
    words: &[&str],
    ask: impl FnOnce(&Path, &[&str]) -> Result<PathBuf, GitError>,
) -> Result<PathBuf, GitError> {
    let Some(stamp) = Stamp::of(project) else {
        return ask(project, words);
    };
    let question = (project.to_owned(), words.join(" "));
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, answer)) = lock().get(&question)
        && *known == stamp
    {
        return Ok(answer.clone());
    }
    let answer = ask(project, words)?;
    let mut known = lock();
    if known.len() >= ANSWERS_MAX {
        known.clear();
    }
    known.insert(question, (stamp, answer.clone()));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_asked_again_when_the_repository_is_another_or_is_configured_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path();
        let asked = |answer: &str| {
            let ask = |_: &Path, _: &[&str]| Ok(PathBuf::from(answer));
            known_or_asked(project, &["where"], ask).expect("an answer")
        };
        let is = |answer: &str| PathBuf::from(answer);
        assert_eq!(asked("a"), is("a"));
        assert_eq!(asked("b"), is("b"), "there is no repository");
        let make = |text: &str| {
            fs::create_dir_all(project.join(".git")).expect("made");
            fs::write(project.join(".git/config"), text).expect("written");
        };
        make("x");
        assert_eq!(asked("c"), is("c"));
        assert_eq!(asked("d"), is("c"), "nothing has changed");
        let ask = |_: &Path, _: &[&str]| Ok(is("e"));
        let other = known_or_asked(project, &["what"], ask).expect("an answer");
        assert_eq!(other, is("e"), "another question");
        make("x longer");
        assert_eq!(asked("f"), is("f"), "configured anew");
        std::thread::sleep(std::time::Duration::from_millis(20));
        make("y longer");
        assert_eq!(asked("f again"), is("f again"), "with as many bytes");
        fs::rename(project.join(".git"), project.join("old")).expect("moved");
        make("y longer");
        assert_eq!(asked("g"), is("g"), "another repository");
        fs::remove_dir_all(project.join(".git")).expect("removed");
        fs::write(project.join(".git"), "gitdir: old").expect("written");
        assert_eq!(asked("h"), is("h"), "a linked worktree");
        assert_eq!(asked("i"), is("i"));
    }
}
