//! The entries of a tree, and how a whole tree is listed and written by object id.
//!
//! Paths are bytes here, as in git. Every path from a caller goes through [`git_path`] first.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::error::{GitError, failed};
use crate::git::pipe_broke;
use crate::id::{CommitId, ObjectId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;
use crate::walk::Kind;

/// The kinds of entries that a tree of ours can have, folders aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A regular file.
    File,
    /// A regular file with the executable bit.
    Executable,
    /// A symbolic link; its blob holds the target.
    Link,
    /// A submodule, recorded as a commit id.
    Submodule,
}

impl Mode {
    /// The mode as the six digits that git writes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }

    /// Whether this is a regular file, executable or not.
    pub fn is_regular(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    pub(crate) fn parse(digits: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link, Self::Submodule]
            .into_iter()
            .find(|mode| mode.as_str() == digits)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The entry at one path of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The kind of entry.
    pub mode: Mode,
    /// The id of its blob, or of a submodule's commit.
    pub id: ObjectId,
}

impl Entry {
    /// Whether this is a submodule.
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode == Mode::Submodule
    }
}

/// A tree, or a commit, which stands for its tree.
pub trait TreeLike {
    /// The object id as hexadecimal digits.
    fn object_id(&self) -> &str;
}

impl TreeLike for TreeId {
    fn object_id(&self) -> &str {
        self.as_str()
    }
}

impl TreeLike for CommitId {
    fn object_id(&self) -> &str {
        self.as_str()
    }
}

/// All entries of a tree, sorted by path.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// The entries below a folder, which must not be the top.
pub(crate) fn below<'a>(
    entries: &'a Entries,
    folder: &[u8],
) -> impl Iterator<Item = (&'a Vec<u8>, &'a Entry)> + use<'a> {
    // The slash keeps `src-old/x` from counting as below `src`.
    let start = [folder, b"/"].concat();
    let from = (Bound::Included(start.clone()), Bound::Unbounded);
    entries
        .range(from)
        .take_while(move |(path, _)| path.starts_with(&start))
}

/// The names in a folder of a tree and their kinds, sorted by path; the empty path is the top.
///
/// It goes from name to name and passes over what is inside a folder.
pub(crate) fn children<'a>(
    entries: &'a Entries,
    folder: &[u8],
) -> impl Iterator<Item = (&'a [u8], Kind)> + use<'a> {
    let start = if folder.is_empty() {
        Vec::new()
    } else {
        [folder, b"/"].concat()
    };
    let mut from = Bound::Included(start.clone());
    std::iter::from_fn(move || {
        let (path, entry) = entries.range((from.clone(), Bound::Unbounded)).next()?;
        let rest = path.strip_prefix(&*start)?;
        match rest.iter().position(|byte| *byte == b'/') {
            Some(end) => {
                let mut behind = path[..start.len() + end].to_vec();
                // The byte after the slash.
                behind.push(b'/' + 1);
                from = Bound::Included(behind);
                Some((&rest[..end], Kind::Folder))
            }
            None => {
                from = Bound::Excluded(path.clone());
                let kind = match entry.mode {
                    Mode::File | Mode::Executable => Kind::File,
                    Mode::Link => Kind::Link,
                    Mode::Submodule => Kind::Folder,
                };
                Some((rest, kind))
            }
        }
    })
}

/// The folders above a path, from the top down.
pub(crate) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..path.len())
        .filter(|end| path[*end] == b'/')
        .map(|end| &path[..end])
}

/// The path as git writes it, relative to the top, which is the empty path.
pub(crate) fn git_path(path: &Path) -> Result<Vec<u8>, GitError> {
    let outside = || GitError::OutsidePath {
        path: path.to_owned(),
    };
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            // We end paths with a zero byte when we write them to git, so none may contain one.
            Component::Normal(name) if !name.as_bytes().contains(&0) => names.push(name.as_bytes()),
            Component::CurDir => {}
            Component::Normal(_)
            | Component::ParentDir
            | Component::RootDir
            | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(names.join(&b'/'))
}

impl LoopRepo {
    /// Lists every entry of a tree, in all its folders.
    pub(crate) fn entries_of(&self, tree: &dyn TreeLike) -> Result<Arc<Entries>, GitError> {
        let listed = self.memory.recall_tree(self.path(), tree.object_id());
        if let Some(entries) = listed {
            return Ok(entries);
        }
        let entries = Arc::new(match self.memory.latest_tree(self.path()) {
            Some((known, entries)) => self.entries_beside(&known, &entries, tree)?,
            None => {
                let words = ["ls-tree", "-r", "-z", "--full-tree", tree.object_id()];
                parse_entries(&self.git().args(words).run()?)?
            }
        });
        self.memory
            .keep_tree(self.path(), tree.object_id(), &entries);
        Ok(entries)
    }

