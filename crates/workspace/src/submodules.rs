//! Submodules: where the operator has them, and how their commits come into the loop's repository.
//!
//! They are taken from what the operator's git has fetched, never from the network. A commit that is
//! not there is said, so that the operator can fetch it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::entry::Entries;
use crate::error::GitError;
use crate::git::{Git, Output};
use crate::id::{CommitId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::walk::as_path;

/// Deepest submodule in a submodule that is followed.
const DEPTH_MAX: usize = 8;

/// One submodule of a tree that was found.
pub(crate) struct Submodule {
    /// The operator's repository of it.
    pub(crate) git_dir: PathBuf,
    pub(crate) commit: CommitId,
}

/// A repository of the operator's: its git folders, and its work tree.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) git_dirs: Vec<PathBuf>,
    pub(crate) root: PathBuf,
}

/// What a search found.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) found: Vec<Submodule>,
    /// Commits that no `.gitmodules` names, so that nobody can fetch them.
    pub(crate) unnamed: Vec<PathBuf>,
}

impl Search {
    /// Finds every submodule of a tree in the operator's repository, with those inside it.
    pub(crate) fn add(
        &mut self,
        repo: &LoopRepo,
        tree: &TreeId,
        place: &Place,
        above: &Path,
        depth: usize,
    ) -> Result<(), GitError> {
        let entries = repo.entries_of(tree)?;
        let links = links(&entries)?;
        if links.is_empty() || depth > DEPTH_MAX {
            return Ok(());
        }
        let named = names(repo, tree)?;
        for (path, commit) in links {
            let whole = above.join(&path);
            let candidates = candidates(place, &path, named.get(&path).map(String::as_str));
            let home = candidates
                .into_iter()
                .find(|git_dir| has_commit(git_dir, &commit));
            match home {
                Some(git_dir) => {
                    let inner = LoopRepo::only_read(git_dir.clone());
                    let tree = inner.tree_of(&commit)?;
                    let place = Place {
                        git_dirs: vec![git_dir.clone()],
                        root: place.root.join(&path),
                    };
                    self.add(&inner, &tree, &place, &whole, depth + 1)?;
                    self.found.push(Submodule { git_dir, commit });
                }
                None if named.contains_key(&path) => {
                    return Err(GitError::SubmoduleMissing {
                        path: whole,
                        commit: commit.to_string(),
                    });
                }
                None => self.unnamed.push(whole),
            }
        }
        Ok(())
    }
}

/// The submodules that a tree records.
pub(crate) fn links(entries: &Entries) -> Result<Vec<(PathBuf, CommitId)>, GitError> {
    entries
        .iter()
        .filter(|(_, entry)| entry.is_gitlink())
        .map(|(path, entry)| {
            Ok((
                as_path(path).to_owned(),
                CommitId::parse(entry.id.as_str())?,
            ))
        })
        .collect()
}

/// The names of submodules by their paths, as `.gitmodules` has them.
fn names(repo: &LoopRepo, tree: &TreeId) -> Result<BTreeMap<PathBuf, String>, GitError> {
    let blob = format!("{tree}:.gitmodules");
    let words = [
        "config",
        "--blob",
        &blob,
        "-z",
        "--get-regexp",
        r"^submodule\..*\.path$",
    ];
    // Without such a file git fails, and then there are no names.
    let Output {
        code: Some(0),
        stdout,
        ..
    } = repo.git().args(words).outcome()?
    else {
        return Ok(BTreeMap::new());
    };
    let record = |record: &[u8]| {
        let text = String::from_utf8_lossy(record).into_owned();
        let (key, path) = text.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        Some((PathBuf::from(path), name.to_owned()))
    };
    Ok(stdout.split(|byte| *byte == 0).filter_map(record).collect())
}

/// Where the operator may have a submodule's repository.
fn candidates(place: &Place, path: &Path, name: Option<&str>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // A name is part of a path, and must not lead out of it.
    let is_inside = |name: &&str| {
        Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    };
    if let Some(name) = name.filter(is_inside) {
        found.extend(
            place
                .git_dirs
                .iter()
                .map(|git_dir| git_dir.join("modules").join(name)),
        );
    }
    let own = place.root.join(path).join(".git");
    if own.is_dir() {
        found.push(own);
    } else if let Ok(text) = fs::read_to_string(&own)
        && let Some(to) = text.trim_end().strip_prefix("gitdir: ")
    {
        found.push(place.root.join(path).join(to));
    }
    found.retain(|git_dir| git_dir.join("HEAD").is_file());
    found
}

fn has_commit(git_dir: &Path, commit: &CommitId) -> bool {
    let wanted = format!("{commit}^{{commit}}");
    let looked = Git::of_operator(git_dir)
        .args(["cat-file", "-e", &wanted])
        .outcome();
    looked.is_ok_and(|output| output.code == Some(0))
}
