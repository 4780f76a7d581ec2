//! Asks git which paths `.gitignore` files exclude, without letting git see the checkout itself.
//!
//! Git works on shadow folders of ours, which contain the checkout's folders and copies of its rule
//! files and nothing else. In the checkout an agent could make `.gitignore` a pipe, on which git
//! would wait forever, or a link to elsewhere; neither is copied. There are two shadows: one with
//! the rules of the base, which the agent cannot change, and one with those of the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::blobs::{Blob, Blobs};
use crate::entry::Entries;
use crate::error::{GitError, failed};
use crate::git::pipe_broke;
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;
use crate::walk::Kind;

/// Put before every path, because a file may be called `:(top)`, which is a pattern to git if it
/// comes first.
const HERE: &[u8] = b"./";
/// Git does not read larger rule files either.
pub(crate) const RULES_BYTES_MAX: usize = 100 * 1024 * 1024;
/// Why a name is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// Both sets of rules ignore it, or the checkout's do and it is a build folder.
    Rightly,
    /// Only the checkout's rules ignore it.
    Newly,
    /// The checkout's rules do not ignore it, but it is a build folder.
    BuildFolder,
}

/// Whether a folder's rules are those of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Same {
    Yes,
    No,
}

/// A name that the base does not track.
#[derive(Debug)]
pub(crate) struct Untracked<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) kind: Kind,
    /// Whether a tool filled it.
    pub(crate) is_build_folder: bool,
}

/// The rules of the base and of the checkout, in the folders entered so far.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    base: &'a Entries,
    blobs: Blobs,
    before: Shadow<'a>,
    now: Shadow<'a>,
    /// Whether the two differ in some folder. As long as they do not, git is asked only once.
    differ: bool,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(
        repo: &'a LoopRepo,
        base: &'a Entries,
        scratch: &Scratch,
    ) -> Result<Self, GitError> {
        let before = Shadow::new(repo, scratch.path().join("rules-before"))?;
        let now = Shadow::new(repo, scratch.path().join("rules-now"))?;
        Ok(Self {
            base,
            blobs: Blobs::of(repo),
            before,
            now,
            differ: false,
        })
    }

    /// Enters a folder, where `now` is the checkout's `.gitignore`, and says whether the base has the
    /// same one. A folder must be entered after the one it is in.
    pub(crate) fn enter(&mut self, folder: &[u8], now: Option<&[u8]>) -> Result<Same, GitError> {
        let path = if folder.is_empty() {
            b".gitignore".to_vec()
        } else {
            [folder, b"/.gitignore"].concat()
        };
        let before = self.in_base(&path)?;
        let differs = before.as_deref() != now;
        self.differ |= differs;
        for (shadow, rules) in [(&self.before, before.as_deref()), (&self.now, now)] {
            shadow.add_folder(folder)?;
            if let Some(rules) = rules {
                shadow.add_rules(&path, rules)?;
            }
        }
        Ok(if differs { Same::No } else { Same::Yes })
    }

    /// The base's `.gitignore` at a path.
    pub(crate) fn in_base(&self, path: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
        // Git does not follow a `.gitignore` that is a link, and neither do we.
        let Some(entry) = self.base.get(path).filter(|entry| entry.mode.is_regular()) else {
            return Ok(None);
        };
        Ok(match self.blobs.read(&entry.id, RULES_BYTES_MAX)? {
            Blob::Whole(rules) => Some(rules),
            Blob::TooLarge { .. } => None,
        })
    }

    /// The ignored ones among these names, and why. The folders they are in must have been entered.
    pub(crate) fn ignored(
        &self,
        names: &[Untracked<'_>],
    ) -> Result<BTreeMap<Vec<u8>, Ignored>, GitError> {
        // A rule such as `target/` matches folders only, so git must find a folder there.
        for name in names.iter().filter(|name| name.kind == Kind::Folder) {
            self.before.add_folder(name.path)?;
            self.now.add_folder(name.path)?;
        }
        let paths: Vec<_> = names.iter().map(|name| name.path).collect();
        let before = self.before.ignored(&paths)?;
        let now = if self.differ {
            self.now.ignored(&paths)?
        } else {
            before.clone()
        };
        let mut ignored = BTreeMap::new();
        for name in names {
            let reason = classify(
                before.contains(name.path),
                now.contains(name.path),
                name.is_build_folder,
            );
            if let Some(reason) = reason {
                ignored.insert(name.path.to_vec(), reason);
            }
        }
        Ok(ignored)
    }
}

fn classify(before: bool, now: bool, is_build_folder: bool) -> Option<Ignored> {
    match (before, now, is_build_folder) {
        (true, true, _) | (false, true, true) => Some(Ignored::Rightly),
        (false, true, false) => Some(Ignored::Newly),
        (_, false, true) => Some(Ignored::BuildFolder),
        // The agent may stop ignoring what the base ignores: a story may ask for a folder to be
        // tracked.
        (_, false, false) => None,
    }
}

/// A folder of ours with the checkout's folders and one set of rules.
#[derive(Debug)]
struct Shadow<'a> {
    repo: &'a LoopRepo,
    top: PathBuf,
}

impl<'a> Shadow<'a> {
    fn new(repo: &'a LoopRepo, top: PathBuf) -> Result<Self, GitError> {
        fs::create_dir(&top).map_err(failed("make", &top))?;
        Ok(Self { repo, top })
    }

    fn at(&self, path: &[u8]) -> PathBuf {
        self.top.join(OsStr::from_bytes(path))
    }

    fn add_folder(&self, path: &[u8]) -> Result<(), GitError> {
        let folder = self.at(path);
        match fs::create_dir(&folder) {
            // It may exist already. Or the agent replaced the base's `.gitignore` with a folder,
            // which must not remove these rules; then that folder and everything in it get no
            // shadow.
            Err(error) if is_taken(&error) => Ok(()),
            made => made.map_err(failed("make", &folder)),
        }
    }

    fn add_rules(&self, path: &[u8], rules: &[u8]) -> Result<(), GitError> {
        let file = self.at(path);
        fs::write(&file, rules).map_err(failed("write", &file))
    }

    /// The ignored ones among these paths, be it by the rules of their own folder or of one above.
    fn ignored(&self, paths: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let git = self.repo.git().work_tree(&self.top).args([
            "check-ignore",
            "--no-index",
            "-z",
            "--stdin",
        ]);
        let command = git.command_line();
        let output = git.outcome_fed(|pipe| {
            paths.iter().try_for_each(|path| {
                [HERE, path, b"\0"]
                    .iter()
                    .try_for_each(|part| pipe.write_all(part))
                    .map_err(pipe_broke)
            })
        })?;
        match output.code {
            // Exit code 1 means that none of the paths is ignored.
            Some(0 | 1) if !output.cut => Ok(answers(&output.stdout)),
            code => Err(GitError::Failed {
                command,
                code,
                stderr: output.stderr,
            }),
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
    )
}

fn answers(output: &[u8]) -> BTreeSet<Vec<u8>> {
    output
        .split(|byte| *byte == 0)
        .filter_map(|path| path.strip_prefix(HERE))
        .map(<[u8]>::to_vec)
        .collect()
}
