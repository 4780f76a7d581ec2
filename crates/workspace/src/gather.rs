//! Finds what is in a checkout and belongs into its tree: names and kinds, not yet contents.
//!
//! It goes down level by level, so that git is asked once per level which names are ignored, and ignored folders are
//! never entered unless the base tracks something in them.

use std::fs;
use std::io::Read as _;

use crate::entry::{Entries, below};
use crate::error::{GitError, failed};
use crate::ignore::Shadow;
use crate::loop_repo::LoopRepo;
use crate::reserved::is_reserved;
use crate::scratch::Scratch;
use crate::snapshot::{LeftOut, Reason};
use crate::walk::{Got, Kind, Tree};

/// Beyond this a checkout is not looked through to its end.
const ENTRIES_MAX: usize = 2_000_000;
/// Git reads no larger file of rules either.
const RULES_BYTES_MAX: u64 = 100 * 1024 * 1024;

/// A name in the checkout.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Files and links whose content is still to be read.
    pub(crate) files: Vec<Found>,
    /// What needs no reading.
    pub(crate) entries: Entries,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Looks through the whole checkout.
pub(crate) fn gather(
    repo: &LoopRepo,
    tree: &Tree,
    base: &Entries,
    scratch: &Scratch,
) -> Result<Gathered, GitError> {
    let top = scratch.path().join("shadow");
    fs::create_dir(&top).map_err(failed("make", &top))?;
    let shadow = Shadow::new(repo, &top);
    let mut gathering = Gathering { tree, base, shadow, gathered: Gathered::default() };
    let mut n_seen = 0;
    let mut level = vec![Vec::new()];
    while !level.is_empty() {
        let mut found = Vec::new();
        for folder in &level {
            gathering.look_into(folder, &mut found)?;
            if n_seen + found.len() > ENTRIES_MAX {
                return Err(GitError::TooManyFiles { path: tree.shown(b""), entries_max: ENTRIES_MAX });
            }
        }
        n_seen += found.len();
        level = gathering.sort_out(found)?;
    }
    Ok(gathering.gathered)
}

#[derive(Debug)]
struct Gathering<'a> {
    tree: &'a Tree,
    base: &'a Entries,
    shadow: Shadow<'a>,
    gathered: Gathered,
}

impl Gathering<'_> {
    fn look_into(&mut self, folder: &[u8], found: &mut Vec<Found>) -> Result<(), GitError> {
        let entries = match self.tree.list(folder)? {
            Got::It(entries) => entries,
            Got::Unreadable => {
                self.leave_out(folder, Reason::Unreadable);
                return Ok(());
            }
            Got::Gone => return Err(GitError::Changed { path: self.tree.shown(folder) }),
        };
        for (name, kind) in entries {
            let path = if folder.is_empty() { name.clone() } else { [folder, b"/", &name].concat() };
            if name == b".git" {
                // The agent's own metadata, at the top or in a repository that it made further down.
                continue;
            }
            if is_reserved(&name, kind) {
                self.leave_out(&path, Reason::ReservedName);
                continue;
            }
            self.add_to_shadow(&name, &path, kind)?;
            found.push(Found { path, kind });
        }
        Ok(())
    }

    fn add_to_shadow(&self, name: &[u8], path: &[u8], kind: Kind) -> Result<(), GitError> {
        match kind {
            Kind::Folder => self.shadow.add_folder(path),
            Kind::File if name == b".gitignore" => {
                let Got::It((file, ..)) = self.tree.file(path)? else { return Ok(()) };
                let mut rules = Vec::new();
                let read = file.take(RULES_BYTES_MAX).read_to_end(&mut rules);
                read.map_err(failed("read", &self.tree.shown(path)))?;
                self.shadow.add_rules(path, &rules)
            }
            Kind::File | Kind::Link | Kind::Special => Ok(()),
        }
    }

    /// Puts every name of a level where it belongs and returns the folders of the next.
    fn sort_out(&mut self, found: Vec<Found>) -> Result<Vec<Vec<u8>>, GitError> {
        let untracked = found.iter().map(|found| found.path.as_slice()).filter(|path| !self.is_tracked(path));
        let ignored = self.shadow.ignored(&untracked.collect::<Vec<_>>())?;
        let mut folders = Vec::new();
        for found in found.into_iter().filter(|found| !ignored.contains(&found.path)) {
            match found.kind {
                Kind::Folder if self.keep_gitlink(&found.path)? => {}
                Kind::Folder => folders.push(found.path),
                Kind::File | Kind::Link => self.gathered.files.push(found),
                Kind::Special => self.leave_out(&found.path, Reason::Special),
            }
        }
        Ok(folders)
    }

    /// The base has this path, or something below it.
    fn is_tracked(&self, path: &[u8]) -> bool {
        self.base.contains_key(path) || below(self.base, path).next().is_some()
    }

    /// A submodule is not ours to look into: it stays at its commit as long as its folder is there.
    fn keep_gitlink(&mut self, path: &[u8]) -> Result<bool, GitError> {
        let Some(entry) = self.base.get(path).filter(|entry| entry.is_gitlink()) else { return Ok(false) };
        self.gathered.entries.insert(path.to_vec(), entry.clone());
        if !matches!(self.tree.list(path)?, Got::It(inside) if inside.is_empty()) {
            self.leave_out(path, Reason::InSubmodule);
        }
        Ok(true)
    }

    fn leave_out(&mut self, path: &[u8], reason: Reason) {
        self.gathered.left_out.push(LeftOut::new(path, reason));
    }
}
