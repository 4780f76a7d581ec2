//! The two forms of a tree: as git records it, and as it lies in a checkout.
//!
//! They differ where a file goes through a filter, and where a submodule is. A checkout has the
//! second form, as after `git clone --recurse-submodules`; a snapshot is turned back into the first.
//! Files in a submodule are read and never recorded: the submodule stays at its commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::blobs::{Blob, Blobs};
use crate::entry::{Entries, Entry, TreeLike, below};
use crate::error::{GitError, failed};
use crate::filters::{Filters, Way};
use crate::gather::Gathered;
use crate::id::{CommitId, ObjectId, TreeId};
use crate::left_out::{LeftOut, Reason};
use crate::loop_repo::LoopRepo;
use crate::project::{common_git_dir, git_dir};
use crate::scratch::Scratch;
use crate::store::store_blobs;
use crate::submodules::{Place, Search, Submodule, links};
use crate::walk::{Got, Tree, as_path};

/// The largest file that goes through a filter.
const FILE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A tree as a checkout has it.
pub(crate) struct Unfolded {
    /// Every file as it lies there.
    pub(crate) entries: Entries,
    /// The same paths as git records them.
    recorded: Entries,
    /// The outermost submodules whose files are among the entries.
    submodules: Entries,
}

/// Says whether every file of a commit can be had as people see it: the remarks that a person should
/// read, or why not.
pub fn check_content(root: &Path, commit: &CommitId) -> Result<Vec<String>, GitError> {
    let repo = LoopRepo::only_read(common_git_dir(root)?);
    let tree = repo.tree_of(commit)?;
    let search = search(&repo, &tree, root)?;
    // Nothing of ours is put into the operator's repository.
    let place = std::env::temp_dir().join(format!("loopwright-{}", std::process::id()));
    let scratch = Scratch::beside(&place, "content")?;
    check_filters(&repo, &tree, &Filters::of_operator(root)?, &scratch)?;
    Ok(search
        .unnamed
        .iter()
        .map(|path| {
            format!(
                "`{}` is a commit that `.gitmodules` does not name; nobody can fetch it, and its folder stays empty",
                path.display()
            )
        })
        .collect())
}

fn search(repo: &LoopRepo, tree: &TreeId, root: &Path) -> Result<Search, GitError> {
    let mut search = Search::default();
    let place = Place {
        git_dirs: vec![common_git_dir(root)?, git_dir(root)?],
        root: root.to_owned(),
    };
    search.add(repo, tree, &place, Path::new(""), 0)?;
    Ok(search)
}

/// Checks that the filters of a tree are there, and that each gives the content of one file.
fn check_filters(
    repo: &LoopRepo,
    tree: &TreeId,
    filters: &Filters,
    scratch: &Scratch,
) -> Result<(), GitError> {
    let entries = repo.entries_of(tree)?;
    let mut tried = BTreeSet::new();
    for (path, name) in repo.filtered(tree, &entries, scratch)? {
        if !filters.knows(&name) {
            return Err(GitError::FilterMissing {
                name,
                path: as_path(&path).to_owned(),
            });
        }
        let Some(entry) = entries.get(&path).filter(|_| !tried.contains(&name)) else {
            continue;
        };
        let content = read(&Blobs::of(repo), entry, &path)?;
        filters.apply(&name, Way::Out, Path::new(""), &path, content)?;
        tried.insert(name);
    }
    Ok(())
}

fn read(blobs: &Blobs, entry: &Entry, path: &[u8]) -> Result<Vec<u8>, GitError> {
    match blobs.read(&entry.id, FILE_BYTES_MAX)? {
        Blob::Whole(content) => Ok(content),
        Blob::TooLarge { bytes } => Err(GitError::FileTooLarge {
            path: as_path(path).to_owned(),
            bytes,
            bytes_max: FILE_BYTES_MAX,
        }),
    }
}

impl LoopRepo {
    /// Takes over what the files of a base need besides its objects: the operator's filters as they
    /// are now, and the commits of its submodules.
    pub(crate) fn import_content(&self, root: &Path, base: &CommitId) -> Result<(), GitError> {
        let tree = self.tree_of(base)?;
        for Submodule {
            git_dir, commit, ..
        } in search(self, &tree, root)?.found
        {
            self.import_submodule(&git_dir, &commit)?;
        }
        let filters = Filters::of_operator(root)?;
        let scratch = Scratch::inside(self.path())?;
        check_filters(self, &tree, &filters, &scratch)?;
        filters.save(&self.filters_file())
    }

