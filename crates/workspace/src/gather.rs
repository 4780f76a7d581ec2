//! Finds the files of a checkout that belong into its tree: their paths and kinds, not their
//! contents.
//!
//! It descends level by level, so that one call of git per level tells which names are ignored. An
//! ignored folder is not entered unless the base tracks something in it.
//!
//! Where the checkout is the upper layer of an overlay, a folder that it does not have is the base's
//! and is not entered. So the work grows with what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::PathBuf;

use crate::blobs::base_size;
use crate::entry::{Entries, below, children};
use crate::error::{GitError, failed};
use crate::ignore::{Ignored, RULES_BYTES_MAX, Rules, Same, Untracked};
use crate::left_out::{LeftOut, Oddity, Reason};
use crate::limits::Limits;
use crate::loop_repo::LoopRepo;
use crate::reserved::is_reserved;
use crate::scratch::Scratch;
use crate::walk::{Got, Hidden, Kind, Listing, Opened, Tree, split};

/// Folders that package managers and test runners fill, for projects that do not ignore them. No
/// honest source lies in a folder of such a name; `dist`, `build` or `target` may well hold some.
const BUILD_FOLDERS: &[&[u8]] = &[
    b"node_modules",
    b".venv",
    b"venv",
    b"__pycache__",
    b".tox",
    b".pytest_cache",
    b".mypy_cache",
];

/// What cargo writes into each folder that it builds in.
const CARGO_MARKS: [&[u8]; 2] = [b"CACHEDIR.TAG", b".rustc_info.json"];

/// Names that rules give to folders of products, and that people give to folders of source.
const OUTPUT_FOLDERS: &[&[u8]] = &[b"target", b"build", b"dist", b"out", b"bin", b"obj"];

/// Files beside which tools build.
const MANIFESTS: &[&[u8]] = &[
    b"Cargo.toml",
    b"package.json",
    b"pyproject.toml",
    b"setup.py",
    b"go.mod",
    b"pom.xml",
    b"build.gradle",
    b"build.gradle.kts",
    b"Makefile",
    b"CMakeLists.txt",
];

/// A name in the checkout.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    /// Whether it is the base's own, in the layer below, and so is everything in it.
    pub(crate) is_untouched: bool,
}

/// The result of searching a checkout.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Files and links whose contents are not stored yet.
    pub(crate) files: Vec<Found>,
    /// Finished entries of the tree.
    pub(crate) entries: Entries,
    pub(crate) left_out: Vec<LeftOut>,
    /// Paths that the checkout's rules ignore and the base's rules do not.
    pub(crate) newly_ignored: Vec<Vec<u8>>,
    /// What the tree does not show of the files in it.
    pub(crate) odd: Vec<(PathBuf, Oddity)>,
}

/// Searches the whole checkout.
pub(crate) fn gather(
    repo: &LoopRepo,
    tree: &Tree,
    base: &Entries,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Gathered, GitError> {
    let rules = Rules::new(repo, base, scratch)?;
    let mut gathering = Gathering {
        repo,
        tree,
        base,
        rules,
        limits,
        // A tree has fewer folders than files.
        names_left: limits.names_max.saturating_add(base.len() * 2),
        rules_bytes_left: limits.rules_bytes_max,
        source_folders: Vec::new(),
        made_anew: BTreeSet::new(),
        gathered: Gathered::default(),
    };
    let mut level = vec![Vec::new()];
    while !level.is_empty() {
        let mut found = Vec::new();
        for folder in &level {
            gathering.look_into(folder, &mut found)?;
        }
        level = gathering.sort_out(found)?;
    }
    Ok(gathering.gathered)
}

#[derive(Debug)]
struct Gathering<'a> {
    repo: &'a LoopRepo,
    tree: &'a Tree,
    base: &'a Entries,
    rules: Rules<'a>,
    limits: &'a Limits,
    /// How many more names are read.
    names_left: usize,
    /// How many more bytes of rules are read that the base does not have.
    rules_bytes_left: u64,
    /// Folders of source that a rule about build folders meets by name; no rule counts in them.
    source_folders: Vec<Vec<u8>>,
    /// Folders that hide what is below them, because one above them was made anew.
    made_anew: BTreeSet<Vec<u8>>,
    gathered: Gathered,
}

