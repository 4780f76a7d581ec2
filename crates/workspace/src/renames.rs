//! Finds files that only moved: the same content under a new path, and the old path is gone.
//!
//! Content that is merely similar does not count. The agent writes that content, so it could make
//! any file look like the heir of another.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::changes::Change;
use crate::entry::{Entry, Mode, TreeLike};
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;

impl LoopRepo {
    /// The files of one tree that have another path in the second, old path first, in the order of
    /// their old paths. Each path is in one pair at most.
    pub fn renames(
        &self,
        from: &dyn TreeLike,
        to: &dyn TreeLike,
    ) -> Result<Vec<(PathBuf, PathBuf)>, GitError> {
        let changes = self.tree_changes(from, to)?;
        let path = |index: usize| changes[index].path.clone();
        let mut renames: Vec<_> = pairs(&changes)
            .into_iter()
            .map(|(new, old)| (path(old), path(new)))
            .collect();
        renames.sort();
        Ok(renames)
    }
}

/// The removed path that each new one replaces, as indexes into the changes. If several have the
/// same content, one with the same name comes first.
pub(crate) fn pairs(changes: &[Change]) -> BTreeMap<usize, usize> {
    let mut pairs = BTreeMap::new();
    let mut is_free = vec![true; changes.len()];
    for by_name in [Names::Same, Names::Any] {
        let mut removed: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for (index, change) in changes.iter().enumerate().filter(|(at, _)| is_free[*at]) {
            if let (Some(before), None) = (&change.before, &change.after) {
                let key = key(change, before, by_name);
                removed.entry(key).or_default().push_back(index);
            }
        }
        for (index, change) in changes.iter().enumerate() {
            let (None, Some(after)) = (&change.before, &change.after) else {
                continue;
            };
            if pairs.contains_key(&index) {
                continue;
            }
            let same = removed.get_mut(&key(change, after, by_name));
            if let Some(old) = same.and_then(VecDeque::pop_front) {
                is_free[old] = false;
                pairs.insert(index, old);
            }
        }
    }
    pairs
}

/// Whether the names of two paths matter, or only their contents.
#[derive(Clone, Copy)]
enum Names {
    Same,
    Any,
}

/// What a removed and a new path have in common. A file does not become a link by moving.
fn key<'a>(
    change: &'a Change,
    entry: &'a Entry,
    names: Names,
) -> (&'a ObjectId, bool, Option<&'a OsStr>) {
    let name = match names {
        Names::Same => change.path.file_name(),
        Names::Any => None,
    };
    (&entry.id, entry.mode == Mode::Link, name)
}