    /// The same by what differs from a tree that is known: of a loop's trees most files are the same,
    /// and git compares folders without a look into those that are.
    fn entries_beside(
        &self,
        known: &TreeId,
        entries: &Entries,
        tree: &dyn TreeLike,
    ) -> Result<Entries, GitError> {
        let mut entries = entries.clone();
        for change in self.tree_changes(known, tree)? {
            let path = git_path(&change.path)?;
            match change.after {
                Some(entry) => entries.insert(path, entry),
                None => entries.remove(&path),
            };
        }
        Ok(entries)
    }

    /// Writes the tree object that has exactly these entries, which are mostly those of another tree.
    pub(crate) fn write_tree_over(
        &self,
        (before, known): (&TreeId, &Entries),
        entries: &Entries,
    ) -> Result<TreeId, GitError> {
        let tree = self.edit_tree(before, &edits(known, entries))?;
        self.memory
            .keep_tree(self.path(), tree.as_str(), &Arc::new(entries.clone()));
        Ok(tree)
    }

    /// Writes the tree object that has exactly these entries, through a private index, from which
    /// git derives the nested trees.
    pub(crate) fn write_tree(
        &self,
        entries: &Entries,
        scratch: &Scratch,
    ) -> Result<TreeId, GitError> {
        let index = scratch.path().join("index");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        let nothing = Entries::new();
        // What an earlier tree left there would become part of this one.
        match fs::remove_file(&index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(failed("remove", &index))?,
        }
        // The index is scratch. Only the tree objects, which `write-tree` makes, must survive a
        // power cut.
        git()
            .without_fsync()
            .args(["update-index", "-z", "--index-info"])
            .run_fed(|pipe| {
                index_lines(&nothing, entries)
                    .try_for_each(|line| pipe.write_all(&line).map_err(pipe_broke))
            })?;
        TreeId::parse(&git().args(["write-tree"]).line()?)
    }
}

/// What turns some entries into others: each path that differs, with what is there afterwards.
fn edits<'a>(before: &'a Entries, after: &'a Entries) -> Vec<(&'a [u8], Option<&'a Entry>)> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let gone = gone.map(|path| (path.as_slice(), None));
    let new = after
        .iter()
        .filter(|(path, entry)| before.get(*path) != Some(*entry));
    let new = new.map(|(path, entry)| (path.as_slice(), Some(entry)));
    gone.chain(new).collect()
}

/// What `update-index --index-info` needs to turn some entries into others: what goes comes first.
pub(crate) fn index_lines<'a>(
    before: &'a Entries,
    after: &'a Entries,
) -> impl Iterator<Item = Vec<u8>> + use<'a> {
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    let gone = gone.map(|(path, entry)| {
        let nothing = "0".repeat(entry.id.as_str().len());
        [format!("0 {nothing}\t").as_bytes(), path, b"\0"].concat()
    });
    let new = after
        .iter()
        .filter(|(path, entry)| before.get(*path) != Some(*entry));
    let new = new.map(|(path, Entry { mode, id })| {
        [format!("{mode} {id}\t").as_bytes(), path, b"\0"].concat()
    });
    gone.chain(new)
}

/// Parses the listing of a whole tree.
fn parse_entries(output: &[u8]) -> Result<Entries, GitError> {
    let lines = output.split(|byte| *byte == 0);
    let lines = lines.filter(|line| !line.is_empty());
    // With `-r` git lists no folders, so a line without an entry is not one of git's.
    let parsed = lines.map(|line| match parse_ls_tree(line) {
        Some((path, Some(entry))) => Ok((path, entry)),
        Some((_, None)) | None => Err(GitError::Garbled {
            command: "ls-tree".to_owned(),
        }),
    });
    parsed.collect()
}

/// One path of a listing; a folder has no [`Entry`].
pub(crate) type Line = (Vec<u8>, Option<Entry>);

/// Parses `mode kind id<TAB>path`.
pub(crate) fn parse_ls_tree(line: &[u8]) -> Option<Line> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let words = std::str::from_utf8(&line[..tab]).ok()?;
    let (mode, rest) = words.split_once(' ')?;
    let (kind, id) = rest.split_once(' ')?;
    let path = line[tab + 1..].to_vec();
    if kind == "tree" {
        return Some((path, None));
    }
    Some((
        path,
        Some(Entry {
            mode: Mode::parse(mode)?,
            id: ObjectId::parse(id).ok()?,
        }),
    ))
}