impl Gathering<'_> {
    fn look_into(&mut self, folder: &[u8], found: &mut Vec<Found>) -> Result<(), GitError> {
        let entries = match self.tree.list(folder, self.names_left)? {
            Got::It(listing) => self.with_base(folder, listing),
            Got::Unreadable => {
                self.leave_out(folder, Reason::Unreadable);
                return Ok(());
            }
            // The agent should have been stopped. If something still changes the checkout, what we
            // read is no snapshot of any moment.
            Got::Gone => {
                return Err(GitError::Changed {
                    path: self.tree.shown(folder),
                });
            }
        };
        // Counted folder by folder, because one level alone may have too many.
        let Some(names_left) = self.names_left.checked_sub(entries.len()) else {
            return Err(GitError::TooManyFiles {
                path: self.tree.shown(b""),
                entries_max: self.limits.names_max,
            });
        };
        self.names_left = names_left;
        // Only a regular file has rules: git does not follow a `.gitignore` that is a link either.
        let rules_path = join(folder, b".gitignore");
        let rules = entries
            .iter()
            .find(|found| found.path == rules_path && found.kind == Kind::File);
        let rules = match rules {
            Some(found) if found.is_untouched => self.rules.in_base(&rules_path)?,
            Some(_) => self.rules_at(&rules_path)?,
            None => None,
        };
        if self.rules.enter(folder, rules.as_deref())? == Same::No {
            let n_bytes = rules.map_or(0, |rules| rules.len() as u64);
            self.rules_bytes_left = self.rules_bytes_left.saturating_sub(n_bytes);
        }
        for entry in entries {
            let name = split(&entry.path).1;
            if name == b".git" {
                // The agent's own repository at the top, or one that it made further down.
                continue;
            }
            if is_reserved(name, entry.kind) {
                self.leave_out(&entry.path, Reason::ReservedName);
                continue;
            }
            match self.too_far_down(&entry.path) {
                // A tracked path has been through git already, so git can handle it.
                Some(reason) if !self.is_tracked(&entry.path) => {
                    self.leave_out(&entry.path, reason);
                }
                _ => found.push(entry),
            }
        }
        Ok(())
    }

    /// What is seen in a folder: its own names, and those of the base that it does not hide.
    fn with_base(&mut self, folder: &[u8], listing: Listing) -> Vec<Found> {
        let mut found: BTreeMap<Vec<u8>, Found> = BTreeMap::new();
        if listing.hidden == Hidden::All || self.made_anew.contains(folder) {
            // The kernel marks only the highest folder that was made anew.
            let inside = listing.names.iter().filter(|_| self.tree.is_upper());
            let inside = inside.filter(|(_, kind)| *kind == Kind::Folder);
            let inside = inside.map(|(name, _)| join(folder, name));
            self.made_anew.extend(inside);
        } else if let Hidden::Names(removed) = &listing.hidden {
            for (name, kind) in children(self.base, folder) {
                if !removed.contains(name) {
                    let path = join(folder, name);
                    let is_untouched = true;
                    found.insert(
                        name.to_vec(),
                        Found {
                            path,
                            kind,
                            is_untouched,
                        },
                    );
                }
            }
        }
        for (name, kind) in listing.names {
            let path = join(folder, &name);
            let is_untouched = false;
            found.insert(
                name,
                Found {
                    path,
                    kind,
                    is_untouched,
                },
            );
        }
        found.into_values().collect()
    }

    /// Whether a path is too long or goes through too many folders.
    fn too_far_down(&self, path: &[u8]) -> Option<Reason> {
        if path.len() > self.limits.path_bytes_max {
            return Some(Reason::Unreadable);
        }
        let n_names = path.split(|byte| *byte == b'/').count();
        (n_names > self.limits.depth_max).then_some(Reason::TooDeep)
    }

    /// The content of a `.gitignore` in the checkout.
    fn rules_at(&self, path: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
        let Got::It(Opened { file, size, .. }) = self.tree.file(path)? else {
            return Ok(None);
        };
        if size > self.rules_bytes_left && size > base_size(self.repo, self.base, path)? {
            return Err(GitError::TooManyRules {
                path: self.tree.shown(b""),
                bytes_max: self.limits.rules_bytes_max,
            });
        }
        let mut rules = Vec::new();
        let read = file.take(RULES_BYTES_MAX as u64).read_to_end(&mut rules);
        read.map_err(failed("read", &self.tree.shown(path)))?;
        Ok(Some(rules))
    }

    /// Sorts the names of one level into what is taken, left out or ignored, and returns the
    /// folders of the next level.
    fn sort_out(&mut self, found: Vec<Found>) -> Result<Vec<Vec<u8>>, GitError> {
        // As in git, a rule has no effect on what is tracked.
        let mut untracked = Vec::new();
        let mut sources = Vec::new();
        for found in found.iter().filter(|found| !self.is_tracked(&found.path)) {
            if self.is_source_folder(found)? || self.is_in_source_folder(&found.path) {
                sources.push(found.path.clone());
                continue;
            }
            untracked.push(Untracked {
                path: &found.path,
                kind: found.kind,
                is_build_folder: self.is_build_folder(found)?,
            });
        }
        let ignored = self.rules.ignored(&untracked)?;
        self.source_folders.extend(sources);
        self.gathered
            .newly_ignored
            .extend(newly_ignored(&found, &ignored));
        let clashing = self.clashing(&found, &ignored);
        let mut folders = Vec::new();
        for found in found {
            match (ignored.get(&found.path), found.kind) {
                (Some(Ignored::Rightly | Ignored::Newly), _) => {}
                (Some(Ignored::BuildFolder), _) => self.leave_out(&found.path, Reason::BuildFolder),
                (None, _) if clashing.contains(&found.path) => {
                    self.leave_out(&found.path, Reason::CaseClash);
                }
                (None, _) if found.is_untouched => self.keep_base(&found.path),
                (None, Kind::Folder) if self.keep_gitlink(&found.path)? => {}
                (None, Kind::Folder) => folders.push(found.path),
                (None, Kind::File | Kind::Link) => self.gathered.files.push(found),
                (None, Kind::Special) => self.leave_out(&found.path, Reason::Special),
            }
        }
        Ok(folders)
    }

    /// The new names beside which there is another one that differs only in case. The base may have
    /// such names, and keeps them.
    fn clashing(&self, found: &[Found], ignored: &BTreeMap<Vec<u8>, Ignored>) -> BTreeSet<Vec<u8>> {
        let counted = found
            .iter()
            .map(|found| &found.path)
            .filter(|path| !ignored.contains_key(*path));
        let (tracked, new): (Vec<_>, Vec<_>) = counted.partition(|path| self.is_tracked(path));
        let mut taken: BTreeSet<Vec<u8>> = tracked.into_iter().map(|path| folded(path)).collect();
        let is_clash = |path: &&Vec<u8>| !taken.insert(folded(path));
        new.into_iter().filter(is_clash).cloned().collect()
    }

    /// Whether a tool filled this folder. A link counts too: it stands for a folder elsewhere.
    fn is_build_folder(&self, found: &Found) -> Result<bool, GitError> {
        let (folder, name) = split(&found.path);
        Ok(match found.kind {
            Kind::Folder if name == b"target" => {
                self.has_file(&join(folder, b"Cargo.toml"))?
                    && self.has_any_file(&found.path, &CARGO_MARKS)?
            }
            Kind::Folder | Kind::Link => BUILD_FOLDERS.contains(&name),
            Kind::File | Kind::Special => false,
        })
    }

    /// Whether a rule that means a build folder meets a folder of source by its name alone, as
    /// `target` meets `src/target`: it lies beside tracked files and not where a tool builds.
    fn is_source_folder(&self, found: &Found) -> Result<bool, GitError> {
        let (folder, name) = split(&found.path);
        if found.kind != Kind::Folder || folder.is_empty() || !OUTPUT_FOLDERS.contains(&name) {
            return Ok(false);
        }
        let is_beside_files = below(self.base, folder).any(|(path, _)| split(path).0 == folder);
        let is_top_of_package = MANIFESTS
            .iter()
            .any(|name| self.base.contains_key(&join(folder, name)));
        let is_filled = self.has_any_file(&found.path, &CARGO_MARKS)?;
        Ok(is_beside_files && !is_top_of_package && !is_filled)
    }

    fn is_in_source_folder(&self, path: &[u8]) -> bool {
        let (folder, name) = split(path);
        !BUILD_FOLDERS.contains(&name) && self.source_folders.iter().any(|known| known == folder)
    }

    fn has_any_file(&self, folder: &[u8], names: &[&[u8]]) -> Result<bool, GitError> {
        for name in names {
            if self.has_file(&join(folder, name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_file(&self, path: &[u8]) -> Result<bool, GitError> {
        if let Got::It(_) = self.tree.file(path)? {
            return Ok(true);
        }
        let is_in_base = self
            .base
            .get(path)
            .is_some_and(|entry| entry.mode.is_regular());
        Ok(is_in_base && self.tree.shows_below(path)?)
    }

    /// Takes over what the base has at a path and below it.
    fn keep_base(&mut self, path: &[u8]) {
        let kept = below(self.base, path).chain(self.base.get_key_value(path));
        let kept = kept.map(|(path, entry)| (path.clone(), entry.clone()));
        self.gathered.entries.extend(kept);
    }

    /// Whether the base has this path or something below it.
    fn is_tracked(&self, path: &[u8]) -> bool {
        self.base.contains_key(path) || below(self.base, path).next().is_some()
    }

    /// Keeps a submodule of the base at its commit, as long as its folder exists. We never look
    /// into a submodule; if there is something in it, that is reported as left out.
    fn keep_gitlink(&mut self, path: &[u8]) -> Result<bool, GitError> {
        let Some(entry) = self.base.get(path).filter(|entry| entry.is_gitlink()) else {
            return Ok(false);
        };
        self.gathered.entries.insert(path.to_vec(), entry.clone());
        if !matches!(self.tree.list(path, 0)?, Got::It(inside) if inside.names.is_empty()) {
            self.leave_out(path, Reason::InSubmodule);
        }
        Ok(true)
    }

    fn leave_out(&mut self, path: &[u8], reason: Reason) {
        self.gathered.left_out.push(LeftOut::new(path, reason));
    }
}

/// The path with its last name in lower case. Names of folders above it are as they are: of two that
/// clash only one is entered.
fn folded(path: &[u8]) -> Vec<u8> {
    let (folder, name) = split(path);
    let name = match std::str::from_utf8(name) {
        Ok(name) => name.to_lowercase().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    };
    join(folder, &name)
}

pub(crate) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
}

/// Lists what is newly ignored. If that is everything in a folder, it names only the folder: many
/// tools hide their cache with a `.gitignore` inside it, and listing each file would hide the rest.
fn newly_ignored(found: &[Found], ignored: &BTreeMap<Vec<u8>, Ignored>) -> Vec<Vec<u8>> {
    let mut folders: BTreeMap<&[u8], (usize, Vec<&[u8]>)> = BTreeMap::new();
    for Found { path, .. } in found {
        let (n_found, newly) = folders.entry(split(path).0).or_default();
        *n_found += 1;
        if ignored.get(path) == Some(&Ignored::Newly) {
            newly.push(path);
        }
    }
    let mut paths = Vec::new();
    for (folder, (n_found, newly)) in folders {
        if newly.len() == n_found && !folder.is_empty() {
            paths.push(folder.to_vec());
        } else {
            paths.extend(newly.into_iter().map(<[u8]>::to_vec));
        }
    }
    paths
}
