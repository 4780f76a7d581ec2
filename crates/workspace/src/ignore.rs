//! Asks git which paths `.gitignore` files leave out, without letting git see the folder in
//! question.
//!
//! Git works on shadows of ours that hold the folders and copies of the rule files and nothing
//! else. An agent could make `.gitignore` a pipe, on which git would wait for ever, or a link to
//! elsewhere; neither gets into a shadow. There are two: one with the rules of the base, which an
//! agent cannot touch, and one with those of the checkout.

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
use crate::walk::{Kind, split};

/// A file may be called `:(top)`, which is a pattern to git unless something stands before it.
const HERE: &[u8] = b"./";
/// Git reads no larger file of rules either.
pub(crate) const RULES_BYTES_MAX: usize = 100 * 1024 * 1024;
/// What package managers and compilers fill, in projects that forgot to ignore it.
const BUILD_FOLDERS: &[&[u8]] = &[b"node_modules", b".venv", b"target", b"__pycache__"];

/// Why a name is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// The base says so, and so does the checkout; or both the checkout and the list of names.
    Rightly,
    /// Only rules that are new in the checkout say so.
    Newly,
    /// The base says so, and the checkout no longer does.
    NoLonger,
    /// Only the list of names says so.
    BuildFolder,
}

/// The rules of the base and of the checkout, as far as it has been walked.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    base: &'a Entries,
    blobs: Blobs,
    before: Shadow<'a>,
    now: Shadow<'a>,
    /// The two have not been the same everywhere.
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

    /// Enters a folder, in which the checkout has these rules; folders must be entered from the top
    /// down.
    pub(crate) fn enter(&mut self, folder: &[u8], now: Option<&[u8]>) -> Result<(), GitError> {
        let path = if folder.is_empty() {
            b".gitignore".to_vec()
        } else {
            [folder, b"/.gitignore"].concat()
        };
        let before = self.in_base(&path)?;
        self.differ |= before.as_deref() != now;
        for (shadow, rules) in [(&self.before, before.as_deref()), (&self.now, now)] {
            shadow.add_folder(folder)?;
            rules.map_or(Ok(()), |rules| shadow.add_rules(&path, rules))?;
        }
        Ok(())
    }

    fn in_base(&self, path: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
        // Git does not follow a link here, and neither do we.
        let Some(entry) = self.base.get(path).filter(|entry| entry.mode.is_regular()) else {
            return Ok(None);
        };
        Ok(match self.blobs.read(&entry.id, RULES_BYTES_MAX)? {
            Blob::Whole(rules) => Some(rules),
            Blob::TooLarge { .. } => None,
        })
    }

    /// Which of these names in folders that have been entered are left out, and why.
    pub(crate) fn ignored(
        &self,
        names: &[(&[u8], Kind)],
    ) -> Result<BTreeMap<Vec<u8>, Ignored>, GitError> {
        for (path, _) in names.iter().filter(|(_, kind)| *kind == Kind::Folder) {
            self.before.add_folder(path)?;
            self.now.add_folder(path)?;
        }
        let paths: Vec<_> = names.iter().map(|(path, _)| *path).collect();
        let before = self.before.ignored(&paths)?;
        let now = if self.differ {
            self.now.ignored(&paths)?
        } else {
            before.clone()
        };
        let why = |(path, kind): &(&[u8], Kind)| {
            let why = why(
                before.contains(*path),
                now.contains(*path),
                is_build_folder(path, *kind),
            );
            why.map(|why| (path.to_vec(), why))
        };
        Ok(names.iter().filter_map(why).collect())
    }
}

fn why(before: bool, now: bool, is_build_folder: bool) -> Option<Ignored> {
    match (before, now, is_build_folder) {
        (true, true, _) | (false, true, true) => Some(Ignored::Rightly),
        (true, false, _) => Some(Ignored::NoLonger),
        (false, true, false) => Some(Ignored::Newly),
        (false, false, true) => Some(Ignored::BuildFolder),
        (false, false, false) => None,
    }
}

/// A link by such a name stands for a folder elsewhere.
fn is_build_folder(path: &[u8], kind: Kind) -> bool {
    matches!(kind, Kind::Folder | Kind::Link) && BUILD_FOLDERS.contains(&split(path).1)
}

/// Folders and one set of rules.
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

    /// A pattern such as `target/` means folders only, so git must find one.
    fn add_folder(&self, path: &[u8]) -> Result<(), GitError> {
        let folder = self.at(path);
        match fs::create_dir(&folder) {
            // It may be there already. Or an agent put a folder in the place of the base's
            // `.gitignore`, which must not do away with these rules; then the folder and what is in
            // it go without a shadow.
            Err(error) if is_taken(&error) => Ok(()),
            made => made.map_err(failed("make", &folder)),
        }
    }

    /// Takes over the rules of a folder.
    fn add_rules(&self, path: &[u8], rules: &[u8]) -> Result<(), GitError> {
        let file = self.at(path);
        fs::write(&file, rules).map_err(failed("write", &file))
    }

    /// Which of these paths are ignored, by their own rules or by those of a folder above.
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
            // One means that none of them is.
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