    fn import_submodule(&self, git_dir: &Path, commit: &CommitId) -> Result<(), GitError> {
        let held = held(commit);
        if self.find_ref(&held)?.is_some() {
            return Ok(());
        }
        let words = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--update-shallow",
            "--recurse-submodules=no",
            "--",
        ];
        self.git()
            .args(words)
            .arg(git_dir)
            .arg(format!("{commit}:{held}"))
            .run()
            .map(drop)
    }

    /// Whether some files may look otherwise than git records them.
    pub(crate) fn has_filters(&self) -> Result<bool, GitError> {
        Ok(!Filters::load(&self.filters_file())?.is_empty())
    }

    fn filters_file(&self) -> PathBuf {
        self.path().join("loopwright-filters")
    }

    /// The tree as a checkout has it; `None` where that is what git records.
    pub(crate) fn unfold(&self, files: &dyn TreeLike) -> Result<Option<Unfolded>, GitError> {
        let filters = Filters::load(&self.filters_file())?;
        let recorded = self.entries_of(files)?;
        if filters.is_empty() && !recorded.values().any(Entry::is_gitlink) {
            return Ok(None);
        }
        let tree = self.tree_id(files)?;
        let mut unfolded = Unfolded {
            entries: Entries::clone(&recorded),
            recorded: Entries::clone(&recorded),
            submodules: Entries::new(),
        };
        self.smudge(&tree, Path::new(""), &filters, &mut unfolded.entries)?;
        for (path, commit) in links(&unfolded.recorded)? {
            let path = crate::entry::git_path(&path)?;
            let Some(inside) = self.inside(&commit, as_path(&path), &filters)? else {
                continue;
            };
            if let Some(link) = unfolded.entries.remove(&path) {
                unfolded.submodules.insert(path.clone(), link);
            }
            put_below(&mut unfolded.entries, &path, inside);
        }
        let is_same = unfolded.entries == unfolded.recorded;
        Ok((!is_same).then_some(unfolded))
    }

    /// The files of a submodule as a checkout has them; `None` where its commit is not here.
    fn inside(
        &self,
        commit: &CommitId,
        at: &Path,
        filters: &Filters,
    ) -> Result<Option<Entries>, GitError> {
        if self.find_ref(&held(commit))?.is_none() {
            return Ok(None);
        }
        let tree = self.tree_of(commit)?;
        let mut entries = Entries::clone(&*self.entries_of(&tree)?);
        let inner = links(&entries)?;
        self.smudge(&tree, at, filters, &mut entries)?;
        for (path, commit) in inner {
            if let Some(inside) = self.inside(&commit, &at.join(&path), filters)? {
                let path = crate::entry::git_path(&path)?;
                entries.remove(&path);
                put_below(&mut entries, &path, inside);
            }
        }
        Ok(Some(entries))
    }

    /// Puts what people see in the place of what git records.
    fn smudge(
        &self,
        tree: &TreeId,
        at: &Path,
        filters: &Filters,
        entries: &mut Entries,
    ) -> Result<(), GitError> {
        if filters.is_empty() {
            return Ok(());
        }
        let scratch = Scratch::inside(self.path())?;
        let blobs = Blobs::of(self);
        let known = self.smudged()?;
        for (path, name) in self.filtered(tree, entries, &scratch)? {
            let Some(entry) = entries.get_mut(&path) else {
                continue;
            };
            let key = key(&name, at, &path, &entry.id);
            if let Some(id) = known.get(&key) {
                entry.id = id.clone();
                continue;
            }
            let content = read(&blobs, entry, &path)?;
            let seen = filters.apply(&name, Way::Out, at, &path, content)?;
            let id = self.store_one(&scratch, &seen)?;
            self.remember_smudged(&key, &id)?;
            entry.id = id;
        }
        Ok(())
    }

    fn store_one(&self, scratch: &Scratch, content: &[u8]) -> Result<ObjectId, GitError> {
        let ids = store_blobs(self, scratch, &[content])?;
        ids.into_iter().next().ok_or(GitError::Garbled {
            command: "fast-import".to_owned(),
        })
    }

    /// Turns a snapshot of a checkout into what git records, given what the checkout was made from.
    pub(crate) fn fold(
        &self,
        tree: &Tree,
        before: Option<&Unfolded>,
        gathered: &mut Gathered,
        scratch: &Scratch,
    ) -> Result<(), GitError> {
        if let Some(before) = before {
            fold_submodules(tree, before, gathered)?;
        }
        let filters = Filters::load(&self.filters_file())?;
        if filters.is_empty() {
            return Ok(());
        }
        let is_attributes = |path: &Vec<u8>| path.ends_with(b".gitattributes");
        if before.is_none() && !gathered.entries.keys().any(is_attributes) {
            return Ok(());
        }
        let seen = self.write_tree(&gathered.entries, scratch)?;
        let blobs = Blobs::of(self);
        let filtered = self.filtered(&seen, &gathered.entries, scratch)?;
        for (path, entry) in &mut gathered.entries {
            if let Some(recorded) = before.and_then(|before| before.unchanged(path, entry)) {
                entry.id = recorded.id.clone();
            } else if let Some(name) = filtered.get(path) {
                let content = read(&blobs, entry, path)?;
                let recorded = filters.apply(name, Way::In, Path::new(""), path, content)?;
                entry.id = self.store_one(scratch, &recorded)?;
                // What cannot be checked out again is the author's fault, and is found here.
                filters
                    .apply(name, Way::Out, Path::new(""), path, recorded)
                    .map_err(|error| match error {
                        GitError::FilterFailed { name, path, why } => {
                            GitError::FilterRefused { name, path, why }
                        }
                        other => other,
                    })?;
            }
        }
        Ok(())
    }

    fn smudged_file(&self) -> PathBuf {
        self.path().join("loopwright-smudged")
    }

    /// What filters gave before. It spares the next checkout the same work; a lost line costs that
    /// work again.
    fn smudged(&self) -> Result<BTreeMap<Vec<u8>, ObjectId>, GitError> {
        let path = self.smudged_file();
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(BTreeMap::new());
            }
            read => read.map_err(failed("read", &path))?,
        };
        let record = |record: &[u8]| {
            let at = record.iter().position(|byte| *byte == b' ')?;
            let id = std::str::from_utf8(&record[..at]).ok()?;
            Some((record[at + 1..].to_vec(), ObjectId::parse(id).ok()?))
        };
        Ok(text.split(|byte| *byte == 0).filter_map(record).collect())
    }

    fn remember_smudged(&self, key: &[u8], id: &ObjectId) -> Result<(), GitError> {
        let path = self.smudged_file();
        let record = [id.as_str().as_bytes(), b" ", key, b"\0"].concat();
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&record))
            .map_err(failed("write", &path))
    }
}

