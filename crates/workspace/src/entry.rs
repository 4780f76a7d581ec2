//! What the paths of a tree stand for, and how a whole tree is listed and written by object.
//!
//! Paths are bytes here, as git has them; [`plain`] is the only way in for a path that a caller
//! gives.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use crate::error::GitError;
use crate::git::pipe_broke;
use crate::id::{CommitId, ObjectId, TreeId};
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;

/// What kind of thing a path of a tree is; git knows no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link, whose content is where it points.
    Link,
    /// A submodule at a commit.
    Submodule,
}

impl Mode {
    /// The six digits that git writes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }

    /// Whether its content is a file's.
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

/// What a path of a tree stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// Its kind.
    pub mode: Mode,
    /// Its blob, or its commit where it is a submodule.
    pub id: ObjectId,
}

impl Entry {
    /// A submodule at a commit.
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode == Mode::Submodule
    }
}

/// Something with files: a tree, or a commit, which stands for its tree.
pub trait TreeLike {
    /// The digits of its id.
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

/// All files of a tree by their path.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// What lies below a folder that is not the top.
pub(crate) fn below<'a>(
    entries: &'a Entries,
    folder: &[u8],
) -> impl Iterator<Item = (&'a Vec<u8>, &'a Entry)> + use<'a> {
    let start = [folder, b"/"].concat();
    let from = (Bound::Included(start.clone()), Bound::Unbounded);
    entries
        .range(from)
        .take_while(move |(path, _)| path.starts_with(&start))
}

/// The folders above a path, from the top down.
pub(crate) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..path.len())
        .filter(|end| path[*end] == b'/')
        .map(|end| &path[..end])
}

/// The path as git writes it; the top is the empty path.
pub(crate) fn plain(path: &Path) -> Result<Vec<u8>, GitError> {
    let outside = || GitError::OutsidePath {
        path: path.to_owned(),
    };
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            // A zero byte ends a path in everything that we write to git.
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
    pub(crate) fn entries_of(&self, tree: &dyn TreeLike) -> Result<Entries, GitError> {
        let output = self.ask(&["ls-tree", "-r", "-z", "--full-tree", tree.object_id()])?;
        let lines = output
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty());
        let file = |line| listed(line).and_then(|(path, entry)| Some((path, entry?)));
        let garbled = || GitError::Garbled {
            command: "ls-tree".to_owned(),
        };
        lines.map(|line| file(line).ok_or_else(garbled)).collect()
    }

    pub(crate) fn write_tree(
        &self,
        entries: &Entries,
        scratch: &Scratch,
    ) -> Result<TreeId, GitError> {
        let index = scratch.path().join("index");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        git()
            .unflushed()
            .args(["update-index", "-z", "--index-info"])
            .run_fed(|pipe| {
                entries.iter().try_for_each(|(path, Entry { mode, id })| {
                    write!(pipe, "{mode} {id}\t")
                        .and_then(|()| pipe.write_all(path))
                        .and_then(|()| pipe.write_all(b"\0"))
                        .map_err(pipe_broke)
                })
            })?;
        TreeId::parse(&git().args(["write-tree"]).line()?)
    }
}

/// A path of a listing; a folder has no entry.
pub(crate) type Line = (Vec<u8>, Option<Entry>);

/// Reads `mode kind id<TAB>path`.
pub(crate) fn listed(line: &[u8]) -> Option<Line> {
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