impl Unfolded {
    /// What git records of a file that is as it was.
    fn unchanged(&self, path: &[u8], now: &Entry) -> Option<&Entry> {
        let before = self.entries.get(path)?;
        let recorded = self.recorded.get(path)?;
        (before.id == now.id && now.mode.is_regular()).then_some(recorded)
    }
}

/// Puts every submodule whose folder is still there back at its commit.
fn fold_submodules(
    tree: &Tree,
    before: &Unfolded,
    gathered: &mut Gathered,
) -> Result<(), GitError> {
    for (path, link) in &before.submodules {
        let Got::It(_) = tree.list(path, 0)? else {
            continue;
        };
        let now: Vec<(Vec<u8>, Entry)> = below(&gathered.entries, path)
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect();
        let is_same =
            below(&before.entries, path).eq(now.iter().map(|(path, entry)| (path, entry)));
        for (path, _) in &now {
            gathered.entries.remove(path);
        }
        gathered.entries.insert(path.clone(), link.clone());
        if !is_same {
            gathered
                .left_out
                .push(LeftOut::new(path, Reason::InSubmodule));
        }
    }
    Ok(())
}

/// The ref that keeps the commit of a submodule.
fn held(commit: &CommitId) -> String {
    format!("refs/loopwright/submodule/{commit}")
}

fn put_below(entries: &mut Entries, path: &[u8], inside: Entries) {
    for (name, entry) in inside {
        entries.insert([path, b"/", &name].concat(), entry);
    }
}

fn key(name: &str, at: &Path, path: &[u8], id: &ObjectId) -> Vec<u8> {
    let at = at.to_string_lossy();
    [
        name.as_bytes(),
        b" ",
        id.as_str().as_bytes(),
        b" ",
        at.as_bytes(),
        b"/",
        path,
    ]
    .concat()
}
